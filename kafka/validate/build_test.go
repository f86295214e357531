package validate

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"millrace/segment/batch"
)

// sent describes a batch to build, right or wrong. The zero value with records
// is good.
type sent struct {
	baseOffset int64
	magic      int8 // 2 if 0
	attributes batch.Attributes
	last       *int32
	count      *int32
	base       int64
	max        *int64
	producer   *batch.Fields
	records    [][]byte // encoded
	payload    []byte   // instead of records
	badCRC     bool
	length     int32 // added to the length field
}

func (s sent) build() []byte {
	f := batch.Fields{BaseOffset: s.baseOffset, Attributes: s.attributes, BaseTimestamp: s.base, MaxTimestamp: s.base,
		ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: int32(len(s.records)), LastOffsetDelta: int32(len(s.records)) - 1}
	if s.last != nil {
		f.LastOffsetDelta = *s.last
	}
	if s.count != nil {
		f.Count = *s.count
	}
	if s.max != nil {
		f.MaxTimestamp = *s.max
	}
	if p := s.producer; p != nil {
		f.ProducerID, f.ProducerEpoch, f.BaseSequence = p.ProducerID, p.ProducerEpoch, p.BaseSequence
	}
	b := batch.AppendHeader(nil, &f)
	for _, r := range s.records {
		b = append(b, r...)
	}
	b = append(b, s.payload...)
	v := batch.Seal(b)
	if s.badCRC {
		binary.BigEndian.PutUint32(v[17:], v.CRC()^0xdeadbeef)
	}
	if s.magic != 0 {
		v[16] = byte(s.magic)
	}
	binary.BigEndian.PutUint32(v[8:], uint32(v.Length()+s.length))
	return v
}

func ptr[T any](v T) *T { return &v }

// record is a good record.
func record(timestampDelta int64, offsetDelta int32, key, value []byte) []byte {
	return batch.AppendRecord(nil, timestampDelta, offsetDelta, key, value)
}

// values makes one record without a key for each value.
func values(texts ...string) (records [][]byte) {
	for i, v := range texts {
		records = append(records, record(0, int32(i), nil, []byte(v)))
	}
	return records
}

// at makes one record for each timestamp, relative to the first.
func at(timestamps ...int64) sent {
	s := sent{base: timestamps[0]}
	for i, ts := range timestamps {
		s.records = append(s.records, record(ts-timestamps[0], int32(i), nil, []byte{'a' + byte(i%26)}))
	}
	return s
}

// raw frames body as a record.
func raw(body ...byte) []byte { return append(batch.AppendVarint(nil, int32(len(body))), body...) }

// one is a batch that says it holds one record and holds payload.
func one(payload []byte) sent {
	return sent{payload: payload, count: ptr[int32](1), last: ptr[int32](0)}
}

const now = int64(1_700_000_000_000)

// plain is a topic of Kafka's defaults.
func plain() *Topic {
	return &Topic{MaxMessageBytes: 1048588, SegmentBytes: 1 << 30, MaxDecompressedBytes: math.MaxInt32, TimestampBeforeMaxMs: math.MaxInt64, TimestampAfterMaxMs: 3_600_000}
}

// outcome is all of one produce, as the frontend does it.
func outcome(t *testing.T, c *Checker, topic *Topic, records []byte, version int16) Result {
	t.Helper()
	b, code := Rules(records, version)
	if code != 0 {
		return Result{Code: code}
	}
	v, code := Header(b, topic)
	if code != 0 {
		return Result{Code: code}
	}
	alone := bytes.Clone(v)
	r := c.Records(v, topic, now, nil)
	large := new(Checker).Large(alone, topic, now, nil)
	if r.Deferred {
		r = c.Large(v, topic, now, nil)
	}
	if told(r) != told(large) || r.MaxTimestampMs != large.MaxTimestampMs || r.MaxTimestampDelta != large.MaxTimestampDelta {
		t.Fatalf("on a loop %s %+v, on a worker %s %+v", told(r), r, told(large), large)
	}
	if r.Code == 0 && (r.Batch.Fields() != large.Batch.Fields() || !bytes.Equal(canonical(t, r.Batch), canonical(t, large.Batch))) {
		t.Fatal("a loop and a worker make different batches of the same records")
	}
	if r.Code == 0 {
		if _, rest, err := batch.Parse(r.Batch); err != nil || len(rest) != 0 {
			t.Fatal("what would be stored does not parse:", err)
		}
	}
	return r
}

// canonical is the record section of v with every number in its shortest form.
func canonical(t *testing.T, v batch.View) (out []byte) {
	t.Helper()
	it := batch.NewIter(section(t, v), v.Count())
	var r batch.Record
	for it.Next(&r) {
		out = batch.AppendRecord(out, r.TimestampDelta, r.OffsetDelta, r.Key, r.Value)
		out = append(batch.AppendVarint(out, r.HeaderCount), r.HeaderBytes...)
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	return out
}
