package codec

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdStreamWindow is the largest window that a Reader keeps while it
	// streams: that of level 19. Larger windows (levels 20 to 22 claim them
	// for the smallest input) would be memory ahead of any data, so such
	// frames are unpacked at once, up to wholeMax.
	zstdStreamWindow = 8 << 20
	// zstdWindowMax is the largest window that Java's reader takes.
	zstdWindowMax = 128 << 20
)

// zstdWhole unpacks inputs at once; any goroutine.
var zstdWhole = sync.OnceValue(func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(runtime.GOMAXPROCS(0)), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(zstdWindowMax), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
})

// zstdBlock is the most that one block unpacks to, with the slack that the
// library wants behind it.
const zstdBlock = 128<<10 + 64

// decompressZstd appends the unpacked src to dst. It is unpacked in place
// where the room at hand, or a modest buffer, is enough. Where it is not, a
// Reader starts again: its memory follows what is really there, not what a
// frame claims.
func decompressZstd(dst, src []byte, limit int) ([]byte, error) {
	room := min(max(cap(dst)-len(dst), zstdFirstSize(src)), limit)
	dst = grow(dst, room)
	at := len(dst)
	out, full, err := zstdInto(dst[at:at:at+room], src)
	if err == nil {
		return dst[:at+len(out)], nil
	}
	if !full {
		return dst, err
	}
	if room == limit {
		return dst, ErrTooLarge
	}
	r, err := NewReader(Zstd, src, int64(limit))
	if err != nil {
		return dst, err
	}
	defer r.Close()
	if out, err = r.appendAll(dst); err != nil {
		return dst, err
	}
	return out, nil
}

// zstdInto unpacks src into buf up to its capacity. After an error full tells
// that a larger buffer might have been enough: the library reports a lack of
// space in several ways, but never while there is room for a whole block,
// unless a frame claims more than the buffer holds.
func zstdInto(buf, src []byte) (out []byte, full bool, err error) {
	out, err = zstdWhole().DecodeAll(src, buf)
	if err == nil {
		if len(out) > cap(buf) {
			return nil, true, ErrTooLarge
		}
		return out, false, nil
	}
	full = errors.Is(err, zstd.ErrDecoderSizeExceeded) || cap(buf)-len(out) < zstdBlock
	return nil, full, corrupt(Zstd, err)
}

// zstdFirstSize is the buffer to try first: what the frame claims, but no more
// than the input makes likely.
func zstdFirstSize(src []byte) int {
	size := max(8*len(src), 64<<10)
	var head zstd.Header
	if head.Decode(src) == nil && head.HasFCS && head.FrameContentSize < uint64(size) {
		size = int(head.FrameContentSize)
	}
	return size
}

// zstdGrowing unpacks src into buffers that grow with what is really there.
func zstdGrowing(src []byte, limit int, slot *slot) ([]byte, error) {
	var head zstd.Header
	if err := head.Decode(src); err != nil {
		return nil, corrupt(Zstd, err)
	}
	size := min(max(8*len(src), 64<<10), limit)
	if head.HasFCS {
		// Four bytes of input give at most one block of 128 KiB.
		if head.FrameContentSize/(32<<10) > uint64(len(src)) {
			return nil, corrupt(Zstd, "a frame claims more than it can hold")
		}
		if head.FrameContentSize > uint64(limit) {
			return nil, ErrTooLarge
		}
		size = max(size, int(head.FrameContentSize))
	}
	for {
		slot.take(size)
		out, full, err := zstdInto(make([]byte, 0, size), src)
		switch {
		case err == nil || !full:
			return out, err
		case size >= limit:
			return nil, ErrTooLarge
		}
		size = min(4*size, limit)
	}
}

// zstdSource streams frames with small windows and unpacks others at once.
// Owned by its Reader.
type zstdSource struct {
	in  bytes.Reader
	d   *zstd.Decoder
	buf []byte
	// whole is an input that is to be unpacked at once; streaming tells that
	// d has one.
	whole     []byte
	streaming bool
	slot      slot
}

func (s *zstdSource) reset(src []byte) error {
	var head zstd.Header
	if err := head.Decode(src); err == nil && !head.Skippable && head.WindowSize > zstdStreamWindow {
		s.whole = src
		return nil
	}
	if s.d == nil {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdStreamWindow), zstd.WithDecodeBuffersBelow(0))
		if err != nil {
			return corrupt(Zstd, err)
		}
		s.d = d
	}
	resetInput(&s.in, src)
	if err := s.d.Reset(&s.in); err != nil {
		return corrupt(Zstd, err)
	}
	s.streaming = true
	return nil
}

func (s *zstdSource) next(room int64) ([]byte, error) {
	if src := s.whole; src != nil {
		s.whole = nil
		return zstdGrowing(src, int(min(room, wholeMax)), &s.slot)
	}
	if !s.streaming {
		return nil, io.EOF
	}
	chunk, err := readChunk(s.d, &s.buf)
	switch {
	case err == nil, err == io.EOF:
		return chunk, err
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return chunk, ErrTooLarge
	}
	return chunk, corrupt(Zstd, err)
}

func (s *zstdSource) release() {
	s.whole, s.streaming = nil, false
	resetInput(&s.in, nil)
	s.slot.giveBack()
}

// zstdWriters pack at the four levels that the library has; any goroutine.
var zstdWriters = [...]func() *zstd.Encoder{
	zstd.SpeedFastest:           zstdWriter(zstd.SpeedFastest),
	zstd.SpeedDefault:           zstdWriter(zstd.SpeedDefault),
	zstd.SpeedBetterCompression: zstdWriter(zstd.SpeedBetterCompression),
	zstd.SpeedBestCompression:   zstdWriter(zstd.SpeedBestCompression),
}

func zstdWriter(level zstd.EncoderLevel) func() *zstd.Encoder {
	return sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderConcurrency(runtime.GOMAXPROCS(0)),
			zstd.WithLowerEncoderMem(true), zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithWindowSize(zstdWriteWindow))
		if err != nil {
			panic(err) // the options are constants
		}
		return e
	})
}

// zstdStreams are encoders that Writers use, by level; any goroutine.
var zstdStreams [len(zstdWriters)]sync.Pool

// openZstd takes an encoder that writes to w piece by piece.
func openZstd(w io.Writer, level int) (*zstd.Encoder, zstd.EncoderLevel, error) {
	if level == 0 {
		level = DefaultZstd
	}
	l := zstd.EncoderLevelFromZstd(level)
	if e, _ := zstdStreams[l].Get().(*zstd.Encoder); e != nil {
		e.Reset(w)
		return e, l, nil
	}
	e, err := zstd.NewWriter(w, zstd.WithEncoderLevel(l), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithZeroFrames(true), zstd.WithEncoderCRC(false), zstd.WithWindowSize(zstdWriteWindow))
	return e, l, err
}

// zstdWriteWindow is the window of Kafka's default level, 2 MiB.
const zstdWriteWindow = 2 << 20

func compressZstd(dst []byte, level int, src []byte) []byte {
	if level == 0 {
		level = DefaultZstd // as the zstd library does
	}
	return zstdWriters[zstd.EncoderLevelFromZstd(level)]().EncodeAll(src, dst)
}
