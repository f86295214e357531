package engine

import (
	"errors"
	"math"
	"testing"

	"millrace/segment/batch"
)

// seqBatch is a batch of n records of one producer.
func seqBatch(pid int64, epoch int16, first int32, n int) batch.View {
	var b batch.Builder
	b.Reset(nil, 0, 0)
	b.SetProducer(pid, epoch, first)
	for range n {
		b.Add(1000, nil, []byte("v"))
	}
	return b.Finish()
}

// feeder appends to a producer table as a partition would.
type feeder struct {
	t    *testing.T
	p    *producers
	next int64
}

func (f *feeder) check(v batch.View, want error) {
	f.t.Helper()
	dup, err := f.p.check(v)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		f.t.Fatalf("check(seq %d+%d epoch %d) = %v, want %v", v.BaseSequence(), v.Count(), v.ProducerEpoch(), err, want)
	}
	if dup != nil {
		f.t.Fatalf("seq %d taken for a duplicate of the batch ending at %d", v.BaseSequence(), dup.LastOffset)
	}
}

func (f *feeder) dup(v batch.View, base int64) {
	f.t.Helper()
	dup, err := f.p.check(v)
	if err != nil || dup == nil {
		f.t.Fatalf("seq %d: dup %v, err %v; want a duplicate of offset %d", v.BaseSequence(), dup, err, base)
	}
	if got := dup.LastOffset - int64(dup.OffsetDelta); got != base {
		f.t.Fatalf("duplicate of offset %d, want %d", got, base)
	}
}

func (f *feeder) stage(v batch.View) *producer {
	f.t.Helper()
	f.check(v, nil)
	v.SetBaseOffset(f.next)
	f.next = v.NextOffset()
	return f.p.stage(v)
}

func (f *feeder) append(v batch.View) {
	f.t.Helper()
	pr := f.stage(v)
	f.p.commit(pr, v)
}

func newFeeder(t *testing.T) *feeder { return &feeder{t: t, p: newProducers(1000)} }

func TestSequencesInOrder(t *testing.T) {
	f := newFeeder(t)
	f.append(seqBatch(7, 0, 0, 3))
	f.append(seqBatch(7, 0, 3, 1))
	f.check(seqBatch(7, 0, 5, 1), ErrOutOfOrderSequence) // gap
	f.check(seqBatch(7, 0, 3, 2), ErrOutOfOrderSequence) // overlap that is no exact resend
	f.check(seqBatch(7, 0, 2, 2), ErrOutOfOrderSequence)
	f.dup(seqBatch(7, 0, 0, 3), 0)
	f.dup(seqBatch(7, 0, 3, 1), 3)
	f.append(seqBatch(7, 0, 4, 1))
}

func TestUnknownProducerMayStartAnywhere(t *testing.T) {
	f := newFeeder(t)
	f.append(seqBatch(9, 4, 1234, 2))
	f.append(seqBatch(9, 4, 1236, 2))
}

func TestWindowHoldsFive(t *testing.T) {
	f := newFeeder(t)
	for i := range int32(7) {
		f.append(seqBatch(1, 0, i, 1))
	}
	for i := int32(2); i < 7; i++ {
		f.dup(seqBatch(1, 0, i, 1), int64(i))
	}
	f.check(seqBatch(1, 0, 1, 1), ErrOutOfOrderSequence)
	f.check(seqBatch(1, 0, 0, 1), ErrOutOfOrderSequence)
}

func TestEpochs(t *testing.T) {
	f := newFeeder(t)
	f.append(seqBatch(1, 3, 0, 2))
	f.check(seqBatch(1, 2, 0, 2), ErrInvalidProducerEpoch) // even a resend of what was stored
	f.check(seqBatch(1, 4, 2, 1), ErrOutOfOrderSequence)   // a new epoch starts at 0
	f.append(seqBatch(1, 4, 0, 1))
	f.check(seqBatch(1, 3, 0, 2), ErrInvalidProducerEpoch)
	f.dup(seqBatch(1, 4, 0, 1), 2)
	f.append(seqBatch(1, 4, 1, 1))
}

// A producer that names no epoch has no order; below that there is none.
func TestNoEpoch(t *testing.T) {
	f := newFeeder(t)
	f.check(seqBatch(1, -2, 0, 1), ErrInvalidProducerEpoch)
	f.append(seqBatch(1, -1, 7, 1))
	f.append(seqBatch(1, -1, 3, 1))
	f.check(seqBatch(1, -2, 0, 1), ErrInvalidProducerEpoch)
	f.append(seqBatch(1, 0, 9, 1))
	f.check(seqBatch(1, 0, 11, 1), ErrOutOfOrderSequence)
	f.check(seqBatch(1, 1, 5, 1), ErrOutOfOrderSequence)
}

func TestSequenceWraps(t *testing.T) {
	f := newFeeder(t)
	f.append(seqBatch(1, 0, math.MaxInt32-1, 1))
	f.append(seqBatch(1, 0, math.MaxInt32, 1))
	f.check(seqBatch(1, 0, 1, 1), ErrOutOfOrderSequence)
	f.append(seqBatch(1, 0, 0, 2))
	f.dup(seqBatch(1, 0, 0, 2), 2)

	g := newFeeder(t)
	g.append(seqBatch(1, 0, math.MaxInt32-1, 4)) // over the wrap inside one batch: ...646, ...647, 0, 1
	g.check(seqBatch(1, 0, 1, 1), ErrOutOfOrderSequence)
	g.dup(seqBatch(1, 0, math.MaxInt32-1, 4), 0)
	g.append(seqBatch(1, 0, 2, 1))
}

func TestStagedBatchesCountAtOnce(t *testing.T) {
	f := newFeeder(t)
	f.append(seqBatch(1, 0, 0, 1))
	a := seqBatch(1, 0, 1, 1)
	b := seqBatch(1, 0, 2, 1)
	pa, pb := f.stage(a), f.stage(b)
	f.dup(seqBatch(1, 0, 2, 1), 2) // of a batch that is not written yet
	f.check(seqBatch(1, 0, 4, 1), ErrOutOfOrderSequence)
	f.p.commit(pa, a)
	f.dup(seqBatch(1, 0, 2, 1), 2)
	f.p.commit(pb, b)
	f.append(seqBatch(1, 0, 3, 1))
}

func TestFailedWriteIsUndone(t *testing.T) {
	f := newFeeder(t)
	f.append(seqBatch(1, 0, 0, 1))
	x := f.stage(seqBatch(1, 0, 1, 1))
	y := f.stage(seqBatch(1, 1, 0, 1)) // even a new epoch
	z := f.stage(seqBatch(2, 0, 50, 1))
	for _, pr := range []*producer{x, y, z} {
		f.p.drop(pr)
	}
	f.next = 1
	f.check(seqBatch(1, 0, 2, 1), ErrOutOfOrderSequence)
	f.append(seqBatch(1, 0, 1, 1))
	f.append(seqBatch(2, 0, 0, 1)) // as unknown as before
	if len(f.p.byID) != 2 {
		t.Fatalf("%d producers remembered, want 2", len(f.p.byID))
	}
}

func TestProducersMax(t *testing.T) {
	f := &feeder{t: t, p: newProducers(2)}
	f.append(seqBatch(1, 0, 0, 1))
	f.append(seqBatch(2, 0, 0, 1))
	f.check(seqBatch(3, 0, 0, 1), ErrTooManyProducers)
	f.append(seqBatch(2, 0, 1, 1))
}

func TestProducersExpire(t *testing.T) {
	f := newFeeder(t)
	f.append(seqBatch(1, 0, 0, 1)) // time 1000
	held := f.stage(seqBatch(2, 0, 0, 1))
	if n := f.p.expire(1999, 1000); n != 0 {
		t.Fatalf("%d expired too early", n)
	}
	if n := f.p.expire(2000, 1000); n != 1 || f.p.byID[1] != nil {
		t.Fatalf("expired %d", n)
	}
	if held.pending != 1 || f.p.byID[2] == nil {
		t.Fatal("a producer with a batch on its way was forgotten")
	}
	f.append(seqBatch(1, 0, 17, 1)) // unknown again: any sequence
}

// TestSnapshotRoundTrip: what entries gives, Load takes back, and replay goes on from there.
func TestSnapshotRoundTrip(t *testing.T) {
	f := newFeeder(t)
	for i := range int32(8) {
		f.append(seqBatch(1, 0, i, 1))
	}
	f.append(seqBatch(2, 5, 100, 10))
	g := newFeeder(t)
	g.p.Load(f.p.entries(), f.next)
	g.next = f.next
	for i := int32(3); i < 8; i++ {
		g.dup(seqBatch(1, 0, i, 1), int64(i))
	}
	v := seqBatch(2, 5, 110, 1)
	v.SetBaseOffset(g.next)
	g.next++
	g.p.Replay(v)
	g.dup(seqBatch(2, 5, 110, 1), 18)
	g.append(seqBatch(2, 5, 111, 1))
}

func TestOpenTransactionAndMarker(t *testing.T) {
	p := newProducers(10)
	var b batch.Builder
	b.Reset(nil, 40, 0)
	b.SetProducer(1, 0, 0)
	b.SetAttributes(batch.Transactional)
	b.Add(1, nil, []byte("x"))
	v := b.Finish()
	v.SetBaseOffset(40)
	p.Replay(v)
	if p.firstOpen != 40 {
		t.Fatalf("first open transaction at %d, want 40", p.firstOpen)
	}
	if n := p.expire(1<<40, 1); n != 0 {
		t.Fatal("a producer with an open transaction expired")
	}
	m := batch.View(batch.AppendMarker(nil, batch.Marker{ProducerID: 1, ProducerEpoch: 0, Commit: true, CoordinatorEpoch: 3, Timestamp: 5}))
	m.SetBaseOffset(41)
	p.Replay(m)
	if p.firstOpen != noOffset || p.byID[1].now.CoordinatorEpoch != 3 {
		t.Fatalf("after the marker: open %d, coordinator epoch %d", p.firstOpen, p.byID[1].now.CoordinatorEpoch)
	}
	// The marker does not count in the sequence.
	if _, err := p.check(seqBatch(1, 0, 1, 1)); err != nil {
		t.Fatal(err)
	}
}
