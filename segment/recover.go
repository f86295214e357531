package segment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"millrace/segment/batch"
	"millrace/vfs"
)

// recoverTail reads everything above the recovery point: the segment that holds it, from where its side file says that
// it was synced, and all later ones. The first bad batch above the recovery point ends the log.
func (r *recovery) recoverTail() error {
	k := r.firstScanned()
	st, m := r.startOf(k)
	if err := r.planProducers(k, &st); err != nil {
		return err
	}
	if saved, err := r.asSaved(k, &st); err != nil {
		return err
	} else if saved {
		r.resume(r.segs[k], &st, m)
		return nil
	}
	r.dirty = true
	r.epochs = r.epochs.truncateEnd(st.end) // what comes above is read from the batches
	if err := r.replayBelow(k, st.pos, st.end); err != nil {
		return err
	}
	end := r.segs[k].base
	for i := k; i < len(r.segs); i++ {
		if i > k {
			st, m = newAppendState(r.segs[i].base), newMemIndex()
		}
		stop, err := r.scanSegment(i, st, m)
		if err != nil {
			return err
		}
		end = r.active.end
		if stop {
			if err := r.dropAfter(i); err != nil {
				return err
			}
			break
		}
		if i == len(r.segs)-1 {
			more, err := r.adoptNext(end)
			if err != nil {
				return err
			}
			if !more {
				break
			}
		}
	}
	if end < r.p.RecoveryPoint {
		r.note("the recovery point %d lies beyond the end %d of the log", r.p.RecoveryPoint, end)
	}
	return r.dropNexts()
}

// asSaved says whether the log ends where the last side file says, with all that the file vouches for in place. Then nothing
// is to be read, and all that a checkpoint would write is durable: a start with thousands of such logs makes no sync for them.
func (r *recovery) asSaved(k int, st *appendState) (bool, error) {
	s, sm := r.segs[k], &r.sums[k]
	if r.dirty || r.p.Direct || k < len(r.segs)-1 || len(r.files.nexts) > 0 || len(s.damage) > 0 || r.saved == nil {
		return false, nil
	}
	if sm.Base < 0 || sm.Sealed || sm.Pos != r.sizes[k] || st.pos != sm.Pos || st.end != sm.End || r.p.RecoveryPoint > st.end {
		return false, nil
	}
	if r.prod.from < st.end || r.prod.snapAt != sm.Snapshot {
		return false, nil
	}
	if sm.Pos > 0 {
		return r.wholeIdx, nil
	}
	for _, suffix := range []string{suffixIndex, suffixTimeIndex} {
		info, err := r.fs.Stat(s.path(suffix))
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() > 0 {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// resume has the log go on in a segment from a state.
func (r *recovery) resume(s *Segment, st *appendState, m *memIndex) {
	s.setEnd(st.pos, max(st.end, s.base))
	s.maxTs.Store(st.maxTs)
	s.index.Store(m)
	s.own.syncPos, s.own.syncEnd, s.own.checkPos = st.pos, st.end, st.pos
	r.active = *st
}

// firstScanned is the segment that holds the recovery point.
func (r *recovery) firstScanned() int {
	v := View{segs: r.segs}
	return max(v.segmentOf(max(r.p.RecoveryPoint, r.segs[0].base)), 0)
}

// startOf is where the scan of a segment may begin, with the state up to there: at the place that its side file vouches
// for, if the index and the batches before it agree, else at its first byte.
func (r *recovery) startOf(i int) (appendState, *memIndex) {
	s, sm := r.segs[i], r.sums[i]
	if sm.Base < 0 || sm.Pos == 0 || len(s.damage) > 0 && !r.damageBelow(s, sm.Pos) {
		return newAppendState(s.base), newMemIndex()
	}
	st := sm.state()
	entries, times, err := r.readIndexes(s, &sm)
	if err != nil {
		// Only this segment's index is rebuilt, from the headers of what was synced.
		s.setEnd(sm.Pos, sm.End)
		m, got, serr := s.scanIndex()
		if serr != nil || !sm.endsAt(got.end) || sm.Chained && got.chain != sm.Chain {
			r.note("segment %d does not match its side file, reading it whole", s.base)
			return newAppendState(s.base), newMemIndex()
		}
		r.rep.RebuiltIndexes = append(r.rep.RebuiltIndexes, s.base)
		st.indexes, st.times, st.lastTimeTs = got.indexes, got.times, got.lastTimeTs
		return st, m
	}
	if len(times) > 0 {
		st.lastTimeTs = times[len(times)-1].ts
	}
	m := newMemIndex()
	m.fill(entries, times)
	if !r.boundaryAt(s, entries, &sm) {
		r.note("segment %d does not match its side file, reading it whole", s.base)
		return newAppendState(s.base), newMemIndex()
	}
	return st, m
}

func (r *recovery) damageBelow(s *Segment, pos int64) bool {
	last := s.damage[len(s.damage)-1]
	return last.Pos+last.Len <= pos
}

// state is the append state that a side file describes.
func (s *sum) state() appendState {
	return appendState{
		pos: s.Pos, end: s.End, batches: s.Batches, chain: s.Chain, chained: s.Chained, since: s.Since,
		indexes: s.IndexEntries, times: s.TimeEntries, firstTs: s.FirstTs, maxTs: s.MaxTs, maxTsOffset: s.MaxTsOffset, lastTimeTs: -1,
	}
}

// readIndexes reads the entries that a side file counts, their digests checked.
func (r *recovery) readIndexes(s *Segment, sm *sum) ([]indexEntry, []timeEntry, error) {
	idx, err := r.fs.ReadFile(s.path(suffixIndex))
	if err != nil {
		return nil, nil, err
	}
	tix, err := r.fs.ReadFile(s.path(suffixTimeIndex))
	if err != nil {
		return nil, nil, err
	}
	if err := sm.checkIndexes(idx, tix); err != nil {
		return nil, nil, err
	}
	entries, err := decodeIndex(idx[:sm.IndexEntries*indexEntrySize], sm.Pos)
	if err != nil {
		return nil, nil, err
	}
	times, err := decodeTimeIndex(tix[:sm.TimeEntries*timeEntrySize])
	r.wholeIdx = err == nil && int64(len(idx)) == sm.IndexEntries*indexEntrySize && int64(len(tix)) == sm.TimeEntries*timeEntrySize
	return entries, times, err
}

// boundaryAt says whether the batches from the last index entry on end where the side file says. A Kafka broker that ran
// here in between may have left other bytes.
func (r *recovery) boundaryAt(s *Segment, entries []indexEntry, sm *sum) bool {
	sc := logScan{r: s.file, size: sm.Pos, buf: make([]byte, 64<<10)}
	pos, end := int64(0), s.base
	if n := len(entries); n > 0 {
		pos = int64(entries[n-1].pos)
	}
	for pos < sm.Pos {
		if d, bad := s.damagedAt(pos); bad && d.Pos <= pos {
			pos, end = d.Pos+d.Len, d.NextOffset
			continue
		}
		h, err := sc.head(pos)
		if err != nil {
			return false
		}
		end = h.LastOffset() + 1
		pos += int64(h.Size())
	}
	return pos == sm.Pos && sm.endsAt(end)
}

// endsAt says whether batches up to offset end are all that the side file covers; a cleaned segment may have lost its last
// ones.
func (s *sum) endsAt(end int64) bool { return end == s.End || s.Sealed && end < s.End }

// scanSegment reads one segment; r.active is its state afterwards. stop means that the log ends in it.
func (r *recovery) scanSegment(i int, st appendState, m *memIndex) (stop bool, err error) {
	s := r.segs[i]
	r.cut, r.keepTail = false, false
	if st.pos == 0 {
		s.damage = nil // found again
		r.wholeIdx = false
	}
	src, size := io.ReaderAt(s.file), r.sizes[i]
	if r.p.Direct {
		f, err := r.fs.OpenDirect(s.path(suffixLog))
		if err != nil {
			return false, err
		}
		defer f.Close()
		if size, err = f.Size(); err != nil {
			return false, err
		}
		src = f
	}
	sc := logScan{r: src, size: size}
	if i+1 < len(r.segs) {
		sc.follower = r.segs[i+1].base
	}
	stop, err = r.scanFrames(s, &sc, &st, m)
	r.rep.ScannedBytes += sc.read
	if err != nil {
		return false, err
	}
	r.resume(s, &st, m)
	if err := r.keepPrefix(s, &sc, &st, stop); err != nil {
		return false, err
	}
	if err := r.saveDamage(s); err != nil {
		return false, err
	}
	if i < len(r.segs)-1 && !stop || r.cut {
		st.finishTimes(s.base, m)
		s.own.sealed = true
		s.frozen.Store(true)
		return stop, r.saveSealed(s, &st)
	}
	return stop, nil
}

// scanFrames walks the batches. It stops at the first bad one above the recovery point; one below is damage.
func (r *recovery) scanFrames(s *Segment, sc *logScan, st *appendState, m *memIndex) (stop bool, err error) {
	for st.pos < sc.size {
		v, err := sc.next(st.pos, s.base, st.end, r.epochs.Last())
		if err == nil {
			r.take(s, v, st, m)
			continue
		}
		if !errors.Is(err, errBatch) {
			return false, err
		}
		if st.end >= r.p.RecoveryPoint {
			return true, r.cutTail(s, sc, st, err)
		}
		d, found, err := r.damagedRange(s, sc, st.pos, st.end, st.end, err)
		if err != nil {
			return false, err
		}
		if !found {
			// Nothing good behind it: the bytes stay, the log goes on in another file.
			r.cut = true
			return false, nil
		}
		st.skip(d)
	}
	return false, nil
}

// take takes a good batch into the state, the index, the epochs and the producers.
func (r *recovery) take(s *Segment, v batch.View, st *appendState, m *memIndex) {
	if e := v.LeaderEpoch(); e > r.epochs.Last() {
		r.epochs = r.epochs.assign(e, v.BaseOffset())
	}
	r.replay(v)
	m.addDense(indexEntry{uint32(v.BaseOffset() - s.base), uint32(v.LastOffset() - s.base), uint32(st.pos)})
	st.append(s.base, v, r.p.Options.IndexIntervalBytes, m)
	r.rep.ScannedBatches++
}

// cutTail notes what is cut, and keeps it in a .cut file if valid batches follow.
func (r *recovery) cutTail(s *Segment, sc *logScan, st *appendState, cause error) error {
	r.cut = true
	r.rep.CutOffset = st.end
	r.rep.CutBytes += sc.size - st.pos
	r.note("segment %d ends at byte %d: %v", s.base, st.pos, cause)
	q, err := sc.findValid(st.pos+1, st.end)
	if err != nil || q < 0 {
		return err
	}
	name := r.freeCut(st.end)
	if err = copyDurable(r.fs, name, sc.r, st.pos, sc.size); err == nil {
		err = r.fs.SyncDir(r.dir)
	}
	if IsNoSpace(err) {
		// Rather than lose them, leave the bytes where they are and go on in another file.
		if st.pos == 0 && !r.p.Direct {
			r.rep.CutFile = name
			return r.fs.Rename(s.path(suffixLog), name) // finish makes the file anew
		}
		r.note("no space to keep %d bytes aside, they stay in segment %d", sc.size-st.pos, s.base)
		r.keepTail = true
		return nil
	}
	r.rep.CutFile = name
	return err
}

// freeCut is a name for bytes that are cut at offset.
func (r *recovery) freeCut(offset int64) string {
	for n := 0; ; n++ {
		suffix := suffixCut
		if n > 0 {
			suffix = fmt.Sprintf(".%d%s", n, suffixCut)
		}
		name := fileName(r.dir, offset, suffix)
		if !r.files.names[filepath.Base(name)] {
			r.files.names[filepath.Base(name)] = true
			return name
		}
	}
}

// copyDurable copies a range of src to a new file.
func copyDurable(fsys vfs.FS, name string, src io.ReaderAt, from, to int64) error {
	tmp := name + suffixTmp
	f, err := fsys.CreateTrunc(tmp)
	if err != nil {
		return err
	}
	buf := make([]byte, min(scanBufBytes, to-from))
	for at := from; at < to && err == nil; {
		n := min(int64(len(buf)), to-at)
		if _, err = src.ReadAt(buf[:n], at); err == nil || errors.Is(err, io.EOF) {
			_, err = f.WriteAt(buf[:n], at-from)
		}
		at += n
	}
	if err == nil {
		err = f.Datasync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(tmp, name)
	}
	if err != nil {
		_ = fsys.Remove(tmp)
	}
	return err
}

// keepPrefix makes the good part of a scanned file durable: in place, or after a failed sync as a new file, because the
// page cache of the old one cannot be trusted.
func (r *recovery) keepPrefix(s *Segment, sc *logScan, st *appendState, cut bool) error {
	name := s.path(suffixLog)
	if !r.p.Direct {
		if cut && !r.keepTail && st.pos < sc.size {
			if st.pos == 0 {
				return nil // replaced by an empty file as a whole, see finish
			}
			if err := removeIfThere(r.fs, s.path(suffixSum)); err != nil {
				return err
			}
			if err := s.file.Truncate(st.pos); err != nil {
				return err
			}
		}
		return s.file.Datasync()
	}
	if err := removeIfThere(r.fs, s.path(suffixSum)); err != nil {
		return err
	}
	if err := copyDurable(r.fs, name, sc.r, 0, st.pos); err != nil {
		return err
	}
	if err := r.fs.SyncDir(r.dir); err != nil {
		return err
	}
	_ = s.file.drop()
	f, _, err := openFile(r.fs, name)
	if err != nil {
		return err
	}
	s.file = f
	return nil
}

// dropAfter takes away the segments behind the one in which the log ends. What holds batches is kept under another name.
func (r *recovery) dropAfter(i int) error {
	for j := len(r.segs) - 1; j > i; j-- {
		s := r.segs[j]
		_, valid, err := firstHead(s.file, r.sizes[j])
		if err != nil {
			return err
		}
		name := filepath.Base(s.path(suffixLog))
		if valid {
			to := r.freeCut(s.base)
			if err := r.fs.Rename(r.path(name), to); err != nil {
				return err
			}
			r.rep.CutFile = to
			r.rep.CutBytes += r.sizes[j]
		} else if err := r.remove(name); err != nil {
			return err
		}
		r.note("dropped segment %d behind the end of the log", s.base)
		for _, suffix := range segmentSuffixes[1:] {
			if n := filepath.Base(s.path(suffix)); r.files.names[n] {
				if err := r.remove(n); err != nil {
					return err
				}
			}
		}
		if err := s.file.drop(); err != nil {
			return err
		}
	}
	r.segs, r.sizes, r.sums = r.segs[:i+1], r.sizes[:i+1], r.sums[:i+1]
	return r.fs.SyncDir(r.dir)
}

// adoptNext gives a successor that was appended to before its seal job ran the name it was to have: its first batch is
// the next one of the log.
func (r *recovery) adoptNext(end int64) (bool, error) {
	for _, name := range r.files.nexts {
		if !r.files.names[name] {
			continue
		}
		f, size, err := openFile(r.fs, r.path(name))
		if err != nil {
			return false, err
		}
		h, ok, err := firstHead(f, size)
		if err != nil || !ok || h.BaseOffset() != end || r.cut {
			_ = f.drop()
			if err != nil {
				return false, err
			}
			continue
		}
		to := fileName(r.dir, end, suffixLog)
		if last := len(r.segs) - 1; r.segs[last].base == end {
			// An empty segment of that name, from a roll that never came to hold anything.
			_ = r.segs[last].file.drop()
			r.segs, r.sizes, r.sums = r.segs[:last], r.sizes[:last], r.sums[:last]
		} else if err := r.sealScanned(last); err != nil {
			_ = f.drop()
			return false, err
		}
		if err := r.fs.Rename(r.path(name), to); err != nil {
			_ = f.drop()
			return false, err
		}
		delete(r.files.names, name)
		r.files.names[filepath.Base(to)] = true
		r.note("adopted %s as segment %d", name, end)
		s := newSegment(r.sh, end, f)
		s.own.named = true
		r.segs, r.sizes, r.sums = append(r.segs, s), append(r.sizes, size), append(r.sums, noSum)
		return true, r.fs.SyncDir(r.dir)
	}
	return false, nil
}

// sealScanned closes a segment that was scanned as the last one and is not.
func (r *recovery) sealScanned(i int) error {
	s, st := r.segs[i], r.active
	st.finishTimes(s.base, s.index.Load())
	s.own.sealed = true
	s.frozen.Store(true)
	return r.saveSealed(s, &st)
}

// dropNexts removes successors that hold nothing of the log; one that holds batches is kept as .cut.
func (r *recovery) dropNexts() error {
	for _, name := range r.files.nexts {
		if !r.files.names[name] {
			continue
		}
		f, size, err := openFile(r.fs, r.path(name))
		if err != nil {
			return err
		}
		_, valid, err := firstHead(f, size)
		_ = f.drop()
		if err != nil {
			return err
		}
		if !valid {
			if err := r.remove(name); err != nil {
				return err
			}
			continue
		}
		offset, _, _ := parseFileName(name)
		to := r.freeCut(offset)
		if err := r.fs.Rename(r.path(name), to); err != nil {
			return err
		}
		delete(r.files.names, name)
		r.rep.CutFile = to
		r.rep.CutBytes += size
		r.note("%s does not follow the end of the log, kept as %s", name, filepath.Base(to))
	}
	return nil
}
