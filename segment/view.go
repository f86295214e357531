package segment

import (
	"sort"
	"sync/atomic"

	"millrace/vfs"
)

// View is an immutable list of segments, the last of which still grows. Any goroutine, between Log.View and Release.
type View struct {
	segs []*Segment
	refs atomic.Int32
}

// newView holds a reference on each segment and is born with one of its own.
func newView(segs []*Segment) *View {
	v := &View{segs: segs}
	v.refs.Store(1)
	for _, s := range segs {
		s.refs.Add(1)
	}
	return v
}

// acquire takes a reference unless the last one is gone.
func (v *View) acquire() bool {
	for {
		n := v.refs.Load()
		if n == 0 {
			return false
		}
		if v.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Retain takes one more reference (any goroutine, never blocks). The caller holds one already.
func (v *View) Retain() { v.refs.Add(1) }

// Release gives one reference up (any goroutine, never blocks).
func (v *View) Release() {
	if v.refs.Add(-1) > 0 {
		return
	}
	for _, s := range v.segs {
		s.release()
	}
}

// Segments is the number of segments.
func (v *View) Segments() int { return len(v.segs) }

// Start is the first offset that the segments hold (the log start may be higher).
func (v *View) Start() int64 {
	if len(v.segs) == 0 {
		return 0
	}
	return v.segs[0].base
}

// ActiveBase is the base offset of the last segment, 0 without one.
func (v *View) ActiveBase() int64 {
	if len(v.segs) == 0 {
		return 0
	}
	return v.segs[len(v.segs)-1].base
}

// End is the published end.
func (v *View) End() int64 {
	if len(v.segs) == 0 {
		return 0
	}
	_, end := v.segs[len(v.segs)-1].bounds()
	return end
}

// Size is the published bytes of all segments.
func (v *View) Size() int64 {
	var n int64
	for _, s := range v.segs {
		pos, _ := s.bounds()
		n += pos
	}
	return n
}

// segmentOf is the index of the last segment whose base is at or below offset; -1 if there is none.
func (v *View) segmentOf(offset int64) int {
	return sort.Search(len(v.segs), func(i int) bool { return v.segs[i].base > offset }) - 1
}

// Position is where a batch starts. A plain value; it needs the View it came from.
type Position struct {
	seg *Segment
	// Pos is the position in the file, Offset the first offset of the batch, Size its bytes at most (0 at the end).
	Pos    int64
	Offset int64
	Size   int64
}

// Find is the first batch whose last offset is >= offset; at the published end an empty position. No blocking: ErrCold
// when it would take a read that may block. ErrOutOfRange below the first segment or above the end; ErrDamaged in a
// damaged range.
func (v *View) Find(offset int64) (Position, error) { return v.find(offset, false) }

// FindBlocking is Find, reading what it needs.
func (v *View) FindBlocking(offset int64) (Position, error) { return v.find(offset, true) }

func (v *View) find(offset int64, block bool) (Position, error) {
	i := v.segmentOf(offset)
	if i < 0 {
		return Position{}, ErrOutOfRange
	}
	for ; i < len(v.segs); i++ {
		s := v.segs[i]
		pos, end := s.bounds()
		if offset < end {
			p, ok, err := s.find(max(offset, s.base), block)
			if ok || err != nil {
				return p, err
			}
		}
		if i == len(v.segs)-1 {
			if offset > end {
				return Position{}, ErrOutOfRange
			}
			return Position{seg: s, Pos: pos, Offset: end}, nil
		}
		// Compaction may have taken the batches between here and the next segment.
	}
	return Position{}, ErrOutOfRange
}

// Range is a part of a file.
type Range struct {
	File vfs.File
	Off  int64
	Len  int64
}

// Slice is what a fetch from p may send: up to maxBytes, whole batches where their ends are known, nothing at or above
// bound, never past the segment; with wholeFirst at least the first batch. Len 0 when p is at or above bound or the first
// batch does not fit. No blocking: ErrCold as for Find.
func (v *View) Slice(p Position, maxBytes, bound int64, wholeFirst bool) (Range, error) {
	return v.slice(p, maxBytes, bound, wholeFirst, false)
}

// SliceBlocking is Slice, reading what it needs.
func (v *View) SliceBlocking(p Position, maxBytes, bound int64, wholeFirst bool) (Range, error) {
	return v.slice(p, maxBytes, bound, wholeFirst, true)
}

func (v *View) slice(p Position, maxBytes, bound int64, wholeFirst, block bool) (Range, error) {
	s := p.seg
	r := Range{File: s.file.File, Off: p.Pos}
	limit, end := s.bounds()
	if p.Pos >= limit || bound <= p.Offset {
		return r, nil
	}
	if bound < end {
		at, err := s.limit(bound, p.Pos, block)
		if err != nil {
			return r, err
		}
		limit = min(limit, at)
	}
	limit = s.limitBefore(p.Pos, limit)
	if limit-p.Pos <= maxBytes {
		r.Len = limit - p.Pos
		return r, nil
	}
	if m := s.index.Load(); m != nil {
		sn := m.snap()
		if cut := sn.boundary(p.Pos, p.Pos+maxBytes); cut > 0 {
			r.Len = cut - p.Pos
			return r, nil
		}
	}
	switch {
	case p.Size <= maxBytes:
		r.Len = maxBytes // ends inside a batch, as Kafka's may
	case wholeFirst:
		r.Len = min(p.Size, limit-p.Pos)
	}
	return r, nil
}
