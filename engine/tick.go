package engine

import "millrace/netpoll"

// tickTimer is the slow clock of a shard: retention, delayed removals, expiry of producers.
type tickTimer struct{ s *Shard }

// tickMsMax is the longest time between two ticks, so that removals do not lag far behind their delay.
const tickMsMax = 30_000

func (s *Shard) tickMs() int64 { return min(tickMsMax, s.eng.opts.RetentionCheckMs) }

func (s *Shard) armTick() {
	if !s.closed {
		s.loop.SetTimer(&s.tickTimer, s.loop.NowNs()+s.tickMs()*1e6)
	}
}

// TimerFired looks after all partitions of the shard.
func (t tickTimer) TimerFired(_ *netpoll.Timer, nowNs int64) {
	s := t.s
	retain := nowNs-s.retainedNs >= s.eng.opts.RetentionCheckMs*1e6
	if retain {
		s.retainedNs = nowNs
	}
	wallMs := s.eng.wallMs()
	for p := range s.parts {
		if p.closed || p.Err() != nil {
			continue
		}
		p.log.Tick(wallMs)
		if retain {
			p.retain()
			p.producers.expire(wallMs, s.eng.opts.ProducerExpiryMs)
		}
		s.touch(p)
	}
	s.armTick()
}
