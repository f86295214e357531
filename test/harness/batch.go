package harness

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/twmb/franz-go/pkg/kgo"
)

// Codecs are the names of Kafka's compression codecs at their attribute values.
var Codecs = []string{"none", "gzip", "snappy", "lz4", "zstd"}

// Record is one record of a Batch.
type Record struct {
	Timestamp  int64
	Key, Value []byte // nil is null
	Headers    []Header
}

// Header is one record header.
type Header struct {
	Key   string
	Value []byte
}

// Batch is a version 2 record batch to be encoded; the zero value of every field is what an ordinary producer without idempotence sends,
// but for the producer fields: see NewBatch.
type Batch struct {
	BaseOffset    int64
	Codec         int // index into Codecs
	Attributes    int16
	ProducerID    int64
	ProducerEpoch int16
	BaseSequence  int32
	Records       []Record
	Payload       []byte // if set, takes the place of the encoded (and compressed) records
	Count         int32  // if not 0, takes the place of len(Records)
}

// NewBatch is a batch of a producer without idempotence.
func NewBatch(records ...Record) *Batch {
	return &Batch{ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Records: records}
}

// Bytes encodes the batch.
func (b *Batch) Bytes() []byte {
	count := int32(len(b.Records))
	if b.Count != 0 {
		count = b.Count
	}
	var first, last int64
	if len(b.Records) > 0 {
		first, last = b.Records[0].Timestamp, b.Records[0].Timestamp
	}
	for _, r := range b.Records {
		last = max(last, r.Timestamp)
	}
	payload := b.Payload
	if payload == nil {
		payload = Compress(b.Codec, encodeRecords(b.Records, first))
	}
	be := binary.BigEndian
	out := be.AppendUint64(nil, uint64(b.BaseOffset))
	out = be.AppendUint32(out, uint32(49+len(payload)))
	out = be.AppendUint32(out, 0xffffffff) // leader epoch: unknown
	out = append(out, 2, 0, 0, 0, 0)       // magic, then room for the checksum
	out = be.AppendUint16(out, uint16(b.Attributes|int16(b.Codec)))
	out = be.AppendUint32(out, uint32(count-1))
	out = be.AppendUint64(out, uint64(first))
	out = be.AppendUint64(out, uint64(last))
	out = be.AppendUint64(out, uint64(b.ProducerID))
	out = be.AppendUint16(out, uint16(b.ProducerEpoch))
	out = be.AppendUint32(out, uint32(b.BaseSequence))
	out = be.AppendUint32(out, uint32(count))
	out = append(out, payload...)
	Checksum(out)
	return out
}

// Checksum stores the right CRC-32C in an encoded batch.
func Checksum(batch []byte) {
	binary.BigEndian.PutUint32(batch[17:], crc32.Checksum(batch[21:], crc32.MakeTable(crc32.Castagnoli)))
}

// EncodeRecords encodes records as they stand in an uncompressed batch whose base timestamp is that of the first.
func EncodeRecords(records ...Record) []byte { return encodeRecords(records, records[0].Timestamp) }

func encodeRecords(records []Record, base int64) []byte {
	var out []byte
	for i, r := range records {
		body := []byte{0}
		body = binary.AppendVarint(body, r.Timestamp-base)
		body = binary.AppendVarint(body, int64(i))
		body = appendVarBytes(body, r.Key)
		body = appendVarBytes(body, r.Value)
		body = binary.AppendVarint(body, int64(len(r.Headers)))
		for _, h := range r.Headers {
			body = appendVarBytes(body, []byte(h.Key))
			body = appendVarBytes(body, h.Value)
		}
		out = binary.AppendVarint(out, int64(len(body)))
		out = append(out, body...)
	}
	return out
}

func appendVarBytes(dst, b []byte) []byte {
	if b == nil {
		return binary.AppendVarint(dst, -1)
	}
	dst = binary.AppendVarint(dst, int64(len(b)))
	return append(dst, b...)
}

// Codec returns franz-go's codec of an attribute value.
func Codec(i int) kgo.CompressionCodec {
	return []kgo.CompressionCodec{kgo.NoCompression(), kgo.GzipCompression(), kgo.SnappyCompression(), kgo.Lz4Compression(), kgo.ZstdCompression()}[i]
}

// Compress packs bytes with a codec of the table Codecs.
func Compress(codec int, raw []byte) []byte {
	if codec == 0 {
		return raw
	}
	c, err := kgo.DefaultCompressor(Codec(codec))
	if err != nil {
		panic(err) // a codec of the table above
	}
	out, got := c.Compress(new(bytes.Buffer), raw)
	if int(got) != codec {
		panic(fmt.Sprintf("compressor chose codec %d, want %d", got, codec))
	}
	return bytes.Clone(out)
}

// BatchHead is the fixed part of a stored batch, read from a fetch answer.
type BatchHead struct {
	BaseOffset, LastOffset int64
	Size                   int // whole batch in bytes, also if the answer cuts it
	LeaderEpoch            int32
	Attributes             int16
	FirstTimestamp         int64
	MaxTimestamp           int64
	Count                  int32
	Data                   []byte // the batch, possibly cut
}

// Heads reads the batches of a fetch answer; the last may be cut.
func Heads(b []byte) []BatchHead {
	var heads []BatchHead
	be := binary.BigEndian
	for len(b) >= 61 {
		h := BatchHead{BaseOffset: int64(be.Uint64(b)), Size: int(be.Uint32(b[8:])) + 12, LeaderEpoch: int32(be.Uint32(b[12:])),
			Attributes: int16(be.Uint16(b[21:])), FirstTimestamp: int64(be.Uint64(b[27:])), MaxTimestamp: int64(be.Uint64(b[35:])), Count: int32(be.Uint32(b[57:]))}
		h.LastOffset = h.BaseOffset + int64(be.Uint32(b[23:]))
		h.Data = b[:min(h.Size, len(b))]
		heads = append(heads, h)
		b = b[len(h.Data):]
	}
	return heads
}
