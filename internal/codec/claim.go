package codec

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// Claim is what src says of the size that it unpacks to, in bytes; -1 if it
// says nothing. It costs next to nothing and proves nothing: who sent src may
// lie.
func Claim(t Type, src []byte) int64 {
	switch t {
	case None:
		return int64(len(src))
	case Gzip:
		// The last member ends with its size modulo 2^32.
		if len(src) > 18 {
			return int64(binary.LittleEndian.Uint32(src[len(src)-4:]))
		}
	case Snappy:
		return claimSnappy(src)
	case Lz4:
		if len(src) > 14 && binary.LittleEndian.Uint32(src) == lz4Magic && src[4]&lz4ContentSize != 0 {
			return claimed(binary.LittleEndian.Uint64(src[6:]))
		}
	case Zstd:
		var head zstd.Header
		if head.Decode(src) == nil && head.HasFCS {
			return claimed(head.FrameContentSize)
		}
	}
	return -1
}

func claimed(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// claimSnappy adds up what the blocks say.
func claimSnappy(src []byte) int64 {
	if !bytes.HasPrefix(src, xerialHeader[:xerialMagicLen]) {
		if n, err := snappy.DecodedLen(src); err == nil {
			return int64(n)
		}
		return -1
	}
	s := snappySource{src: src}
	total := int64(0)
	for len(s.src) > 0 {
		block, err := s.cut(s.src)
		if err != nil {
			return -1
		}
		if block == nil {
			continue
		}
		n, err := snappy.DecodedLen(block)
		if err != nil {
			return -1
		}
		total += int64(n)
	}
	return total
}
