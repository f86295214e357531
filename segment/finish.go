package segment

import (
	"errors"
	"io/fs"
	"path/filepath"

	"millrace/segment/batch"
)

// resumeClean takes the last segment as a clean stop left it, without reading batches. ok is false if what is there is
// not what a clean stop leaves; then the log is recovered.
func (r *recovery) resumeClean() (ok bool, err error) {
	i := len(r.segs) - 1
	s, sm := r.segs[i], r.sums[i]
	var st appendState
	var m *memIndex
	if sm.Base >= 0 && sm.Pos == r.sizes[i] && !sm.Sealed {
		entries, times, err := r.readIndexes(s, &sm)
		if err != nil {
			r.note("segment %d: %v", s.base, err)
			return false, nil
		}
		st, m = sm.state(), newMemIndex()
		m.fill(entries, times)
		if n := len(times); n > 0 {
			st.lastTimeTs = times[n-1].ts
		}
	} else if r.p.CleanEnd < 0 {
		if st, m, ok, err = r.resumeKafka(s, r.sizes[i]); err != nil || !ok {
			return false, err
		}
		r.dirty = true
	} else {
		r.note("the clean mark is there, but the side file of segment %d is not", s.base)
		return false, nil
	}
	if r.p.CleanEnd >= 0 && st.end != r.p.CleanEnd {
		r.note("the clean mark says that the log ends at %d, it ends at %d", r.p.CleanEnd, st.end)
		return false, nil
	}
	r.resume(s, &st, m)
	return true, r.cleanProducers(&sm)
}

// resumeKafka finds the end of a segment that a Kafka broker closed: from the last index entry by batch headers.
func (r *recovery) resumeKafka(s *Segment, size int64) (st appendState, m *memIndex, ok bool, err error) {
	st, m = newAppendState(s.base), newMemIndex()
	if size == 0 {
		return st, m, true, nil
	}
	idx, err1 := r.fs.ReadFile(s.path(suffixIndex))
	tix, err2 := r.fs.ReadFile(s.path(suffixTimeIndex))
	if err1 != nil || err2 != nil {
		return st, m, false, nil
	}
	entries, err1 := decodeIndex(idx, size)
	times, err2 := decodeTimeIndex(tix)
	if err1 != nil || err2 != nil {
		return st, m, false, nil
	}
	sc := logScan{r: s.file, size: size}
	h, err := sc.head(0)
	if err != nil {
		return st, m, false, ignoreBatch(err)
	}
	st.firstTs, st.chained = h.MaxTimestamp(), false
	m.fill(entries, times)
	st.indexes, st.times = int64(len(entries)), int64(len(times))
	if n := len(times); n > 0 {
		st.maxTs, st.maxTsOffset, st.lastTimeTs = times[n-1].ts, s.base+int64(times[n-1].rel), times[n-1].ts
	}
	if n := len(entries); n > 0 {
		st.pos = int64(entries[n-1].pos)
	}
	var scratch *memIndex // the entries are there already
	for first := true; st.pos < size; first = false {
		h, err := sc.head(st.pos)
		if err != nil {
			return st, m, false, ignoreBatch(err)
		}
		if first && len(entries) > 0 && h.LastOffset() != s.base+int64(entries[len(entries)-1].last) {
			return st, m, false, nil
		}
		st.append(s.base, h, maxMs, scratch)
	}
	st.batches = 0 // unknown
	return st, m, true, nil
}

func ignoreBatch(err error) error {
	if errors.Is(err, errBatch) {
		return nil
	}
	return err
}

// readEpochs reads the lineage; what is missing or bad is rebuilt from the first batch headers of the segments, and from
// all headers where the epoch changed in between.
func (r *recovery) readEpochs() error {
	data, err := r.fs.ReadFile(filepath.Join(r.dir, LeaderEpochFile))
	if err == nil {
		entries, perr := parseEpochs(data)
		if perr == nil {
			r.epochs = &Epochs{entries}
			r.saved = r.epochs
			return nil
		}
		r.note("%s: %v", LeaderEpochFile, perr)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.dirty = true
	r.epochs = &Epochs{}
	last := len(r.segs) - 1
	if !r.p.Clean {
		last = r.firstScanned() // the rest is read by recoverTail, with its checksums
	}
	for i := 0; i <= last; i++ {
		if err := r.segmentEpochs(i, i == last); err != nil {
			return err
		}
	}
	return nil
}

// segmentEpochs notes the epochs of one segment. Only headers are read, and only the first if the next segment begins
// with the same epoch.
func (r *recovery) segmentEpochs(i int, last bool) error {
	s, size := r.segs[i], r.sizes[i]
	if last && !r.p.Clean {
		if size = 0; r.sums[i].Base >= 0 {
			size = r.sums[i].Pos
		}
	}
	h, ok, err := firstHead(s.file, size)
	if err != nil || !ok {
		return err
	}
	if !last {
		n, ok, err := firstHead(r.segs[i+1].file, r.sizes[i+1])
		if err != nil {
			return err
		}
		if ok && n.LeaderEpoch() == h.LeaderEpoch() {
			r.noteEpoch(h)
			return nil
		}
	}
	return r.walkEpochs(s, size)
}

func (r *recovery) noteEpoch(h batch.View) {
	if e := h.LeaderEpoch(); e > r.epochs.Last() {
		r.epochs = r.epochs.assign(e, h.BaseOffset())
	}
}

func (r *recovery) walkEpochs(s *Segment, size int64) error {
	sc := logScan{r: s.file, size: size}
	for pos := int64(0); pos < size; {
		h, err := sc.head(pos)
		if err != nil {
			return ignoreBatch(err)
		}
		r.noteEpoch(h)
		pos += int64(h.Size())
	}
	return nil
}

// finish builds the log and, after a repair, writes what makes the next start cheap.
func (r *recovery) finish() (*Log, error) {
	end := r.active.end
	if end < r.p.LogStart {
		if err := r.emptyLog(r.p.LogStart); err != nil {
			return nil, err
		}
		end = r.p.LogStart
	} else if r.cut {
		if err := r.freshActive(end); err != nil {
			return nil, err
		}
	}
	epochs := r.epochs.truncateEnd(end).truncateStart(max(r.p.LogStart, r.segs[0].base))
	if err := r.dropSnapshots(end); err != nil {
		return nil, err
	}
	l := newLog(r.fs, r.p, r.segs, r.active, epochs)
	l.synced, l.recovery = end, end
	l.epochsSaved = r.saved
	l.ahead.partial = l.pub.pos > 0
	l.snaps, l.snapAt = r.files.snaps, r.prod.snapAt
	if info, err := r.fs.Stat(l.active.path(suffixLog)); err == nil {
		l.active.own.modMs = info.ModTime().UnixMilli()
		l.createdMs = min(r.p.NowMs, l.active.own.modMs)
		l.ahead.dirty = allocatedBeyond(info)
	}
	if err := r.giveBackSealed(); err != nil {
		l.Abandon()
		r.segs = nil
		return nil, err
	}
	if sm := r.sums[len(r.sums)-1]; r.wholeIdx && sm.Base == l.active.base {
		l.flushedIdx, l.flushedTimes = int(sm.IndexEntries), int(sm.TimeEntries)
	}
	r.rep.Segments = len(r.segs)
	if r.dirty {
		w := l.newCheckpoint(nil)
		switch err := w.run(); {
		case err == nil:
			l.flushedIdx, l.flushedTimes = w.flushed(l, nil)
			l.checkpointed(w)
		case IsNoSpace(err):
			r.note("no space for indexes and side files: %v", err)
			l.flushedIdx, l.flushedTimes = 0, 0
		default:
			l.Abandon()
			r.segs = nil
			return nil, err
		}
	} else if len(r.rep.Removed) > 0 { // what was taken away must not come back below a later end
		if err := r.fs.SyncDir(r.dir); err != nil {
			l.Abandon()
			r.segs = nil
			return nil, err
		}
	}
	return l, nil
}

// giveBackSealed frees the blocks behind the end of segments whose seal did not run: the one before the active one when the
// process was killed, or the one before that, if the active one was cut and the log goes on in another.
func (r *recovery) giveBackSealed() error {
	if r.p.Clean {
		return nil
	}
	last := len(r.segs) - 1
	for _, s := range r.segs[max(last-2, 0):last] {
		info, err := r.fs.Stat(s.path(suffixLog))
		if err == nil && allocatedBeyond(info) {
			if err = mustSync(s.file.File); err == nil { // the bytes before the size, as everywhere
				err = giveBackOrLeave(s.file.File, info.Size())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// freshActive has the log go on in a new file: the last one was cut, or ends in bytes that were given up.
func (r *recovery) freshActive(end int64) error {
	last := len(r.segs) - 1
	if r.segs[last].base == end {
		_ = r.segs[last].file.drop()
		for _, suffix := range []string{suffixIndex, suffixTimeIndex, suffixTxnIndex, suffixSum, suffixDamage} {
			if err := removeIfThere(r.fs, r.segs[last].path(suffix)); err != nil {
				return err
			}
		}
		r.segs, r.sizes, r.sums = r.segs[:last], r.sizes[:last], r.sums[:last]
	}
	s, err := createSegment(r.sh, end)
	if err != nil {
		return err
	}
	r.segs, r.sizes, r.sums = append(r.segs, s), append(r.sizes, 0), append(r.sums, noSum)
	r.active = newAppendState(end)
	r.wholeIdx = false
	return r.fs.SyncDir(r.dir)
}

// emptyLog sets a log aside that ends below its own start, and begins anew there.
func (r *recovery) emptyLog(start int64) error {
	r.note("the log ends at %d, below its start %d: emptied", r.active.end, start)
	r.cut = true
	for i := len(r.segs) - 1; i >= 0; i-- {
		s := r.segs[i]
		if r.sizes[i] > 0 {
			to := r.freeCut(s.base)
			if err := r.fs.Rename(s.path(suffixLog), to); err != nil {
				return err
			}
			r.rep.CutFile = to
			r.rep.CutBytes += r.sizes[i]
		} else if err := removeIfThere(r.fs, s.path(suffixLog)); err != nil {
			return err
		}
		for _, suffix := range segmentSuffixes[1:] {
			if err := removeIfThere(r.fs, s.path(suffix)); err != nil {
				return err
			}
		}
		_ = s.file.drop()
	}
	s, err := createSegment(r.sh, start)
	if err != nil {
		r.segs = nil
		return err
	}
	r.segs, r.sizes, r.sums = []*Segment{s}, []int64{0}, []sum{noSum}
	r.active = newAppendState(start)
	r.wholeIdx = false
	r.epochs, r.saved = &Epochs{}, nil
	r.dirty = true
	if r.p.Producers != nil {
		r.p.Producers.Load(nil, start)
	}
	r.prod.snapAt = unknownSnapshot
	return r.fs.SyncDir(r.dir)
}

// dropSnapshots removes the snapshot files that claim to know more than the log has.
func (r *recovery) dropSnapshots(end int64) error {
	kept := r.files.snaps[:0]
	for _, o := range r.files.snaps {
		if o <= end {
			kept = append(kept, o)
			continue
		}
		for _, suffix := range []string{suffixSnapshot, suffixWindow} {
			if n := filepath.Base(fileName(r.dir, o, suffix)); r.files.names[n] {
				if err := r.remove(n); err != nil {
					return err
				}
			}
		}
		r.note("dropped the producer snapshot of offset %d, the log ends at %d", o, end)
	}
	r.files.snaps = kept
	return nil
}
