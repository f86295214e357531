package codec

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Reader unpacks one input piece by piece. Owned by whoever made it.
type Reader struct {
	t      Type
	source source
	// left is what may still be handed out.
	left int64
	err  error
	// chunk is unpacked and not handed out yet; sources that unpack whole
	// blocks fill it.
	chunk []byte
}

// source is a decoder of one codec that lives in a Reader. There are four, and
// the bytes themselves.
type source interface {
	// reset starts a new input.
	reset(src []byte) error
	// next returns the next unpacked bytes, valid until the next call and no
	// more than about a megabyte beyond room; io.EOF ends the input.
	next(room int64) ([]byte, error)
	// release lets go of the input.
	release()
}

var readers = [Zstd + 1]sync.Pool{
	None:   {New: func() any { return &Reader{t: None, source: &plainSource{}} }},
	Gzip:   {New: func() any { return &Reader{t: Gzip, source: &gzipSource{}} }},
	Snappy: {New: func() any { return &Reader{t: Snappy, source: &snappySource{}} }},
	Lz4:    {New: func() any { return &Reader{t: Lz4, source: &lz4Source{}} }},
	Zstd:   {New: func() any { return &Reader{t: Zstd, source: &zstdSource{}} }},
}

// NewReader returns a Reader of the unpacked src. It hands out at most max
// bytes; if there are more it fails with ErrTooLarge. src must not change until
// Close.
func NewReader(t Type, src []byte, max int64) (*Reader, error) {
	if !t.Valid() {
		return nil, fmt.Errorf("%w: there is no %s", ErrCorrupt, t)
	}
	r := readers[t].Get().(*Reader)
	r.left, r.err, r.chunk = max, nil, nil
	if err := r.source.reset(src); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close gives the Reader back; it must not be used afterwards.
func (r *Reader) Close() {
	r.source.release()
	r.chunk = nil
	readers[r.t].Put(r)
}

// Read fills p with unpacked bytes. The error is io.EOF at the end, or wraps
// ErrTooLarge or ErrCorrupt.
func (r *Reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if len(r.chunk) == 0 {
		r.fill()
		if len(r.chunk) == 0 {
			return 0, r.err
		}
	}
	n := copy(p, r.chunk)
	r.chunk = r.chunk[n:]
	return n, nil
}

// fill gets the next chunk, cut to what may still be handed out. It leaves
// either bytes or an error.
func (r *Reader) fill() {
	for r.err == nil && len(r.chunk) == 0 {
		chunk, err := r.source.next(r.left)
		if int64(len(chunk)) > r.left {
			chunk, err = chunk[:r.left], ErrTooLarge
		}
		r.left -= int64(len(chunk))
		r.chunk, r.err = chunk, err
	}
}

// appendAll appends all that is left to dst.
func (r *Reader) appendAll(dst []byte) ([]byte, error) {
	for {
		r.fill()
		if len(r.chunk) > 0 {
			dst = append(grow(dst, len(r.chunk)), r.chunk...)
			r.chunk = nil
		}
		switch r.err {
		case nil:
		case io.EOF:
			return dst, nil
		default:
			return dst, r.err
		}
	}
}

// grow makes room for n more bytes, doubling so that the copies stay few.
func grow(b []byte, n int) []byte {
	if cap(b)-len(b) >= n {
		return b
	}
	return slices.Grow(b, max(n, len(b)))
}

// plainSource hands out the bytes as they are. Owned by its Reader.
type plainSource struct{ src []byte }

func (s *plainSource) reset(src []byte) error { s.src = src; return nil }
func (s *plainSource) release()               { s.src = nil }

func (s *plainSource) next(int64) ([]byte, error) {
	if len(s.src) == 0 {
		return nil, io.EOF
	}
	chunk := s.src
	s.src = nil
	return chunk, nil
}

// streamBuffer is what sources over io.Readers unpack into at a time.
const streamBuffer = 32 << 10

// readChunk reads once into buf, which is made the first time.
func readChunk(r io.Reader, buf *[]byte) ([]byte, error) {
	if *buf == nil {
		*buf = make([]byte, streamBuffer)
	}
	n, err := r.Read(*buf)
	return (*buf)[:n], err
}

// resetInput points an input at src, or at nothing.
func resetInput(in *bytes.Reader, src []byte) { in.Reset(src) }
