package rawgen

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/bench/sink"
	"millrace/bench/wire"
)

func serve(t *testing.T, o sink.Options) *sink.Server {
	t.Helper()
	o.Addr = "127.0.0.1:0"
	if o.Mode == "write" {
		o.Dir = t.TempDir()
	}
	s, err := sink.Serve(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func createTopic(t *testing.T, addr, name string, partitions int32) {
	t.Helper()
	req := kmsg.NewPtrCreateTopicsRequest()
	req.Version = 5
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = name, partitions, 1
	req.Topics = append(req.Topics, topic)
	resp := kmsg.NewPtrCreateTopicsResponse()
	resp.Version = 5
	if err := Call(addr, req, resp, 5*time.Second); err != nil || resp.Topics[0].ErrorCode != 0 {
		t.Fatalf("create topic: %v %+v", err, resp)
	}
}

func mustProduce(t *testing.T, o ProduceOptions) *Result {
	t.Helper()
	o.NoBad = true // a floor refuses nothing
	r, err := Produce(o)
	if err != nil {
		t.Fatal(err)
	}
	if r.FailureCount > 0 {
		t.Fatalf("%d failures: %v", r.FailureCount, r.Failures)
	}
	return r
}

func TestProduceEveryVersionAgainstEveryFloor(t *testing.T) {
	for _, f := range []sink.Options{{Mode: "null"}, {Mode: "echo"}, {Mode: "null", Loops: 2}, {Mode: "write"}, {Mode: "write", Sync: sink.SyncEach}, {Mode: "write", Sync: sink.SyncBackground, Loops: 2}} {
		s := serve(t, f)
		for _, version := range []int16{3, 5, 8, 9, 12} {
			topic := "v" + string(rune('a'+version))
			createTopic(t, s.Addr(), topic, 6)
			r := mustProduce(t, ProduceOptions{Addr: s.Addr(), Topic: topic, Partitions: 6, Version: version, Acks: 1, Conns: 2, Depth: 3, RecordSize: 100, BatchBytes: 2000, Requests: 20})
			if r.Requests != 20 || r.Batches != 120 || r.Latency.Count != 20 || r.PayloadBytes != r.Records*100 {
				t.Fatalf("%+v v%d: %+v", f, version, r)
			}
			ends, err := Offsets(s.Addr(), topic, 6, -1)
			if err != nil {
				t.Fatal(err)
			}
			for p, end := range ends {
				if end*6 != r.Records {
					t.Errorf("%+v v%d: partition %d ends at %d, %d records sent", f, version, p, end, r.Records)
				}
			}
		}
	}
}

func TestBigFramesSpreadAndBounded(t *testing.T) {
	s := serve(t, sink.Options{Mode: "write"})
	createTopic(t, s.Addr(), "big", 6)
	o := ProduceOptions{Addr: s.Addr(), Topic: "big", Partitions: 6, Acks: 1, Conns: 4, Depth: 5, Requests: 60}
	r := mustProduce(t, o)
	if r.WireBytes < r.PayloadBytes || r.Seconds <= 0 || r.Latency.P50 <= 0 || r.Latency.P99 < r.Latency.P50 || r.Generator == nil {
		t.Errorf("%+v", r)
	}
	bodies := wire.NewBodies(1, 1024, 65536, 1)
	fo := FetchOptions{Addr: s.Addr(), Topic: "big", Partitions: 6, Bytes: 3 * r.WireBytes, RecordSize: 1024, SampleEvery: 3}
	for _, uniform := range []bool{true, false} {
		for version := int16(4); version <= 12; version += 2 {
			fo.Version, fo.Consumers = version, 2
			fo.BatchLen, fo.BatchRecords = 0, 0
			if uniform {
				fo.BatchLen, fo.BatchRecords = bodies.BatchLen(), bodies.Records
			}
			got, err := Fetch(fo)
			if err != nil || got.FailureCount > 0 {
				t.Fatalf("v%d: %v %v", version, err, got.Failures)
			}
			if got.WireBytes < fo.Bytes*9/10 || got.Records < 2*r.Records || got.Verified == 0 {
				t.Errorf("v%d uniform=%v: %+v, %d produced", version, uniform, got, r.Records)
			}
		}
	}
}

func TestSpreadOverPartitions(t *testing.T) {
	s := serve(t, sink.Options{Mode: "null"})
	createTopic(t, s.Addr(), "rotate", 10)
	// The two connections share the requests as they get answers: on a busy machine one may take nearly all of a run.
	var r *Result
	var ends []int64
	var err error
	sum := int64(0)
	for run := 0; run < 20 && (run == 0 || slices.Min(ends) == 0 || slices.Max(ends) > sum/2); run++ {
		r = mustProduce(t, ProduceOptions{Addr: s.Addr(), Topic: "rotate", Partitions: 10, PerRequest: 1, Rotate: true, Acks: -1, Conns: 2, RecordSize: 10, BatchBytes: 100, Requests: 1000, Idempotent: true})
		sum += r.Records
		if ends, err = Offsets(s.Addr(), "rotate", 10, -1); err != nil {
			t.Fatal(err)
		}
	}
	for p, end := range ends {
		if end == 0 || end > sum/2 {
			t.Errorf("partition %d holds %d of %d", p, end, sum)
		}
	}
	createTopic(t, s.Addr(), "unacked", 1)
	r = mustProduce(t, ProduceOptions{Addr: s.Addr(), Topic: "unacked", Acks: 0, Depth: 4, Requests: 50, BatchBytes: 300, RecordSize: 10})
	for until := time.Now().Add(2 * time.Second); ; time.Sleep(time.Millisecond) {
		if ends, err = Offsets(s.Addr(), "unacked", 1, -1); err != nil || ends[0] == r.Records || time.Now().After(until) {
			break
		}
	}
	if err != nil || ends[0] != r.Records {
		t.Errorf("acks=0: %d of %d arrived, %v", ends, r.Records, err)
	}
}

// TestOpenLoopKeepsRateAndCountsStalls: latency counts from the intended time, so a server that stalls shows it in every
// request that was due meanwhile.
func TestOpenLoopKeepsRateAndCountsStalls(t *testing.T) {
	s := serve(t, sink.Options{Mode: "null"})
	// What is due within the time is sent, however late this machine is.
	for _, sleep := range []bool{false, true} {
		r := mustProduce(t, ProduceOptions{Addr: s.Addr(), Topic: "paced", Acks: 1, Depth: 16, RecordSize: 100, BatchBytes: 1, Rate: 2000, Sleep: sleep, Duration: 400 * time.Millisecond})
		if r.Records != 800 || r.Lag == nil || r.Lag.Count != r.Requests {
			t.Errorf("sleep=%v: %d records at 2000/s in 0.4 s, %+v", sleep, r.Records, r.Lag)
		}
	}
	slow := stallingServer(t, s.Addr(), 100, 150*time.Millisecond)
	r := mustProduce(t, ProduceOptions{Addr: slow, Topic: "paced", Acks: 1, Depth: 1, RecordSize: 100, BatchBytes: 1, Rate: 1000, Duration: 400 * time.Millisecond})
	// One stall of 150 ms: about 150 requests were due in it, with 75 ms of delay on average; a closed loop would count one.
	if r.Latency.P90 < 50_000 || r.Latency.Max < 140_000 {
		t.Errorf("a stall of 150 ms is hidden: %+v", r.Latency)
	}
}

// TestOpenLoopGivesUp: a target that cannot hold the rate does not keep the generator for ever, and what it never took is not
// hidden.
func TestOpenLoopGivesUp(t *testing.T) {
	s := serve(t, sink.Options{Mode: "null"})
	slow := stallingServer(t, s.Addr(), 50, 400*time.Millisecond)
	r := mustProduce(t, ProduceOptions{Addr: slow, Topic: "late", Acks: 1, Depth: 1, RecordSize: 100, BatchBytes: 1, Rate: 1000, Duration: 100 * time.Millisecond, Late: 100 * time.Millisecond})
	if r.Unsent < 1 || r.Requests+r.Unsent != 100 || r.Latency.Count != 100 || r.Latency.Max < 200_000 {
		t.Errorf("%d sent, %d not, %+v", r.Requests, r.Unsent, r.Latency)
	}
}

func TestEndToEnd(t *testing.T) {
	s := serve(t, sink.Options{Mode: "null"})
	createTopic(t, s.Addr(), "e2e", 2)
	r, err := EndToEnd(ProduceOptions{Addr: s.Addr(), Topic: "e2e", Partitions: 2, PerRequest: 1, Conns: 2, Acks: -1, Depth: 8, RecordSize: 100, BatchBytes: 1, Rate: 1000, Duration: 300 * time.Millisecond, NoBad: true}, FetchOptions{})
	if err != nil || r.FailureCount > 0 {
		t.Fatalf("%v %v", err, r)
	}
	if r.EndToEnd.Count != r.Batches || r.EndToEnd.P50 < 10 || r.EndToEnd.P50 > 5_000_000 {
		t.Errorf("%+v", r.EndToEnd)
	}
}

func TestFailuresAreSeen(t *testing.T) {
	s := serve(t, sink.Options{Mode: "null"})
	r, err := Produce(ProduceOptions{Addr: s.Addr(), Topic: "t", Acks: 1, Requests: 3})
	if err != nil || r.FailureCount == 0 || !strings.Contains(r.BadRecord, "error code 0") {
		t.Errorf("a server that takes a spoiled batch passes: %v %+v", err, r)
	}
	createTopic(t, s.Addr(), "two", 2)
	r, err = Produce(ProduceOptions{Addr: s.Addr(), Topic: "two", Partitions: 3, Acks: 1, Requests: 3, NoBad: true})
	if err != nil || r.FailureCount == 0 {
		t.Errorf("a closed connection passes: %v %+v", err, r)
	}
	if _, err := Produce(ProduceOptions{Addr: s.Addr(), Topic: "t"}); err == nil {
		t.Error("a load without end is accepted")
	}
	if _, err := Fetch(FetchOptions{Addr: s.Addr(), Topic: filepath.Base(t.TempDir()), Bytes: 1}); err == nil {
		t.Error("a topic that does not exist is read")
	}
}
