package segment

import (
	"fmt"
	"math"
	"sync"

	"millrace/internal/codec"
	"millrace/segment/batch"
)

// Record names one record in answers to lookups by time.
type Record struct {
	Offset int64
	// Timestamp is the record's own in ms (the append time where the topic says so).
	Timestamp   int64
	LeaderEpoch int32
}

const (
	// recordBytesMax bounds the records of one batch where they are unpacked as a whole, in bytes.
	recordBytesMax = 1 << 30
	// lookupBytesMax bounds how much of one batch a lookup unpacks, in bytes; nothing of it is held.
	lookupBytesMax = 1<<31 - 1
)

// OffsetForTime is the first record at or above start and below bound whose timestamp is >= ts; ok is false if there is
// none. Exact inside compressed batches; records of control batches count. It blocks.
func (v *View) OffsetForTime(ts, start, bound int64) (r Record, ok bool, err error) {
	for i := max(v.segmentOf(start), 0); i < len(v.segs); i++ {
		s := v.segs[i]
		if s.base >= bound {
			break
		}
		_, end := s.bounds()
		if end <= start || s.maxTs.Load() < ts {
			continue
		}
		r, ok, err = s.offsetForTime(ts, start, bound)
		if ok || err != nil {
			return r, ok, err
		}
	}
	return Record{}, false, nil
}

// MaxTimestamp is the first record with the largest timestamp in the log at or above start; ok is false if it lies at
// or above bound, or there is none. It blocks.
func (v *View) MaxTimestamp(start, bound int64) (r Record, ok bool, err error) {
	best := -1
	for i := max(v.segmentOf(start), 0); i < len(v.segs); i++ {
		if best < 0 || v.segs[i].maxTs.Load() > v.segs[best].maxTs.Load() {
			best = i
		}
	}
	if best < 0 {
		return Record{}, false, nil
	}
	s := v.segs[best]
	top := s.maxTs.Load()
	r, ok, err = s.offsetForTime(top, s.base, math.MaxInt64)
	if err != nil || !ok {
		return Record{}, false, err
	}
	if r.Offset < start {
		// The newest record was deleted with others of its segment: look at each batch that is left.
		if top, err = v.maxFrom(start); err != nil || top < 0 {
			return Record{}, false, err
		}
		if r, ok, err = v.OffsetForTime(top, start, math.MaxInt64); err != nil || !ok {
			return Record{}, false, err
		}
	}
	if r.Offset >= bound {
		return Record{}, false, nil
	}
	return r, true, nil
}

// maxFrom is the largest timestamp of the records at or above start, -1 if there are none.
func (v *View) maxFrom(start int64) (top int64, err error) {
	top = -1
	for i := max(v.segmentOf(start), 0); i < len(v.segs); i++ {
		s := v.segs[i]
		if top >= s.maxTs.Load() {
			continue
		}
		err := s.walk(max(start, s.base), func(pos int64, b batch.View) (bool, error) {
			if b.BaseOffset() >= start {
				top = max(top, b.MaxTimestamp())
				return true, nil
			}
			return true, s.records(pos, b, func(off, ts int64) bool {
				if off >= start {
					top = max(top, ts)
				}
				return true
			})
		})
		if err != nil {
			return -1, err
		}
	}
	return top, nil
}

// walk visits the batch headers of a segment from the one that holds offset until fn says false.
func (s *Segment) walk(offset int64, fn func(pos int64, head batch.View) (bool, error)) error {
	limit, end := s.bounds()
	for _, d := range s.damage { // what is lost cannot be looked at
		if offset >= d.FromOffset && offset < d.NextOffset {
			offset = d.NextOffset
		}
	}
	p, ok, err := s.find(offset, true)
	if err != nil || !ok {
		return err
	}
	buf := headerBufs.Get().(*[]byte)
	defer headerBufs.Put(buf)
	h := headers{seg: s, limit: limit, end: end, block: true, buf: *buf}
	for pos := p.Pos; pos < limit; {
		if d, bad := s.damagedAt(pos); bad && d.Pos <= pos {
			pos = d.Pos + d.Len
			continue
		}
		head, err := h.next(pos)
		if err != nil {
			return err
		}
		size := int64(head.Size())
		if goOn, err := fn(pos, head); err != nil || !goOn {
			return err
		}
		pos += size
	}
	return nil
}

func (s *Segment) offsetForTime(ts, start, bound int64) (r Record, ok bool, err error) {
	m, err := s.indexFor(true)
	if err != nil {
		return r, false, err
	}
	from := max(start, s.base)
	sn := m.snap()
	if e, known := sn.timeFloor(ts); known {
		from = max(from, s.base+int64(e.rel)+1)
	}
	err = s.walk(from, func(pos int64, head batch.View) (bool, error) {
		if head.BaseOffset() >= bound {
			return false, nil
		}
		if head.MaxTimestamp() < ts || head.LastOffset() < start {
			return true, nil
		}
		epoch := head.LeaderEpoch()
		err := s.records(pos, head, func(off, at int64) bool {
			if off >= bound {
				return false
			}
			if off >= start && at >= ts {
				r, ok = Record{off, at, epoch}, true
			}
			return !ok
		})
		return !ok, err
	})
	return r, ok, err
}

// records reads the batch at pos whole, checks its CRC and visits offset and timestamp of its records until fn says
// false.
func (s *Segment) records(pos int64, head batch.View, fn func(offset, ts int64) bool) error {
	raw := make([]byte, head.Size())
	limit, _ := s.bounds()
	n, err := s.readSome(raw, pos, limit, true)
	if err != nil {
		return err
	}
	v, _, err := batch.Parse(raw[:n])
	if err != nil {
		return fmt.Errorf("%w: %s at %d: %v", ErrDamaged, s.path(suffixLog), pos, err)
	}
	return eachRecord(v, fn)
}

// recordStreams walk the records of compressed batches; any goroutine.
var recordStreams = sync.Pool{New: func() any { return new(batch.Stream) }}

// eachRecord visits offset and timestamp of the records of a batch. Compressed ones are unpacked piece by piece, up to
// the record at which fn says false.
func eachRecord(v batch.View, fn func(offset, ts int64) bool) error {
	r, err := codec.NewReader(codec.Type(v.Attributes().Codec()), v.Payload(), lookupBytesMax)
	if err != nil {
		return err
	}
	defer r.Close()
	s := recordStreams.Get().(*batch.Stream)
	defer recordStreams.Put(s)
	defer s.Release()
	s.Reset(r, v.Count())
	var h batch.RecordHead
	for s.Next(&h) {
		if !fn(v.BaseOffset()+int64(h.OffsetDelta), v.TimestampOf(h.TimestampDelta)) {
			return nil
		}
	}
	return s.Err()
}
