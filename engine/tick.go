package engine

import "millrace/netpoll"

// tickTimer is the slow clock of a shard: retention, delayed removals, expiry of producers.
type tickTimer struct{ s *Shard }

// tickMsMax is the longest time between two ticks, so that removals do not lag far behind their delay.
const tickMsMax = 30_000

func (s *Shard) tickMs() int64 {
	ms := min(tickMsMax, s.eng.opts.RetentionCheckMs, s.expiryCheckMs())
	if s.retainedNs == 0 {
		ms = min(ms, s.initialDelayMs())
	}
	return ms
}

func (s *Shard) expiryCheckMs() int64 {
	if ms := s.eng.opts.ProducerExpiryCheckMs; ms > 0 {
		return ms
	}
	return s.eng.opts.RetentionCheckMs
}

func (s *Shard) initialDelayMs() int64 {
	if ms := s.eng.opts.InitialTaskDelayMs; ms > 0 {
		return ms
	}
	return min(tickMsMax, s.eng.opts.RetentionCheckMs)
}

// due tells whether a task is to be done that was done last at lastNs (0: never).
func (s *Shard) due(nowNs, lastNs, intervalMs int64) bool {
	if lastNs == 0 {
		return nowNs-s.startNs >= s.initialDelayMs()*1e6
	}
	return nowNs-lastNs >= intervalMs*1e6
}

func (s *Shard) armTick() {
	if !s.closed {
		if s.startNs == 0 {
			s.startNs = s.loop.NowNs()
		}
		s.loop.SetTimer(&s.tickTimer, s.loop.NowNs()+s.tickMs()*1e6)
	}
}

// TimerFired looks after all partitions of the shard.
func (t tickTimer) TimerFired(_ *netpoll.Timer, nowNs int64) {
	s := t.s
	wallMs := s.eng.wallMs()
	steady := s.clockSteady(wallMs, nowNs)
	retain := steady && s.due(nowNs, s.retainedNs, s.eng.opts.RetentionCheckMs)
	if retain {
		s.retainedNs = nowNs
	}
	expire := steady && s.due(nowNs, s.expiredNs, s.expiryCheckMs())
	if expire {
		s.expiredNs = nowNs
	}
	for p := range s.parts {
		if p.closed || p.Err() != nil {
			continue
		}
		p.log.GiveBackIdle()
		p.log.Tick(wallMs)
		if retain && !p.held {
			p.retain()
		}
		if expire {
			p.producers.expire(wallMs, s.eng.producerExpiryMs.Load())
		}
		s.touch(p)
	}
	s.armTick()
}

// stepMsMax is how far the wall clock may run off the monotonic one between two ticks.
const stepMsMax = 60_000

// clockSteady is false after the wall clock was stepped: what is deleted by time waits for the next tick, whose reading
// has to agree with this one.
func (s *Shard) clockSteady(wallMs, nowNs int64) bool {
	step := (wallMs - s.tickWallMs) - (nowNs-s.tickNowNs)/1e6
	first := s.tickNowNs == 0
	s.tickWallMs, s.tickNowNs = wallMs, nowNs
	return first || step <= stepMsMax && step >= -stepMsMax
}
