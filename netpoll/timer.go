package netpoll

// tickNs is what timers are rounded up to, so that long polls that were asked for at about the same time expire together.
const tickNs = 1_000_000

// timerHeap is a binary heap of timers, soonest first. Owned by its loop.
type timerHeap struct{ h []*Timer }

// SetTimer sets or moves a timer. It fires once, at whenNs on the loop's clock or up to 1 ms later. Loop only.
func (l *Loop) SetTimer(t *Timer, whenNs int64) {
	whenNs = (whenNs + tickNs - 1) / tickNs * tickNs
	if t.index > 0 {
		t.When = whenNs
		l.timers.fix(t.index - 1)
		return
	}
	t.When = whenNs
	l.timers.h = append(l.timers.h, t)
	t.index = len(l.timers.h)
	l.timers.up(t.index - 1)
}

// StopTimer takes a timer back; a timer that is not set is left alone. Loop only.
func (l *Loop) StopTimer(t *Timer) {
	if t.index > 0 {
		l.timers.remove(t.index - 1)
	}
}

// Set tells whether the timer is waiting to fire.
func (t *Timer) Set() bool { return t.index > 0 }

func (q *timerHeap) remove(i int) {
	t := q.h[i]
	last := len(q.h) - 1
	q.swap(i, last)
	q.h[last] = nil
	q.h = q.h[:last]
	if i < last {
		q.fix(i)
	}
	t.index = 0
}

func (q *timerHeap) fix(i int) {
	if !q.down(i) {
		q.up(i)
	}
}

func (q *timerHeap) swap(i, j int) {
	q.h[i], q.h[j] = q.h[j], q.h[i]
	q.h[i].index, q.h[j].index = i+1, j+1
}

func (q *timerHeap) up(i int) {
	for i > 0 {
		p := (i - 1) / 2
		if q.h[p].When <= q.h[i].When {
			return
		}
		q.swap(i, p)
		i = p
	}
}

func (q *timerHeap) down(i int) bool {
	start := i
	for {
		c := 2*i + 1
		if c >= len(q.h) {
			break
		}
		if c+1 < len(q.h) && q.h[c+1].When < q.h[c].When {
			c++
		}
		if q.h[i].When <= q.h[c].When {
			break
		}
		q.swap(i, c)
		i = c
	}
	return i > start
}

// runTimers fires what is due and reports how many.
func (l *Loop) runTimers() int {
	n := 0
	for len(l.timers.h) > 0 && l.timers.h[0].When <= l.nowNs {
		t := l.timers.h[0]
		l.timers.remove(0)
		t.Fire.TimerFired(t, l.nowNs)
		n++
	}
	return n
}
