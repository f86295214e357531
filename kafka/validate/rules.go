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
	MaxMessageBytes int
	SegmentBytes    int
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
// The codes are CorruptMessage, InvalidRecord and UnsupportedCompressionType.
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
		if codec := attributes(one).Codec(); codec >= batch.Zstd {
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

// Header checks all that the header of a batch (as Rules returned it) shows,
// the checksum included. It costs the CRC and nothing more.
func Header(one []byte, t *Topic) (v batch.View, code wire.ErrorCode, message string) {
	if int64(binary.BigEndian.Uint64(one)) != 0 {
		return nil, wire.InvalidRecord, "the base offset must be 0"
	}
	if len(one) > t.MaxMessageBytes {
		return nil, wire.MessageTooLarge, "the batch is larger than max.message.bytes"
	}
	if len(one) < batch.HeaderSize {
		return nil, wire.CorruptMessage, "the batch is shorter than its header"
	}
	v = batch.View(one)
	if v.ComputeCRC() != v.CRC() {
		return nil, wire.CorruptMessage, "the checksum does not fit"
	}
	a := v.Attributes()
	if !a.Codec().Valid() {
		return nil, wire.UnsupportedCompressionType, "no such compression codec"
	}
	count, last := v.Count(), v.LastOffsetDelta()
	if count <= 0 || int64(last)+1 != int64(count) {
		return nil, wire.InvalidRecord, "record count and last offset delta do not fit"
	}
	if a.Control() {
		return nil, wire.InvalidRecord, "clients must not write control batches"
	}
	if v.HasProducerID() && v.BaseSequence() < 0 {
		return nil, wire.InvalidRecord, "a producer id needs a base sequence"
	}
	return v, wire.NoError, ""
}
