package codec

import (
	"bytes"
	"io"
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
// Compress at a time.
type gzipWriter struct {
	gz  *gzip.Writer
	out []byte
}

func (w *gzipWriter) Write(p []byte) (int, error) {
	w.out = append(w.out, p...)
	return len(p), nil
}

// gzipWriters pools compressors by level + 1.
var gzipWriters [gzip.BestCompression + 2]sync.Pool

func compressGzip(dst []byte, level int, src []byte) ([]byte, error) {
	level = min(max(level, gzip.DefaultCompression), gzip.BestCompression)
	pool := &gzipWriters[level+1]
	w, _ := pool.Get().(*gzipWriter)
	if w == nil {
		w = &gzipWriter{}
		var err error
		if w.gz, err = gzip.NewWriterLevel(w, level); err != nil {
			return dst, err
		}
	}
	w.out = dst
	w.gz.Reset(w)
	_, err := w.gz.Write(src)
	if err == nil {
		err = w.gz.Close()
	}
	out := w.out
	w.out = nil
	pool.Put(w)
	return out, err
}
