package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"millrace/vfs"
)

// Create makes the directory, partition.metadata and the first segment, all durable, and opens the log. A directory
// that an interrupted Create left behind is taken over; one with segments gives fs.ErrExist. It blocks.
func Create(fsys vfs.FS, p Params) (*Log, error) {
	p.Options.EnsureDefaults()
	sh := newShared(fsys, p)
	if err := fsys.Mkdir(p.Dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	list, err := fsys.List(p.Dir)
	if err != nil {
		return nil, err
	}
	for _, e := range list {
		if _, suffix, ok := parseFileName(e.Name()); ok && suffix == suffixLog {
			size, err := fsys.Stat(filepath.Join(p.Dir, e.Name()))
			if err != nil {
				return nil, err
			}
			if size.Size() > 0 || len(list) > 2 {
				return nil, fmt.Errorf("segment: %s: %w", p.Dir, fs.ErrExist)
			}
		}
	}
	if err := WriteTopicID(fsys, p.Dir, p.TopicID); err != nil {
		return nil, err
	}
	s, err := createSegment(sh, p.StartOffset)
	if err != nil {
		return nil, err
	}
	if err = fsys.SyncDir(p.Dir); err == nil {
		err = fsys.SyncDir(filepath.Dir(p.Dir))
	}
	if err != nil {
		_ = s.file.drop()
		return nil, err
	}
	s.own.modMs = p.NowMs
	l := newLog(fsys, p, []*Segment{s}, newAppendState(p.StartOffset), &Epochs{})
	if p.Options.Preallocate {
		refused, err := allocate(sh, s.file.File, p.Options.SegmentBytes, p.Options.aheadShare())
		l.ahead.dirty = true
		l.allocated(errors.Join(refused, err)) // a disk in doubt is for the first write to find
	}
	l.synced, l.recovery, l.snapAt = p.StartOffset, p.StartOffset, -1
	return l, nil
}

func newShared(fsys vfs.FS, p Params) *shared {
	sh := &shared{fs: fsys, dir: p.Dir, topic: p.Topic, partition: p.Partition, topicID: p.TopicID}
	sh.interval.Store(p.Options.IndexIntervalBytes)
	return sh
}

// Open opens an existing directory, recovering what an unclean stop left. It blocks. A log with damage below the
// recovery point opens; the report says so. It may be killed at any point and be called again.
func Open(fsys vfs.FS, p Params) (*Log, Report, error) {
	began := time.Now()
	p.Options.EnsureDefaults()
	r := &recovery{fs: fsys, dir: p.Dir, p: p, sh: newShared(fsys, p)}
	r.rep.Dir = p.Dir
	r.rep.SnapshotOffset = -1
	l, err := r.open()
	if err == nil {
		l.queueLeftOver(r.files.deleted)
	} else {
		for _, s := range r.segs {
			_ = s.file.drop()
		}
		err = fmt.Errorf("open %s: %w", p.Dir, err)
	}
	r.rep.Duration = time.Since(began)
	return l, r.rep, err
}

// recovery is the state of one Open. Owned by it.
type recovery struct {
	fs  vfs.FS
	dir string
	p   Params
	sh  *shared
	rep Report

	files  dirFiles
	segs   []*Segment
	sizes  []int64
	sums   []sum // of the same segments; Base < 0 where there is no valid one
	epochs *Epochs
	saved  *Epochs // the lineage in the file, nil if it must be written

	prod     producerPlan
	active   appendState
	cut      bool // the last file ends in bytes that were cut or given up: it takes no more appends
	keepTail bool // ... and they could not be copied, so they stay in the file
	dirty    bool // something was repaired: write all that speeds up the next start
	wholeIdx bool // the active segment's index files are right as they are
}

func (r *recovery) open() (*Log, error) {
	if err := r.listDir(); err != nil {
		return nil, err
	}
	if err := r.checkTopicID(); err != nil {
		return nil, err
	}
	if len(r.files.bases) == 0 {
		if l, done, err := r.openEmpty(); done || err != nil {
			return l, err
		}
	}
	if err := r.openSegments(); err != nil {
		return nil, err
	}
	if err := r.readEpochs(); err != nil {
		return nil, err
	}
	clean := r.p.Clean && !r.p.Direct && len(r.files.nexts) == 0
	if clean {
		ok, err := r.resumeClean()
		if err != nil {
			return nil, err
		}
		clean = ok
	}
	if !clean {
		if err := r.recoverTail(); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// openEmpty deals with a directory without segments: one that Create did not finish begins anew; any other lost its
// files, which is damage, and goes on where nothing known can be overwritten. A successor with data is looked at by
// recoverTail: then done is false.
func (r *recovery) openEmpty() (l *Log, done bool, err error) {
	start := max(r.p.LogStart, r.p.RecoveryPoint, 0)
	if n := len(r.files.snaps); n > 0 {
		start = max(start, r.files.snaps[n-1])
	}
	if start > 0 || !r.files.empty && len(r.files.names) > 1 {
		r.rep.Damage = append(r.rep.Damage, Damage{File: r.dir, NextOffset: start, Err: fmt.Errorf("%w: no segment files", ErrDamaged)})
	}
	s, err := createSegment(r.sh, start)
	if err != nil {
		return nil, true, err
	}
	r.segs = append(r.segs, s)
	if err := r.fs.SyncDir(r.dir); err != nil {
		return nil, true, err
	}
	r.files.bases = append(r.files.bases, start)
	r.segs = nil
	return nil, false, s.file.drop()
}

// openSegments opens the log files and reads what the side files say of them.
func (r *recovery) openSegments() error {
	for _, base := range r.files.bases {
		f, size, err := openFile(r.fs, fileName(r.dir, base, suffixLog))
		if err != nil {
			return err
		}
		s := newSegment(r.sh, base, f)
		s.own.named = true
		s.setEnd(size, base)
		r.segs = append(r.segs, s)
		r.sizes = append(r.sizes, size)
		r.rep.Bytes += size
		if s.damage, err = readDamage(r.fs, s.path(suffixDamage)); err != nil {
			r.note("%v", err)
		}
		r.rep.Damage = append(r.rep.Damage, s.damage...)
	}
	for i := range r.segs {
		sm, err := r.readSum(i)
		if err != nil {
			return err
		}
		r.sums = append(r.sums, sm)
	}
	for i := 0; i < len(r.segs)-1; i++ {
		if err := r.openSealed(i); err != nil {
			return err
		}
	}
	return nil
}

// noSum marks a segment without a side file to trust.
var noSum = sum{Base: -1}

// readSum reads a segment's side file and believes it only if it is about this segment and fits the files that are here.
func (r *recovery) readSum(i int) (sum, error) {
	s := r.segs[i]
	data, err := r.fs.ReadFile(s.path(suffixSum))
	if errors.Is(err, fs.ErrNotExist) {
		return noSum, nil
	}
	if err != nil {
		return noSum, err
	}
	sm, err := decodeSum(data)
	next := int64(maxMs)
	if i+1 < len(r.segs) {
		next = r.segs[i+1].base
	}
	switch {
	case err != nil:
		r.note("%s: %v", s.path(suffixSum), err)
		return noSum, nil
	case sm.Base != s.base || sm.Partition != r.sh.partition || sm.TopicID != r.sh.topicID:
		r.note("%s belongs to partition %d of topic %s, segment %d", s.path(suffixSum), sm.Partition, FormatID(sm.TopicID), sm.Base)
		return noSum, nil
	case sm.Pos > r.sizes[i] || sm.End > next:
		r.note("%s covers %d bytes up to offset %d, more than there is", s.path(suffixSum), sm.Pos, sm.End)
		return noSum, nil
	}
	if r.p.Clean && r.p.CleanEnd < 0 {
		return noSum, nil // a Kafka broker ran here last; the file may be another by now
	}
	return sm, nil
}

// openSealed fills in what readers need of a segment that is not the last, and rebuilds its indexes if they are not
// there or too short. The bytes are trusted; recoverTail looks again at those above the recovery point.
func (r *recovery) openSealed(i int) error {
	s, sm := r.segs[i], r.sums[i]
	s.own.sealed = true
	s.frozen.Store(true)
	size, end := r.sizes[i], r.segs[i+1].base
	end = min(end, s.base+1<<31) // beyond that there is a gap
	if sm.Base >= 0 {
		if sm.Pos < size && sm.Sealed {
			size = sm.Pos // the rest was given up
		} else if sm.Pos < size {
			sm = noSum // appended to after a checkpoint, and never sealed; recoverTail starts from there
		}
	}
	s.setEnd(size, end)
	s.own.syncPos, s.own.syncEnd, s.own.checkPos = size, end, size
	if info, err := r.fs.Stat(s.path(suffixLog)); err == nil {
		s.own.modMs = info.ModTime().UnixMilli()
	}
	if ok, err := r.belongs(s, size, end); err != nil || !ok {
		return err
	}
	if sm.Base >= 0 && r.indexesThere(s, &sm) {
		s.maxTs.Store(sm.MaxTs)
		return nil
	}
	if sm.Base < 0 && r.kafkaIndexes(s, size) {
		return nil
	}
	if end > r.p.RecoveryPoint && !r.p.Clean {
		return nil // recoverTail reads it anyway
	}
	return r.rebuild(s)
}

// indexesThere says whether the index files have at least the bytes that the side file counts.
func (r *recovery) indexesThere(s *Segment, sm *sum) bool {
	for _, f := range []struct {
		suffix string
		size   int64
	}{{suffixIndex, sm.IndexEntries * indexEntrySize}, {suffixTimeIndex, sm.TimeEntries * timeEntrySize}} {
		info, err := r.fs.Stat(s.path(f.suffix))
		if err != nil || info.Size() < f.size {
			return false
		}
	}
	return true
}

// kafkaIndexes checks the index files of a segment that a Kafka broker closed, and reads its largest timestamp.
func (r *recovery) kafkaIndexes(s *Segment, size int64) bool {
	idx, err := r.fs.ReadFile(s.path(suffixIndex))
	if err != nil {
		return false
	}
	tix, err := r.fs.ReadFile(s.path(suffixTimeIndex))
	if err != nil {
		return false
	}
	entries, err := decodeIndex(idx, size)
	if err != nil {
		return false
	}
	times, err := decodeTimeIndex(tix)
	if err != nil || size > 0 && len(times) == 0 || len(entries) == 0 && size > 4*r.p.Options.IndexIntervalBytes {
		return false
	}
	if len(times) > 0 {
		s.maxTs.Store(times[len(times)-1].ts)
	}
	return true
}

// rebuild makes a sealed segment's indexes anew from its batch headers.
func (r *recovery) rebuild(s *Segment) error {
	m, st, err := s.scanIndex()
	if errors.Is(err, ErrDamaged) {
		if err = r.findDamage(s); err == nil {
			m, st, err = s.scanIndex()
		}
	}
	if err != nil {
		return err
	}
	r.rep.RebuiltIndexes = append(r.rep.RebuiltIndexes, s.base)
	r.rep.ScannedBytes += st.pos
	r.rep.ScannedBatches += st.batches
	s.index.Store(m)
	s.maxTs.Store(st.maxTs)
	return r.saveSealed(s, &st)
}

// saveSealed writes index and side files of a sealed segment. A full disk does not stop the start: they are in memory.
func (r *recovery) saveSealed(s *Segment, st *appendState) error {
	sm := s.sumOf(st, unknownSnapshot)
	_, sm.End = s.bounds()
	sm.Sealed = true
	var err error
	if r.epochs != nil && r.epochs != r.saved {
		if err = writeEpochs(r.fs, r.dir, r.epochs); err == nil {
			r.saved = r.epochs
		}
	}
	if err == nil {
		err = sealCut(s, &sm)
	}
	if IsNoSpace(err) {
		r.note("no space for the indexes of segment %d", s.base)
		return nil
	}
	return err
}

// belongs says, after an unclean stop, whether a file's first batch has an offset of the segment; a file that got another
// one's name is damage from its first byte on.
func (r *recovery) belongs(s *Segment, size, end int64) (bool, error) {
	if r.p.Clean || len(s.damage) > 0 {
		return true, nil
	}
	h, ok, err := firstHead(s.file, size)
	if err != nil || !ok || h.BaseOffset() >= s.base && h.LastOffset() < end {
		return true, err
	}
	d := Damage{
		File: s.path(suffixLog), Len: size, FromOffset: s.base, NextOffset: end,
		Err: fmt.Errorf("%w: begins with offset %d", ErrDamaged, h.BaseOffset()),
	}
	s.damage = append(s.damage, d)
	r.rep.Damage = append(r.rep.Damage, d)
	return false, r.saveDamage(s)
}
