package codec

import (
	"errors"
	"fmt"
)

// Type is a codec as the lowest three bits of a batch's attributes number it.
type Type int8

// The codecs.
const (
	None   Type = 0
	Gzip   Type = 1
	Snappy Type = 2
	Lz4    Type = 3
	Zstd   Type = 4
)

var names = [...]string{"none", "gzip", "snappy", "lz4", "zstd"}

func (t Type) String() string {
	if !t.Valid() {
		return fmt.Sprintf("codec %d", int8(t))
	}
	return names[t]
}

// Valid tells whether there is such a codec; the bits allow 5 to 7 as well.
func (t Type) Valid() bool { return t >= None && t <= Zstd }

// ByName finds a codec by the word that compression.type and clients use:
// none or uncompressed, gzip, snappy, lz4, zstd.
func ByName(name string) (Type, bool) {
	if name == "uncompressed" {
		return None, true
	}
	for t, n := range names {
		if n == name {
			return Type(t), true
		}
	}
	return None, false
}

// The errors, to be found with errors.Is.
var (
	// ErrTooLarge says that the output goes past the cap.
	ErrTooLarge = errors.New("codec: unpacked data is larger than allowed")
	// ErrCorrupt says that the input is not what the codec writes.
	ErrCorrupt = errors.New("codec: packed data is corrupt")
)

// corrupt wraps what a library says.
func corrupt(t Type, what any) error {
	return fmt.Errorf("%w: %s: %v", ErrCorrupt, t, what)
}

// Decompress appends the unpacked src to dst. At most max bytes are appended;
// if there are more, the error is ErrTooLarge. After an error dst comes back
// as it was. Bytes between the length and the capacity of dst may be written.
func Decompress(dst []byte, t Type, src []byte, max int) ([]byte, error) {
	if t == None {
		if len(src) > max {
			return dst, ErrTooLarge
		}
		return append(dst, src...), nil
	}
	if t == Zstd {
		return decompressZstd(dst, src, max)
	}
	r, err := NewReader(t, src, int64(max))
	if err != nil {
		return dst, err
	}
	out, err := r.appendAll(dst)
	r.Close()
	if err != nil {
		return dst, err
	}
	return out, nil
}

// Level values for Compress.
const (
	// DefaultGzip, DefaultLz4 and DefaultZstd are Kafka's defaults of
	// compression.gzip.level, compression.lz4.level and compression.zstd.level.
	DefaultGzip = -1
	DefaultLz4  = 9
	DefaultZstd = 3
)

// DefaultLevel is the level that Kafka uses unless another is set; 0 for
// codecs without levels.
func (t Type) DefaultLevel() int {
	switch t {
	case Gzip:
		return DefaultGzip
	case Lz4:
		return DefaultLz4
	case Zstd:
		return DefaultZstd
	}
	return 0
}

// Compress appends the packed src to dst. The level is that of Kafka's topic
// configs: gzip -1 and 1 to 9, lz4 1 to 17, zstd -131072 to 22; levels outside
// are taken for the nearest one. Snappy has none.
func Compress(dst []byte, t Type, level int, src []byte) ([]byte, error) {
	switch t {
	case None:
		return append(dst, src...), nil
	case Gzip:
		return compressGzip(dst, level, src)
	case Snappy:
		return compressSnappy(dst, src), nil
	case Lz4:
		return compressLz4(dst, level, src)
	case Zstd:
		return compressZstd(dst, level, src), nil
	}
	return dst, fmt.Errorf("codec: there is no %s", t)
}
