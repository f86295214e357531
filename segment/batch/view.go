package batch

import (
	"encoding/binary"

	"millrace/internal/crc32c"
)

const (
	// HeaderSize is the length of a batch without its records, in bytes.
	HeaderSize = 61
	// Overhead is what the length field does not count: itself and the base
	// offset, in bytes. A batch has length+Overhead bytes.
	Overhead = 12
	// MinLength is the smallest legal value of the length field.
	MinLength = HeaderSize - Overhead
	// Magic is the only format this package knows.
	Magic = 2

	// NoProducerID, NoProducerEpoch, NoSequence and NoTimestamp mark fields
	// that are not set.
	NoProducerID    = int64(-1)
	NoProducerEpoch = int16(-1)
	NoSequence      = int32(-1)
	NoTimestamp     = int64(-1)
	// NoLeaderEpoch is the leader epoch of a batch that no leader stamped.
	NoLeaderEpoch = int32(-1)
)

// Offsets of the header fields.
const (
	offBaseOffset      = 0
	offLength          = 8
	offLeaderEpoch     = 12
	offMagic           = 16
	offCRC             = 17
	offAttributes      = 21
	offLastOffsetDelta = 23
	offBaseTimestamp   = 27
	offMaxTimestamp    = 35
	offProducerID      = 43
	offProducerEpoch   = 51
	offBaseSequence    = 53
	offCount           = 57
)

// View is one whole batch over the caller's bytes: len(v) == v.Size(). It
// aliases them, so a setter changes what every other holder sees.
type View []byte

// BaseOffset is the offset of the first record the batch was built with.
func (v View) BaseOffset() int64 { return int64(binary.BigEndian.Uint64(v[offBaseOffset:])) }

// Length is the value of the length field: the bytes that follow it.
func (v View) Length() int32 { return int32(binary.BigEndian.Uint32(v[offLength:])) }

// Size is the length of the whole batch in bytes, by its length field.
func (v View) Size() int { return int(v.Length()) + Overhead }

// LeaderEpoch is the epoch of the leader that appended the batch.
func (v View) LeaderEpoch() int32 { return int32(binary.BigEndian.Uint32(v[offLeaderEpoch:])) }

// Magic is the format version; Parse lets only 2 through.
func (v View) Magic() int8 { return int8(v[offMagic]) }

// CRC is the stored CRC-32C.
func (v View) CRC() uint32 { return binary.BigEndian.Uint32(v[offCRC:]) }

// Attributes are the attribute bits.
func (v View) Attributes() Attributes { return Attributes(binary.BigEndian.Uint16(v[offAttributes:])) }

// LastOffsetDelta is last offset minus base offset; compaction leaves it alone.
func (v View) LastOffsetDelta() int32 {
	return int32(binary.BigEndian.Uint32(v[offLastOffsetDelta:]))
}

// LastOffset is BaseOffset + LastOffsetDelta.
func (v View) LastOffset() int64 { return v.BaseOffset() + int64(v.LastOffsetDelta()) }

// NextOffset is the first offset behind the batch.
func (v View) NextOffset() int64 { return v.LastOffset() + 1 }

// BaseTimestamp is what record timestamp deltas are relative to, in ms; if the
// delete horizon bit is set it is the horizon (and the deltas fit that).
func (v View) BaseTimestamp() int64 { return int64(binary.BigEndian.Uint64(v[offBaseTimestamp:])) }

// MaxTimestamp is the highest record timestamp in ms, or the append time.
func (v View) MaxTimestamp() int64 { return int64(binary.BigEndian.Uint64(v[offMaxTimestamp:])) }

// ProducerID is -1 if the producer is not idempotent.
func (v View) ProducerID() int64 { return int64(binary.BigEndian.Uint64(v[offProducerID:])) }

// ProducerEpoch is -1 if the producer is not idempotent.
func (v View) ProducerEpoch() int16 { return int16(binary.BigEndian.Uint16(v[offProducerEpoch:])) }

// BaseSequence is the sequence number of the first record, -1 for none.
func (v View) BaseSequence() int32 { return int32(binary.BigEndian.Uint32(v[offBaseSequence:])) }

// LastSequence is the sequence number of the last record; after 2147483647
// comes 0. It is -1 if there is no base sequence.
func (v View) LastSequence() int32 {
	if v.BaseSequence() < 0 {
		return NoSequence
	}
	return AddSequence(v.BaseSequence(), v.LastOffsetDelta())
}

// AddSequence advances a sequence number by n >= 0; after 2147483647 comes 0.
func AddSequence(sequence, n int32) int32 {
	return int32((int64(sequence) + int64(n)) & 0x7fffffff)
}

// Count is the record count field; after compaction it may be less than
// LastOffsetDelta+1, and 0.
func (v View) Count() int32 { return int32(binary.BigEndian.Uint32(v[offCount:])) }

// HasProducerID says whether the batch carries idempotence fields.
func (v View) HasProducerID() bool { return v.ProducerID() >= 0 }

// Payload is the record section, as stored (compressed if the codec says so).
func (v View) Payload() []byte { return v[HeaderSize:] }

// TimestampOf turns a record's timestamp delta into its timestamp in ms. With
// LogAppendTime every record has the batch's max timestamp.
func (v View) TimestampOf(delta int64) int64 {
	if v.Attributes().LogAppendTime() {
		return v.MaxTimestamp()
	}
	return v.BaseTimestamp() + delta
}

// SetBaseOffset stamps bytes 0-7; the CRC does not cover them.
func (v View) SetBaseOffset(offset int64) {
	binary.BigEndian.PutUint64(v[offBaseOffset:], uint64(offset))
}

// SetLeaderEpoch stamps bytes 12-15; the CRC does not cover them.
func (v View) SetLeaderEpoch(epoch int32) {
	binary.BigEndian.PutUint32(v[offLeaderEpoch:], uint32(epoch))
}

// SetAttributes changes the attribute bits. The caller must UpdateCRC.
func (v View) SetAttributes(a Attributes) { binary.BigEndian.PutUint16(v[offAttributes:], uint16(a)) }

// SetMaxTimestamp changes the max timestamp. The caller must UpdateCRC.
func (v View) SetMaxTimestamp(ms int64) {
	binary.BigEndian.PutUint64(v[offMaxTimestamp:], uint64(ms))
}

// SetLastOffsetDelta changes the last offset delta. The caller must UpdateCRC.
func (v View) SetLastOffsetDelta(n int32) {
	binary.BigEndian.PutUint32(v[offLastOffsetDelta:], uint32(n))
}

// ComputeCRC is the CRC-32C (Castagnoli) of attributes..end.
func (v View) ComputeCRC() uint32 { return crc32c.Checksum(v[offAttributes:]) }

// UpdateCRC stores the CRC of the bytes as they are now.
func (v View) UpdateCRC() { binary.BigEndian.PutUint32(v[offCRC:], v.ComputeCRC()) }
