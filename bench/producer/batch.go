package producer

import (
	"encoding/binary"

	"millrace/bench/wire"
)

// Batch is one record batch, format v2, uncompressed. Owned by its loop.
type Batch struct {
	Partition int
	Records   int
	buf       []byte
	limit     int // bytes it may take: batch.size, or one record that is larger
	created   int64
	baseMs    int64
	maxMs     int64
	intended  []int64 // when each record should have been handed over, ns
}

// SizeUpperBound is what a batch with one record of so many bytes needs at most.
func SizeUpperBound(size int) int {
	return wire.BatchHeaderLen + 5 + 1 + 10 + 5 + 1 + 5 + size + 1 // each varint at its longest
}

// RecordsPerBatch says how many records of one size fit in a batch of batch.size bytes, and how many bytes they take.
func RecordsPerBatch(batchSize, recordSize int) (records, bytes int) {
	limit := max(batchSize, SizeUpperBound(recordSize))
	bytes = wire.BatchHeaderLen
	for {
		n := recordLen(recordSize, records, 0)
		if bytes+n > limit && records > 0 {
			return records, bytes
		}
		records, bytes = records+1, bytes+n
	}
}

func recordBody(size, delta int, ms int64) int {
	return 1 + varintLen(ms) + varintLen(int64(delta)) + 1 + varintLen(int64(size)) + size + 1
}

func recordLen(size, delta int, ms int64) int {
	n := recordBody(size, delta, ms)
	return varintLen(int64(n)) + n
}

func varintLen(v int64) int {
	u := uint64(v<<1) ^ uint64(v>>63)
	n := 1
	for ; u >= 0x80; u >>= 7 {
		n++
	}
	return n
}

// tryAppend adds a record if there is room; the first always has.
func (b *Batch) tryAppend(value []byte, intended, ms int64) bool {
	delta := ms - b.baseMs
	n := recordBody(len(value), b.Records, delta)
	if b.Records > 0 && len(b.buf)+varintLen(int64(n))+n > b.limit {
		return false
	}
	dst := binary.AppendVarint(b.buf, int64(n))
	dst = append(dst, 0) // attributes
	dst = binary.AppendVarint(dst, delta)
	dst = binary.AppendVarint(dst, int64(b.Records))
	dst = append(dst, 1) // null key: varint -1
	dst = binary.AppendVarint(dst, int64(len(value)))
	dst = append(dst, value...)
	b.buf = append(dst, 0) // no headers
	b.Records++
	b.maxMs = ms
	b.intended = append(b.intended, intended)
	return true
}

// full says that not one byte more fits; a batch that merely has no room for the next record shows by the batch behind it.
func (b *Batch) full() bool { return b.Records > 0 && len(b.buf) >= b.limit }

// Size is the bytes of the batch so far.
func (b *Batch) Size() int { return len(b.buf) }

// identity is what an idempotent producer puts into its batches.
type identity struct {
	id    int64
	epoch int16
}

// close writes the header; nothing may be appended afterwards.
func (b *Batch) close(who identity, sequence int32) {
	h := b.buf[:wire.BatchHeaderLen]
	wire.PutHeader(h, len(b.buf), b.Records, b.baseMs, b.maxMs)
	wire.SetProducer(h, who.id, who.epoch, sequence)
	wire.Seal(b.buf)
}
