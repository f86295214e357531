package validate

import (
	"millrace/kafka/wire"
	"millrace/segment/batch"
)

// walk is one pass over a record section: what it checks and what it found.
type walk struct {
	// base is added to every timestamp delta. If fixed is set every record has
	// the time base and the deltas are ignored (the batch says LogAppendTime).
	base  int64
	fixed bool
	// times asks for the window check; lo and hi are its bounds where neither
	// side overflows, now, before and after the exact values.
	times              bool
	lo, hi             int64
	now, before, after int64
	// timeless: every record breaks the timestamp rule.
	timeless bool
	// keyed asks for keys.
	keyed bool
	// most is the largest record, in bytes without its length.
	most int

	// maxTime is the highest timestamp, at least -1; maxDelta is the offset
	// delta of the first record that has it.
	maxTime  int64
	maxDelta int32
	// firstDelta is the first record's timestamp delta.
	firstDelta int64
	// gaps: some offset delta is not the record's place.
	gaps bool
	// odd: some record has attributes, which do not survive where records are
	// written anew.
	odd bool
	// bad lists the records with errors, up to maxRecordErrors; badTime says
	// that one of all was a timestamp.
	bad     []wire.RecordError
	failed  bool
	badTime bool
}

// minBody is the shortest record without its length: attributes, two deltas,
// two lengths, header count.
const minBody = 6

// beyond is a position no record reaches. A fault moves the position there,
// where it stays until the one check at the end of the record.
const beyond = 1 << 40

// run walks count records, which must fill b. It answers false if the records
// are malformed.
//
// Cost: one pass, 10 to 20 ns a record. Varints of one byte are read in place
// (the compiler does not inline a function that may call another), longer ones
// by a call, and a record's end is checked once, behind all its fields.
func (w *walk) run(b []byte, count int32) bool {
	maxTime, base := int64(-1), w.base
	p, attributes := 0, byte(0)
	for i := int32(0); i < count; i++ {
		var u uint32
		if p < len(b) && b[p] < 0x80 {
			u, p = uint32(b[p]), p+1
		} else {
			u, p = uvarintLong(b, p)
		}
		size := int(unzig(u))
		if p > len(b) || size < minBody || size > len(b)-p || size > w.most {
			return false
		}
		r := b[p : p+size]
		p += size

		attributes |= r[0] // nobody reads them
		q := 1
		var delta int64
		if r[q] < 0x80 {
			delta, q = int64(unzig(uint32(r[q]))), q+1
		} else {
			delta, q = varlong(r, q)
		}
		if q < len(r) && r[q] < 0x80 {
			u, q = uint32(r[q]), q+1
		} else {
			u, q = uvarintLong(r, q)
		}
		offset := unzig(u)
		if q < len(r) && r[q] < 0x80 {
			u, q = uint32(r[q]), q+1
		} else {
			u, q = uvarintLong(r, q)
		}
		keySize := unzig(u)
		q += int(max(keySize, 0))
		if q < len(r) && r[q] < 0x80 {
			u, q = uint32(r[q]), q+1
		} else {
			u, q = uvarintLong(r, q)
		}
		q += int(max(unzig(u), 0))
		if q >= len(r) {
			return false
		}
		if r[q] == 0 {
			q++
		} else {
			q = skipHeaders(r, q)
		}
		if q != len(r) {
			return false
		}

		at := base
		if !w.fixed {
			at += delta
		}
		if i == 0 {
			w.firstDelta = delta
		}
		if offset != i {
			w.gaps = true
		}
		if w.keyed && keySize < 0 {
			w.badRecord(i, false)
		} else if w.timeless || w.times && (at < w.lo || at > w.hi) && w.outside(at) {
			w.badRecord(i, true)
		}
		if at > maxTime {
			maxTime, w.maxDelta = at, offset
		}
	}
	w.maxTime, w.odd = maxTime, attributes != 0
	return p == len(b)
}

// begin starts a walk by see.
func (w *walk) begin() { w.maxTime = -1 }

// see takes one record of a walk that does not hold the section. It judges as
// run does.
func (w *walk) see(i int32, h *batch.RecordHead) {
	at := w.base
	if !w.fixed {
		at += h.TimestampDelta
	}
	if i == 0 {
		w.firstDelta = h.TimestampDelta
	}
	if h.OffsetDelta != i {
		w.gaps = true
	}
	if w.keyed && h.KeySize < 0 {
		w.badRecord(i, false)
	} else if w.timeless || w.times && (at < w.lo || at > w.hi) && w.outside(at) {
		w.badRecord(i, true)
	}
	if at > w.maxTime {
		w.maxTime, w.maxDelta = at, h.OffsetDelta
	}
}

// outside is Kafka's check of one timestamp, overflow included. -1 means no
// timestamp and is always taken.
func (w *walk) outside(at int64) bool {
	if at == -1 {
		return false
	}
	age := w.now - at
	return age > w.before || -age > w.after
}

// window sets the bounds of the fast check.
func (w *walk) window(now, before, after int64) {
	w.times, w.now, w.before, w.after = true, now, before, after
	w.lo = now - before
	w.hi = now + after
	if w.hi < now && after > 0 {
		w.hi = 1<<63 - 1
	}
}

// maxRecordErrors bounds the list of bad records of one batch, and
// maxRecordTexts how many of them carry a text: an answer must not be larger
// than the request by much.
const (
	maxRecordErrors = 1 << 16
	maxRecordTexts  = 100
)

func (w *walk) badRecord(i int32, time bool) {
	w.failed = true
	w.badTime = w.badTime || time
	if len(w.bad) >= maxRecordErrors {
		return
	}
	e := wire.RecordError{Index: i}
	if len(w.bad) < maxRecordTexts {
		e.Message = "a compacted topic needs a key"
		if time {
			e.Message = "the timestamp is outside of what the topic accepts"
		}
	}
	w.bad = append(w.bad, e)
}

// skipHeaders passes over the header count at r[q] and the headers and answers
// the position behind them.
func skipHeaders(r []byte, q int) int {
	n, q := varint(r, q)
	if n < 0 || q > len(r) || int(n) > len(r)-q {
		return beyond
	}
	for ; n > 0; n-- {
		var size int32
		if size, q = varint(r, q); size < 0 {
			return beyond
		}
		q += int(size)
		size, q = varint(r, q)
		q += int(max(size, 0))
		if q > len(r) {
			return beyond
		}
	}
	return q
}

// unzig undoes zigzag.
func unzig(u uint32) int32 { return int32(u>>1) ^ -int32(u&1) }

// varint reads a zigzag varint at r[q] and answers the position behind it,
// beyond the end of r if there is none.
func varint(r []byte, q int) (int32, int) {
	u, q := uvarintLong(r, q)
	return unzig(u), q
}

// uvarintLong reads an unsigned varint of any length; two bytes first, for
// the length of most values.
func uvarintLong(r []byte, q int) (uint32, int) {
	if q < len(r)-1 && r[q+1] < 0x80 && r[q] >= 0x80 {
		return uint32(r[q]&0x7f) | uint32(r[q+1])<<7, q + 2
	}
	var u uint32
	for shift := uint(0); shift < 35 && q < len(r); shift += 7 {
		c := r[q]
		q++
		u |= uint32(c&0x7f) << shift
		if c < 0x80 {
			return u, q
		}
	}
	return 0, beyond
}

// varlong reads a zigzag varint of 64 bits.
func varlong(r []byte, q int) (int64, int) {
	var u uint64
	for shift := uint(0); shift < 70 && q < len(r); shift += 7 {
		c := r[q]
		q++
		u |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), q
		}
	}
	return 0, beyond
}
