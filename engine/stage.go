package engine

import (
	"millrace/segment"
	"millrace/segment/batch"
)

// drain takes up what other goroutines pushed. Owner only.
func (p *Partition) drain() {
	p.drainWaiters()
	for a := p.takeQueue(); a != nil; {
		next := a.next
		a.next = nil
		if !p.stalled.empty() || !p.stage(a) {
			p.stalled.push(a)
		}
		a = next
	}
	p.shard.touch(p)
}

// restage tries again what had to wait for a write slot, a roll or a cut.
func (p *Partition) restage() {
	for !p.stalled.empty() {
		a := p.stalled.head
		next := a.next
		a.next = nil
		if !p.stage(a) {
			a.next = next
			return
		}
		p.stalled.head = next
		if next == nil {
			p.stalled.tail = nil
		}
	}
}

// stage judges one append and stages it, or completes it at once. False: it has to wait, nothing was changed.
func (p *Partition) stage(a *Append) bool {
	if err := p.admit(a); err != nil {
		p.refuse(a, err)
		return true
	}
	v := a.Batch
	idempotent := v.HasProducerID() && !v.Attributes().Control()
	if idempotent {
		dup, err := p.producers.check(v)
		if err != nil {
			p.refuse(a, err)
			return true
		}
		if dup != nil {
			p.duplicate(a, dup)
			return true
		}
	}
	base := p.log.End()
	v.SetBaseOffset(base)
	v.SetLeaderEpoch(p.pub.epoch.Load())
	if p.log.Stage(v) != segment.Staged {
		return false
	}
	a.BaseOffset, a.LastOffset = base, v.LastOffset()
	a.AppendTimeMs = -1
	if v.Attributes().LogAppendTime() {
		a.AppendTimeMs = v.MaxTimestamp()
	}
	a.end = a.LastOffset + 1
	p.cumStaged += int64(len(v))
	a.cum = p.cumStaged
	a.Duplicate, a.seq = false, nil
	if v.HasProducerID() {
		a.seq = p.producers.stage(v)
	}
	a.strict = p.isStrict(a)
	if a.strict && p.strictFrom == noOffset {
		p.strictFrom, p.strictCum = base, a.cum-int64(len(v))
	}
	p.unwritten.push(a)
	return true
}

// admit makes the checks that need no log.
func (p *Partition) admit(a *Append) error {
	if err := p.Err(); err != nil {
		return err
	}
	if p.draining {
		return ErrClosed
	}
	if p.full {
		return ErrStorageFull
	}
	epoch := p.pub.epoch.Load()
	switch {
	case epoch < 0:
		return ErrNotLeader
	case a.LeaderEpoch >= 0 && a.LeaderEpoch < epoch:
		return ErrFenced
	case a.LeaderEpoch > epoch:
		return ErrUnknownEpoch
	}
	v := a.Batch
	if len(v) < batch.HeaderSize || v.Size() != len(v) || v.LastOffsetDelta() < 0 {
		return ErrInvalidBatch
	}
	if int64(len(v)) > p.segmentBytes {
		return ErrBatchTooLarge
	}
	return nil
}

// isStrict says whether the batch counts as acks=all for the rule of decisions 2. Such a batch waits for the commit
// whatever it asked for, so that the first of them above the synced end is always at hand.
func (p *Partition) isStrict(a *Append) bool {
	if p.internal || a.Batch.Attributes().Control() {
		return true
	}
	return a.Need == NeedCommitted && !p.caching
}

// duplicate answers a batch that is there already; it waits for what its own acks names.
func (p *Partition) duplicate(a *Append, b *segment.ProducerBatch) {
	a.LastOffset = b.LastOffset
	a.BaseOffset = b.LastOffset - int64(b.OffsetDelta)
	a.AppendTimeMs = b.Timestamp
	a.Duplicate, a.strict, a.seq = true, false, nil
	a.end = b.LastOffset + 1
	a.cum = 0
	p.release(a)
	p.shard.st.duplicates.Inc()
	switch {
	case a.end > p.log.WrittenEnd():
		p.unwritten.push(a)
	case a.Need == NeedCommitted && a.end > p.pub.committed.Load():
		p.waiting.push(a)
	default:
		p.complete(a, nil)
	}
}

// release gives up the append's memory.
func (p *Partition) release(a *Append) {
	if r := a.Ref; r != nil {
		a.Ref = nil
		r.Release()
	}
}

// refuse ends an append of which nothing was staged.
func (p *Partition) refuse(a *Append, err error) {
	p.shard.st.refused.Inc()
	p.complete(a, err)
}

// complete ends an append.
func (p *Partition) complete(a *Append, err error) {
	p.release(a)
	a.Err = err
	a.LogStart = p.pub.logStart.Load()
	if err != nil {
		a.BaseOffset, a.LastOffset, a.AppendTimeMs, a.Duplicate = -1, -1, -1, false
	}
	a.seq = nil
	a.Done.AppendDone(a)
}
