package segment

import (
	"sync"
	"sync/atomic"

	"millrace/vfs"
)

// Segment is one segment as readers see it. The base, the file and the damage never change. The published end is raised
// by the log's owner; a sealed segment's does not move. Any goroutine reads.
type Segment struct {
	shared *shared
	base   int64
	file   *sharedFile
	damage []Damage

	// end packs the published end: bytes in the low half, offset - base in the high half, so that both are read at once.
	end atomic.Uint64
	// maxTs is the largest timestamp among the published batches, -1 for none; raised before end.
	maxTs atomic.Int64
	// index is the index in memory, nil while a sealed segment's is only on disk.
	index atomic.Pointer[memIndex]
	used  atomic.Bool // index was used since the last sweep
	// renamed: the index files of its name may be those of the segment that replaced it.
	renamed atomic.Bool
	// frozen: nothing is appended any more, so the index in memory is complete and may be dropped or replaced.
	frozen atomic.Bool
	load   sync.Mutex // one goroutine loads or rebuilds the index at a time

	refs     atomic.Int32 // views that hold it
	nextDead *Segment

	own ownerState
}

// ownerState is what only the log's owner (or the job that stands for it) touches.
type ownerState struct {
	named    bool   // the file has its final name, durably
	tmpName  string // its name before that
	sealed   bool   // nothing is appended any more and the seal job has run
	syncPos  int64  // bytes known durable
	syncEnd  int64  // offset behind them
	deleteAt int64  // ms; when the .deleted files may go
	modMs    int64  // when the file was last changed, for segments without timestamps
	checkPos int64  // bytes below the recovery point
	closing  bool   // no view holds it
	// keepNames: its names belong to another Segment by now; only the file is to be closed.
	keepNames bool
}

// sharedFile is an open file that several segments (a cut one and its former self) may hold. Any goroutine.
type sharedFile struct {
	vfs.File
	refs atomic.Int32
}

func newSharedFile(f vfs.File) *sharedFile {
	s := &sharedFile{File: f}
	s.refs.Store(1)
	return s
}

func (f *sharedFile) retain() *sharedFile { f.refs.Add(1); return f }

// drop gives one reference up; the last closes the file, which may block.
func (f *sharedFile) drop() error {
	if f.refs.Add(-1) == 0 {
		return f.Close()
	}
	return nil
}

// shared is what the segments and views of one log have in common. Any goroutine.
type shared struct {
	fs        vfs.FS
	dir       string
	topic     string
	partition int32
	topicID   [16]byte

	// dead is a stack of segments that no view holds any more.
	dead atomic.Pointer[Segment]
	// closed: nobody takes jobs any more; the last reader closes the file itself.
	closed atomic.Bool
	// interval is index.interval.bytes for rebuilding an index.
	interval atomic.Int64
}

func newSegment(sh *shared, base int64, file *sharedFile) *Segment {
	s := &Segment{shared: sh, base: base, file: file}
	s.maxTs.Store(-1)
	return s
}

// Base is the segment's base offset.
func (s *Segment) Base() int64 { return s.base }

func (s *Segment) setEnd(pos, offset int64) { s.end.Store(uint64(offset-s.base)<<32 | uint64(pos)) }

// bounds are the published end: bytes and offset.
func (s *Segment) bounds() (pos, offset int64) {
	e := s.end.Load()
	return int64(e & (1<<32 - 1)), s.base + int64(e>>32)
}

// path is the name of one of the segment's files.
func (s *Segment) path(suffix string) string { return fileName(s.shared.dir, s.base, suffix) }

func (s *Segment) release() {
	if s.refs.Add(-1) > 0 {
		return
	}
	if s.shared.closed.Load() {
		_ = s.file.drop()
		return
	}
	for {
		head := s.shared.dead.Load()
		s.nextDead = head
		if s.shared.dead.CompareAndSwap(head, s) {
			break
		}
	}
	if s.shared.closed.Load() {
		s.shared.drain() // the log was closed meanwhile and may have looked before the push
	}
}

// drain closes the files of the segments on the stack.
func (sh *shared) drain() {
	for s := sh.dead.Swap(nil); s != nil; {
		next := s.nextDead
		_ = s.file.drop()
		s = next
	}
}

// damagedAt is the first damaged range at or behind pos.
func (s *Segment) damagedAt(pos int64) (Damage, bool) {
	for _, d := range s.damage {
		if d.Pos+d.Len > pos {
			return d, true
		}
	}
	return Damage{}, false
}

// limitBefore cuts a range that starts at pos before the first damage.
func (s *Segment) limitBefore(pos, limit int64) int64 {
	if d, ok := s.damagedAt(pos); ok {
		return max(min(limit, d.Pos), pos)
	}
	return limit
}
