package record

import "encoding/binary"

// reader reads primitives off b. After the first fault bad is set and everything reads as zero.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *reader) int8() int8 {
	if v := r.take(1); v != nil {
		return int8(v[0])
	}
	return 0
}

func (r *reader) int16() int16 {
	if v := r.take(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (r *reader) int32() int32 {
	if v := r.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (r *reader) int64() int64 {
	if v := r.take(8); v != nil {
		return int64(binary.BigEndian.Uint64(v))
	}
	return 0
}

func (r *reader) uuid() (id [16]byte) {
	copy(id[:], r.take(16))
	return id
}

func (r *reader) uvarint() int {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n > 5 || v > 1<<31 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return int(v)
}

// string reads an int16 length and that many bytes.
func (r *reader) string() string {
	s := r.nullable()
	if s == nil {
		r.bad = true
		return ""
	}
	return *s
}

func (r *reader) nullable() *string {
	n := int(r.int16())
	if r.bad || n == -1 {
		return nil
	}
	s := string(r.take(n))
	return &s
}

// bytes reads an int32 length and that many bytes.
func (r *reader) bytes() []byte { return clone(r.take(int(r.int32()))) }

func (r *reader) compactString() string {
	s := r.compactNullable()
	if s == nil {
		r.bad = true
		return ""
	}
	return *s
}

func (r *reader) compactNullable() *string {
	n := r.uvarint()
	if r.bad || n == 0 {
		return nil
	}
	s := string(r.take(n - 1))
	return &s
}

func (r *reader) compactBytes() []byte { return clone(r.take(r.uvarint() - 1)) }

// clone copies; what was read is never nil.
func clone(b []byte) []byte { return append([]byte{}, b...) }

// count reads the length of an array whose elements take at least min bytes each.
func (r *reader) count(min int) int { return r.fits(int(r.int32()), min) }

func (r *reader) compactCount(min int) int { return r.fits(r.uvarint()-1, min) }

// nullableCount is compactCount of an array that may be null: -1.
func (r *reader) nullableCount(min int) int {
	n := r.uvarint()
	if n == 0 {
		return -1
	}
	return r.fits(n-1, min)
}

func (r *reader) fits(n, min int) int {
	if n < 0 || n > len(r.b)/min {
		r.bad, r.b = true, nil
	}
	if r.bad {
		return 0
	}
	return n
}

// tags reads tagged fields; field takes what it knows, by reading exactly the field from the reader it is given.
func (r *reader) tags(field func(tag int, r *reader)) {
	n := r.uvarint()
	for ; n > 0 && !r.bad; n-- {
		tag := r.uvarint()
		sub := reader{b: r.take(r.uvarint())}
		if r.bad {
			return
		}
		if field != nil {
			field(tag, &sub)
			r.bad = r.bad || sub.bad
		}
	}
}

func (r *reader) noTags() { r.tags(nil) }

func (r *reader) int32s() []int32 {
	v := make([]int32, r.compactCount(4))
	for i := range v {
		v[i] = r.int32()
	}
	return v
}

func (r *reader) compactStrings() []string {
	v := make([]string, r.compactCount(1))
	for i := range v {
		v[i] = r.compactString()
	}
	return v
}
