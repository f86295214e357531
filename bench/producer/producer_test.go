package producer

import (
	"testing"
	"time"

	"millrace/bench/rawgen"
	"millrace/bench/sink"
	"millrace/bench/target"
	"millrace/bench/wire"
)

func serve(t *testing.T, mode string, partitions int) (string, string) {
	t.Helper()
	s, err := sink.Serve(sink.Options{Mode: mode, Addr: "127.0.0.1:0", Dir: t.TempDir(), Check: mode == "write"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	if err := target.CreateTopic(s.Addr(), "model", partitions, nil); err != nil {
		t.Fatal(err)
	}
	return s.Addr(), "model"
}

func run(t *testing.T, o Options) *rawgen.Result {
	t.Helper()
	r, err := Run(o)
	if err != nil {
		t.Fatal(err)
	}
	if r.FailureCount > 0 {
		t.Fatalf("%v", r.Failures)
	}
	return r
}

func TestEveryRecordArrives(t *testing.T) {
	for _, o := range []Options{
		{},
		{Linger: 2 * time.Millisecond, BatchSize: 4096},
		{MaxInFlight: 1, Spread: SpreadSticky},
		{PerPartition: true, Linger: time.Millisecond},
		{PerPartition: true, MaxInFlight: 1},
		{Idempotent: true, Acks: -1, RecordSize: 100},
		{BufferMemory: 64 << 10, BatchSize: 8 << 10, Linger: time.Hour},
		{Rate: 50_000, Linger: time.Millisecond},
		{RecordSize: 40_000, BatchSize: 1000},
	} {
		addr, topic := serve(t, "write", 6)
		o.Addr, o.Topic, o.Records = addr, topic, 3000
		r := run(t, o)
		ends, err := rawgen.Offsets(addr, topic, 6, -1)
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, e := range ends {
			sum += e
		}
		if r.Records != 3000 || sum != 3000 || r.Latency.Count != 3000 || r.BadRecord != rawgen.BadRefused {
			t.Errorf("%+v: %d records counted, %d in the log", o, r.Records, sum)
		}
		if o.PerPartition && r.Requests != r.Batches {
			t.Errorf("%d requests for %d batches", r.Requests, r.Batches)
		}
		if o.BufferMemory == 64<<10 && r.Model.BlockedSeconds == 0 {
			t.Error("eight buffers were enough")
		}
	}
}

// TestGroupingSaves: with one broker and six partitions that all have data, grouping makes one request where single sending
// makes six.
func TestGroupingSaves(t *testing.T) {
	addr, topic := serve(t, "null", 6)
	o := Options{Addr: addr, Topic: topic, NoBad: true, RecordSize: 200, Linger: 20 * time.Millisecond, Rate: 5000, Duration: 400 * time.Millisecond}
	grouped := run(t, o)
	o.PerPartition = true
	single := run(t, o)
	if g, s := grouped.Model.BatchesPerRequest, single.Model.BatchesPerRequest; g < 5.5 || g > 6 || s != 1 {
		t.Errorf("%.2f batches in a grouped request, %.2f in a single one", g, s)
	}
	// Six times as many where both ran at their pace; a busy machine slows either.
	if f := float64(single.Requests) / float64(grouped.Requests); f < 2 {
		t.Errorf("%d requests grouped, %d single", grouped.Requests, single.Requests)
	}
	if grouped.Model.Wait.P50 < 15_000 || grouped.Model.Wait.Max < 19_000 {
		t.Errorf("batches waited %.0f us with linger 20 ms", grouped.Model.Wait.P50)
	}
}

func TestInFlightIsBounded(t *testing.T) {
	addr, topic := serve(t, "null", 1)
	o := Options{Addr: addr, Topic: topic, MaxInFlight: 2}
	o.EnsureDefaults()
	answered := 0
	l, err := newClient(&o, []string{addr}, func(*request, []wire.Produced) error { answered++; return nil })
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	a := accumulator(o, 0)
	for i := range 2 {
		if !l.ready(0) {
			t.Fatalf("not ready for request %d", i)
		}
		fill(t, a, 0, 1, 10, 0)
		r := l.slot(0)
		r.batches = a.Drain(0, 1<<20, r.batches[:0])
		if err := l.send(0, 0); err != nil {
			t.Fatal(err)
		}
	}
	if l.ready(0) || l.inFlight() != 2 {
		t.Errorf("ready for a third, %d in flight", l.inFlight())
	}
	for until := time.Now().Add(5 * time.Second); answered < 2 && time.Now().Before(until); {
		if _, err := l.poll(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
	if !l.ready(0) || answered != 2 {
		t.Errorf("%d answers, ready %v", answered, l.ready(0))
	}
}

func TestOptionsThatCannotWork(t *testing.T) {
	for _, o := range []Options{{}, {Records: 1, Acks: 2}, {Records: 1, Spread: "x"}, {Records: 1, Linger: -1}, {Records: 1, RecordSize: 100, BufferMemory: 50}, {Records: 1, RecordSize: 2 << 20}} {
		o.EnsureDefaults()
		if o.Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
