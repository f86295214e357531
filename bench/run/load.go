package run

import (
	"fmt"
	"time"

	"millrace/bench/rawgen"
	"millrace/bench/wire"
)

// Durability classes: figures are compared within a class only.
const (
	PageCache = "page cache" // acknowledged when written
	Synced    = "synced"     // acknowledged after the disk has it
	Read      = "hot read"
)

// Load is one measured load. Immutable.
type Load struct {
	ID       string `json:"id"` // W5-acks1
	Workload string `json:"workload"`
	Title    string `json:"title"`
	Class    string `json:"class"`

	Partitions int                    `json:"partitions"`
	Produce    *rawgen.ProduceOptions `json:"produce,omitempty"`
	Fetch      *rawgen.FetchOptions   `json:"fetch,omitempty"`
	Fill       *rawgen.ProduceOptions `json:"fill,omitempty"` // made before the first run, kept for all of them

	// Floor is what this load's figures are divided by; FloorLoad says at which load the floor ran, if not at this one.
	Floor     string `json:"floor"`
	FloorLoad string `json:"floor_load,omitempty"`
	// Beside are floors that run this load too, for information.
	Beside []string `json:"beside,omitempty"`
	// Against is another load whose throughput on the same target this one is compared with.
	Against string `json:"against,omitempty"`
	Unit    string `json:"unit"` // of throughput: MB/s, rec/s, req/s
}

// Sizes scale the workloads.
type Sizes struct {
	BulkBytes   int64         // W1, W2: payload per run; at least this and at least BulkSeconds
	BulkSeconds time.Duration // W1, W2, W3
	ReadBytes   int64         // W3: data in the cache
	Sends       int64         // W5: round trips
	SyncSeconds time.Duration // W6: per run
	OpenSeconds time.Duration // W4, W7, and each phase of W8, W10, W11, W12
	Backlog     int64         // W10: bytes read cold
	Crowd       int           // W11: idle long polls
	ManyParts   int           // W8: partitions
	Soak        time.Duration // SOAK
	Stock       int64         // STOCK, NATS: bytes of a run
	KeepBytes   int64         // W9: data kept
	KeepParts   int           // W9: partitions it lies in
}

// Full are the sizes that figures for the record need: 8 GB and 20 s for bulk.
func Full() Sizes {
	return Sizes{BulkBytes: 8 << 30, BulkSeconds: 20 * time.Second, ReadBytes: 4 << 30, Sends: 50_000, SyncSeconds: 10 * time.Second, KeepBytes: 10 << 30, KeepParts: 1000,
		OpenSeconds: 20 * time.Second, Backlog: 8 << 30, Crowd: 2000, ManyParts: 10_000, Soak: 30 * time.Minute, Stock: 4 << 30}
}

// Quick are sizes to see that everything works; figures are rough.
func Quick() Sizes {
	return Sizes{BulkBytes: 256 << 20, BulkSeconds: time.Second / 2, ReadBytes: 256 << 20, Sends: 2000, SyncSeconds: time.Second / 2, KeepBytes: 128 << 20, KeepParts: 20,
		OpenSeconds: 2 * time.Second, Backlog: 256 << 20, Crowd: 200, ManyParts: 200, Soak: 12 * time.Second, Stock: 64 << 20}
}

// values extracts the figures of a run that the table shows.
func (l *Load) values(r *rawgen.Result) map[string]float64 {
	v := map[string]float64{}
	if r.Seconds <= 0 {
		return v
	}
	gb := float64(r.PayloadBytes) / 1e9
	v["MB/s"] = gb * 1000 / r.Seconds
	v["rec/s"] = float64(r.Records) / r.Seconds
	v["req/s"] = float64(r.Requests) / r.Seconds
	v["throughput"] = v[l.Unit]
	if r.Latency != nil {
		v["p50"], v["p99"], v["p999"] = r.Latency.P50, r.Latency.P99, r.Latency.P999
	}
	if r.EndToEnd != nil { // what the load is about; the acknowledgement's time stands beside
		v["ack p50"], v["ack p99"] = v["p50"], v["p99"]
		v["p50"], v["p99"], v["p999"] = r.EndToEnd.P50, r.EndToEnd.P99, r.EndToEnd.P999
	}
	if b := r.Broker; b != nil {
		v["cpu/GB"] = b.CPUSeconds / gb
		v["cpu/req"] = b.CPUSeconds * 1e6 / float64(max(r.Requests, 1))
		v["cpu"] = v[l.cpuKey()]
		v["cpu cores"] = b.CPUSeconds / r.Seconds
		v["rss"] = float64(b.RSSPeakBytes) / 1e6
		v["fds"] = float64(b.Descriptors)
		if b.WrittenBytes >= 0 && r.PayloadBytes > 0 && l.Produce != nil {
			v["disk"] = float64(b.WrittenBytes) / float64(r.PayloadBytes)
		}
	}
	if g := r.Generator; g != nil {
		v["gen cores"] = g.CPUSeconds / r.Seconds
	}
	if r.Lag != nil {
		v["lag p99"] = r.Lag.P99
	}
	return v
}

// cpuKey: bulk costs are per GB, those of small requests per request.
func (l *Load) cpuKey() string {
	if l.Unit == "req/s" {
		return "cpu/req"
	}
	return "cpu/GB"
}

func (l *Load) cpuUnit() string {
	if l.Unit == "req/s" {
		return "us/req"
	}
	return "s/GB"
}

// batch is the size of the batches of a producing load.
func batch(o *rawgen.ProduceOptions) *wire.Bodies {
	return wire.NewBodies(1, o.RecordSize, o.BatchBytes, 1)
}

func (l *Load) String() string { return fmt.Sprintf("%s (%s)", l.ID, l.Title) }
