package controller

import (
	"encoding/binary"
	"errors"
	"slices"
)

// ErrMalformed is what every decoder of this package answers to bytes that no encoder made.
var ErrMalformed = errors.New("controller: malformed bytes")

// Encoding: unsigned varints for counts and lengths, zigzag varints for numbers, bytes as they are. Maps are
// written sorted by key, so equal values have equal bytes.

func putUint(dst []byte, v uint64) []byte { return binary.AppendUvarint(dst, v) }
func putInt(dst []byte, v int64) []byte   { return binary.AppendVarint(dst, v) }
func putUUID(dst []byte, id UUID) []byte  { return append(dst, id[:]...) }

func putBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

func putString(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func putIDs(dst []byte, ids []int32) []byte {
	dst = putUint(dst, uint64(len(ids)))
	for _, id := range ids {
		dst = putInt(dst, int64(id))
	}
	return dst
}

func putMap[V any](dst []byte, m map[string]V, put func([]byte, V) []byte) []byte {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	dst = putUint(dst, uint64(len(keys)))
	for _, k := range keys {
		dst = put(putString(dst, k), m[k])
	}
	return dst
}

// reader decodes; the first malformed byte makes every later read answer zero. Owned by its decoder.
type reader struct {
	b   []byte
	bad bool
}

func (r *reader) fail() { r.bad, r.b = true, nil }

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int32() int32 {
	v := r.int()
	if int64(int32(v)) != v {
		r.fail()
		return 0
	}
	return int32(v)
}

func (r *reader) int16() int16 {
	v := r.int()
	if int64(int16(v)) != v {
		r.fail()
		return 0
	}
	return int16(v)
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.fail()
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) bool() bool {
	v := r.byte()
	if v > 1 {
		r.fail()
	}
	return v == 1
}

// count reads the length of a list whose elements have at least size bytes each.
func (r *reader) count(size int) int {
	n := r.uint()
	if n > uint64(len(r.b)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) string() string {
	n := r.count(1)
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *reader) uuid() (id UUID) {
	if len(r.b) < len(id) {
		r.fail()
		return id
	}
	copy(id[:], r.b)
	r.b = r.b[len(id):]
	return id
}

func (r *reader) ids() []int32 {
	n := r.count(1)
	if n == 0 {
		return nil
	}
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = r.int32()
	}
	return ids
}

// readMap reads what putMap wrote; nil if it is empty. Keys out of order are malformed.
func readMap[V any](r *reader, size int, read func() V) map[string]V {
	n := r.count(1 + size)
	if n == 0 {
		return nil
	}
	m := make(map[string]V, n)
	last := ""
	for i := range n {
		k := r.string()
		if i > 0 && k <= last {
			r.fail()
		}
		last = k
		m[k] = read()
		if r.bad {
			return nil
		}
	}
	return m
}

// end is ErrMalformed if anything was wrong or bytes are left.
func (r *reader) end() error {
	if r.bad || len(r.b) != 0 {
		return ErrMalformed
	}
	return nil
}
