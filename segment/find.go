package segment

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"millrace/segment/batch"
	"millrace/vfs"
)

// probeBytes is what one read of a lookup asks for: an index interval and some.
const probeBytes = 8 << 10

// headerBufs holds the buffers of lookups. Any goroutine.
var headerBufs = sync.Pool{New: func() any { b := make([]byte, probeBytes); return &b }}

// readSome reads up to len(p) bytes at off, below limit; a short count only at limit or at the end of the file.
func (s *Segment) readSome(p []byte, off, limit int64, block bool) (int, error) {
	p = p[:max(min(int64(len(p)), limit-off), 0)]
	var n int
	var err error
	if block {
		n, err = s.file.ReadAt(p, off)
	} else if r, ok := s.file.File.(vfs.NowaitReader); ok {
		n, err = r.ReadAtNowait(p, off)
	} else {
		return 0, ErrCold
	}
	if errors.Is(err, io.EOF) {
		return n, nil
	}
	if errors.Is(err, vfs.ErrWouldBlock) {
		return n, ErrCold
	}
	return n, err
}

// headers walks the batch headers of a segment's file. Owned by the goroutine that made it.
type headers struct {
	seg   *Segment
	limit int64 // published end in the file
	end   int64 // and its offset
	block bool
	buf   []byte
	at    int64 // file position of buf[0]
	n     int   // bytes in buf
}

// next reads the header of the batch at pos. The view holds the header only.
func (h *headers) next(pos int64) (batch.View, error) {
	if pos < h.at || pos+batch.HeaderSize > h.at+int64(h.n) {
		n, err := h.seg.readSome(h.buf, pos, h.limit, h.block)
		if err != nil {
			return nil, err
		}
		h.at, h.n = pos, n
	}
	b := h.buf[pos-h.at : h.n]
	if len(b) < batch.HeaderSize {
		return nil, fmt.Errorf("%w: batch header cut off at %d", ErrDamaged, pos)
	}
	v := batch.View(b[:batch.HeaderSize])
	size, err := batch.PeekSize(b)
	if err != nil || v.Magic() != batch.Magic || pos+int64(size) > h.limit || v.LastOffsetDelta() < 0 ||
		v.BaseOffset() < h.seg.base || v.LastOffset() >= h.end {
		return nil, fmt.Errorf("%w: no batch at %d of %s", ErrDamaged, pos, h.seg.path(suffixLog))
	}
	return v, nil
}

// find is the first batch of the segment whose last offset is >= offset; ok is false if there is none.
func (s *Segment) find(offset int64, block bool) (p Position, ok bool, err error) {
	limit, end := s.bounds()
	rel := offset - s.base
	if limit == 0 {
		return p, false, nil
	}
	for i := range s.damage {
		if d := &s.damage[i]; offset >= d.FromOffset && offset < d.NextOffset {
			return p, false, fmt.Errorf("%w: offsets %d-%d of %s", ErrDamaged, d.FromOffset, d.NextOffset-1, d.File)
		}
	}
	m, err := s.indexFor(block)
	if err != nil {
		return p, false, err
	}
	sn := m.snap()
	if e, next, ok := sn.denseFind(rel); ok {
		if next < 0 || next > limit {
			next = limit
		}
		p := Position{seg: s, Pos: int64(e.pos), Offset: s.base + int64(e.first), Size: next - int64(e.pos)}
		return p, p.Pos < limit, nil
	}
	e, i := sn.floor(rel)
	if i < 0 && rel == 0 && (len(s.damage) == 0 || s.damage[0].Pos > 0) {
		return Position{seg: s, Offset: s.base, Size: sn.after(0, limit)}, true, nil
	}
	if i >= m.loaded && int64(e.first) == rel {
		return Position{seg: s, Pos: int64(e.pos), Offset: offset, Size: sn.after(int64(e.pos), limit) - int64(e.pos)}, true, nil
	}
	p, ok, err = s.scanTo(int64(e.pos), offset, limit, end, e, i >= 0, block)
	if block && errors.Is(err, ErrDamaged) && i >= 0 {
		// The index may be wrong; the log itself tells.
		if m, rerr := s.rebuildIndex(); rerr == nil {
			sn = m.snap()
			e, i = sn.floor(rel)
			return s.scanTo(int64(e.pos), offset, limit, end, e, i >= 0, block)
		}
	}
	return p, ok, err
}

// scanTo walks headers from pos, which index entry e (if check) says is a batch ending at e.last.
func (s *Segment) scanTo(pos, offset, limit, end int64, e indexEntry, check, block bool) (p Position, ok bool, err error) {
	buf := headerBufs.Get().(*[]byte)
	defer headerBufs.Put(buf)
	h := headers{seg: s, limit: limit, end: end, block: block, buf: *buf}
	for pos < limit {
		if d, bad := s.damagedAt(pos); bad && d.Pos <= pos {
			if offset < d.NextOffset {
				return p, false, fmt.Errorf("%w: %s at %d", ErrDamaged, d.File, pos)
			}
			pos, check = d.Pos+d.Len, false
			continue
		}
		v, err := h.next(pos)
		if err != nil {
			return p, false, err
		}
		last := v.LastOffset()
		if check && last != s.base+int64(e.last) {
			return p, false, fmt.Errorf("%w: index entry (%d, %d) does not fit the batch", ErrDamaged, e.last, e.pos)
		}
		check = false
		if last >= offset {
			return Position{seg: s, Pos: pos, Offset: v.BaseOffset(), Size: int64(v.Size())}, true, nil
		}
		pos += int64(v.Size())
	}
	return p, false, nil
}

// limit is the file position at which a reader bound must stop: the start of the batch that holds it. Without blocking
// it may be an earlier start of a batch above from, if the exact one is not in memory.
func (s *Segment) limit(bound, from int64, block bool) (int64, error) {
	if bound <= s.base {
		return 0, nil
	}
	p, ok, err := s.find(bound, false)
	if errors.Is(err, ErrCold) {
		if m := s.index.Load(); m != nil {
			sn := m.snap()
			if e, i := sn.floor(bound - s.base); i >= 0 && int64(e.pos) > from {
				return int64(e.pos), nil
			}
		}
		if !block {
			return 0, ErrCold
		}
	}
	if block && err != nil {
		p, ok, err = s.find(bound, true)
	}
	if err != nil {
		return 0, err
	}
	if !ok {
		pos, _ := s.bounds()
		return pos, nil
	}
	return p.Pos, nil
}

// indexFor is the index in memory; a sealed segment's is loaded when a read may block.
func (s *Segment) indexFor(block bool) (*memIndex, error) {
	if m := s.index.Load(); m != nil {
		s.used.Store(true)
		return m, nil
	}
	if !block {
		return nil, ErrCold
	}
	s.load.Lock()
	defer s.load.Unlock()
	if m := s.index.Load(); m != nil {
		return m, nil
	}
	m, err := s.loadIndex()
	if err != nil || s.renamed.Load() {
		if m, _, err = s.scanIndex(); err != nil {
			return nil, err
		}
	}
	s.used.Store(true)
	s.index.Store(m)
	return m, nil
}

// loadIndex reads the index files of a sealed segment.
func (s *Segment) loadIndex() (*memIndex, error) {
	size, _ := s.bounds()
	idx, err := s.shared.fs.ReadFile(s.path(suffixIndex))
	if err != nil {
		return nil, err
	}
	tix, err := s.shared.fs.ReadFile(s.path(suffixTimeIndex))
	if err != nil {
		return nil, err
	}
	if data, err := s.shared.fs.ReadFile(s.path(suffixSum)); err == nil {
		if sum, err := decodeSum(data); err == nil && sum.Base == s.base && sum.Pos == size {
			if err := sum.checkIndexes(idx, tix); err != nil {
				return nil, err
			}
		}
	}
	entries, err := decodeIndex(idx, size)
	if err != nil {
		return nil, err
	}
	times, err := decodeTimeIndex(tix)
	if err != nil {
		return nil, err
	}
	m := newMemIndex()
	m.fill(entries, times)
	return m, nil
}

func (m *memIndex) fill(entries []indexEntry, times []timeEntry) {
	for _, e := range entries {
		m.addSparse(e)
	}
	m.loaded = len(entries)
	for _, e := range times {
		m.addTime(e)
	}
}

// rebuildIndex replaces the index in memory of a segment whose files lead nowhere, by reading the log.
func (s *Segment) rebuildIndex() (*memIndex, error) {
	s.load.Lock()
	defer s.load.Unlock()
	m, _, err := s.scanIndex()
	if err != nil {
		return nil, err
	}
	if s.frozen.Load() {
		s.index.Store(m) // the active one's grows while we look; m serves this lookup only
	}
	return m, nil
}

// scanIndex builds the index of a segment from its batch headers, around damaged ranges, with the last time entry that
// a closed segment has.
func (s *Segment) scanIndex() (*memIndex, appendState, error) {
	limit, end := s.bounds()
	h := headers{seg: s, limit: limit, end: end, block: true, buf: make([]byte, 256<<10)}
	m := newMemIndex()
	st := newAppendState(s.base)
	interval := s.shared.interval.Load()
	for st.pos < limit {
		if d, bad := s.damagedAt(st.pos); bad && d.Pos <= st.pos {
			st.skip(d)
			continue
		}
		v, err := h.next(st.pos)
		if err != nil {
			return nil, st, err
		}
		st.append(s.base, v, interval, m)
	}
	st.finishTimes(s.base, m)
	return m, st, nil
}
