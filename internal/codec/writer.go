package codec

import (
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// Writer packs one output piece by piece, for what is never held as a whole.
// Owned by whoever made it, until Close or Abort.
type Writer struct {
	t     Type
	level int
	sink  sink
	// block gathers a whole block for the codecs that pack blocks.
	block []byte
	gz    *gzipWriter
	lz    *lz4Packer
	zs    *zstd.Encoder
	zsAt  zstd.EncoderLevel
}

// sink appends to out and fails with ErrTooLarge where that would be more than
// left bytes. Owned by its writer.
type sink struct {
	out  []byte
	left int
}

// Write implements io.Writer.
func (s *sink) Write(p []byte) (int, error) {
	if len(p) > s.left {
		return 0, ErrTooLarge
	}
	s.left -= len(p)
	s.out = append(grow(s.out, len(p)), p...)
	return len(p), nil
}

func clamp(v, low, high int) int { return min(max(v, low), high) }

// NewWriter returns a Writer that appends the packed bytes to dst; level as in
// Compress. Output beyond max bytes is ErrTooLarge, as early as it shows. A
// Writer holds a window of a few megabytes at most.
func NewWriter(t Type, level int, dst []byte, max int) (*Writer, error) {
	w := &Writer{t: t, level: level, sink: sink{out: dst, left: max}}
	var err error
	switch t {
	case None:
	case Gzip:
		w.gz, err = openGzip(dst, level, max)
	case Snappy:
		w.block = make([]byte, 0, xerialBlock)
		_, err = w.sink.Write(xerialHeader)
	case Lz4:
		w.block = make([]byte, 0, lz4Block)
		w.lz = lz4PackerPool.Get().(*lz4Packer)
		err = w.packed(appendLz4Head(dst), nil)
	case Zstd:
		w.zs, w.zsAt, err = openZstd(&w.sink, level)
	default:
		err = fmt.Errorf("codec: there is no %s", t)
	}
	if err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// packed takes the sink's slice after something was appended to it.
func (w *Writer) packed(out []byte, err error) error {
	if err != nil {
		return err
	}
	n := len(out) - len(w.sink.out)
	if n > w.sink.left {
		return ErrTooLarge
	}
	w.sink.left -= n
	w.sink.out = out
	return nil
}

// Write packs p. After an error only Abort may be called.
func (w *Writer) Write(p []byte) (int, error) {
	switch w.t {
	case None:
		return w.sink.Write(p)
	case Gzip:
		return w.gz.gz.Write(p)
	case Zstd:
		return w.zs.Write(p)
	}
	for rest := p; len(rest) > 0; {
		n := min(len(rest), cap(w.block)-len(w.block))
		w.block = append(w.block, rest[:n]...)
		rest = rest[n:]
		if len(w.block) == cap(w.block) {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

// flush packs the gathered block.
func (w *Writer) flush() error {
	if len(w.block) == 0 {
		return nil
	}
	block := w.block
	w.block = w.block[:0]
	if w.t == Snappy {
		return w.packed(appendSnappyBlock(w.sink.out, block), nil)
	}
	return w.packed(w.lz.appendBlock(w.sink.out, w.level, block))
}

// Close ends the output and returns dst with it. The Writer is gone, whatever
// the error.
func (w *Writer) Close() ([]byte, error) {
	err := w.end()
	out := w.sink.out
	if w.gz != nil {
		out = w.gz.out
	}
	w.Abort()
	return out, err
}

func (w *Writer) end() error {
	switch w.t {
	case Gzip:
		return w.gz.gz.Close()
	case Zstd:
		return w.zs.Close()
	case Snappy:
		return w.flush()
	case Lz4:
		if err := w.flush(); err != nil {
			return err
		}
		return w.packed(binary.LittleEndian.AppendUint32(w.sink.out, 0), nil)
	}
	return nil
}

// Abort gives up; what was written so far is lost. It may follow Close.
func (w *Writer) Abort() {
	if w.gz != nil {
		w.gz.close()
		w.gz = nil
	}
	if w.lz != nil {
		lz4PackerPool.Put(w.lz)
		w.lz = nil
	}
	if w.zs != nil {
		w.zs.Reset(nil)
		zstdStreams[w.zsAt].Put(w.zs)
		w.zs = nil
	}
	w.sink = sink{}
}
