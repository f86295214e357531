package kafka

import (
	"sync/atomic"

	"millrace/engine"
	"millrace/netpoll"
)

// waitSet holds the waiters of one long poll, one per partition. Waiters come back one by one on the loops of their
// owners, some of them after the request was answered; so the set outlives the request's interest in it and goes back
// to its loop's free list when the last waiter is back. Owned by the connection's loop but for the atomics.
type waitSet struct {
	fe    *Frontend
	ls    *loopState
	state *fetchState // nil once the request has gone on without the set
	items []waitItem
	out   atomic.Int32 // waiters that are parked, plus one while they are being posted
	woken atomic.Bool  // the request was told

	wake, reap netpoll.Task
	next       *waitSet
}

type waitItem struct {
	waiter engine.Waiter
	part   *engine.Partition
	set    *waitSet
}

// wakeTask and reapTask tell the two posts of a waitSet apart.
type (
	wakeTask waitSet
	reapTask waitSet
)

func (ls *loopState) newWaitSet(f *Frontend) *waitSet {
	w := ls.freeWaits
	if w == nil {
		w = &waitSet{fe: f, ls: ls}
		w.wake.Run, w.reap.Run = (*wakeTask)(w), (*reapTask)(w)
		return w
	}
	ls.freeWaits = w.next
	w.next = nil
	return w
}

// park waits until about missing more bytes can be read, something changes, or the deadline passes.
func (f *Frontend) park(s *fetchState, missing int) {
	ls := s.req.conn.ls
	w := ls.newWaitSet(f)
	w.state, s.waits = s, w
	ls.addParked(s)
	w.woken.Store(false)
	n := 0
	for i := range s.parts {
		if s.parts[i].part != nil {
			n++
		}
	}
	if cap(w.items) < n {
		w.items = make([]waitItem, 0, n)
	}
	w.items = w.items[:n]
	// If the sum reaches missing, some partition has its share of it (the set is parked again with the rest).
	share := int64(max(1, (missing+max(n, 1)-1)/max(n, 1)))
	w.out.Store(int32(n) + 1)
	s.req.cancel = s
	at := 0
	for i := range s.parts {
		p := &s.parts[i]
		if p.part == nil {
			continue
		}
		it := &w.items[at]
		at++
		it.set, it.part = w, p.part
		wt := &it.waiter
		wt.Bound, wt.LeaderEpoch, wt.LogStart = p.plan.Bounds.End(s.isolated), p.plan.Bounds.LeaderEpoch, p.plan.Bounds.LogStart
		wt.Missing, wt.Isolation, wt.Wake = share, s.isolated, it
		p.part.Wait(wt)
	}
	if !s.timing {
		s.timing = true
		ls.loop.SetTimer(&s.timer, s.waitNs)
	}
	w.release()
}

// WaiterWake implements engine.WaiterCompleter, on the loop that owns the partition.
func (it *waitItem) WaiterWake(wt *engine.Waiter) {
	w := it.set
	if wt.Reason != engine.WakeCancelled && w.woken.CompareAndSwap(false, true) {
		w.ls.loop.Post(&w.wake)
	}
	w.release() // after the post: whoever brings the count to zero comes behind it
}

func (w *waitSet) release() {
	if w.out.Add(-1) == 0 {
		w.ls.loop.Post(&w.reap)
	}
}

// RunTask implements netpoll.Runner: a waiter was woken.
func (t *wakeTask) RunTask(*netpoll.Task) {
	w := (*waitSet)(t)
	if s := w.state; s != nil {
		s.leaveWaits()
		w.fe.step(s)
	}
}

// RunTask implements netpoll.Runner: all waiters are back.
func (t *reapTask) RunTask(*netpoll.Task) {
	w := (*waitSet)(t)
	if w.state != nil {
		// All came back cancelled though nobody left them: the engine closes. The deadline ends the poll.
		s := w.state
		s.waits, w.state, s.orphaned = nil, nil, true
		w.ls.removeParked(s)
	}
	for i := range w.items {
		w.items[i].part = nil
	}
	w.next = w.ls.freeWaits
	w.ls.freeWaits = w
}

// addParked and removeParked keep the list of the loop's parked fetches, so that a stop can answer them.
func (ls *loopState) addParked(s *fetchState) {
	if s.isParked {
		return
	}
	s.isParked = true
	s.parkedPrev, s.parkedNext = nil, ls.parked
	if ls.parked != nil {
		ls.parked.parkedPrev = s
	}
	ls.parked = s
}

func (ls *loopState) removeParked(s *fetchState) {
	if !s.isParked {
		return
	}
	s.isParked = false
	if s.parkedPrev != nil {
		s.parkedPrev.parkedNext = s.parkedNext
	} else {
		ls.parked = s.parkedNext
	}
	if s.parkedNext != nil {
		s.parkedNext.parkedPrev = s.parkedPrev
	}
	s.parkedPrev, s.parkedNext = nil, nil
}

// leaveWaits parts the request from its waiters; those still parked come back by themselves.
func (s *fetchState) leaveWaits() {
	w := s.waits
	if w == nil {
		return
	}
	s.waits, w.state = nil, nil
	s.req.conn.ls.removeParked(s)
	s.req.cancel = nil
	w.woken.Store(true)
	for i := range w.items {
		w.items[i].waiter.Cancel()
	}
}

// TimerFired implements netpoll.TimerHandler: the deadline of a long poll.
func (s *fetchState) TimerFired(*netpoll.Timer, int64) {
	s.timing = false
	if s.waits == nil && !s.orphaned {
		return // a worker plans; it looks at the clock when it is back
	}
	s.orphaned = false
	s.leaveWaits()
	s.req.conn.fe.step(s)
}

// cancelled implements canceller: the connection of a parked fetch is gone.
func (s *fetchState) cancelled(r *request) {
	s.leaveWaits()
	s.stopTimer()
	s.clear()
	r.finish(nil)
}

func (s *fetchState) stopTimer() {
	if s.timing {
		s.timing = false
		s.req.conn.ls.loop.StopTimer(&s.timer)
	}
}
