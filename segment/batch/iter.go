package batch

import "errors"

// What can be wrong with the records of a batch.
var (
	// ErrRecord: a record or header is cut off, overlong or out of range.
	ErrRecord = errors.New("batch: malformed record")
	// ErrTrailing: bytes are left behind the last record.
	ErrTrailing = errors.New("batch: bytes behind the last record")
	// ErrCompressed: the records are compressed; decompress the payload and
	// use NewIter.
	ErrCompressed = errors.New("batch: compressed records")
)

// Record is one record, a view over the record section.
type Record struct {
	// TimestampDelta is relative to the batch's base timestamp, in ms.
	TimestampDelta int64
	// OffsetDelta is relative to the batch's base offset.
	OffsetDelta int32
	// Key and Value are nil when null.
	Key, Value []byte
	// HeaderCount and HeaderBytes hold the headers, still encoded; Headers
	// walks them.
	HeaderCount int32
	HeaderBytes []byte
	// Size is the record's length in bytes with its length prefix.
	Size int
}

// Header is one record header. A nil Value is null.
type Header struct {
	Key, Value []byte
}

// Iter walks the records of an uncompressed record section without allocating.
// It is owned by the goroutine that made it.
//
//	it := v.Iter()
//	var r batch.Record
//	for it.Next(&r) { ... }
//	if err := it.Err(); err != nil { ... }
type Iter struct {
	data []byte
	left int32
	err  error
}

// Iter walks the records of v, which must not be compressed (the iterator
// answers ErrCompressed otherwise).
func (v View) Iter() Iter {
	if v.Attributes().Codec() != None {
		return Iter{err: ErrCompressed}
	}
	return NewIter(v.Payload(), v.Count())
}

// NewIter walks count records in a decompressed record section. A negative
// count is an error.
func NewIter(section []byte, count int32) Iter {
	if count < 0 {
		return Iter{err: ErrRecord}
	}
	return Iter{data: section, left: count}
}

// Next reads the next record into r, which aliases the record section. False
// means that all were read, or an error.
func (it *Iter) Next(r *Record) bool {
	if it.err != nil {
		return false
	}
	if it.left == 0 {
		if len(it.data) != 0 {
			it.err = ErrTrailing
		}
		return false
	}
	size, n := Varint(it.data)
	if n <= 0 || size < 0 || int64(size) > int64(len(it.data)-n) {
		it.err = ErrRecord
		return false
	}
	end := n + int(size)
	if !r.decode(it.data[n:end:end]) {
		it.err = ErrRecord
		return false
	}
	r.Size = end
	it.data = it.data[end:]
	it.left--
	return true
}

// Err is the first error, nil if all records were well formed.
func (it *Iter) Err() error { return it.err }

// decode reads the body of one record. Headers are not walked.
func (r *Record) decode(b []byte) bool {
	if len(b) < 1 {
		return false
	}
	b = b[1:] // attributes: unused, ignored as Kafka does
	ts, n := Varlong(b)
	if n <= 0 {
		return false
	}
	b = b[n:]
	offset, n := Varint(b)
	if n <= 0 {
		return false
	}
	b = b[n:]
	key, b, ok := nullable(b)
	if !ok {
		return false
	}
	value, b, ok := nullable(b)
	if !ok {
		return false
	}
	count, n := Varint(b)
	// A header has two length bytes at least.
	if n <= 0 || count < 0 || int64(count) > int64(len(b)-n)/2 {
		return false
	}
	if count == 0 && len(b) != n {
		return false
	}
	r.TimestampDelta, r.OffsetDelta = ts, offset
	r.Key, r.Value = key, value
	r.HeaderCount, r.HeaderBytes = count, b[n:]
	return true
}

// nullable reads a varint length and that many bytes; any negative length is
// null. Empty is not nil.
func nullable(b []byte) (v, rest []byte, ok bool) {
	size, n := Varint(b)
	if n <= 0 || int64(size) > int64(len(b)-n) {
		return nil, b, false
	}
	if size < 0 {
		return nil, b[n:], true
	}
	end := n + int(size)
	return b[n:end:end], b[end:], true
}

// Headers walks the record's headers.
func (r *Record) Headers() HeaderIter {
	return HeaderIter{data: r.HeaderBytes, left: r.HeaderCount}
}

// HeaderIter walks the headers of one record without allocating. It is owned
// by the goroutine that made it.
type HeaderIter struct {
	data []byte
	left int32
	err  error
}

// Next reads the next header into h, which aliases the record.
func (it *HeaderIter) Next(h *Header) bool {
	if it.err != nil {
		return false
	}
	if it.left == 0 {
		if len(it.data) != 0 {
			it.err = ErrRecord
		}
		return false
	}
	key, rest, ok := nullable(it.data)
	if !ok || key == nil {
		it.err = ErrRecord
		return false
	}
	value, rest, ok := nullable(rest)
	if !ok {
		it.err = ErrRecord
		return false
	}
	h.Key, h.Value = key, value
	it.data = rest
	it.left--
	return true
}

// Err is the first error.
func (it *HeaderIter) Err() error { return it.err }
