package group

import "container/heap"

// timer is a deadline of a group or member, owned by its coordinator. The zero value with fire set is ready.
type timer struct {
	group *Group // nil for a timer of the coordinator itself, which waits for nothing
	// fire runs when the timer is due, as an event of its group: it waits while the group's records are being written,
	// and does not run if the timer was stopped or set anew meanwhile.
	fire func()

	when  int64 // where it stands in the heap, ms on the monotonic clock
	want  int64 // when it is due; later than when if it was put off
	index int   // place in the heap + 1; 0: not in it
	armed bool
}

// timers is a heap of timers, soonest first. Putting one off costs nothing until its old time comes: heartbeats, which do
// little else, never move anything in the heap.
type timers []*timer

// set arms t for the given time, ms on the monotonic clock.
func (c *Coordinator) set(t *timer, when int64) {
	t.want, t.armed = when, true
	switch {
	case t.index == 0:
		t.when = when
		heap.Push(&c.timers, t)
	case when < t.when:
		t.when = when
		heap.Fix(&c.timers, t.index-1)
	}
}

// after arms t for ms from now.
func (c *Coordinator) after(t *timer, ms int64) { c.set(t, c.now.Mono+ms) }

// stop disarms t.
func (c *Coordinator) stop(t *timer) {
	t.armed = false
	if t.index > 0 {
		heap.Remove(&c.timers, t.index-1)
	}
}

// runTimers makes events of the timers that are due.
func (c *Coordinator) runTimers() {
	for len(c.timers) > 0 && c.timers[0].when <= c.now.Mono {
		t := c.timers[0]
		if t.want > t.when {
			t.when = t.want
			heap.Fix(&c.timers, 0)
			continue
		}
		heap.Pop(&c.timers)
		due := t.want
		if t.group == nil {
			t.armed = false
			t.fire()
			continue
		}
		c.event(t.group, func() {
			if t.armed && t.index == 0 && t.want == due {
				t.armed = false
				t.fire()
			}
		})
	}
}

func (q timers) Len() int           { return len(q) }
func (q timers) Less(i, j int) bool { return q[i].when < q[j].when }
func (q timers) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i+1, j+1
}

// Push implements heap.Interface.
func (q *timers) Push(x any) {
	t := x.(*timer)
	*q = append(*q, t)
	t.index = len(*q)
}

// Pop implements heap.Interface.
func (q *timers) Pop() any {
	old := *q
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	t.index = 0
	return t
}
