package segment

import (
	"millrace/internal/codec"
	"millrace/segment/batch"
)

// recordSection is the uncompressed record section of a batch; it aliases v when v is not compressed.
func recordSection(v batch.View) ([]byte, error) {
	c := v.Attributes().Codec()
	if c == batch.None {
		return v.Payload(), nil
	}
	return codec.Decompress(nil, codec.Type(c), v.Payload(), recordBytesMax)
}
