package segment

import (
	"fmt"
	"path/filepath"

	"millrace/internal/invariant"
	"millrace/vfs"
)

// WantRoll says that a Stage was refused with StageRoll or RequestRoll was called, and no Roll has come since.
func (l *Log) WantRoll() bool { return l.wantRoll }

// RequestRoll asks for a new segment though no batch needs one (retention of the active one). An empty active segment
// stays.
func (l *Log) RequestRoll() {
	if l.closed || l.busy || l.st.pos == 0 {
		return
	}
	l.wantRoll = true
	l.rollBase = max(l.rollBase, l.st.end)
	l.prepareSuccessor()
}

// prepareSuccessor queues the making of the next file, once.
func (l *Log) prepareSuccessor() {
	if l.successor != nil || l.succOut {
		return
	}
	l.succOut = true
	l.succSeq++ // never the name of one that is being removed
	sh, share, ahead := l.sh, l.opts.aheadShare(), l.aheadBytes()
	name := fileName(l.sh.dir, l.active.base, fmt.Sprintf(".%d%s", l.succSeq, suffixNext))
	var file vfs.File
	var refused error
	l.queue(JobSuccessor, LaneSuccessor, func() (err error) {
		if file, err = sh.fs.CreateTrunc(name); err == nil && ahead > 0 {
			if refused, err = allocate(sh, file, ahead, share); err != nil {
				_ = file.Close()
			}
		}
		return err
	}, func(j *Job) {
		l.succOut = false
		if j.Err == nil {
			l.successor, l.succName, l.ahead.next = newSharedFile(file), name, ahead > 0
			l.allocated(refused)
		}
	})
}

// RetrySuccessor queues the making of the next file again if it is wanted and failed before (no space). Tick does the
// same.
func (l *Log) RetrySuccessor() {
	if l.wantRoll {
		l.prepareSuccessor()
	}
}

// CanRoll says that the successor is there, nothing is staged or in flight, and the last roll was sealed far enough.
// The successor is made by a JobSuccessor, queued at 90 % of the segment or when a roll is wanted.
func (l *Log) CanRoll() bool {
	return l.successor != nil && len(l.build.Iov) == 0 && l.flight == nil && !l.busy && !l.closed && l.active.own.named
}

// Roll makes the successor the active segment; CanRoll must hold. producers is the producer state at WrittenEnd for
// the snapshot; it belongs to the log from now on. Queues a JobSeal.
func (l *Log) Roll(producers []ProducerEntry) {
	invariant.Assert(l.CanRoll(), "a roll comes when CanRoll holds")
	prev := l.active
	l.pub.finishTimes(prev.base, prev.index.Load())
	base := max(l.pub.end, l.rollBase)
	next := newSegment(l.sh, base, l.successor)
	next.index.Store(newMemIndex())
	next.setEnd(0, base)
	next.own = ownerState{tmpName: l.succName, syncEnd: l.pub.end, modMs: l.nowMs}
	w := &sealWork{fs: l.sh.fs, dir: l.sh.dir, prev: prev, next: next, producers: producers, snapshot: l.pub.end}
	w.sum = prev.sumOf(&l.pub, w.snapshot)
	w.sum.Sealed = true
	w.spare = l.ahead.dirty
	l.ahead.dirty, l.ahead.next, l.ahead.rounds, l.ahead.partial = l.ahead.next, false, 0, false
	if e := l.epochs.Load(); e != l.epochsSaved {
		w.epochs = e
	}
	prev.frozen.Store(true)

	l.successor, l.succName, l.wantRoll, l.rollBase = nil, "", false, 0
	l.active, l.createdMs = next, l.nowMs
	l.unsealed = append(l.unsealed, next)
	l.pub = newAppendState(base)
	l.pub.end = w.snapshot // the gap, if any, appears with the first batch
	l.st = l.pub
	l.snapAt = w.snapshot
	l.flushedIdx, l.flushedTimes = 0, 0
	l.drawJitter()
	old := l.view.Load().segs
	l.publish(append(old[:len(old):len(old)], next))
	l.queueSeal(w)
}

// sumOf describes a segment at state a; the digests of its indexes are filled in when they are written.
func (s *Segment) sumOf(a *appendState, snapshot int64) sum {
	return sum{
		TopicID: s.shared.topicID, Partition: s.shared.partition, Base: s.base,
		Pos: a.pos, End: a.end, Batches: a.batches, Chain: a.chain, Chained: a.chained,
		FirstTs: a.firstTs, MaxTs: a.maxTs, MaxTsOffset: a.maxTsOffset, Since: a.since,
		IndexEntries: a.indexes, TimeEntries: a.times, Snapshot: snapshot,
	}
}

// sealWork is what a JobSeal needs. Owned by the job while it runs.
type sealWork struct {
	fs        vfs.FS
	dir       string
	prev      *Segment
	next      *Segment
	producers []ProducerEntry
	snapshot  int64
	sum       sum
	epochs    *Epochs // nil: the file has them already
	spare     bool    // prev may have blocks behind its end
	synced    bool    // prev's bytes are durable
	renamed   bool    // next has its name
}

func (l *Log) queueSeal(w *sealWork) {
	l.queue(JobSeal, LaneNames, w.run, func(j *Job) {
		if w.synced {
			w.prev.own.syncPos, w.prev.own.syncEnd = w.prev.bounds()
		}
		if w.renamed {
			w.next.own.tmpName = ""
		}
		if j.Err != nil {
			if IsNoSpace(j.Err) {
				l.retrySeal = w
			}
			return
		}
		w.prev.own.sealed = true
		w.next.own.named = true
		if w.epochs != nil {
			l.epochsSaved = w.epochs
		}
		l.raiseSynced()
		l.addSnapshot(w.snapshot)
	})
}

// run makes the roll durable: the older file's bytes first, so that a file with a segment's name always follows a
// complete one; then the name; then what can be rebuilt. It may be repeated.
func (w *sealWork) run() error {
	if !w.synced {
		if err := mustSync(w.prev.file.File); err != nil {
			return err
		}
		w.synced = true
	}
	if w.spare {
		if err := giveBackOrLeave(w.prev.file.File, w.sum.Pos); err != nil {
			return err
		}
		w.spare = false
	}
	if !w.renamed {
		if err := w.fs.Rename(w.next.own.tmpName, w.next.path(suffixLog)); err != nil {
			return err
		}
		w.renamed = true
	}
	if err := writeIndexes(w.fs, w.prev, &w.sum); err != nil {
		return err
	}
	if err := writeSnapshot(w.fs, w.dir, w.producers, w.snapshot); err != nil {
		return err
	}
	if err := writeEpochs(w.fs, w.dir, w.epochs); err != nil {
		return err
	}
	return writeSum(w.fs, w.prev, &w.sum)
}

// writeIndexes replaces both index files of a segment by what is in memory, as far as sm counts.
func writeIndexes(fsys vfs.FS, s *Segment, sm *sum) error {
	sn := s.index.Load().snap()
	idx := sn.encodeIndex(0, int(sm.IndexEntries))
	tix := sn.encodeTimes(0, int(sm.TimeEntries))
	sm.setDigests(idx, tix)
	if err := writeDurable(fsys, s.path(suffixIndex), idx); err != nil {
		return err
	}
	return writeDurable(fsys, s.path(suffixTimeIndex), tix)
}

// writeEpochs replaces the epoch file; nil means that it is right. A side file that lets recovery start above some batches
// must not be written before the epochs of those are in the file.
func writeEpochs(fsys vfs.FS, dir string, e *Epochs) error {
	if e == nil {
		return nil
	}
	return writeDurable(fsys, filepath.Join(dir, LeaderEpochFile), formatEpochs(e.entries))
}

// writeSnapshot writes the producers' snapshot and its window file. The window's name is durable before the snapshot
// appears: one without a snapshot means nothing, but a snapshot alone would be taken for one of Kafka's, and recovery
// would forget four of five batches that an older pair and the log still tell.
func writeSnapshot(fsys vfs.FS, dir string, producers []ProducerEntry, offset int64) error {
	if err := writeDurable(fsys, fileName(dir, offset, suffixWindow), encodeWindow(producers, offset)); err != nil {
		return err
	}
	if len(producers) > 0 {
		if err := fsys.SyncDir(dir); err != nil {
			return err
		}
	}
	return writeDurable(fsys, fileName(dir, offset, suffixSnapshot), encodeSnapshot(producers))
}

// addSnapshot notes a snapshot file and gives up those that nobody needs: not the state at the start of a segment, and not
// among the two latest.
func (l *Log) addSnapshot(offset int64) {
	for _, o := range l.snaps {
		if o == offset {
			return
		}
	}
	l.snaps = append(l.snaps, offset)
	l.pruneSnapshots()
}

// pruneSnapshots queues the removal of the snapshot files that nobody needs.
func (l *Log) pruneSnapshots() {
	if len(l.snaps) < 3 {
		return
	}
	bases := map[int64]bool{}
	for _, s := range l.view.Load().segs {
		bases[s.base] = true
	}
	var gone []int64
	kept := l.snaps[:0]
	for i, o := range l.snaps {
		if bases[o] || i >= len(l.snaps)-2 {
			kept = append(kept, o)
		} else {
			gone = append(gone, o)
		}
	}
	l.snaps = kept
	l.removeSnapshots(gone)
}

func (l *Log) removeSnapshots(offsets []int64) {
	if len(offsets) == 0 {
		return
	}
	fsys, dir := l.sh.fs, l.sh.dir
	l.queue(JobRemove, LaneRemove, func() error {
		for _, o := range offsets {
			for _, suffix := range []string{suffixSnapshot, suffixWindow} {
				if err := removeIfThere(fsys, fileName(dir, o, suffix)); err != nil {
					return err
				}
			}
		}
		return nil
	}, nil)
}
