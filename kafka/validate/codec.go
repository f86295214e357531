package validate

import (
	"errors"

	"millrace/internal/codec"
	"millrace/segment/batch"
)

// decompress appends what src holds to dst, at most max bytes.
func decompress(dst []byte, c batch.Codec, src []byte, max int) ([]byte, error) {
	return codec.Decompress(dst, codec.Type(c), src, max)
}

// compress appends src in the codec to dst.
func compress(dst []byte, c batch.Codec, level int, src []byte) ([]byte, error) {
	return codec.Compress(dst, codec.Type(c), level, src)
}

// isTooLarge tells a batch that decompresses to too much from a broken one.
func isTooLarge(err error) bool { return errors.Is(err, codec.ErrTooLarge) }
