package rawgen

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// stream reads an answer from a blocking socket piece by piece: fields through a small buffer, bulk thrown away in the kernel.
// Owned by its consumer. After an error everything reads as zero.
type stream struct {
	fd      int
	buf     []byte
	r, w    int
	refill  int // bytes asked for at once: small, for what lands in the buffer has been copied
	scratch []byte
	err     error
}

func newStream(fd int) *stream {
	return &stream{fd: fd, buf: make([]byte, 64<<10), refill: 1 << 10, scratch: make([]byte, 1)}
}

// need returns the next n bytes, still unread, n <= len(buf).
func (s *stream) need(n int) []byte {
	if s.err != nil {
		return s.buf[:n]
	}
	if s.w-s.r < n && s.r > 0 {
		copy(s.buf, s.buf[s.r:s.w])
		s.w -= s.r
		s.r = 0
	}
	for s.w-s.r < n {
		got, e := recv(s.fd, s.buf[s.w:min(len(s.buf), max(s.w+s.refill, s.r+n))])
		if e != 0 || got <= 0 {
			s.fail(e)
			return s.buf[:n]
		}
		s.w += got
	}
	return s.buf[s.r : s.r+n]
}

func (s *stream) fail(e unix.Errno) {
	if e == 0 {
		s.err = fmt.Errorf("closed by the broker")
	} else if e == unix.EAGAIN {
		s.err = fmt.Errorf("no answer in time")
	} else {
		s.err = e
	}
	clear(s.buf)
	s.r, s.w = 0, 0
}

func (s *stream) take(n int) []byte {
	b := s.need(n)
	if s.err == nil {
		s.r += n
	}
	return b
}

// skip throws away n bytes.
func (s *stream) skip(n int) {
	k := min(n, s.w-s.r)
	s.r += k
	for n -= k; n > 0 && s.err == nil; {
		got, e := discard(s.fd, s.scratch, n)
		if e != 0 || got <= 0 {
			s.fail(e)
			return
		}
		n -= got
	}
}

// full copies the next len(dst) bytes.
func (s *stream) full(dst []byte) {
	k := copy(dst, s.buf[s.r:s.w])
	s.r += k
	for dst = dst[k:]; len(dst) > 0 && s.err == nil; {
		got, e := recv(s.fd, dst)
		if e != 0 || got <= 0 {
			s.fail(e)
			return
		}
		dst = dst[got:]
	}
}

func (s *stream) int16() int16 { return int16(binary.BigEndian.Uint16(s.take(2))) }
func (s *stream) int32() int32 { return int32(binary.BigEndian.Uint32(s.take(4))) }
func (s *stream) int64() int64 { return int64(binary.BigEndian.Uint64(s.take(8))) }

func (s *stream) uvarint() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := s.take(1)[0]
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	if s.err == nil {
		s.err = fmt.Errorf("a length of more than five bytes")
	}
	return 0
}

// length is a compact or a 32-bit length; null is -1.
func (s *stream) length(flexible bool) int {
	if flexible {
		return int(s.uvarint()) - 1
	}
	return int(s.int32())
}

func (s *stream) skipString(flexible bool) {
	n := 0
	if flexible {
		n = int(s.uvarint()) - 1
	} else {
		n = int(s.int16())
	}
	s.skip(max(n, 0))
}

func (s *stream) tags(flexible bool) {
	if !flexible {
		return
	}
	for n := s.uvarint(); n > 0 && s.err == nil; n-- {
		s.uvarint()
		s.skip(int(s.uvarint()))
	}
}
