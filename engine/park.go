package engine

// Wait parks a long poll. Any goroutine; never blocks, never allocates. The owner looks again on arrival, so that what
// was published between the caller's plan and now is not missed. WaiterWake comes exactly once, also for partitions
// that are offline or deleted. The caller keeps deadlines and bounds how many waiters it has.
func (p *Partition) Wait(w *Waiter) {
	w.part = p
	w.state.Store(waiterPosted)
	for {
		head := p.arrivals.Load()
		w.arriveNext = head
		if p.arrivals.CompareAndSwap(head, w) {
			break
		}
	}
	p.schedule()
}

// Cancel asks for a parked waiter back. True: WaiterWake will come with WakeCancelled. False: it was woken already and
// that WaiterWake is on its way or was made. Called by whoever called Wait, at most once per Wait.
func (w *Waiter) Cancel() bool {
	if !w.state.CompareAndSwap(waiterPosted, waiterCancelling) {
		return false
	}
	p := w.part
	for {
		head := p.cancels.Load()
		w.cancelNext = head
		if p.cancels.CompareAndSwap(head, w) {
			break
		}
	}
	p.schedule()
	return true
}

// drainWaiters takes up arrivals and cancels. Cancels are swapped out first: whoever is among them arrived before.
func (p *Partition) drainWaiters() {
	var cancels *Waiter
	if p.cancels.Load() != nil {
		cancels = p.cancels.Swap(nil)
	}
	if p.arrivals.Load() != nil {
		for w := p.arrivals.Swap(nil); w != nil; {
			next := w.arriveNext
			w.arriveNext = nil
			p.arrive(w)
			w = next
		}
	}
	for w := cancels; w != nil; {
		next := w.cancelNext
		w.cancelNext = nil
		if w.parked {
			p.unpark(w)
		}
		w.state.Store(waiterIdle)
		w.Reason = WakeCancelled
		w.Wake.WaiterWake(w)
		w = next
	}
}

func (p *Partition) arrive(w *Waiter) {
	if p.Err() != nil {
		p.finishWaiter(w, WakeGone)
		return
	}
	b := &p.pub
	if b.epoch.Load() != w.LeaderEpoch || b.logStart.Load() != w.LogStart {
		p.finishWaiter(w, WakeChanged)
		return
	}
	cum, known := p.marks[w.Isolation].cumAt(w.Bound)
	now := p.cumOf(w.Isolation)
	w.wakeAt = cum + max(w.Missing, 1)
	if !known || w.wakeAt <= now {
		p.finishWaiter(w, WakeData)
		return
	}
	p.parked[w.Isolation].add(w)
	p.shard.parkedCount++
}

func (p *Partition) unpark(w *Waiter) {
	p.parked[w.Isolation].remove(w)
	p.shard.parkedCount--
}

// finishWaiter tells the caller, unless a cancel is on its way that will.
func (p *Partition) finishWaiter(w *Waiter, r WakeReason) {
	if !w.state.CompareAndSwap(waiterPosted, waiterIdle) {
		return
	}
	w.Reason = r
	w.Wake.WaiterWake(w)
}

// wakeData wakes those whom the bytes below the isolation's bound satisfy now.
func (p *Partition) wakeData(i Isolation, cum int64) {
	l := &p.parked[i]
	if l.first == nil || cum < l.minAt {
		return
	}
	l.minAt = noOffset
	for w := l.first; w != nil; {
		next := w.next
		if w.wakeAt <= cum {
			p.unpark(w)
			p.finishWaiter(w, WakeData)
		} else {
			l.minAt = min(l.minAt, w.wakeAt)
		}
		w = next
	}
}

// wakeAll wakes everybody.
func (p *Partition) wakeAll(r WakeReason) {
	for i := range p.parked {
		for w := p.parked[i].first; w != nil; {
			next := w.next
			p.unpark(w)
			p.finishWaiter(w, r)
			w = next
		}
	}
}

// waiterList is a doubly linked list of parked waiters. minAt is a lower bound of their wakeAt. Owned by the loop.
type waiterList struct {
	first, last *Waiter
	minAt       int64
}

func (l *waiterList) add(w *Waiter) {
	if l.first == nil || w.wakeAt < l.minAt {
		l.minAt = w.wakeAt
	}
	w.parked = true
	w.prev, w.next = l.last, nil
	if l.last != nil {
		l.last.next = w
	} else {
		l.first = w
	}
	l.last = w
}

func (l *waiterList) remove(w *Waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.last = w.prev
	}
	w.prev, w.next, w.parked = nil, nil, false
}

// marks remembers how many bytes of the partition lay below the latest values of one bound, so that an arriving waiter
// which saw a slightly older one is counted exactly. Owned by the loop.
type marks struct {
	next int
	off  [16]int64
	cum  [16]int64
}

func (m *marks) reset(off, cum int64) {
	for i := range m.off {
		m.off[i], m.cum[i] = off, cum
	}
}

func (m *marks) add(off, cum int64) {
	m.off[m.next], m.cum[m.next] = off, cum
	m.next = (m.next + 1) % len(m.off)
}

func (m *marks) cumAt(off int64) (cum int64, ok bool) {
	for i := 1; i <= len(m.off); i++ {
		j := (m.next - i + len(m.off)) % len(m.off)
		if m.off[j] == off {
			return m.cum[j], true
		}
	}
	return 0, false
}
