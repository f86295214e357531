package netpoll

const (
	sweepMinNs = 1_000_000_000 // no sweep more often than this

	// While somebody waits for memory, a frame that is older than slowFrameNs must have come at slowFrameRate
	// bytes per second at least.
	slowFrameNs   = 5_000_000_000
	slowFrameRate = 16 << 10
)

// sweepBy has the connections looked at no later than when, or than sweepMinNs from now.
func (s *connSet) sweepBy(when int64) {
	when = max(when, s.loop.nowNs+sweepMinNs)
	if !s.sweep.Set() || s.sweep.When > when {
		s.loop.SetTimer(&s.sweep, when)
	}
}

// watch has a new connection looked at when it can be due. Without connections no timer is set.
func (s *connSet) watch(c *Conn) {
	idle, pre := c.timeouts()
	if pre > 0 {
		s.sweepBy(c.born + pre)
	}
	if idle > 0 {
		s.sweepBy(c.active + idle)
	}
}

// resweep looks afresh after the limits changed.
func (s *connSet) resweep() {
	s.loop.StopTimer(&s.sweep)
	if when := s.nextSweep(); when > 0 {
		s.sweepBy(when)
	}
}

// nextSweep is when the next connection can be due, 0 for never.
func (s *connSet) nextSweep() int64 {
	var when int64
	sooner := func(t int64) {
		if when == 0 || t < when {
			when = t
		}
	}
	if s.memory.head != nil {
		sooner(s.loop.nowNs + sweepMinNs)
	}
	for c := s.idleHead; c != nil; c = c.nextIdle {
		idle, pre := c.timeouts()
		if !c.first && pre > 0 {
			sooner(c.born + pre)
		}
		if idle > 0 {
			sooner(c.active + idle)
			if pre == 0 {
				break // the list is in order of activity
			}
		}
	}
	return when
}

// timeouts are the connection's idle and pre-request timeouts in nanoseconds, 0 for none.
func (c *Conn) timeouts() (idle, pre int64) {
	if c.grp == nil {
		return 0, 0
	}
	l := c.grp.limits.Load()
	return int64(l.IdleTimeout), int64(l.PreRequestTimeout)
}

// TimerFired closes what is due.
func (s *connSet) TimerFired(*Timer, int64) {
	now := s.loop.nowNs
	short := s.memory.head != nil && now-s.memory.since > sweepMinNs
	for c := s.idleHead; c != nil; {
		next := c.nextIdle
		idle, pre := c.timeouts()
		switch {
		case c.closed:
		case !c.first && pre > 0 && now-c.born >= pre && !c.busy:
			c.Close(ErrNoRequest)
		case idle > 0 && now-c.active >= idle && (!c.busy || c.outHead != nil) && !c.waiting:
			c.Close(ErrIdle)
		case short && c.buf != nil && !c.waiting && now-c.started > slowFrameNs &&
			int64(c.have) < (now-c.started)/1_000_000_000*slowFrameRate:
			c.Close(ErrSlowFrame)
		case idle > 0 && now-c.active >= idle:
			c.touch() // owes an answer or waits for memory: not idle
		}
		c = next
	}
	s.resweep()
}

// trimNs is how long memory must lie idle before it is given back to the system.
const trimNs = 10_000_000_000

// armTrim sets the timer that gives back idle memory, when there is going to be some.
func (s *connSet) armTrim() {
	if !s.trim.Set() {
		s.loop.SetTimer(&s.trim, s.loop.nowNs+trimNs)
	}
}

// trimmer gives idle memory back until nothing is left to give: an idle loop sets no timer.
type trimmer struct{ loop *Loop }

// TimerFired gives back what was not needed since the last time.
func (t trimmer) TimerFired(*Timer, int64) {
	if t.loop.pool.Trim() {
		t.loop.conns.armTrim()
	}
}
