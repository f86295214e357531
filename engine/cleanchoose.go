package engine

import (
	"math"

	"millrace/segment"
)

// choose looks for the log that is dirtiest, among those that are dirty enough or overdue. some tells that there are
// compacted partitions at all, so that it is worth to look again later.
func (c *cleaner) choose() (best *Partition, some bool) {
	byShard := map[*Shard][]*Partition{}
	nowMs := c.e.wallMs()
	for _, p := range c.e.list() {
		cfg := p.config.Load()
		if !cfg.Compact {
			continue
		}
		some = true
		if p.Err() != nil || p.uncleanable.Load() || p.cleaningNow.Load() || p.cleanAfterMs.Load() > nowMs || !p.mayBeDirty() {
			continue
		}
		byShard[p.shard] = append(byShard[p.shard], p)
	}
	top, topRatio, delay := 0.0, 0.0, int64(0)
	for s, parts := range byShard {
		for len(parts) > 0 {
			n := min(len(parts), 64) // a turn's worth
			for i, k := range s.cleanable(parts[:n], nowMs) {
				p := parts[i]
				over := p.overdue(&k, nowMs)
				k.Release()
				ratio := k.Ratio()
				top, delay = max(top, ratio), max(delay, over)
				if k.DirtyBytes == 0 || !(over > 0 || ratio > p.config.Load().MinCleanableRatio) {
					continue
				}
				if best == nil || ratio > topRatio {
					best, topRatio = p, ratio
				}
			}
			parts = parts[n:]
		}
	}
	c.maxRatio.Store(int64(math.Float64bits(top)))
	c.maxDelayMs.Store(delay)
	return best, some
}

// mayBeDirty is a cheap look without the owner: there is a sealed segment that was not cleaned.
func (p *Partition) mayBeDirty() bool {
	v := p.log.View()
	defer v.Release()
	return v.Segments() > 1 && v.ActiveBase() > p.cleanedTo.Load()
}

// cleanable asks the owner about some of its partitions.
func (s *Shard) cleanable(parts []*Partition, nowMs int64) []segment.Cleanable {
	out := make([]segment.Cleanable, len(parts))
	done := make(chan struct{})
	s.loop.PostFunc(func() {
		defer close(done)
		for i, p := range parts {
			if !p.closed && p.Err() == nil {
				out[i] = p.log.Cleanable(p.cleanLimits(nowMs))
			}
		}
	})
	<-done
	return out
}

// cleanLimits are those of the partition now. Owner only.
func (p *Partition) cleanLimits(nowMs int64) segment.CleanLimits {
	return segment.CleanLimits{Stable: p.pub.stable.Load(), MinLagMs: p.config.Load().MinCompactionLagMs, NowMs: nowMs}
}

// overdue says for how many ms the dirty part has been older than max.compaction.lag.ms. It may read.
func (p *Partition) overdue(k *segment.Cleanable, nowMs int64) int64 {
	lag := p.config.Load().MaxCompactionLagMs
	if lag <= 0 || lag == math.MaxInt64 || k.DirtyBytes == 0 {
		return 0
	}
	over, err := k.Overdue(nowMs, lag)
	if err != nil {
		return 0 // a cleaning will meet it and say so
	}
	return over
}
