package segment

import (
	"errors"
	"io/fs"

	"millrace/internal/invariant"
)

// Truncate cuts the log to end at offset (start of the batch that holds it): a JobTruncate is queued, and Stage says
// StageBusy until it is done. Nothing may be staged or in flight, no sync round out. The caller has lowered and synced the recovery-point file.
// View and WrittenEnd show the cut when the job is done. Epochs that begin at or above the new end are dropped even if
// no byte is cut (KAFKA-10706).
func (l *Log) Truncate(offset int64) {
	w := l.newTruncate(offset)
	w.reset = offset < w.segs[0].base
	l.queueTruncate(w)
}

// Reset empties the log and lets it go on at offset (a follower out of range); otherwise as Truncate.
func (l *Log) Reset(offset int64) {
	w := l.newTruncate(offset)
	w.reset = true
	l.queueTruncate(w)
}

// truncateWork is what a JobTruncate needs. It stands for the owner while the job is out. Owned by the job while it
// runs.
type truncateWork struct {
	log    *Log
	offset int64
	reset  bool
	segs   []*Segment
	epochs *Epochs
	snaps  []int64

	// Results.
	end    int64
	gone   []*Segment // whose names are .deleted now
	cut    *Segment   // the former self of the segment that was cut; its names live on
	cutSum sum
	kept   []*Segment
	fresh  *Segment // the new active segment; nil if nothing was cut
}

func (l *Log) newTruncate(offset int64) *truncateWork {
	invariant.Assert(len(l.build.Iov) == 0 && l.flight == nil && !l.busy && !l.syncOut, "a log is truncated when nothing is staged or in flight")
	l.busy, l.truncating = true, true
	l.cutCount++
	l.wantRoll, l.rollBase = false, 0
	l.requeue()
	return &truncateWork{log: l, offset: offset, segs: l.view.Load().segs, epochs: l.epochs.Load()}
}

func (l *Log) queueTruncate(w *truncateWork) {
	l.queue(JobTruncate, LaneNames, w.run, func(j *Job) {
		if j.Err != nil {
			return // the directory is in doubt; the log stays busy
		}
		l.busy, l.truncating = false, false
		l.truncated(w)
	})
}

func (w *truncateWork) run() error {
	l := w.log
	// A seal or deletion may have come first; while it is truncated nobody else changes these.
	w.segs, w.snaps = l.view.Load().segs, l.snaps
	last := w.segs[len(w.segs)-1]
	pos, end := last.bounds()
	w.end = w.offset
	i := len(w.segs) - 1
	switch {
	case w.reset:
		i, pos = 0, 0
	case w.offset >= end:
		w.end = end
		w.epochs = w.epochs.truncateEnd(end)
		return w.saveEpochs()
	default:
		v := &View{segs: w.segs}
		p, err := v.FindBlocking(w.offset)
		if err != nil {
			return err
		}
		for i = range w.segs {
			if w.segs[i] == p.seg {
				break
			}
		}
		pos, w.end = p.Pos, min(p.Offset, w.offset)
	}
	if w.reset {
		w.epochs = &Epochs{}
	} else {
		w.epochs = w.epochs.truncateEnd(w.end)
	}
	return w.cutAt(i, pos)
}

// cutAt removes everything from byte pos of segment i. Every step leaves a log that is whole up to the new end: first
// what claims to know more than the cut log (snapshots, the side file, epochs), then later segments from the back, then
// the bytes.
func (w *truncateWork) cutAt(i int, pos int64) error {
	l, fsys, dir := w.log, w.log.sh.fs, w.log.sh.dir
	s := w.segs[i]
	for _, o := range w.snaps {
		if o > w.end || w.reset {
			if err := removeIfThere(fsys, fileName(dir, o, suffixSnapshot)); err != nil {
				return err
			}
			if err := removeIfThere(fsys, fileName(dir, o, suffixWindow)); err != nil {
				return err
			}
		}
	}
	if err := removeIfThere(fsys, s.path(suffixSum)); err != nil {
		return err
	}
	if err := w.saveEpochs(); err != nil {
		return err
	}
	first := i + 1
	if pos == 0 {
		first = i
	}
	for j := len(w.segs) - 1; j >= first; j-- {
		if err := renameDeleted(fsys, w.segs[j]); err != nil {
			return err
		}
	}
	w.gone = append(w.gone, w.segs[first:]...)
	w.kept = append(w.kept, w.segs[:first]...)
	if pos == 0 {
		// The new file has to be there before the names are durably gone, or a crash would forget where the log ends.
		if err := w.makeFresh(); err != nil {
			return err
		}
		l.publish(append(w.kept, w.fresh))
		return fsys.SyncDir(dir)
	}
	if err := fsys.SyncDir(dir); err != nil {
		return err
	}
	shorter, err := w.shorten(s, pos)
	if err != nil {
		return err
	}
	w.kept[i], w.cut = shorter, s
	if err := w.makeFresh(); err != nil {
		return err
	}
	// Readers must not plan below bytes that are about to go.
	l.publish(append(w.kept[:len(w.kept):len(w.kept)], w.fresh))
	if err := s.file.Truncate(pos); err != nil {
		return err
	}
	if err := s.file.Datasync(); err != nil {
		return err
	}
	if err := fsys.SyncDir(dir); err != nil {
		return err
	}
	return sealCut(shorter, &w.cutSum)
}

// shorten is the segment as it is below pos: a new value over the same file, for old views know the old one.
func (w *truncateWork) shorten(s *Segment, pos int64) (*Segment, error) {
	out := newSegment(s.shared, s.base, s.file.retain())
	out.damage = s.damage
	out.setEnd(pos, w.end)
	out.own = ownerState{named: true, sealed: true, syncPos: pos, syncEnd: w.end, checkPos: pos, modMs: s.own.modMs}
	m, st, err := out.scanIndex()
	if err != nil {
		return nil, err
	}
	out.index.Store(m)
	out.frozen.Store(true)
	out.maxTs.Store(st.maxTs)
	w.cutSum = out.sumOf(&st, unknownSnapshot)
	w.cutSum.End, w.cutSum.Sealed = w.end, true
	return out, nil
}

// sealCut writes the index files and the side file of a segment that is never appended to again.
func sealCut(s *Segment, sm *sum) error {
	if err := writeIndexes(s.shared.fs, s, sm); err != nil {
		return err
	}
	return writeSum(s.shared.fs, s, sm)
}

// makeFresh makes the segment in which the log goes on.
func (w *truncateWork) makeFresh() error {
	s, err := createSegment(w.log.sh, w.end)
	if err != nil {
		return err
	}
	w.fresh = s
	return nil
}

// createSegment makes a segment's file under its final name; the caller syncs the directory. A left-over of that name
// from an interrupted attempt is replaced.
func createSegment(sh *shared, base int64) (*Segment, error) {
	name := fileName(sh.dir, base, suffixLog)
	f, err := sh.fs.Create(name)
	if errors.Is(err, fs.ErrExist) {
		tmp := name + suffixTmp
		if f, err = sh.fs.CreateTrunc(tmp); err == nil {
			if err = sh.fs.Rename(tmp, name); err != nil {
				_ = f.Close()
			}
		}
	}
	if err != nil {
		return nil, err
	}
	s := newSegment(sh, base, newSharedFile(f))
	s.index.Store(newMemIndex())
	s.setEnd(0, base)
	s.own = ownerState{named: true, syncEnd: base}
	return s, nil
}

func (w *truncateWork) saveEpochs() error {
	if err := writeEpochs(w.log.sh.fs, w.log.sh.dir, w.epochs); err != nil {
		return err
	}
	return w.log.sh.fs.SyncDir(w.log.sh.dir)
}

// truncated takes a finished truncation into account.
func (l *Log) truncated(w *truncateWork) {
	l.epochs.Store(w.epochs)
	l.epochsSaved = w.epochs
	if w.fresh == nil {
		return
	}
	for _, s := range w.gone {
		s.own.deleteAt = l.nowMs + l.opts.FileDeleteDelayMs
	}
	l.removing = append(l.removing, w.gone...)
	if w.cut != nil {
		w.cut.own.keepNames = true
		l.removing = append(l.removing, w.cut)
	}
	l.reaped = true
	kept := l.snaps[:0]
	for _, o := range l.snaps {
		if o <= w.end && !w.reset {
			kept = append(kept, o)
		}
	}
	l.snaps, l.snapAt = kept, unknownSnapshot
	l.active = w.fresh
	l.ahead.dirty, l.ahead.rounds, l.ahead.partial = false, 0, false
	l.active.own.modMs = l.nowMs
	l.createdMs = l.nowMs
	l.unsealed = l.unsealed[:0]
	for _, s := range w.kept {
		if !s.own.sealed {
			l.unsealed = append(l.unsealed, s)
		}
	}
	l.unsealed = append(l.unsealed, l.active)
	l.pub = newAppendState(w.end)
	l.st = l.pub
	l.synced = min(l.synced, w.end)
	l.recovery = min(l.recovery, w.end)
	l.cleaned = min(l.cleaned, w.end)
	if w.reset {
		l.start, l.synced, l.recovery = w.end, w.end, w.end
	}
	l.start = min(l.start, w.end)
	l.flushedIdx, l.flushedTimes = 0, 0
	l.dropSuccessor()
	l.raiseSynced()
}

// dropSuccessor gives up a file made ahead: it is named after a segment that is gone.
func (l *Log) dropSuccessor() {
	f, name := l.successor, l.succName
	if f == nil {
		return
	}
	l.successor, l.succName, l.ahead.next = nil, "", false
	l.queueUnlink(func() error {
		if err := f.drop(); err != nil {
			return err
		}
		return removeIfThere(l.sh.fs, name)
	}, f.drop)
}
