package segment

import "millrace/vfs"

// checkpointWork is what a JobCheckpoint needs. Owned by the job while it runs.
type checkpointWork struct {
	fs       vfs.FS
	dir      string
	marks    []syncMark
	active   *Segment
	from     [2]int // entries of the index files that are on disk already
	sum      sum
	withSnap bool
	entries  []ProducerEntry
	epochs   *Epochs // nil: the file has them already
}

// Checkpoint queues a JobCheckpoint: datasync, indexes, snapshot (producers nil: none is written because no producer
// changed since the last), epochs, checksum side file. producers is the state at WrittenEnd now. When it is done
// SyncedEnd and RecoveryPoint are at least the present WrittenEnd; the caller then writes the recovery-point file. False
// when one is queued or out, or the log cannot take one now.
func (l *Log) Checkpoint(producers []ProducerEntry) bool {
	if l.checkpoint || l.closed || l.busy || l.syncErr != nil {
		return false
	}
	l.checkpoint = true
	w := l.newCheckpoint(producers)
	l.queue(JobCheckpoint, LaneNames, w.run, func(j *Job) {
		l.checkpoint = false
		l.flushedIdx, l.flushedTimes = w.flushed(l, j.Err)
		if j.Err == nil {
			l.checkpointed(w)
		}
	})
	return true
}

// WantsSnapshot says that no snapshot is known to equal the producer state, though perhaps no producer changed it since the
// log was opened: give Checkpoint and Close the producers, even if there are none, or every start scans again.
func (l *Log) WantsSnapshot() bool { return l.snapAt == unknownSnapshot }

func (l *Log) newCheckpoint(producers []ProducerEntry) *checkpointWork {
	if producers != nil {
		l.snapAt = l.pub.end
	}
	w := &checkpointWork{
		fs: l.sh.fs, dir: l.sh.dir, active: l.active, from: [2]int{l.flushedIdx, l.flushedTimes},
		sum: l.active.sumOf(&l.pub, l.snapAt), withSnap: producers != nil, entries: producers,
	}
	for _, s := range l.unsealed {
		pos, end := s.bounds()
		w.marks = append(w.marks, syncMark{s, pos, end})
	}
	if e := l.epochs.Load(); e != l.epochsSaved {
		w.epochs = e
	}
	return w
}

// run writes in the order in which recovery trusts: the log, its indexes, the producers, the epochs, and last what says
// that recovery may start here.
func (w *checkpointWork) run() error {
	for _, m := range w.marks {
		if err := mustSync(m.seg.file.File); err != nil {
			return err
		}
	}
	return w.writeFiles()
}

// writeFiles writes all but the log itself.
func (w *checkpointWork) writeFiles() error {
	if err := w.flushIndexes(); err != nil {
		return err
	}
	if w.withSnap {
		if err := writeSnapshot(w.fs, w.dir, w.entries, w.sum.End); err != nil {
			return err
		}
	}
	if err := writeEpochs(w.fs, w.dir, w.epochs); err != nil {
		return err
	}
	if w.from[0] == 0 || w.from[1] == 0 || w.withSnap || w.epochs != nil { // there are new names; a segment's first checkpoint always has some
		return writeSum(w.fs, w.active, &w.sum)
	}
	return replaceSum(w.fs, w.active, &w.sum)
}

// writeSum writes a segment's side file when all that it vouches for has its name.
func writeSum(fsys vfs.FS, s *Segment, sm *sum) error {
	if err := fsys.SyncDir(s.shared.dir); err != nil {
		return err
	}
	return replaceSum(fsys, s, sm)
}

// replaceSum is writeSum where all names are durable already.
func replaceSum(fsys vfs.FS, s *Segment, sm *sum) error {
	if err := writeDurable(fsys, s.path(suffixSum), sm.encode()); err != nil {
		return err
	}
	return fsys.SyncDir(s.shared.dir)
}

// flushIndexes appends the new entries to the active segment's index files.
func (w *checkpointWork) flushIndexes() error {
	sn := w.active.index.Load().snap()
	idx := sn.encodeIndex(0, int(w.sum.IndexEntries))
	tix := sn.encodeTimes(0, int(w.sum.TimeEntries))
	w.sum.setDigests(idx, tix)
	if err := extendFile(w.fs, w.active.path(suffixIndex), idx, w.from[0]*indexEntrySize); err != nil {
		return err
	}
	return extendFile(w.fs, w.active.path(suffixTimeIndex), tix, w.from[1]*timeEntrySize)
}

// extendFile makes the file's bytes equal to data, of which the first from are there already.
func extendFile(fsys vfs.FS, name string, data []byte, from int) error {
	if from == 0 {
		return writeDurable(fsys, name, data)
	}
	if from == len(data) {
		return nil
	}
	f, err := fsys.Open(name)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(data[from:], int64(from)); err == nil {
		err = f.Truncate(int64(len(data)))
	}
	if err == nil {
		err = f.Datasync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// flushed is what the active segment's index files now hold.
func (w *checkpointWork) flushed(l *Log, err error) (int, int) {
	if w.active != l.active {
		return l.flushedIdx, l.flushedTimes
	}
	if err != nil {
		return 0, 0 // written anew next time
	}
	return int(w.sum.IndexEntries), int(w.sum.TimeEntries)
}

// checkpointed takes a finished checkpoint into account.
func (l *Log) checkpointed(w *checkpointWork) {
	for _, m := range w.marks {
		m.seg.synced(m.pos, m.end)
	}
	l.raiseSynced()
	if w.epochs != nil {
		l.epochsSaved = w.epochs
	}
	if w.withSnap {
		l.addSnapshot(w.sum.End)
	}
	l.recovery = max(l.recovery, min(w.sum.End, l.synced))
	for _, m := range w.marks {
		m.seg.own.checkPos = m.pos
	}
}
