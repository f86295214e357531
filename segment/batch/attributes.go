package batch

// Attributes are the attribute bits of a batch.
type Attributes uint16

// Bits of Attributes; the lowest three hold the codec.
const (
	codecMask     Attributes = 0x07
	LogAppendTime Attributes = 1 << 3
	Transactional Attributes = 1 << 4
	Control       Attributes = 1 << 5
	DeleteHorizon Attributes = 1 << 6
)

// Codec is a compression codec as the batch names it.
type Codec uint8

// The codecs; 5 to 7 are not assigned.
const (
	None   Codec = 0
	Gzip   Codec = 1
	Snappy Codec = 2
	LZ4    Codec = 3
	Zstd   Codec = 4
)

// Valid says whether the codec is one of the five assigned.
func (c Codec) Valid() bool { return c <= Zstd }

// String is the codec's name in Kafka's configuration.
func (c Codec) String() string {
	switch c {
	case None:
		return "none"
	case Gzip:
		return "gzip"
	case Snappy:
		return "snappy"
	case LZ4:
		return "lz4"
	case Zstd:
		return "zstd"
	}
	return "unknown"
}

// Codec is the codec of the record section.
func (a Attributes) Codec() Codec { return Codec(a & codecMask) }

// WithCodec replaces the codec.
func (a Attributes) WithCodec(c Codec) Attributes { return a&^codecMask | Attributes(c)&codecMask }

// LogAppendTime says whether all records have the batch's max timestamp.
func (a Attributes) LogAppendTime() bool { return a&LogAppendTime != 0 }

// Transactional says whether the batch belongs to a transaction.
func (a Attributes) Transactional() bool { return a&Transactional != 0 }

// Control says whether the batch holds control records.
func (a Attributes) Control() bool { return a&Control != 0 }

// DeleteHorizon says whether the base timestamp is a delete horizon.
func (a Attributes) DeleteHorizon() bool { return a&DeleteHorizon != 0 }
