package wire

import (
	"encoding/binary"
	"math/rand/v2"
)

// Places of the fields of a record batch, format v2, and the length of its header.
const (
	batchBase       = 0
	batchLength     = 8
	batchEpoch      = 12
	batchMagic      = 16
	batchCRC        = 17
	batchAttributes = 21
	batchLastDelta  = 23
	batchBaseTime   = 27
	batchMaxTime    = 35
	batchProducer   = 43
	batchProducerEp = 51
	batchSequence   = 53
	batchCount      = 57
	BatchHeaderLen  = 61
)

// Bodies are the records of a set of distinct batches of one size: what follows the batch header. Immutable.
type Bodies struct {
	Records int // per batch
	Payload int // bytes of record values per batch
	Len     int // bytes of each body
	Data    [][]byte
	sums    []uint32
	joiner  *Joiner
}

// NewBodies encodes n distinct bodies of as many records of size bytes (value; key is null) as fit in batchBytes including
// the header, at least one. A quarter of each value is random, the rest repeats: neither all zero nor incompressible.
func NewBodies(n, size, batchBytes int, seed uint64) *Bodies {
	rng := rand.New(rand.NewPCG(seed, 0x6d696c6c72616365))
	records := 0
	for room := batchBytes - BatchHeaderLen; ; records++ {
		room -= recordLen(size, records)
		if room < 0 && records > 0 {
			break
		}
	}
	b := &Bodies{Records: records, Payload: records * size}
	for range n {
		body := make([]byte, 0, batchBytes)
		for i := range records {
			body = appendRecord(body, i, value(rng, size))
		}
		b.Data = append(b.Data, body)
		b.sums = append(b.sums, CRC(body))
	}
	b.Len = len(b.Data[0])
	b.joiner = NewJoiner(b.Len)
	return b
}

// BatchLen is the size of a whole batch on the wire and on disk.
func (b *Bodies) BatchLen() int { return BatchHeaderLen + b.Len }

func value(rng *rand.Rand, size int) []byte {
	v := make([]byte, size)
	for i := range v {
		if i%4 == 0 {
			v[i] = byte(rng.Uint32())
		} else {
			v[i] = "abcdefghijklmnopqrstuvwxyz012345"[i%32]
		}
	}
	return v
}

func recordBodyLen(size, delta int) int {
	return 1 + 1 + varintLen(int64(delta)) + varintLen(-1) + varintLen(int64(size)) + size + varintLen(0)
}

func recordLen(size, delta int) int {
	n := recordBodyLen(size, delta)
	return varintLen(int64(n)) + n
}

func varintLen(v int64) int { return len(binary.AppendVarint(nil, v)) }

func appendRecord(dst []byte, delta int, value []byte) []byte {
	dst = binary.AppendVarint(dst, int64(recordBodyLen(len(value), delta)))
	dst = append(dst, 0)                         // attributes
	dst = binary.AppendVarint(dst, 0)            // timestamp delta
	dst = binary.AppendVarint(dst, int64(delta)) // offset delta
	dst = binary.AppendVarint(dst, -1)           // null key
	dst = binary.AppendVarint(dst, int64(len(value)))
	dst = append(dst, value...)
	return binary.AppendVarint(dst, 0) // headers
}

// AppendHeader appends the header of body i with no producer; Stamp completes it.
func (b *Bodies) AppendHeader(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, make([]byte, BatchHeaderLen)...)
	h := dst[at:]
	binary.BigEndian.PutUint32(h[batchLength:], uint32(b.BatchLen()-batchEpoch))
	binary.BigEndian.PutUint32(h[batchEpoch:], 0xffffffff)
	h[batchMagic] = 2
	binary.BigEndian.PutUint32(h[batchLastDelta:], uint32(b.Records-1))
	binary.BigEndian.PutUint64(h[batchProducer:], ^uint64(0))
	binary.BigEndian.PutUint16(h[batchProducerEp:], 0xffff)
	binary.BigEndian.PutUint32(h[batchSequence:], 0xffffffff)
	binary.BigEndian.PutUint32(h[batchCount:], uint32(b.Records))
	return dst
}

// Stamp writes the record time (ms since 1970) into a header and sets the checksum for body i.
func (b *Bodies) Stamp(h []byte, i int, timeMs int64) {
	binary.BigEndian.PutUint64(h[batchBaseTime:], uint64(timeMs))
	binary.BigEndian.PutUint64(h[batchMaxTime:], uint64(timeMs))
	sum := b.joiner.Join(CRC(h[batchAttributes:BatchHeaderLen]), b.sums[i])
	binary.BigEndian.PutUint32(h[batchCRC:], sum)
}

// SetProducer writes an idempotent producer's identity and the first sequence number into a header; call it before Stamp.
func SetProducer(h []byte, id int64, epoch int16, sequence int32) {
	binary.BigEndian.PutUint64(h[batchProducer:], uint64(id))
	binary.BigEndian.PutUint16(h[batchProducerEp:], uint16(epoch))
	binary.BigEndian.PutUint32(h[batchSequence:], uint32(sequence))
}

// Spoil makes the checksum of a header wrong.
func Spoil(h []byte) { h[batchCRC] ^= 0xff }

// Batch returns a whole batch with body i.
func (b *Bodies) Batch(i int, timeMs int64) []byte {
	out := b.AppendHeader(make([]byte, 0, b.BatchLen()))
	b.Stamp(out, i, timeMs)
	return append(out, b.Data[i]...)
}

// BaseOffset, LastOffset and TotalLen read a batch header of at least BatchHeaderLen bytes.
func BaseOffset(h []byte) int64 { return int64(binary.BigEndian.Uint64(h[batchBase:])) }

// LastOffset is the offset of the last record of the batch.
func LastOffset(h []byte) int64 {
	return BaseOffset(h) + int64(int32(binary.BigEndian.Uint32(h[batchLastDelta:])))
}

// TotalLen is the size of the whole batch.
func TotalLen(h []byte) int { return batchEpoch + int(int32(binary.BigEndian.Uint32(h[batchLength:]))) }

// RecordCount is the number of records in the batch.
func RecordCount(h []byte) int { return int(int32(binary.BigEndian.Uint32(h[batchCount:]))) }

// SetBaseOffset stamps the place that a broker gives to the batch; it lies outside the checksum.
func SetBaseOffset(h []byte, offset int64) { binary.BigEndian.PutUint64(h[batchBase:], uint64(offset)) }

// ValidCRC checks the checksum of a whole batch.
func ValidCRC(batch []byte) bool {
	return len(batch) >= BatchHeaderLen && len(batch) == TotalLen(batch) &&
		CRC(batch[batchAttributes:]) == binary.BigEndian.Uint32(batch[batchCRC:])
}

// PutHeader writes the header of a batch of so many bytes and records, without producer; SetProducer and Seal complete it.
func PutHeader(h []byte, total, records int, baseMs, maxMs int64) {
	clear(h[:BatchHeaderLen])
	binary.BigEndian.PutUint32(h[batchLength:], uint32(total-batchEpoch))
	binary.BigEndian.PutUint32(h[batchEpoch:], 0xffffffff)
	h[batchMagic] = 2
	binary.BigEndian.PutUint32(h[batchLastDelta:], uint32(records-1))
	binary.BigEndian.PutUint64(h[batchBaseTime:], uint64(baseMs))
	binary.BigEndian.PutUint64(h[batchMaxTime:], uint64(maxMs))
	SetProducer(h, -1, -1, -1)
	binary.BigEndian.PutUint32(h[batchCount:], uint32(records))
}

// Seal computes the checksum of a whole batch.
func Seal(batch []byte) {
	binary.BigEndian.PutUint32(batch[batchCRC:], CRC(batch[batchAttributes:]))
}
