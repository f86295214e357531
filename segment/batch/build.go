package batch

import "encoding/binary"

// Fields are the header fields of a batch but for length, magic and CRC, which
// follow from the bytes.
type Fields struct {
	BaseOffset      int64
	LeaderEpoch     int32
	Attributes      Attributes
	LastOffsetDelta int32
	BaseTimestamp   int64
	MaxTimestamp    int64
	ProducerID      int64
	ProducerEpoch   int16
	BaseSequence    int32
	Count           int32
}

// Fields copies the header out.
func (v View) Fields() Fields {
	return Fields{
		BaseOffset:      v.BaseOffset(),
		LeaderEpoch:     v.LeaderEpoch(),
		Attributes:      v.Attributes(),
		LastOffsetDelta: v.LastOffsetDelta(),
		BaseTimestamp:   v.BaseTimestamp(),
		MaxTimestamp:    v.MaxTimestamp(),
		ProducerID:      v.ProducerID(),
		ProducerEpoch:   v.ProducerEpoch(),
		BaseSequence:    v.BaseSequence(),
		Count:           v.Count(),
	}
}

// AppendHeader appends the 61 header bytes with length and CRC still zero.
// Append the payload next, then Seal.
func AppendHeader(dst []byte, f *Fields) []byte {
	be := binary.BigEndian
	dst = be.AppendUint64(dst, uint64(f.BaseOffset))
	dst = be.AppendUint32(dst, 0)
	dst = be.AppendUint32(dst, uint32(f.LeaderEpoch))
	dst = append(dst, Magic, 0, 0, 0, 0)
	dst = be.AppendUint16(dst, uint16(f.Attributes))
	dst = be.AppendUint32(dst, uint32(f.LastOffsetDelta))
	dst = be.AppendUint64(dst, uint64(f.BaseTimestamp))
	dst = be.AppendUint64(dst, uint64(f.MaxTimestamp))
	dst = be.AppendUint64(dst, uint64(f.ProducerID))
	dst = be.AppendUint16(dst, uint16(f.ProducerEpoch))
	dst = be.AppendUint32(dst, uint32(f.BaseSequence))
	return be.AppendUint32(dst, uint32(f.Count))
}

// Seal fills in length and CRC of the batch that is exactly b (header and
// payload) and returns it as a View.
func Seal(b []byte) View {
	binary.BigEndian.PutUint32(b[offLength:], uint32(len(b)-Overhead))
	v := View(b)
	v.UpdateCRC()
	return v
}

// AppendRecord appends one record. Nil key or value is null; a header key must
// not be null (nil is written as empty).
func AppendRecord(dst []byte, timestampDelta int64, offsetDelta int32, key, value []byte, headers ...Header) []byte {
	dst = AppendVarint(dst, int32(recordBody(timestampDelta, offsetDelta, key, value, headers)))
	dst = append(dst, 0)
	dst = AppendVarlong(dst, timestampDelta)
	dst = AppendVarint(dst, offsetDelta)
	dst = appendNullable(dst, key)
	dst = appendNullable(dst, value)
	dst = AppendVarint(dst, int32(len(headers)))
	for i := range headers {
		dst = AppendVarint(dst, int32(len(headers[i].Key)))
		dst = append(dst, headers[i].Key...)
		dst = appendNullable(dst, headers[i].Value)
	}
	return dst
}

func appendNullable(dst, b []byte) []byte {
	if b == nil {
		return append(dst, 1) // zigzag of -1
	}
	return append(AppendVarint(dst, int32(len(b))), b...)
}

func nullableLen(b []byte) int { return VarintLen(int32(len(b))) + len(b) }

// recordBody is the value of the record's length prefix.
func recordBody(timestampDelta int64, offsetDelta int32, key, value []byte, headers []Header) int {
	n := 1 + VarlongLen(timestampDelta) + VarintLen(offsetDelta) +
		nullableLen(key) + nullableLen(value) + VarintLen(int32(len(headers)))
	for i := range headers {
		n += nullableLen(headers[i].Key) + nullableLen(headers[i].Value)
	}
	return n
}

// Builder makes an uncompressed batch of our own records (offsets, metadata,
// tests). It is owned by the goroutine that uses it. The zero value is ready
// after Reset.
type Builder struct {
	buf    []byte
	start  int
	fields Fields
}

// Reset starts a batch at the end of dst. baseOffset and leaderEpoch are what
// the header says; an append stamps both anew. The batch has no producer.
func (b *Builder) Reset(dst []byte, baseOffset int64, leaderEpoch int32) {
	b.start = len(dst)
	b.fields = Fields{
		BaseOffset:    baseOffset,
		LeaderEpoch:   leaderEpoch,
		BaseTimestamp: NoTimestamp,
		MaxTimestamp:  NoTimestamp,
		ProducerID:    NoProducerID,
		ProducerEpoch: NoProducerEpoch,
		BaseSequence:  NoSequence,
	}
	b.buf = AppendHeader(dst, &b.fields)
}

// SetProducer fills in the idempotence fields.
func (b *Builder) SetProducer(id int64, epoch int16, baseSequence int32) {
	b.fields.ProducerID, b.fields.ProducerEpoch, b.fields.BaseSequence = id, epoch, baseSequence
}

// SetAttributes sets attribute bits; the codec must be None.
func (b *Builder) SetAttributes(a Attributes) { b.fields.Attributes = a.WithCodec(None) }

// Add appends one record with the next offset. timestamp is in ms.
func (b *Builder) Add(timestamp int64, key, value []byte, headers ...Header) {
	f := &b.fields
	if f.Count == 0 {
		f.BaseTimestamp, f.MaxTimestamp = timestamp, timestamp
	}
	f.MaxTimestamp = max(f.MaxTimestamp, timestamp)
	b.buf = AppendRecord(b.buf, timestamp-f.BaseTimestamp, f.Count, key, value, headers...)
	f.Count++
}

// Count is the number of records added.
func (b *Builder) Count() int { return int(b.fields.Count) }

// Size is the length in bytes of the batch so far.
func (b *Builder) Size() int { return len(b.buf) - b.start }

// Finish seals the batch and returns it; it lies at the end of Bytes. At least
// one record must have been added. The builder needs a Reset before it is used
// again.
func (b *Builder) Finish() View {
	b.fields.LastOffsetDelta = b.fields.Count - 1
	AppendHeader(b.buf[b.start:b.start], &b.fields)
	return Seal(b.buf[b.start:])
}

// Bytes is what was given to Reset and the batch behind it, for the next Reset
// (several batches in one slice) or for reuse.
func (b *Builder) Bytes() []byte { return b.buf }
