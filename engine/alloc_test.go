package engine

import (
	"context"
	"testing"
	"time"

	"millrace/netpoll"
	"millrace/netpoll/epoll"
	"millrace/segment/batch"
)

// stepped is an engine on real files whose only loop is driven by the test, turn by turn.
type stepped struct {
	t    testing.TB
	loop *netpoll.Loop
	e    *Engine
	p    *Partition
}

func newStepped(t testing.TB) *stepped {
	loop, err := netpoll.NewLoop(netpoll.LoopOptions{Driver: epoll.Factory(), SpinUs: -1, Log: quietLog()})
	if err != nil {
		t.Fatal(err)
	}
	o := testOptions(nil)
	o.Dirs, o.Loops = []string{t.TempDir()}, []*netpoll.Loop{loop}
	e, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &stepped{t: t, loop: loop, e: e}
	if _, err := e.Load(context.Background()); err != nil {
		t.Fatal(err)
	}
	s.do(func() { s.p, err = e.Ensure(context.Background(), "a", 0) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.do(func() { err = e.Close(context.Background()) })
		if err != nil {
			t.Error(err)
		}
		loop.Close()
	})
	return s
}

// do runs fn on another goroutine while the loop turns.
func (s *stepped) do(fn func()) {
	done := make(chan struct{})
	go func() {
		fn()
		close(done)
	}()
	for {
		select {
		case <-done:
			return
		default:
			s.loop.Step(time.Millisecond)
		}
	}
}

// tally counts completions on the loop.
type tally struct{ n int }

func (c *tally) AppendDone(*Append) { c.n++ }

func (s *stepped) appends(need Need, batches []batch.View, as []Append, c *tally) func() {
	seq := int32(0)
	return func() {
		c.n = 0
		for i := range as {
			as[i] = Append{Batch: batches[i], Need: need, LeaderEpoch: -1, Done: c}
			if batches[i].HasProducerID() {
				batches[i].SetBaseOffset(0)
				setSequence(batches[i], seq)
				seq++
			}
			s.p.Push(&as[i])
		}
		for c.n < len(as) {
			s.loop.Step(time.Millisecond)
		}
	}
}

// setSequence rewrites the base sequence; the engine does not look at the CRC.
func setSequence(v batch.View, seq int32) {
	v[53], v[54], v[55], v[56] = byte(seq>>24), byte(seq>>16), byte(seq>>8), byte(seq)
}

func TestNoAllocationPerAppend(t *testing.T) {
	s := newStepped(t)
	for _, need := range []Need{NeedWritten, NeedCommitted} {
		for _, idempotent := range []bool{false, true} {
			batches := make([]batch.View, 8)
			for i := range batches {
				batches[i] = mkBatch("a value of some length")
				if idempotent {
					batches[i] = idBatch(1+int64(need), 0, 0, "a value of some length")
				}
			}
			as := make([]Append, len(batches))
			run := s.appends(need, batches, as, &tally{})
			for range 200 {
				run() // let pools, lists and index pages grow
			}
			if n := testing.AllocsPerRun(200, run); n > 0 {
				t.Errorf("need %d, idempotent %v: %.1f allocations for %d appends", need, idempotent, n, len(as))
			}
		}
	}
}

func TestNoAllocationPerPlan(t *testing.T) {
	s := newStepped(t)
	run := s.appends(NeedWritten, []batch.View{mkBatch("x")}, make([]Append, 1), &tally{})
	for range 100 {
		run()
	}
	var plan FetchPlan
	offset := int64(0)
	n := testing.AllocsPerRun(500, func() {
		if err := s.p.Plan(&plan, offset%100, 500, ReadCommitted, true); err != nil || plan.Range.Len == 0 {
			t.Fatalf("plan at %d: %v, %+v", offset%100, err, plan)
		}
		plan.Ref.Release()
		offset++
	})
	if n > 0 {
		t.Errorf("%.1f allocations per plan", n)
	}
}

func TestNoAllocationPerWait(t *testing.T) {
	s := newStepped(t)
	w := &poll{}
	n := testing.AllocsPerRun(200, func() {
		b := s.p.Bounds()
		w.Waiter = Waiter{Bound: b.Committed, Missing: 1, LeaderEpoch: b.LeaderEpoch, LogStart: b.LogStart, Wake: noWake{}}
		s.p.Wait(&w.Waiter)
		s.loop.Step(0)
		w.Cancel()
		s.loop.Step(0)
	})
	if n > 0 {
		t.Errorf("%.1f allocations per wait", n)
	}
}

type noWake struct{}

func (noWake) WaiterWake(*Waiter) {}

func BenchmarkAppendWritten(b *testing.B) {
	s := newStepped(b)
	batches := make([]batch.View, 16)
	for i := range batches {
		batches[i] = mkBatch(string(make([]byte, 1000)))
	}
	run := s.appends(NeedWritten, batches, make([]Append, 16), &tally{})
	b.ReportAllocs()
	b.SetBytes(int64(16 * len(batches[0])))
	for b.Loop() {
		run()
	}
}
