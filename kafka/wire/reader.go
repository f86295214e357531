package wire

import (
	"encoding/binary"
	"errors"
)

// ErrMalformed: the bytes are not what the version says they are. Kafka closes
// the connection then, and so must the caller.
var ErrMalformed = errors.New("wire: malformed request")

// UUID is a topic id or directory id.
type UUID [16]byte

// reader is a cursor over a request. After the first fault bad is set, nothing
// is left and every read answers zero. It is owned by the parsing function.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() {
	r.b, r.bad = nil, true
}

func (r *reader) i8() int8 {
	if len(r.b) < 1 {
		r.fail()
		return 0
	}
	v := int8(r.b[0])
	r.b = r.b[1:]
	return v
}

func (r *reader) i16() int16 {
	if len(r.b) < 2 {
		r.fail()
		return 0
	}
	v := int16(binary.BigEndian.Uint16(r.b))
	r.b = r.b[2:]
	return v
}

func (r *reader) i32() int32 {
	if len(r.b) < 4 {
		r.fail()
		return 0
	}
	v := int32(binary.BigEndian.Uint32(r.b))
	r.b = r.b[4:]
	return v
}

func (r *reader) i64() int64 {
	if len(r.b) < 8 {
		r.fail()
		return 0
	}
	v := int64(binary.BigEndian.Uint64(r.b))
	r.b = r.b[8:]
	return v
}

func (r *reader) uuid() (v UUID) {
	if len(r.b) < len(v) {
		r.fail()
		return v
	}
	copy(v[:], r.b)
	r.b = r.b[len(v):]
	return v
}

// uvarint reads an unsigned varint of at most 5 bytes and 32 bits.
func (r *reader) uvarint() uint32 {
	if len(r.b) > 0 && r.b[0] < 0x80 {
		v := uint32(r.b[0])
		r.b = r.b[1:]
		return v
	}
	var v uint32
	for i := 0; i < len(r.b) && i < 5; i++ {
		c := r.b[i]
		v |= uint32(c&0x7f) << (7 * uint(i))
		if c < 0x80 {
			if i == 4 && c > 0x0f {
				break // more than 32 bits
			}
			r.b = r.b[i+1:]
			return v
		}
	}
	r.fail()
	return 0
}

// span takes n bytes.
func (r *reader) span(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.fail()
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// length reads the length of a string, array or bytes in compact form: the
// value plus one, 0 for null (-1 here).
func (r *reader) compactLength() int { return int(int32(r.uvarint()) - 1) }

// nullableString reads a string; nil is null, empty is not nil.
func (r *reader) nullableString(flexible bool) []byte {
	var n int
	if flexible {
		n = r.compactLength()
		if n > 0x7fff {
			r.fail()
		}
	} else {
		n = int(r.i16())
	}
	if n < 0 || r.bad {
		return nil
	}
	return r.span(n)
}

// str reads a string that must not be null.
func (r *reader) str(flexible bool) []byte {
	v := r.nullableString(flexible)
	if v == nil {
		r.fail()
	}
	return v
}

// nullableBytes reads bytes or records; nil is null, empty is not nil.
func (r *reader) nullableBytes(flexible bool) []byte {
	var n int
	if flexible {
		n = r.compactLength()
	} else {
		n = int(r.i32())
	}
	if n < 0 || r.bad {
		return nil
	}
	return r.span(n)
}

// nullableCount reads the count of an array whose elements take at least min
// bytes each; -1 is null.
func (r *reader) nullableCount(flexible bool, min int) int {
	var n int
	if flexible {
		n = r.compactLength()
	} else {
		n = int(r.i32())
	}
	if n < 0 {
		return -1
	}
	if n > len(r.b)/min {
		r.fail()
		return -1
	}
	return n
}

// count reads the count of an array that must not be null.
func (r *reader) count(flexible bool, min int) int {
	n := r.nullableCount(flexible, min)
	if n < 0 {
		r.fail()
		return 0
	}
	return n
}

// tagCount reads the number of tagged fields; each takes two bytes at least.
func (r *reader) tagCount() int {
	n := r.uvarint()
	if uint64(n) > uint64(len(r.b)/2) {
		r.fail()
		return 0
	}
	return int(n)
}

// tag reads one tagged field's number and content.
func (r *reader) tag() (number uint32, content []byte) {
	number = r.uvarint()
	size := r.uvarint()
	if uint64(size) > uint64(len(r.b)) {
		r.fail()
		return number, nil
	}
	return number, r.span(int(size))
}

// skipTags passes over a tag section in which no tag is known.
func (r *reader) skipTags() {
	for n := r.tagCount(); n > 0 && !r.bad; n-- {
		r.tag()
	}
}
