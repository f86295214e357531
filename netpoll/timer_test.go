package netpoll

import (
	"math/rand"
	"slices"
	"testing"
)

type recorder struct{ l *[]int64 }

func (r recorder) TimerFired(t *Timer, _ int64) { *r.l = append(*r.l, t.When) }

// TestTimerHeap compares the heap with a sorted list under random sets, moves and stops.
func TestTimerHeap(t *testing.T) {
	rnd := rand.New(rand.NewSource(3))
	for round := range 50 {
		l := &Loop{}
		var fired []int64
		ts := make([]*Timer, 1+rnd.Intn(200))
		for i := range ts {
			ts[i] = &Timer{Fire: recorder{&fired}}
		}
		for range 1000 {
			tm := ts[rnd.Intn(len(ts))]
			if rnd.Intn(3) == 0 {
				l.StopTimer(tm)
			} else {
				l.SetTimer(tm, rnd.Int63n(1000)*tickNs/2)
			}
		}
		var want []int64
		for _, tm := range ts {
			if tm.Set() {
				want = append(want, tm.When)
			}
		}
		slices.Sort(want)
		l.nowNs = 400 * tickNs
		l.runTimers()
		for i, w := range fired {
			if w > l.nowNs || i >= len(want) || want[i] != w {
				t.Fatalf("round %d: timer %d fired for %d, due was %v", round, i, w, want[:min(len(want), i+1)])
			}
		}
		if n := len(fired); n < len(want) && want[n] <= l.nowNs {
			t.Fatalf("round %d: a due timer did not fire", round)
		}
		l.nowNs = 1 << 62
		l.runTimers()
		if !slices.Equal(fired, want) || len(l.timers.h) != 0 {
			t.Fatalf("round %d: %d of %d fired", round, len(fired), len(want))
		}
	}
}
