package engine

import (
	"errors"

	"millrace/segment"
)

var errBusy = errors.New("engine: a checkpoint is under way")

// options is the part of a configuration that the log acts on.
func (c *PartitionConfig) options() segment.Options {
	o := segment.Options{
		SegmentBytes: c.SegmentBytes, SegmentMs: c.SegmentMs, SegmentJitterMs: c.SegmentJitterMs,
		IndexBytes: c.SegmentIndexBytes, IndexIntervalBytes: c.IndexIntervalBytes,
		RetentionMs: c.RetentionMs, RetentionBytes: c.RetentionBytes, DeleteByRetention: c.Delete,
		FileDeleteDelayMs: c.FileDeleteDelayMs, Preallocate: c.Preallocate,
	}
	if c.Compact && c.MaxCompactionLagMs > 0 {
		o.SegmentMs = min(o.SegmentMs, c.MaxCompactionLagMs) // as Kafka: a record must get out of the active segment in time
	}
	o.EnsureDefaults()
	return o
}

// segmentOptions adds what is the engine's own.
func (e *Engine) segmentOptions(c *PartitionConfig) segment.Options {
	o := c.options()
	o.AheadMax = max(e.opts.AllocateAheadMax, 0)
	return o
}

// applyConfig puts the configuration in force. Owner only.
func (p *Partition) applyConfig() {
	o := p.applyConfigFields()
	if p.closed || p.Err() != nil {
		return
	}
	p.log.SetOptions(o)
	if p.config.Load().Compact {
		p.eng.cleaner.wake()
	} else {
		p.abortClean()
	}
	if p.unsyncedCounted > 0 {
		p.shard.armSync(p.unsyncedSince + p.ageMaxNs())
	}
	p.shard.touch(p)
}

// applyConfigFields takes over what staging looks at. Owner only, or before the partition is shared.
func (p *Partition) applyConfigFields() segment.Options {
	c := p.config.Load()
	o := c.options()
	p.segmentBytes = o.SegmentBytes
	p.flushMessages, p.flushMs = c.FlushMessages, c.FlushMs
	if p.flushMessages <= 0 {
		p.flushMessages = noOffset
	}
	if p.flushMs <= 0 {
		p.flushMs = noOffset / 1e7
	}
	p.flushMs = min(p.flushMs, noOffset/1e7)
	p.internal, p.caching = c.Internal, c.WriteCaching && !c.Internal
	return o
}

// setLeader is SetLeader.
func (p *Partition) setLeader(epoch int32) error {
	if err := p.Err(); err != nil {
		return err
	}
	now := p.pub.epoch.Load()
	switch {
	case epoch == now:
		return nil
	case epoch >= 0 && (epoch < now || epoch < p.lastEpoch):
		return ErrFenced
	}
	if epoch >= 0 {
		p.lastEpoch = epoch
		p.log.AssignEpoch(epoch)
	}
	p.pub.epoch.Store(epoch)
	p.wakeAll(WakeChanged)
	p.shard.touch(p)
	return nil
}

// deletion is one DeleteRecords under way.
type deletion struct {
	offset int64
	done   func(int64, error)
}

// deleteRecords is DeleteRecords: sync up to the new start, sync the log-start file, answer, then rename segments
// away (decisions 11).
func (p *Partition) deleteRecords(offset int64, done func(int64, error)) {
	committed := p.pub.committed.Load()
	if offset == -1 {
		offset = committed
	}
	switch {
	case p.Err() != nil:
		done(-1, p.Err())
		return
	case offset < 0 || offset > committed:
		done(-1, ErrOutOfRange)
		return
	case offset <= p.pub.logStart.Load():
		done(p.pub.logStart.Load(), nil)
		return
	}
	p.deletions = append(p.deletions, deletion{offset, done})
	p.syncTo = max(p.syncTo, offset)
	p.deletesSynced()
	p.shard.touch(p)
}

// deletesSynced goes on with the deletions that the synced end has reached.
func (p *Partition) deletesSynced() {
	if len(p.deletions) == 0 || p.deleting || p.Err() != nil {
		return
	}
	synced := p.log.SyncedEnd()
	var run, rest []deletion
	start := int64(0)
	for _, d := range p.deletions {
		if d.offset <= synced {
			run = append(run, d)
			start = max(start, d.offset)
		} else {
			rest = append(rest, d)
		}
	}
	if len(run) == 0 {
		return
	}
	p.deletions, p.deleting = rest, true
	p.startWanted.Store(max(start, p.startWanted.Load()))
	var err error
	p.shard.loop.Offload(func() { err = p.dir.writeLogStarts() }, func() { p.startsWritten(run, start, err) })
}

// startsWritten moves the log start once it is durable.
func (p *Partition) startsWritten(run []deletion, start int64, err error) {
	p.deleting = false
	if err != nil {
		p.dir.fileFailed(segment.LogStartFile, err)
		if noSpace(err) {
			err = ErrStorageFull
		} else {
			err = ErrOffline
		}
	}
	if err == nil {
		err = p.Err()
	}
	if err == nil {
		p.log.SetStart(start)
		p.startMoved()
	}
	for _, d := range run {
		if err != nil {
			d.done(-1, err)
		} else {
			d.done(p.pub.logStart.Load(), nil)
		}
	}
	if err == nil {
		if !p.held {
			p.retain()
		}
		p.deletesSynced()
	}
	p.shard.touch(p)
}

func (p *Partition) failDeletes(err error) {
	ended := p.deletions
	p.deletions = nil
	for _, d := range ended {
		d.done(-1, err)
	}
}

// startMoved publishes a higher log start.
func (p *Partition) startMoved() {
	if start := p.log.Start(); start > p.pub.logStart.Load() {
		p.pub.logStart.Store(start)
		p.wakeAll(WakeChanged)
	}
}

// retain gives up the segments that retention or the log start no longer keep.
func (p *Partition) retain() {
	if p.closed || p.Err() != nil {
		return
	}
	r := p.log.Retention(p.eng.wallMs(), p.pub.committed.Load())
	n := r.ByStart + r.ByTime + r.BySize
	p.shard.st.deleted.Add(int64(n))
	p.shard.st.deletedBytes.Add(r.Bytes)
	p.startMoved()
	p.noteUnsynced()
	p.retainAgain = r.Roll
	if n > 0 || r.Roll {
		p.shard.touch(p)
	}
}
