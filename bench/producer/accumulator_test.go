package producer

import (
	"math"
	"testing"
	"time"

	"millrace/bench/wire"
)

const ms = int64(time.Millisecond)

func accumulator(o Options, leaders ...int) *Accumulator {
	o.EnsureDefaults()
	nodes := 0
	for _, l := range leaders {
		nodes = max(nodes, l+1)
	}
	return NewAccumulator(&o, leaders, nodes)
}

func readyNodes(a *Accumulator, at int64) ([]bool, int64) {
	ready := make([]bool, len(a.nodes))
	next := a.Ready(at, ready)
	return ready, next
}

func fill(t *testing.T, a *Accumulator, partition, records, size int, at int64) {
	t.Helper()
	for i := range records {
		if r := a.Append(partition, make([]byte, size), at, at, at/ms); !r.OK {
			t.Fatalf("record %d of partition %d found no memory", i, partition)
		}
	}
}

// TestReadyWhenOld: a batch waits for linger.ms from when it was opened, and the sender is told how long.
func TestReadyWhenOld(t *testing.T) {
	a := accumulator(Options{Linger: 5 * time.Millisecond}, 0)
	if _, next := readyNodes(a, 0); next != math.MaxInt64 {
		t.Errorf("an empty accumulator wants to be looked at in %d", next)
	}
	if r := a.Append(0, []byte("x"), 0, 10*ms, 0); !r.Wakes() || !r.Created || r.Full {
		t.Errorf("first record: %+v", r)
	}
	if r := a.Append(0, []byte("x"), 0, 14*ms, 0); r.Wakes() {
		t.Errorf("a record in an open batch wakes: %+v", r)
	}
	for _, c := range []struct {
		at    int64
		ready bool
		next  int64
	}{{10 * ms, false, 5 * ms}, {14 * ms, false, ms}, {15*ms - 1, false, 1}, {15 * ms, true, math.MaxInt64}} {
		if r, next := readyNodes(a, c.at); r[0] != c.ready || next != c.next {
			t.Errorf("at %d: ready %v, next %d", c.at, r[0], next)
		}
	}
	if out := a.Drain(0, 1<<20, nil); len(out) != 1 || out[0].Records != 2 {
		t.Errorf("%+v", out)
	}
}

func TestReadyAtOnceWithoutLinger(t *testing.T) {
	a := accumulator(Options{}, 0)
	fill(t, a, 0, 1, 10, 7)
	if r, _ := readyNodes(a, 7); !r[0] {
		t.Error("linger.ms=0 and not ready")
	}
}

// TestReadyWhenFull: a batch is full when the next record had to open another one.
func TestReadyWhenFull(t *testing.T) {
	a := accumulator(Options{Linger: time.Hour, BatchSize: 4096}, 0)
	n, bytes := RecordsPerBatch(4096, 1000)
	fill(t, a, 0, n, 1000, 0)
	if r, _ := readyNodes(a, 0); r[0] {
		t.Error("ready although nothing shows that no record fits")
	}
	if r := a.Append(0, make([]byte, 1000), 0, 0, 0); !r.Full || !r.Created {
		t.Errorf("%+v", r)
	}
	if r, _ := readyNodes(a, 0); !r[0] {
		t.Error("a full batch is not ready")
	}
	out := a.Drain(0, 1<<20, nil)
	if len(out) != 1 || out[0].Records != n || out[0].Size() != bytes {
		t.Errorf("%d batches, %d records in %d bytes, want %d in %d", len(out), out[0].Records, out[0].Size(), n, bytes)
	}
	if r, _ := readyNodes(a, 0); r[0] {
		t.Error("the rest is ready too")
	}
	if !wire.ValidCRC(out[0].buf) || wire.RecordCount(out[0].buf) != n {
		t.Error("the batch that leaves is not a valid one")
	}
}

// TestMemory: buffers of batch.size come out of buffer.memory; when it is out, everything becomes ready, and an answer brings it back.
func TestMemory(t *testing.T) {
	a := accumulator(Options{Linger: time.Hour, BatchSize: 1000, BufferMemory: 2500}, 0, 0, 0)
	fill(t, a, 0, 1, 10, 0)
	fill(t, a, 1, 1, 10, 0)
	if r, _ := readyNodes(a, 0); r[0] {
		t.Error("ready while there is memory")
	}
	if r := a.Append(2, make([]byte, 10), 0, 0, 0); r.OK {
		t.Error("a third batch of 1000 bytes in 2500")
	}
	if r, _ := readyNodes(a, 0); !r[0] {
		t.Error("somebody waits for memory and nothing is ready")
	}
	out := a.Drain(0, 1<<20, nil)
	a.Done(out[0])
	if r := a.Append(2, make([]byte, 10), 0, 0, 0); !r.OK {
		t.Error("memory was given back and is not there")
	}
	// A record larger than batch.size takes memory of its own, kept buffers given up for it.
	a.Done(out[1])
	big := a.Append(0, make([]byte, 1200), 0, 0, 0)
	if !big.OK || a.pool.available() != int64(2500-1000-SizeUpperBound(1200)) {
		t.Errorf("%+v, %d bytes left", big, a.pool.available())
	}
	for _, b := range a.Drain(0, 1<<20, nil) {
		a.Done(b)
	}
	if a.pool.available() != 2500 || a.Incomplete() != 0 {
		t.Errorf("%d bytes free, %d batches incomplete after all were answered", a.pool.available(), a.Incomplete())
	}
}

func TestFlushAndClose(t *testing.T) {
	a := accumulator(Options{Linger: time.Hour}, 0)
	fill(t, a, 0, 1, 10, 0)
	a.Flush()
	if r, _ := readyNodes(a, 0); !r[0] {
		t.Error("flush makes nothing ready")
	}
	a.EndFlush()
	if r, _ := readyNodes(a, 0); r[0] {
		t.Error("ready after the flush ended")
	}
	a.Close()
	if r, _ := readyNodes(a, 0); !r[0] {
		t.Error("close makes nothing ready")
	}
}

// TestDrainTakesAllPartitionsOfTheBroker: when one partition of a broker is ready, all its partitions' batches go along, and none
// of another broker's.
func TestDrainTakesAllPartitionsOfTheBroker(t *testing.T) {
	a := accumulator(Options{Linger: 5 * time.Millisecond}, 0, 1, 0, 1, 0)
	fill(t, a, 0, 1, 10, 0)
	for _, p := range []int{1, 2, 3, 4} {
		fill(t, a, p, 1, 10, 3*ms)
	}
	r, next := readyNodes(a, 5*ms)
	if !r[0] || r[1] || next != 3*ms {
		t.Errorf("ready %v, next %d", r, next)
	}
	var got []int
	for _, b := range a.Drain(0, 1<<20, nil) {
		got = append(got, b.Partition)
	}
	if len(got) != 3 || got[0] != 0 || got[1] != 2 || got[2] != 4 {
		t.Errorf("partitions %v", got)
	}
	if a.Incomplete() != 5 || len(a.Drain(0, 1<<20, nil)) != 0 || len(a.Drain(1, 1<<20, nil)) != 2 {
		t.Error("what was drained is there still, or the other broker's is not")
	}
}

// TestDrainIsBoundedAndFair: max.request.size bounds a request, one batch always fits, and the next drain goes on where this one
// ended.
func TestDrainIsBoundedAndFair(t *testing.T) {
	a := accumulator(Options{BatchSize: 1000}, 0, 0, 0, 0)
	for p := range 4 {
		fill(t, a, p, 2, 800, 0) // two batches each
	}
	order := []int{}
	for range 4 {
		out := a.Drain(0, 2000, nil)
		if len(out) != 2 {
			t.Fatalf("%d batches in a request", len(out))
		}
		for _, b := range out {
			order = append(order, b.Partition)
		}
	}
	for i, p := range order {
		if p != i%4 {
			t.Fatalf("order %v", order)
		}
	}
	fill(t, a, 1, 1, 5000, 0)
	if out := a.Drain(0, 100, nil); len(out) != 1 {
		t.Errorf("a batch larger than a request: %d", len(out))
	}
}

// TestOneInFlightMutes: with one request in flight a partition keeps its order by waiting for the answer.
func TestOneInFlightMutes(t *testing.T) {
	a := accumulator(Options{MaxInFlight: 1}, 0, 0)
	fill(t, a, 0, 1, 10, 0)
	out := a.Drain(0, 1<<20, nil)
	fill(t, a, 0, 1, 10, 0)
	if r, _ := readyNodes(a, 0); r[0] {
		t.Error("a muted partition is ready")
	}
	fill(t, a, 1, 1, 10, 0)
	if other := a.Drain(0, 1<<20, nil); len(other) != 1 || other[0].Partition != 1 {
		t.Errorf("%v", other)
	}
	a.Done(out[0])
	if r, _ := readyNodes(a, 0); !r[0] {
		t.Error("the answer does not end the muting")
	}
}

// TestSequencesFollow: an idempotent producer's batches of a partition carry sequence numbers without a gap.
func TestSequencesFollow(t *testing.T) {
	a := accumulator(Options{BatchSize: 1000}, 0)
	a.who = identity{77, 3}
	want := uint32(0)
	for range 5 {
		fill(t, a, 0, 3, 100, 0)
		for _, b := range a.Drain(0, 1<<20, nil) {
			h := b.buf
			if got := uint32(h[53])<<24 | uint32(h[54])<<16 | uint32(h[55])<<8 | uint32(h[56]); got != want || h[50] != 77 || h[52] != 3 {
				t.Fatalf("sequence %d, want %d", got, want)
			}
			want += uint32(b.Records)
			a.Done(b)
		}
	}
}

func TestRecordsPerBatchIsWhatFits(t *testing.T) {
	for _, c := range []struct{ batch, size int }{{16384, 1024}, {16384, 100}, {8196, 100}, {65536, 1024}, {100, 1024}, {262144, 10}} {
		a := accumulator(Options{Linger: time.Hour, BatchSize: c.batch}, 0)
		n := 0
		for ; ; n++ {
			if r := a.Append(0, make([]byte, c.size), 0, 0, 0); r.Created && n > 0 {
				break
			}
		}
		want, bytes := RecordsPerBatch(c.batch, c.size)
		out := a.Drain(0, 1<<30, nil)
		if n != want || out[0].Records != want || out[0].Size() != bytes {
			t.Errorf("%+v: %d records in %d bytes, computed %d in %d", c, out[0].Records, out[0].Size(), want, bytes)
		}
	}
}

// TestDrainOneTakesOnlyWhatMayGo: a request per partition takes neither a batch that may still fill nor one partition twice while
// another waits.
func TestDrainOneTakesOnlyWhatMayGo(t *testing.T) {
	o := Options{BatchSize: 200, Linger: 5 * time.Millisecond, BufferMemory: 1 << 20, MaxInFlight: 5}
	o.EnsureDefaults()
	a := NewAccumulator(&o, []int{0, 0, 0}, 1)
	for range 3 { // the third does not fit
		a.Append(0, make([]byte, 60), 0, 0, 0)
		a.Append(2, make([]byte, 60), 0, 0, 0)
	}
	a.Append(1, make([]byte, 60), 0, 0, 0)
	var got []int
	for {
		out := a.DrainOne(0, 1, nil)
		if len(out) == 0 {
			break
		}
		got = append(got, out[0].Partition)
	}
	if len(got) != 2 || got[0] != 0 || got[1] != 2 {
		t.Errorf("drained the batches of partitions %v, want 0 and 2", got)
	}
	if out := a.DrainOne(0, int64(5*time.Millisecond), nil); len(out) != 1 || out[0].Partition != 0 {
		t.Errorf("after linger: %v, want partition 0, which is next", out)
	}
	if out := a.DrainOne(0, int64(5*time.Millisecond), nil); len(out) != 1 || out[0].Partition != 1 {
		t.Errorf("then: %v, want partition 1", out)
	}
}
