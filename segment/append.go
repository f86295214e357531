package segment

import (
	"millrace/internal/invariant"
	"millrace/segment/batch"
	"millrace/vfs"
)

// StageResult says what became of Stage.
type StageResult uint8

const (
	// Staged: the batch is part of the next write. Its bytes must stay until WriteDone.
	Staged StageResult = iota
	// StageFull: the next write has as many batches as one may; TakeWrite first.
	StageFull
	// StageRoll: a new segment must come first. Write what is staged, wait for CanRoll, Roll, stage again.
	StageRoll
	// StageBusy: a cut, a truncation or a return of blocks is under way; wait for its JobDone.
	StageBusy
)

// Write is one vectored write of staged batches. Owned by the log; lent from TakeWrite to WriteDone.
type Write struct {
	File vfs.File
	// Off is where in the file, Bytes the sum of Iov.
	Off   int64
	Bytes int64
	// Iov holds one buffer per batch.
	Iov [][]byte
	// FirstOffset and EndOffset (exclusive) are the offsets it holds, Batches how many batches.
	FirstOffset int64
	EndOffset   int64
	Batches     int
}

func newWrite(batches int) *Write { return &Write{Iov: make([][]byte, 0, min(batches, 64))} }

func (w *Write) reset() {
	clear(w.Iov)
	*w = Write{Iov: w.Iov[:0]}
}

// Stage appends one batch to the write being built. Offset and leader epoch are stamped already: the base offset is
// End() (or above it, in a follower of a compacted log). No allocation in steady state.
func (l *Log) Stage(v batch.View) StageResult {
	if l.busy || l.closed {
		return StageBusy
	}
	if l.wantRoll {
		return StageRoll
	}
	first, last, size := v.BaseOffset(), v.LastOffset(), int64(len(v))
	invariant.Assert(first >= l.st.end && last >= first, "a staged batch begins at or above the end of the log")
	if l.mustRoll(first, last, size, v.MaxTimestamp()) {
		l.wantRoll, l.rollBase = true, first
		l.prepareSuccessor()
		return StageRoll
	}
	w := l.build
	if len(w.Iov) >= l.opts.WriteBatchesMax {
		return StageFull
	}
	if len(w.Iov) == 0 {
		w.FirstOffset, w.Off = first, l.st.pos
	}
	w.Iov = append(w.Iov, v)
	w.Batches++
	w.Bytes += size
	w.EndOffset = last + 1
	l.st.append(l.active.base, v, l.opts.IndexIntervalBytes, nil)
	if l.st.pos >= l.opts.SegmentBytes/10*9 {
		l.prepareSuccessor()
	}
	return Staged
}

// mustRoll are Kafka's rules (LogSegment.shouldRoll) for a batch.
func (l *Log) mustRoll(first, last, size, ts int64) bool {
	a := &l.st
	if !offsetsFit(l.active.base, first, last) {
		return true
	}
	if a.pos == 0 {
		return false // a batch larger than a segment still needs a home
	}
	age := l.nowMs - l.createdMs
	if a.firstTs >= 0 {
		age = ts - a.firstTs
	}
	return a.pos+size > l.opts.SegmentBytes || age > l.rollMs ||
		a.indexes >= l.opts.IndexBytes/indexEntrySize || a.times >= l.opts.IndexBytes/timeEntrySize-1
}

// TakeWrite hands out the write built so far; nil when nothing is staged, one is in flight, or a cut is under way.
func (l *Log) TakeWrite() *Write {
	if len(l.build.Iov) == 0 || l.flight != nil || l.busy {
		return nil
	}
	w := l.build
	w.File = l.active.file.File
	l.flight, l.build, l.spare = w, l.spare, nil
	return w
}

// WriteDone publishes the write: readers see it, WrittenEnd has moved. ok is false when it failed (err != nil or
// n < w.Bytes): then all staged batches, those behind it too, are forgotten, End is back at WrittenEnd, and a JobCut
// stands in the queue; Stage says StageBusy until it is done.
func (l *Log) WriteDone(w *Write, n int64, err error) (ok bool) {
	invariant.Assert(w == l.flight, "a write ends that was not taken")
	l.flight, l.spare = nil, w
	if err != nil || n < w.Bytes {
		w.reset()
		l.build.reset()
		l.st = l.pub
		l.wantRoll = false
		l.lowerEpochs()
		l.queueCut()
		return false
	}
	l.publishWrite(w)
	w.reset()
	return true
}

// publishWrite enters the batches into the tail index and raises the published end last.
func (l *Log) publishWrite(w *Write) {
	s := l.active
	m := s.index.Load()
	epochs := l.epochs.Load()
	for _, b := range w.Iov {
		v := batch.View(b)
		m.addDense(indexEntry{uint32(v.BaseOffset() - s.base), uint32(v.LastOffset() - s.base), uint32(l.pub.pos)})
		if e := v.LeaderEpoch(); e > epochs.Last() {
			l.assignEpoch(e, v.BaseOffset())
			epochs = l.epochs.Load()
		}
		if v.HasProducerID() {
			l.snapAt = unknownSnapshot
		}
		l.pub.append(s.base, v, l.opts.IndexIntervalBytes, m)
	}
	s.maxTs.Store(l.pub.maxTs)
	s.own.modMs = l.nowMs
	s.setEnd(l.pub.pos, l.pub.end)
}

// queueCut cuts the bytes of a failed write off. They were never published, so the file goes on in use.
func (l *Log) queueCut() {
	l.busy = true
	file, pos := l.active.file, l.pub.pos
	l.queue(JobCut, LaneNames, func() error {
		size, err := file.Size()
		if err != nil || size <= pos {
			return err
		}
		return file.Truncate(pos)
	}, func(j *Job) {
		switch {
		case j.Err == nil:
			l.busy = false
		case IsNoSpace(j.Err):
			l.retryCut = true
		}
	})
}

// lowerEpochs has an epoch that was to begin behind batches that failed begin at the end as it is.
func (l *Log) lowerEpochs() {
	old := l.epochs.Load()
	if e := old.truncateEnd(l.pub.end + 1); e != old {
		l.epochs.Store(e.assign(old.Last(), l.pub.end))
	}
}
