package netpoll

// spinState decides whether looking for events before sleeping pays. Owned by its loop.
//
// Looking is worth while as long as it finds something (credit above 0). Sleeps that ended so soon that looking might have found the
// event earn a new trial; trials that fail make the next one dearer, since where loop and peer share a processor
// looking keeps the very event away.
type spinState struct {
	credit int // failures that are still allowed
	quick  int // short sleeps since the last failure
	price  int // short sleeps that a trial costs, less one
}

const (
	spinCreditMax = 8
	spinPriceMax  = 1023
	// spinClock: the clock is read every so many looks.
	spinClock = 16
)

// hit: looking found something.
func (s *spinState) hit() {
	s.credit = min(s.credit+1, spinCreditMax)
	s.price /= 2
}

// missed: looking found nothing.
func (s *spinState) missed() {
	if s.credit--; s.credit == 0 {
		s.price = min(2*s.price+1, spinPriceMax)
		s.quick = 0
	}
}

// slept: a sleep ended, soon or late.
func (s *spinState) slept(soon bool) {
	if !soon {
		return
	}
	if s.quick++; s.quick > s.price {
		s.quick, s.credit = 0, 1
	}
}

// turn is one round: wait, completions, mailbox, timers, resumed connections, hooks, flush, closed connections.
// What is started in it is submitted by the next wait. What the hooks wrote on this thread has ended by then: it is taken up
// at once, so that a request is received, written and answered in one turn.
func (l *Loop) turn(waitNs int64) error {
	n, err := l.wait(waitNs)
	if err != nil {
		return err
	}
	l.st.turns.Inc()
	n += l.runMail()
	n += l.runTimers()
	l.st.events += int64(n)
	l.conns.resumeAll()
	again := l.runHooks()
	if k := l.drv.Deliver(); k > 0 { // once: what the second round writes ends in the next turn, so that a turn is bounded
		l.st.events += int64(k + l.runMail())
		again = l.runHooks() // they tell what is left now
	}
	l.conns.flushDirty()
	l.conns.reap()
	l.again = again || l.early || l.conns.dirtyHead != nil || l.conns.resumeHead != nil || l.conns.dying != nil
	l.early = false
	return nil
}

// runHooks runs the turn-end hooks; they may run more than once in a turn.
func (l *Loop) runHooks() (again bool) {
	l.fresh = 0
	for _, h := range l.hooks {
		if h.TurnEnd() {
			again = true
		}
	}
	return again
}

// freshMax is how many received bytes may wait for the hooks, so that many connections with bulk requests do not pile up a
// turn that has left the processor's caches before its first byte is written. Below that larger writes are the cheaper ones
// (docs/adr/0003).
const freshMax = 4 << 20

// received counts the bytes of a delivered frame, and runs the hooks early when enough of them wait. It is called
// behind a handler, never inside one.
func (l *Loop) received(n int) {
	if l.fresh += n; l.fresh >= freshMax {
		l.early = l.runHooks() || l.early
	}
}

// runMail runs what was posted before it began.
func (l *Loop) runMail() (n int) {
	for t := l.mail.drain(); t != nil; n++ {
		next := t.next
		t.next = nil
		t.Run.RunTask(t)
		t = next
	}
	return n
}

// wait delivers the driver's events: without sleeping when there is other work, else it looks for a while if
// that paid off lately, and then sleeps until an event, a post or the next timer, at most waitNs if that is not negative.
func (l *Loop) wait(waitNs int64) (int, error) {
	if l.again || waitNs == 0 || !l.mail.empty() || l.stopped.Load() {
		n, err := l.drv.Wait(0)
		l.tick()
		return n, err
	}
	limit := waitNs
	if len(l.timers.h) > 0 {
		l.tick()
		until := l.timers.h[0].When - l.nowNs
		if until <= 0 {
			n, err := l.drv.Wait(0)
			l.tick()
			return n, err
		}
		if limit < 0 || until < limit {
			limit = until
		}
	}
	if l.spin.credit > 0 && l.opts.SpinUs > 0 {
		n, hit, err := l.look(limit)
		if hit || err != nil {
			l.tick()
			return n, err
		}
	}
	return l.sleep(limit)
}

// look polls for up to SpinUs. It does not yield: a yield of a goroutine that is locked to its thread costs two
// thread switches (8 us, measured), more than what looking saves, and the runtime preempts a thread that runs on
// anyway. GOMAXPROCS must leave processors for the collector (loops + 2).
func (l *Loop) look(limit int64) (n int, hit bool, err error) {
	l.st.spins.Inc()
	start := l.ClockNs()
	most := min(int64(l.opts.SpinUs)*1000, limit&(1<<63-1))
	for i := 1; ; i++ {
		n, err = l.drv.Wait(0)
		if n > 0 || err != nil || !l.mail.empty() {
			l.st.spinHits.Inc()
			l.spin.hit()
			return n, true, err
		}
		if i%spinClock == 0 {
			if l.ClockNs()-start > most {
				l.spin.missed()
				return 0, false, nil
			}
		}
	}
}

// sleep waits in the kernel. A post that comes after the flag was set ends it: set the flag, look again, wait.
func (l *Loop) sleep(limit int64) (int, error) {
	start := l.ClockNs()
	l.sleeping.Store(true)
	if !l.mail.empty() || l.stopped.Load() {
		limit = 0
	}
	n, err := l.drv.Wait(limit)
	l.sleeping.Store(false)
	l.st.sleeps.Inc()
	l.tick()
	if limit != 0 {
		l.spin.slept(l.nowNs-start < 2*int64(l.opts.SpinUs)*1000)
	}
	return n, err
}

// wake ends a sleep. Any goroutine; the lock keeps the driver from being closed underneath.
func (l *Loop) wake() {
	l.wakeMu.Lock()
	if !l.wakeOff {
		l.drv.Wake()
	}
	l.wakeMu.Unlock()
}

// close ends all connections and waits for what is in flight, so that no buffer is freed under the kernel.
func (l *Loop) close() {
	if l.drv == nil || l.wakeOff {
		return
	}
	l.stopped.Store(true)
	for _, ln := range l.conns.listeners {
		ln.close()
	}
	l.conns.closeAll(nil, ErrShutdown)
	l.conns.reap()
	for l.conns.socks > 0 || l.inFlight > 0 {
		if _, err := l.drv.Wait(1_000_000); err != nil {
			l.log.Error("a loop could not end its operations", "loop", l.opts.Name, "err", err)
			return // the driver stays open: the kernel may still use its memory
		}
		l.tick()
		l.runMail()
		l.runTimers()
		l.conns.flushDirty()
		l.conns.reap()
	}
	l.work.close()
	l.wakeMu.Lock()
	l.wakeOff = true
	l.wakeMu.Unlock()
	if err := l.drv.Close(); err != nil {
		l.log.Warn("closing a driver", "loop", l.opts.Name, "err", err)
	}
}
