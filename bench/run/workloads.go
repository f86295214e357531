package run

import (
	"fmt"
	"strings"

	"millrace/bench/rawgen"
)

// Workloads builds the loads of W1 to W7; the others are not loads and have procedures of their own.
func Workloads(names []string, s Sizes) ([]Load, error) {
	var out []Load
	for _, n := range names {
		switch strings.ToUpper(n) {
		case "W1":
			out = append(out, w1(s))
		case "W2":
			out = append(out, w2(s))
		case "W3":
			out = append(out, w3(s, 1), w3(s, 4))
		case "W4":
			out = append(out, w4(s)...)
		case "W5":
			out = append(out, w5(s)...)
		case "W6":
			out = append(out, w6(s)...)
		case "W7":
			out = append(out, w7(s)...)
		case "W9":
		default:
			if _, ok := procedures[strings.ToUpper(n)]; !ok {
				return nil, fmt.Errorf("%q is no workload: W1 to W12, SOAK, STOCK, NATS", n)
			}
		}
	}
	return out, nil
}

// bulk sets both ends of a bulk load: so many bytes, and so long.
func bulk(o rawgen.ProduceOptions, s Sizes) *rawgen.ProduceOptions {
	o.Requests = max(1, s.BulkBytes/int64(batch(&o).Payload*o.PerRequest))
	o.Duration, o.Both = s.BulkSeconds, true
	return &o
}

// w1: 1 KiB records, 6 partitions, 64 KiB batches, six a request, 4 connections with 5 in flight, acks=1.
func w1Options() rawgen.ProduceOptions {
	return rawgen.ProduceOptions{Partitions: 6, PerRequest: 6, Acks: 1, Conns: 4, Depth: 5, RecordSize: 1024, BatchBytes: 65536}
}

func w1(s Sizes) Load {
	return Load{ID: "W1", Workload: "W1", Title: "bulk produce, 1 KiB, 6 x 64 KiB a request, 4 x 5 in flight, acks=1", Class: PageCache, Partitions: 6,
		Produce: bulk(w1Options(), s), Floor: "floor-write", Beside: []string{"floor-write-nosync", "floor-null"}, Unit: "MB/s"}
}

// w2: 100 B records in batches of 8196 bytes.
func w2(s Sizes) Load {
	o := w1Options()
	o.RecordSize, o.BatchBytes = 100, 8196
	s.BulkBytes /= 4 // 2 GB, 20 M records; the 20 s decide
	return Load{ID: "W2", Workload: "W2", Title: "small records, 100 B in 8 KiB batches, six a request, 4 x 5 in flight, acks=1", Class: PageCache, Partitions: 6,
		Produce: bulk(o, s), Floor: "floor-write", Beside: []string{"floor-write-nosync", "floor-null"}, Unit: "rec/s"}
}

// w3: data of w1, read from the page cache.
func w3(s Sizes, consumers int) Load {
	fill := w1Options()
	b := batch(&fill)
	fill.Requests = max(1, s.ReadBytes/int64(b.Payload*fill.PerRequest))
	f := &rawgen.FetchOptions{Partitions: 6, Consumers: consumers, MaxBytes: 50 << 20, PartitionMaxBytes: 4 << 20, Bytes: 2 * s.BulkBytes, Duration: s.BulkSeconds, Both: true,
		BatchLen: b.BatchLen(), BatchRecords: b.Records, RecordSize: fill.RecordSize}
	return Load{ID: fmt.Sprintf("W3-%d", consumers), Workload: "W3", Title: fmt.Sprintf("hot consume, %d connection(s), 4 MiB a partition, 50 MiB an answer", consumers), Class: Read,
		Partitions: 6, Fetch: f, Fill: &fill, Floor: "floor-read", Unit: "MB/s"}
}

// w4: one record at a time at a fixed rate, from when it should have been sent until a consumer has its header. A floor has no
// consumer: it answers the same requests at the same rate, and its round trip is what end to end is compared with.
func w4(s Sizes) []Load {
	var out []Load
	for _, acks := range []int16{1, -1} {
		for _, rate := range []float64{1000, 10_000, 50_000} {
			l := Load{ID: fmt.Sprintf("W4-acks1-%gk", rate/1000), Workload: "W4", Class: PageCache, Partitions: 6, Floor: "floor-echo", Unit: "rec/s",
				Title:   fmt.Sprintf("end to end, 1 KiB, %g records/s one by one, acks=1, open loop", rate),
				Produce: &rawgen.ProduceOptions{Partitions: 6, PerRequest: 1, Rotate: true, Acks: acks, Conns: 1, Depth: 256, RecordSize: 1024, BatchBytes: 1, Duration: s.OpenSeconds, Rate: rate, Sleep: true},
				Fetch:   &rawgen.FetchOptions{Partitions: 6, RecordSize: 1024}}
			if acks == -1 {
				l.ID, l.Title, l.Class = strings.Replace(l.ID, "acks1", "all", 1), strings.Replace(l.Title, "acks=1", "acks=all", 1), Synced
				l.Floor, l.Beside = "floor-sync", []string{"floor-echo"}
			}
			out = append(out, l)
		}
	}
	return out
}

// w7: many producers, each record a batch of its own, idempotent, acks=all acknowledged from the page cache (write.caching; Kafka
// does so anyway), at 100 MB/s and as fast as it goes. The records have no keys: no broker looks at them.
func w7(s Sizes) []Load {
	load := func(id string, conns int, rate float64) Load {
		l := Load{ID: id, Workload: "W7", Class: PageCache, Partitions: 100, Floor: "floor-null", Unit: "req/s",
			Title:   fmt.Sprintf("many small batches, 1 KiB over 100 partitions, %d idempotent producers, acks=all from the page cache", conns),
			Produce: &rawgen.ProduceOptions{Partitions: 100, PerRequest: 1, Rotate: true, Acks: -1, Conns: conns, Depth: 5, RecordSize: 1024, BatchBytes: 1, Idempotent: true, Duration: s.OpenSeconds, Rate: rate, Sleep: true}}
		if rate > 0 {
			l.Title += ", 100 MB/s wanted"
		}
		return l
	}
	many := load("W7-50", 50, 0)
	many.Against = "W7-4"
	return []Load{load("W7-4", 4, 0), many, load("W7-50-100MB", 50, 100e6/1024)}
}

// w5: one record of 100 B at a time.
func w5(s Sizes) []Load {
	load := func(id, title, class, floor string, acks int16, conns int, sends int64) Load {
		return Load{ID: id, Workload: "W5", Title: title, Class: class, Partitions: 1, Floor: floor, Unit: "req/s",
			Produce: &rawgen.ProduceOptions{Partitions: 1, PerRequest: 1, Acks: acks, Conns: conns, Depth: 1, RecordSize: 100, BatchBytes: 1, Requests: sends}}
	}
	one := load("W5-acks1", "one 100 B record at a time, acks=1", PageCache, "floor-echo", 1, 1, s.Sends)
	one.Beside = []string{"floor-null"}
	many := load("W5-acks1-64", "64 connections, one 100 B record at a time each, acks=1", PageCache, "floor-echo", 1, 64, s.Sends*4)
	many.Beside = []string{"floor-null"}
	return []Load{one, many, load("W5-all", "one 100 B record at a time, acks=all", Synced, "floor-sync", -1, 1, max(1, s.Sends/5))}
}

// w6: acks=all, each acknowledgement after a sync; many producers on one partition must share syncs, so their floor is the
// sync floor with one producer.
func w6(s Sizes) []Load {
	load := func(id, title string, partitions, conns int) Load {
		return Load{ID: id, Workload: "W6", Title: title, Class: Synced, Partitions: partitions, Floor: "floor-sync", Unit: "req/s",
			Produce: &rawgen.ProduceOptions{Partitions: partitions, PerRequest: 1, Acks: -1, Conns: conns, Depth: 1, RecordSize: 1024, BatchBytes: 1, Duration: s.SyncSeconds}}
	}
	one := load("W6-1", "durable, 1 KiB, 1 producer", 1, 1)
	few := load("W6-16", "durable, 1 KiB, 16 producers on one partition; ratio to the floor with one", 1, 16)
	many := load("W6-64", "durable, 1 KiB, 64 producers on one partition; ratio to the floor with one", 1, 64)
	few.FloorLoad, many.FloorLoad = one.ID, one.ID
	spread := load("W6-64x64", "durable, 1 KiB, 64 producers on 64 partitions", 64, 64)
	big := load("W6-1MiB", "durable, requests of 1 MiB, 1 producer", 1, 1)
	big.Produce.BatchBytes = 1_048_000 // below the default max.message.bytes
	big.Unit = "MB/s"
	return []Load{one, few, many, spread, big}
}
