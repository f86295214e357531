package rawgen

import (
	"sync/atomic"
	"testing"
	"time"

	"millrace/bench/sink"
)

func TestCrowdPollsAndFindsNothing(t *testing.T) {
	s := serve(t, sink.Options{Mode: "null"})
	createTopic(t, s.Addr(), "idle", 2)
	r, err := Crowd(CrowdOptions{Addr: s.Addr(), Topic: "idle", Partitions: 2, Conns: 20, MaxWaitMs: 50, Settle: 50 * time.Millisecond, Duration: 300 * time.Millisecond})
	if err != nil || r.FailureCount > 0 {
		t.Fatalf("%v %v", err, r)
	}
	if r.Requests < 20 || r.Requests > 20*8 || r.Latency.P50 < 45_000 || r.Seconds < 0.3 {
		t.Errorf("%+v", r)
	}
	if _, err := Crowd(CrowdOptions{Addr: s.Addr(), Topic: "idle"}); err == nil {
		t.Error("a crowd without an end")
	}
}

func TestEndToEndOfManyConsumersAndWindows(t *testing.T) {
	s := serve(t, sink.Options{Mode: "write"})
	createTopic(t, s.Addr(), "fan", 4)
	o := ProduceOptions{Addr: s.Addr(), Topic: "fan", Partitions: 4, PerRequest: 1, Rotate: true, Acks: 1, Depth: 8, RecordSize: 100, BatchBytes: 1, Rate: 500, Sleep: true, Duration: 2300 * time.Millisecond, Window: time.Second, NoBad: true}
	r, err := EndToEnd(o, FetchOptions{Consumers: 3, MaxWaitMs: 50})
	if err != nil || r.FailureCount > 0 {
		t.Fatalf("%v %+v", err, r)
	}
	if r.EndToEnd.Count != 3*r.Batches {
		t.Errorf("%d arrivals of %d batches at 3 consumers", r.EndToEnd.Count, r.Batches)
	}
	if len(r.Windows) != 3 || r.Windows[1].Second != 1 || r.Windows[0].Latency.Count < 400 {
		t.Errorf("%d windows", len(r.Windows))
	}
	if len(r.Intervals) != 3 || r.Intervals[0].P99 <= 0 || r.Intervals[0].Max < r.Intervals[0].P99 {
		t.Errorf("%+v", r.Intervals)
	}
}

func TestSplitConsumersShareThePartitions(t *testing.T) {
	s := serve(t, sink.Options{Mode: "write"})
	createTopic(t, s.Addr(), "split", 6)
	r := mustProduce(t, ProduceOptions{Addr: s.Addr(), Topic: "split", Partitions: 6, Acks: 1, Requests: 30})
	got, err := Fetch(FetchOptions{Addr: s.Addr(), Topic: "split", Partitions: 6, Consumers: 3, Split: true, Bytes: r.WireBytes / 2, RecordSize: 1024})
	if err != nil || got.FailureCount > 0 {
		t.Fatalf("%v %+v", err, got)
	}
	if got.Records == 0 || got.Records > r.Records*3/2 {
		t.Errorf("%d records read of %d", got.Records, r.Records)
	}
}

// A consumer that comes late must not miss what was produced since the offsets were taken.
func TestTailBeginsAtTheOffsetsGiven(t *testing.T) {
	s := serve(t, sink.Options{Mode: "write"})
	createTopic(t, s.Addr(), "tail", 2)
	r := mustProduce(t, ProduceOptions{Addr: s.Addr(), Topic: "tail", Partitions: 2, Acks: 1, Requests: 30})
	var seen, ready atomic.Int64
	var stop atomic.Bool
	got, err := Fetch(FetchOptions{Addr: s.Addr(), Topic: "tail", Partitions: 2, Consumers: 2, MaxWaitMs: 50, tail: []int64{0, 0}, stop: &stop, ready: func() { ready.Add(1) },
		arrived: func(int, int64, int64) {
			if seen.Add(1) == 2*r.Batches {
				stop.Store(true)
			}
		}})
	if err != nil || got.FailureCount > 0 || got.Batches != 2*r.Batches || ready.Load() != 1 {
		t.Fatalf("%v %+v, ready %d times; %d batches were produced", err, got, ready.Load(), r.Batches)
	}
}
