package codec

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/snappy"
)

// xerialHeader begins the framing of Java's snappy streams: a magic and two
// version numbers, all behind it are blocks of a length and raw snappy.
//
//	82 'S' 'N' 'A' 'P' 'P' 'Y' 00 | int32 version 1 | int32 compatible 1
var xerialHeader = []byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}

const (
	xerialMagicLen = 8
	// xerialBlock is what Java packs into one block.
	xerialBlock = 32 << 10
)

// snappySource unpacks xerial framing, and raw snappy where the magic is
// missing. Owned by its Reader.
type snappySource struct {
	src  []byte
	raw  bool
	buf  []byte
	slot slot
}

func (s *snappySource) reset(src []byte) error {
	s.raw = !bytes.HasPrefix(src, xerialHeader[:xerialMagicLen])
	if !s.raw {
		if len(src) < len(xerialHeader) {
			return corrupt(Snappy, "the header is cut")
		}
		src = src[len(xerialHeader):]
	} else if len(src) == 0 {
		return corrupt(Snappy, "nothing there")
	}
	s.src = src
	return nil
}

func (s *snappySource) release() {
	s.src = nil
	if cap(s.buf) > 1<<20 {
		s.buf = nil
	}
	s.slot.giveBack()
}

func (s *snappySource) next(room int64) ([]byte, error) {
	if len(s.src) == 0 {
		return nil, io.EOF
	}
	block := s.src
	s.src = nil
	if !s.raw {
		var err error
		if block, err = s.cut(block); block == nil || err != nil {
			return nil, err
		}
	}
	size, err := snappy.DecodedLen(block)
	if err != nil {
		return nil, corrupt(Snappy, err)
	}
	// Three bytes give at most 64, so a larger claim is false; and nothing is
	// unpacked beyond the cap.
	if size/64*3 > len(block) {
		return nil, corrupt(Snappy, "a block claims more than it can hold")
	}
	if int64(size) > room || size > wholeMax {
		return nil, ErrTooLarge
	}
	s.slot.take(size)
	if cap(s.buf) < size {
		s.buf = make([]byte, max(size, xerialBlock))
	}
	out, err := snappy.Decode(s.buf[:cap(s.buf)], block)
	if err != nil {
		return nil, corrupt(Snappy, err)
	}
	return out, nil
}

// cut takes the next block off the framing. Streams that were written one
// behind the other have a header in between, for which there is no block.
func (s *snappySource) cut(rest []byte) ([]byte, error) {
	if len(rest) >= len(xerialHeader) && bytes.HasPrefix(rest, xerialHeader[:xerialMagicLen]) {
		s.src = rest[len(xerialHeader):]
		return nil, nil
	}
	if len(rest) < 4 {
		return nil, corrupt(Snappy, "a block length is cut")
	}
	n := binary.BigEndian.Uint32(rest)
	rest = rest[4:]
	if uint64(n) > uint64(len(rest)) {
		return nil, corrupt(Snappy, "a block is cut")
	}
	if n == 0 {
		return nil, corrupt(Snappy, "an empty block")
	}
	s.src = rest[n:]
	return rest[:n], nil
}

func compressSnappy(dst, src []byte) []byte {
	dst = append(dst, xerialHeader...)
	for len(src) > 0 {
		n := min(len(src), xerialBlock)
		dst = appendSnappyBlock(dst, src[:n])
		src = src[n:]
	}
	return dst
}

// appendSnappyBlock packs one block of at most xerialBlock bytes.
func appendSnappyBlock(dst, src []byte) []byte {
	dst = grow(dst, 4+snappy.MaxEncodedLen(len(src)))
	at := len(dst)
	packed := snappy.Encode(dst[at+4:cap(dst)], src)
	dst = dst[:at+4+len(packed)]
	binary.BigEndian.PutUint32(dst[at:], uint32(len(packed)))
	return dst
}
