package validate

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"millrace/internal/codec"
	"millrace/kafka/wire"
	"millrace/segment/batch"
)

var codecs = []batch.Codec{batch.None, batch.Gzip, batch.Snappy, batch.LZ4, batch.Zstd}

var levels = [...]int{0, codec.DefaultGzip, 0, codec.DefaultLz4, codec.DefaultZstd}

// packed compresses the records of s.
func packed(t testing.TB, c batch.Codec, s sent) sent {
	t.Helper()
	var section []byte
	for _, r := range s.records {
		section = append(section, r...)
	}
	payload, err := compress(nil, c, levels[c], section)
	if err != nil {
		t.Fatal(err)
	}
	if s.count == nil {
		s.count, s.last = ptr(int32(len(s.records))), ptr(int32(len(s.records))-1)
	}
	s.attributes = s.attributes.WithCodec(c)
	s.payload, s.records = payload, nil
	return s
}

// sample is a batch that any codec makes smaller.
func sample() sent {
	s := sent{base: 1000, max: ptr[int64](1038)}
	for i := range 20 {
		s.records = append(s.records, record(int64(2*i), int32(i), []byte{'k', 'a' + byte(i)}, bytes.Repeat([]byte{'a' + byte(i)}, 60)))
	}
	return s
}

// section is the decompressed record section of v.
func section(t testing.TB, v batch.View) []byte {
	t.Helper()
	b, err := decompress(nil, v.Attributes().Codec(), v.Payload(), 100<<20)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func join(records [][]byte) []byte { return bytes.Join(records, nil) }

func TestCodecBytesAreKept(t *testing.T) {
	var check Checker
	for _, c := range codecs {
		b := packed(t, c, sample()).build()
		want := bytes.Clone(b)
		r := outcome(t, &check, plain(), b, 9)
		if r.Code != 0 || !bytes.Equal(r.Batch, want) || &r.Batch[0] != &b[0] {
			t.Errorf("%s: %s", c, told(r))
		}
		if r.MaxTimestampMs != 1038 || r.MaxTimestampDelta != 19 {
			t.Errorf("%s: %+v", c, r)
		}
		// A wrong max timestamp is put right in place, the payload kept.
		s := packed(t, c, sample())
		s.max = ptr[int64](-1)
		b = s.build()
		r = outcome(t, &check, plain(), b, 9)
		if r.Code != 0 || !bytes.Equal(r.Batch, want) {
			t.Errorf("%s with max -1: %s", c, told(r))
		}
	}
}

func TestCompressionTypeOfTheTopic(t *testing.T) {
	var check Checker
	records := join(sample().records)
	for _, target := range codecs {
		for _, from := range codecs {
			topic := plain()
			topic.Recompress, topic.Codec, topic.Level = true, target, levels[target]
			s := packed(t, from, sample())
			s.attributes |= batch.Transactional
			s.producer = &batch.Fields{ProducerID: 7, ProducerEpoch: 3, BaseSequence: 11}
			b := s.build()
			r := outcome(t, &check, topic, b, 9)
			if r.Code != 0 {
				t.Fatalf("%s to %s: %s", from, target, told(r))
			}
			f := r.Batch.Fields()
			want := batch.Fields{LeaderEpoch: f.LeaderEpoch, Attributes: batch.Transactional.WithCodec(target), LastOffsetDelta: 19, BaseTimestamp: 1000, MaxTimestamp: 1038,
				ProducerID: 7, ProducerEpoch: 3, BaseSequence: 11, Count: 20}
			if f != want {
				t.Errorf("%s to %s: %+v", from, target, f)
			}
			if !bytes.Equal(section(t, r.Batch), records) {
				t.Errorf("%s to %s: records differ", from, target)
			}
			if from == target && &r.Batch[0] != &b[0] {
				t.Errorf("%s: compressed anew without need", from)
			}
			if target != batch.None && from == batch.None && len(r.Batch) >= len(b) {
				t.Errorf("%s did not make it smaller", target)
			}
		}
	}
}

// Kafka's builder numbers the records anew and starts at the first timestamp.
func TestRecompressedRecordsAreRebased(t *testing.T) {
	topic := plain()
	topic.Recompress, topic.Codec, topic.Level = true, batch.Gzip, codec.DefaultGzip
	header := batch.Header{Key: []byte("h"), Value: []byte("v")}
	for _, c := range []struct {
		name string
		sent sent
		base int64
		max  int64
		want [][]byte
	}{
		{"offsets 0 2", sent{base: 1000, records: [][]byte{record(0, 0, nil, []byte("v")), record(1, 2, nil, []byte("v"))}}, 1000, 1001,
			[][]byte{record(0, 0, nil, []byte("v")), record(1, 1, nil, []byte("v"))}},
		{"base time off", sent{base: 1000, records: [][]byte{record(7, 0, []byte("k"), nil), batch.AppendRecord(nil, 9, 1, nil, []byte("x"), header)}}, 1007, 1009,
			[][]byte{record(0, 0, []byte("k"), nil), batch.AppendRecord(nil, 2, 1, nil, []byte("x"), header)}},
		{"append time bit", sent{attributes: batch.LogAppendTime, base: 3, max: ptr[int64](5), records: [][]byte{record(0, 0, nil, nil), record(7, 1, nil, nil)}}, 5, 5,
			[][]byte{record(0, 0, nil, nil), record(0, 1, nil, nil)}},
		{"bits 6 and 7", sent{attributes: 0xc0, base: 1000, records: values("v")}, 1000, 1000, values("v")},
	} {
		var check Checker
		r := outcome(t, &check, topic, c.sent.build(), 9)
		if r.Code != 0 {
			t.Fatalf("%s: %s", c.name, told(r))
		}
		if r.Batch.Attributes() != batch.Attributes(batch.Gzip) || r.Batch.BaseTimestamp() != c.base || r.Batch.MaxTimestamp() != c.max {
			t.Errorf("%s: %+v", c.name, r.Batch.Fields())
		}
		if got := section(t, r.Batch); !bytes.Equal(got, join(c.want)) {
			t.Errorf("%s: %x, want %x", c.name, got, join(c.want))
		}
	}
	appendTime := *topic
	appendTime.LogAppendTime = true
	var check Checker
	r := outcome(t, &check, &appendTime, at(1000, 1005).build(), 9)
	if r.Code != 0 || r.Batch.MaxTimestamp() != now || !r.Batch.Attributes().LogAppendTime() || r.Batch.BaseTimestamp() != 1000 || r.AppendTimeMs != now {
		t.Errorf("append time: %s %+v", told(r), r.Batch.Fields())
	}
}

func TestSizesCountWhatIsStored(t *testing.T) {
	var check Checker
	big := sent{base: 1000, records: [][]byte{record(0, 0, nil, make([]byte, 50_000))}}
	topic := plain()
	topic.MaxMessageBytes = 1000
	if r := outcome(t, &check, topic, big.build(), 9); r.Code != wire.MessageTooLarge {
		t.Errorf("plain: %s", told(r))
	}
	if r := outcome(t, &check, topic, packed(t, batch.Gzip, big).build(), 9); r.Code != 0 {
		t.Errorf("gzip: %s", told(r))
	}
	topic.Recompress = true
	if r := outcome(t, &check, topic, packed(t, batch.Gzip, big).build(), 9); r.Code != wire.MessageTooLarge {
		t.Errorf("gzip stored plain: %s", told(r))
	}
	// A batch that fits into a segment only as it is stored.
	topic = plain()
	topic.Recompress, topic.Codec, topic.Level, topic.SegmentBytes = true, batch.Gzip, codec.DefaultGzip, 10_000
	if r := outcome(t, &check, topic, big.build(), 9); r.Code != 0 {
		t.Errorf("shrinks below a segment: %s", told(r))
	}
}

// B67: what does not decompress, or not to what the header says, is refused.
func TestBadCompressedRecords(t *testing.T) {
	for _, c := range codecs[1:] {
		whole := packed(t, c, sample())
		more, fewer := sample(), sample()
		more.records = append(more.records, record(0, 20, nil, []byte("one more")))
		fewer.records = fewer.records[:19]
		more.count, more.last = ptr[int32](20), ptr[int32](19)
		fewer.count, fewer.last = more.count, more.last
		flipped := bytes.Clone(whole.payload)
		flipped[0] ^= 0x55
		with := func(payload []byte) sent {
			s := whole
			s.payload = payload
			return s
		}
		gaps := sent{records: [][]byte{record(0, 0, nil, nil), record(0, 2, nil, nil)}}
		for name, s := range map[string]sent{
			"one more": packed(t, c, more), "one fewer": packed(t, c, fewer), "gaps": packed(t, c, gaps),
			"text": with([]byte("this is no compressed payload at all")), "nothing": with(nil), "cut": with(whole.payload[:len(whole.payload)/2]), "flipped": with(flipped),
			"byte left in a record": packed(t, c, sent{records: [][]byte{raw(0, 0, 0, 1, 2, 'v', 0, 0)}}),
			"record length":         packed(t, c, sent{records: [][]byte{{80, 0, 0, 0, 1, 1, 0}}}),
		} {
			var check Checker
			b := s.build()
			before := bytes.Clone(b)
			r := outcome(t, &check, plain(), b, 9)
			want := wire.InvalidRecord
			if name == "gaps" {
				want = wire.UnknownServerError
			}
			if r.Code != want || len(r.Errors) != 0 {
				t.Errorf("%s, %s: %s", c, name, told(r))
			}
			if !bytes.Equal(b, before) {
				t.Errorf("%s, %s: refused and changed", c, name)
			}
		}
		compacted := plain()
		compacted.Compacted = true
		var check Checker
		r := outcome(t, &check, compacted, packed(t, c, sent{records: values("x", "y")}).build(), 9)
		if told(r) != "INVALID_RECORD bad records 0,1" {
			t.Errorf("%s: null keys: %s", c, told(r))
		}
	}
}

func TestLargeBatchesAreDeferredAndCapped(t *testing.T) {
	big := sent{base: 1, records: [][]byte{record(0, 0, nil, make([]byte, LoopBytes))}}
	for _, c := range codecs[1:] {
		b := packed(t, c, big).build()
		var check Checker
		v, code := Header(b, plain())
		if code != 0 {
			t.Fatal(code)
		}
		if r := check.Records(v, plain(), now, nil); !r.Deferred || r.Code != 0 {
			t.Errorf("%s: %+v", c, r)
		}
		if r := check.Large(v, plain(), now, nil); r.Deferred || r.Code != 0 {
			t.Errorf("%s on a worker: %s", c, told(r))
		}
		if cap(check.plain) > keepBytes {
			t.Errorf("%s: keeps %d bytes", c, cap(check.plain))
		}
	}
	// Compression of a large plain batch is a worker's business too; plain
	// batches as such never are.
	b := big.build()
	v, _ := Header(b, plain())
	var check Checker
	if r := check.Records(v, plain(), now, nil); r.Deferred || r.Code != 0 {
		t.Errorf("plain: %+v", r)
	}
	topic := plain()
	topic.Recompress, topic.Codec = true, batch.LZ4
	if r := check.Records(v, topic, now, nil); !r.Deferred {
		t.Errorf("to be compressed: %+v", r)
	}
	if r := check.Large(v, topic, now, nil); r.Code != 0 || !bytes.Equal(section(t, r.Batch), v.Payload()) {
		t.Errorf("compressed by a worker: %s", told(r))
	}
}

// FuzzRecords: no section panics, and what is taken reads back record by
// record, by the iterator that the rest of the broker uses.
func FuzzRecords(f *testing.F) {
	f.Add(join(sample().records), int32(20), uint16(0), int64(1000))
	f.Add(join(values("x")), int32(1), uint16(8), int64(-1))
	f.Add(raw(0, 0, 0, 1, 2, 'v', 4, 2, 'k', 1, 0, 2, 'x'), int32(1), uint16(0x50), int64(5))
	f.Fuzz(func(t *testing.T, payload []byte, count int32, attributes uint16, base int64) {
		s := sent{payload: payload, count: &count, last: ptr(count - 1), attributes: batch.Attributes(attributes) &^ batch.Control, base: base}
		b := s.build()
		var check Checker
		r := outcome(t, &check, plain(), b, 9)
		if packed, err := compress(nil, batch.Snappy, 0, payload); err == nil && len(payload) > 0 {
			// Compressed records are also walked piece by piece: the same answer.
			p := s
			p.payload, p.attributes = packed, s.attributes.WithCodec(batch.Snappy)
			outcome(t, &check, plain(), p.build(), 9)
		}
		if r.Code != 0 {
			return
		}
		it := batch.NewIter(section(t, r.Batch), count)
		highest, n := int64(-1), int32(0)
		var rec batch.Record
		for it.Next(&rec) {
			n++
			highest = max(highest, r.Batch.TimestampOf(rec.TimestampDelta))
			hs := rec.Headers()
			var h batch.Header
			for hs.Next(&h) {
			}
			if hs.Err() != nil {
				t.Fatal("bad headers were taken")
			}
		}
		if it.Err() != nil || n != count {
			t.Fatalf("%d of %d records read: %v", n, count, it.Err())
		}
		if batch.Attributes(attributes)&batch.LogAppendTime == 0 && highest != r.Batch.MaxTimestamp() {
			t.Fatalf("max timestamp %d, records have %d", r.Batch.MaxTimestamp(), highest)
		}
		topic := plain()
		topic.Recompress, topic.Codec = true, batch.LZ4
		if again := outcome(t, &check, topic, b, 9); again.Code != 0 {
			t.Fatalf("taken as it is, refused when compressed: %s", told(again))
		}
	})
}

func TestCheckingDoesNotAllocate(t *testing.T) {
	topic := plain()
	for _, c := range []batch.Codec{batch.None, batch.Snappy, batch.LZ4, batch.Zstd} {
		s := packed(t, c, sample())
		s.max = ptr[int64](-1)
		b := s.build()
		var check Checker
		n := testing.AllocsPerRun(200, func() {
			one, code := Rules(b, 9)
			if code != 0 {
				t.Fatal(code)
			}
			v, code := Header(one, topic)
			if code != 0 {
				t.Fatal(code)
			}
			if r := check.Records(v, topic, now, nil); r.Code != 0 {
				t.Fatal(r.Code)
			}
		})
		if n != 0 && !(racing && c != batch.None) {
			t.Errorf("%s: %v allocations", c, n)
		}
	}
}

// BenchmarkWalk is the walk alone, per record.
func BenchmarkWalk(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name string
		size int
		key  []byte
	}{{"10B", 10, nil}, {"100B", 100, nil}, {"100B-keyed", 100, []byte("some-key")}, {"1KiB", 1024, nil}} {
		b.Run(c.name, func(b *testing.B) {
			s := sent{base: now}
			for i := range int32(500) {
				s.records = append(s.records, record(r.Int64N(100), i, c.key, make([]byte, c.size)))
			}
			v := batch.View(s.build())
			topic := plain()
			var w walk
			b.ResetTimer()
			for range b.N {
				w.prepare(v, topic, now)
				if !w.run(v.Payload(), v.Count()) || w.failed {
					b.Fatal("refused")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/500, "ns/record")
		})
	}
}
