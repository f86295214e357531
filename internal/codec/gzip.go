package codec

import (
	"bytes"
	"io"
	"math"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// gzipSource unpacks gzip members one behind the other. What follows the last
// member is left aside, as Java does. Owned by its Reader.
type gzipSource struct {
	in  bytes.Reader
	gz  *gzip.Reader
	buf []byte
}

func (s *gzipSource) reset(src []byte) error {
	resetInput(&s.in, src)
	var err error
	if s.gz == nil {
		s.gz, err = gzip.NewReader(&s.in)
	} else {
		err = s.gz.Reset(&s.in)
	}
	if err != nil {
		return corrupt(Gzip, err)
	}
	s.gz.Multistream(false)
	return nil
}

func (s *gzipSource) next(int64) ([]byte, error) {
	chunk, err := readChunk(s.gz, &s.buf)
	if err == nil || err == io.EOF && len(chunk) > 0 {
		return chunk, nil
	}
	if err != io.EOF {
		return chunk, corrupt(Gzip, err)
	}
	if s.in.Len() == 0 || s.gz.Reset(&s.in) != nil {
		return nil, io.EOF
	}
	s.gz.Multistream(false)
	return nil, nil
}

func (s *gzipSource) release() { resetInput(&s.in, nil) }

// gzipWriter is a compressor with the slice it appends to. Owned by one
// Compress or Writer at a time.
type gzipWriter struct {
	sink
	gz    *gzip.Writer
	level int
}

// gzipWriters pools compressors by level + 1.
var gzipWriters [gzip.BestCompression + 2]sync.Pool

// openGzip takes a compressor that appends at most max bytes to dst.
func openGzip(dst []byte, level, max int) (*gzipWriter, error) {
	level = clamp(level, gzip.DefaultCompression, gzip.BestCompression)
	w, _ := gzipWriters[level+1].Get().(*gzipWriter)
	if w == nil {
		w = &gzipWriter{level: level}
		var err error
		if w.gz, err = gzip.NewWriterLevel(w, level); err != nil {
			return nil, err
		}
	}
	w.sink = sink{out: dst, left: max}
	w.gz.Reset(w)
	return w, nil
}

// close gives the compressor back, and what was written.
func (w *gzipWriter) close() []byte {
	out := w.out
	w.sink = sink{}
	gzipWriters[w.level+1].Put(w)
	return out
}

func compressGzip(dst []byte, level int, src []byte) ([]byte, error) {
	w, err := openGzip(dst, level, math.MaxInt)
	if err != nil {
		return dst, err
	}
	if _, err = w.gz.Write(src); err == nil {
		err = w.gz.Close()
	}
	return w.close(), err
}
