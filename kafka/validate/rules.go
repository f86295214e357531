package validate

import (
	"encoding/binary"

	"millrace/kafka/wire"
	"millrace/segment/batch"
)

// Sizes that Kafka's reader of batches goes by.
const (
	minLength   = 14 // smallest value of the length field, of any format
	upToMagic   = 17 // bytes up to and with the magic
	offAttr     = 21
	attrBytes   = 2
	zstdVersion = 7
)

// Topic is what a topic's configuration says about the batches it takes.
// Immutable once published.
type Topic struct {
	// Recompress is false for compression.type=producer. Otherwise Codec and
	// Level say how batches are stored; Level as in compression.*.level.
	Recompress bool
	Codec      batch.Codec
	Level      int
	// LogAppendTime is message.timestamp.type=LogAppendTime.
	LogAppendTime bool
	// Compacted is set if cleanup.policy contains compact.
	Compacted bool
	// MaxMessageBytes is max.message.bytes; SegmentBytes is segment.bytes.
	// MaxDecompressedBytes is max.decompressed.message.bytes: the largest
	// record of a compressed batch, without the length in front of it.
	MaxMessageBytes      int
	SegmentBytes         int
	MaxDecompressedBytes int
	// TimestampBeforeMaxMs and TimestampAfterMaxMs are
	// message.timestamp.before.max.ms and message.timestamp.after.max.ms.
	TimestampBeforeMaxMs int64
	TimestampAfterMaxMs  int64
}

// next cuts the first batch off b as Kafka's reader does: nil without an error
// means that no whole batch is there.
func next(b []byte) (one, rest []byte, code wire.ErrorCode) {
	if len(b) < batch.Overhead {
		return nil, b, wire.NoError
	}
	length := int32(binary.BigEndian.Uint32(b[8:]))
	if length < minLength {
		return nil, b, wire.CorruptMessage
	}
	if len(b) < upToMagic {
		return nil, b, wire.NoError
	}
	if magic := int8(b[16]); magic < 0 || magic > batch.Magic {
		return nil, b, wire.CorruptMessage
	}
	size := int64(length) + batch.Overhead
	if int64(len(b)) < size {
		return nil, b, wire.NoError
	}
	return b[:size:size], b[size:], wire.NoError
}

// Rules applies the request's rules to the records of one partition: one batch
// of format 2, and no zstd below version 7. The batch it returns may still be
// too short for a header; only Header may look at it.
//
// The codes are CorruptMessage, InvalidRecord, UnsupportedCompressionType and, for
// the whole request, UnknownServerError: Kafka fails on a codec that does not
// exist where it has to look at the codec so early.
func Rules(records []byte, version int16) (one []byte, code wire.ErrorCode) {
	one, rest, code := next(records)
	if code != wire.NoError {
		return nil, code
	}
	if one == nil {
		return nil, wire.InvalidRecord
	}
	if one[16] != batch.Magic {
		return nil, wire.InvalidRecord
	}
	if version < zstdVersion {
		switch codec := attributes(one).Codec(); {
		case !codec.Valid():
			return nil, wire.UnknownServerError
		case codec == batch.Zstd:
			return nil, wire.UnsupportedCompressionType
		}
	}
	second, _, code := next(rest)
	if code != wire.NoError {
		return nil, code
	}
	if second != nil {
		return nil, wire.InvalidRecord
	}
	return one, wire.NoError
}

// attributes reads the attribute bits of a batch of at least 26 bytes.
func attributes(one []byte) batch.Attributes {
	return batch.Attributes(binary.BigEndian.Uint16(one[offAttr : offAttr+attrBytes]))
}

// Transactional says whether the first batch in records is of a transaction. It
// looks no further, so it may be asked before Rules: Kafka refuses a
// transactional batch in a request without transactional id (53) before all
// else.
func Transactional(records []byte) bool {
	one, _, code := next(records)
	return code == wire.NoError && one != nil && one[16] == batch.Magic && attributes(one).Transactional()
}

// Unreadable says whether records begin with something that Kafka's reader of
// batches fails on: an impossible length or magic. Kafka looks at the first
// batch of each partition ahead of everything else.
func Unreadable(records []byte) bool {
	_, _, code := next(records)
	return code != wire.NoError
}

// Header checks all that the header of a batch (as Rules returned it) shows,
// the checksum included. It costs the CRC and nothing more.
func Header(one []byte, t *Topic) (v batch.View, code wire.ErrorCode) {
	if int64(binary.BigEndian.Uint64(one)) != 0 {
		return nil, wire.InvalidRecord
	}
	if len(one) > t.MaxMessageBytes {
		return nil, wire.MessageTooLarge
	}
	if len(one) < batch.HeaderSize {
		return nil, wire.CorruptMessage
	}
	v = batch.View(one)
	if v.ComputeCRC() != v.CRC() {
		return nil, wire.CorruptMessage
	}
	a := v.Attributes()
	if !a.Codec().Valid() {
		return nil, wire.UnknownServerError // as Kafka, which fails on the number
	}
	count, last := v.Count(), v.LastOffsetDelta()
	if count <= 0 || int64(last)+1 != int64(count) {
		return nil, wire.InvalidRecord
	}
	if a.Control() {
		return nil, wire.InvalidRecord
	}
	if v.HasProducerID() && v.BaseSequence() < 0 {
		return nil, wire.InvalidRecord
	}
	return v, wire.NoError
}
