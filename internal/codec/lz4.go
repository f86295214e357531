package codec

import (
	"encoding/binary"
	"io"
	"sync"

	"github.com/pierrec/lz4/v4"
)

// An lz4 frame, all numbers little-endian:
//
//	u32 magic | flags | block size | [u64 content size] | header checksum
//	{ u32 size, the highest bit says "not packed" | bytes | [u32 checksum] }
//	u32 0 | [u32 content checksum]
//
// As in Kafka, blocks must be independent, there are no dictionaries, block
// checksums are checked, the content checksum is not, and what follows the
// frame is left aside.
const (
	lz4Magic           = 0x184D2204
	lz4Version         = 1 << 6
	lz4VersionMask     = 3 << 6
	lz4Independent     = 1 << 5
	lz4BlockChecksum   = 1 << 4
	lz4ContentSize     = 1 << 3
	lz4ContentChecksum = 1 << 2
	lz4Reserved        = 3
	lz4NotPacked       = 1 << 31
	// lz4BlockCode 4 stands for blocks of 64 KiB, which Kafka writes; 5, 6 and
	// 7 for four times as much each.
	lz4BlockCode = 4
	lz4Block     = 64 << 10
)

// lz4Source unpacks one frame. Owned by its Reader.
type lz4Source struct {
	src      []byte
	flags    byte
	blockMax int
	buf      []byte
}

func (s *lz4Source) reset(src []byte) error {
	if len(src) < 7 || binary.LittleEndian.Uint32(src) != lz4Magic {
		return corrupt(Lz4, "no frame begins here")
	}
	s.flags = src[4]
	code := src[5] >> 4
	if s.flags&lz4VersionMask != lz4Version || s.flags&lz4Reserved != 0 || src[5]&0x8f != 0 || code < lz4BlockCode {
		return corrupt(Lz4, "a frame of another version")
	}
	if s.flags&lz4Independent == 0 {
		return corrupt(Lz4, "blocks depend on each other")
	}
	s.blockMax = lz4Block << (2 * (code - lz4BlockCode))
	head := 6
	if s.flags&lz4ContentSize != 0 {
		head += 8
	}
	if len(src) <= head || src[head] != byte(xxh32(src[4:head])>>8) {
		return corrupt(Lz4, "the header checksum is wrong")
	}
	s.src = src[head+1:]
	return nil
}

func (s *lz4Source) release() {
	s.src = nil
	if cap(s.buf) > 1<<20 {
		s.buf = nil
	}
}

func (s *lz4Source) next(int64) ([]byte, error) {
	if s.src == nil {
		return nil, io.EOF
	}
	head, ok := s.take(4)
	if !ok {
		return nil, corrupt(Lz4, "the frame is cut")
	}
	size := binary.LittleEndian.Uint32(head)
	if size == 0 {
		return nil, s.end()
	}
	n := int(size &^ lz4NotPacked)
	if n > s.blockMax {
		return nil, corrupt(Lz4, "a block is larger than the frame says")
	}
	block, ok := s.take(n)
	if !ok {
		return nil, corrupt(Lz4, "a block is cut")
	}
	if s.flags&lz4BlockChecksum != 0 {
		sum, ok := s.take(4)
		if !ok || binary.LittleEndian.Uint32(sum) != xxh32(block) {
			return nil, corrupt(Lz4, "a block checksum is wrong")
		}
	}
	if size&lz4NotPacked != 0 {
		return block, nil
	}
	if cap(s.buf) < s.blockMax {
		s.buf = make([]byte, s.blockMax)
	}
	m, err := lz4.UncompressBlock(block, s.buf[:s.blockMax])
	if err != nil {
		return nil, corrupt(Lz4, err)
	}
	return s.buf[:m], nil
}

// end reads what stands behind the last block.
func (s *lz4Source) end() error {
	if s.flags&lz4ContentChecksum != 0 {
		if _, ok := s.take(4); !ok {
			return corrupt(Lz4, "the content checksum is cut")
		}
	}
	s.src = nil
	return io.EOF
}

func (s *lz4Source) take(n int) ([]byte, bool) {
	if len(s.src) < n {
		return nil, false
	}
	b := s.src[:n]
	s.src = s.src[n:]
	if s.src == nil {
		s.src = []byte{}
	}
	return b, true
}

// lz4Packer packs blocks: Kafka's default level, 9, means the fast search,
// every other level the deep one. Owned by one Compress at a time.
type lz4Packer struct {
	fast lz4.Compressor
	high *lz4.CompressorHC // half a megabyte, made when it is first needed
}

func (c *lz4Packer) pack(level int, src, dst []byte) (int, error) {
	if level == DefaultLz4 {
		return c.fast.CompressBlock(src, dst)
	}
	if c.high == nil {
		c.high = new(lz4.CompressorHC)
	}
	c.high.Level = lz4Levels[min(max(level, 1), len(lz4Levels))-1]
	return c.high.CompressBlock(src, dst)
}

var lz4PackerPool = sync.Pool{New: func() any { return new(lz4Packer) }}

// lz4Levels are the search depths that the library offers.
var lz4Levels = [...]lz4.CompressionLevel{lz4.Level1, lz4.Level2, lz4.Level3, lz4.Level4, lz4.Level5, lz4.Level6, lz4.Level7, lz4.Level8, lz4.Level9}

func compressLz4(dst []byte, level int, src []byte) ([]byte, error) {
	dst = appendLz4Head(dst)
	c := lz4PackerPool.Get().(*lz4Packer)
	defer lz4PackerPool.Put(c)
	for len(src) > 0 {
		n := min(len(src), lz4Block)
		var err error
		if dst, err = c.appendBlock(dst, level, src[:n]); err != nil {
			return dst, err
		}
		src = src[n:]
	}
	return binary.LittleEndian.AppendUint32(dst, 0), nil
}

// appendLz4Head begins a frame of independent blocks of 64 KiB.
func appendLz4Head(dst []byte) []byte {
	const flags, block = lz4Version | lz4Independent, lz4BlockCode << 4
	dst = binary.LittleEndian.AppendUint32(dst, lz4Magic)
	return append(dst, flags, block, byte(xxh32([]byte{flags, block})>>8))
}

// appendBlock packs one block of at most lz4Block bytes. What does not get
// smaller is stored as it is.
func (c *lz4Packer) appendBlock(dst []byte, level int, src []byte) ([]byte, error) {
	n := len(src)
	dst = grow(dst, 4+n)
	at := len(dst)
	m, err := c.pack(level, src, dst[at+4:at+4+n])
	if err != nil {
		return dst, err
	}
	size := uint32(m)
	if m == 0 || m >= n {
		copy(dst[at+4:at+4+n], src)
		m, size = n, uint32(n)|lz4NotPacked
	}
	dst = dst[:at+4+m]
	binary.LittleEndian.PutUint32(dst[at:], size)
	return dst, nil
}
