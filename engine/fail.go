package engine

import (
	"errors"
	"fmt"
	"io"
	"syscall"

	"millrace/netpoll"
	"millrace/segment"
)

// What goes wrong on disk (decisions 5): no space or quota is lived with, anything else and any failed sync takes the log
// directory away until a restart.

// noSpace tells the errors that pass when somebody makes room.
func noSpace(err error) bool {
	return segment.IsNoSpace(err) || errors.Is(err, syscall.EFBIG)
}

// writeFailed takes up a failed write: the log has forgotten all that was staged.
func (p *Partition) writeFailed(err error) {
	p.shard.st.writeErrors.Inc()
	if err == nil {
		err = io.ErrShortWrite
	}
	if p.Err() == nil && noSpace(err) {
		p.setFull(err)
		p.failUnwritten(ErrStorageFull)
		return
	}
	if p.Err() == nil {
		p.dir.fail(fmt.Errorf("write to %s: %w", p.String(), err))
	}
	p.offline()
}

// failUnwritten ends all appends whose write has not returned and will not count; their producer state is undone.
func (p *Partition) failUnwritten(err error) {
	written := p.pub.written.Load()
	failed := p.unwritten.take()
	for a := failed.pop(); a != nil; a = failed.pop() {
		if a.Duplicate && a.end <= written { // of a batch that was written meanwhile
			switch {
			case a.Need != NeedCommitted || a.end <= p.pub.committed.Load():
				p.complete(a, nil)
			case p.Err() != nil:
				p.complete(a, err)
			default:
				p.waiting.push(a)
			}
			continue
		}
		if a.seq != nil {
			p.producers.drop(a.seq)
		}
		p.complete(a, err)
	}
	p.cumStaged = p.cumWritten
	p.strictFrom = -1
	p.findStrict(p.log.SyncedEnd())
}

// setFull refuses appends until a probe finds space.
func (p *Partition) setFull(err error) {
	if p.full {
		return
	}
	p.full = true
	s := p.shard
	s.st.full.Add(1)
	s.eng.log.Error("no space: appends are refused until there is some", "partition", p.String(), "dir", p.dir.path, "err", err)
	p.restage() // refuses what waits
	if !s.probeTimer.Set() {
		s.loop.SetTimer(&s.probeTimer, s.loop.NowNs()+s.eng.opts.SpaceProbeMs*1e6)
	}
}

type probeTimer struct{ s *Shard }

// TimerFired looks whether the disks of full partitions take bytes again.
func (t probeTimer) TimerFired(*netpoll.Timer, int64) {
	s := t.s
	probing := map[*logDir]bool{}
	for p := range s.parts {
		if p.full && p.Err() == nil {
			probing[p.dir] = true
		}
	}
	for d := range probing {
		var err error
		s.loop.Offload(func() { err = d.probe(s.loop.Index()) }, func() { s.probed(d, err) })
	}
}

func (s *Shard) probed(d *logDir, err error) {
	again := false
	for p := range s.parts {
		if p.dir != d || !p.full {
			continue
		}
		if err != nil {
			again = again || p.Err() == nil
			continue
		}
		p.full = false
		s.st.full.Add(-1)
		if p.Err() == nil && !p.closed {
			p.log.Tick(s.eng.wallMs())
			p.log.RetrySuccessor()
			s.touch(p)
		}
	}
	switch {
	case err == nil:
		s.eng.log.Info("there is space again: appends are accepted", "dir", d.path)
	case !noSpace(err):
		d.fail(fmt.Errorf("probe for space: %w", err))
	case again && !s.probeTimer.Set():
		s.loop.SetTimer(&s.probeTimer, s.loop.NowNs()+s.eng.opts.SpaceProbeMs*1e6)
	}
}

// offline ends everything that waits in a partition that can no longer be used (Err says why). Writes in flight keep
// their memory until they return. Owner only; may be called again.
func (p *Partition) offline() {
	err := p.Err()
	if err == nil {
		if f := p.dir.dead.Load(); f == nil {
			return
		}
		p.failure.CompareAndSwap(nil, &failure{ErrOffline})
		p.shard.st.offline.Add(1)
		err = p.Err()
	}
	if p.full {
		p.full = false
		p.shard.st.full.Add(-1)
	}
	for _, l := range [2]*appendList{&p.stalled, &p.waiting} {
		ended := l.take()
		for a := ended.pop(); a != nil; a = ended.pop() {
			p.complete(a, err)
		}
	}
	if p.write == nil {
		p.failUnwritten(err)
	}
	p.wakeAll(WakeGone)
	p.abortClean()
	p.failDeletes(err)
	p.endCheckpoint(0, err)
	p.shard.touch(p)
}

// runJobs hands the log's blocking work to ordinary goroutines, the unlinking of segments to one that gives way.
func (p *Partition) runJobs() {
	for p.Err() == nil {
		j := p.log.TakeJob()
		if j == nil {
			return
		}
		p.jobs++
		if !j.Unlinks() {
			p.shard.loop.Offload(j.Run, func() { p.jobDone(j) })
			continue
		}
		p.dir.remover.add(removal{p, j.QueuedMs, func(leave bool) {
			if leave {
				j.Leave()
			} else {
				j.Run()
			}
			p.post(func() { p.jobDone(j) })
		}})
	}
}

// jobDone takes up a job that ended.
func (p *Partition) jobDone(j *segment.Job) {
	p.jobs--
	p.log.JobDone(j)
	p.shard.touch(p)
	if j.Kind == segment.JobReplace {
		p.cleanReplaced(j.Err)
	}
	if j.Err != nil {
		p.jobFailed(j)
		return
	}
	if p.Err() != nil {
		return
	}
	switch {
	case j.Kind == segment.JobCheckpoint:
		p.endCheckpoint(p.log.RecoveryPoint(), nil)
	case j.Kind == segment.JobSeal && p.retainAgain:
		p.retain()
	}
	p.noteUnsynced()
	p.syncMoved()
}

func (p *Partition) jobFailed(j *segment.Job) {
	if j.Kind == segment.JobCheckpoint {
		p.producers.changed = true
		p.endCheckpoint(0, j.Err)
	}
	if p.Err() != nil {
		return
	}
	switch {
	case j.Kind == segment.JobRemove: // nothing depends on it
		p.eng.log.Warn("cannot remove deleted files", "partition", p.String(), "err", j.Err)
		return
	case noSpace(j.Err):
		p.setFull(j.Err) // successor, seal and checkpoint are tried again when there is space
		return
	}
	p.dir.fail(fmt.Errorf("%s, job %d: %w", p.String(), j.Kind, j.Err))
	p.offline()
}
