package validate

import (
	"bytes"
	"math"
	"runtime"
	"testing"

	"millrace/internal/codec"
	"millrace/kafka/wire"
	"millrace/segment/batch"
)

// What Apache Kafka 4.4.0 took and refused: the limit is that of a record
// without its length, whatever the batch unpacks to, and comes before all else
// that can be wrong with a record.
func TestDecompressedBytesAreThoseOfARecord(t *testing.T) {
	topic := plain()
	topic.MaxDecompressedBytes = 10_000
	sized := func(body int) []byte { // a record of body bytes
		value := body - 6 - 1
		value -= batch.VarintLen(int32(value)) - 1
		r := record(0, 0, []byte("k"), make([]byte, value))
		for size, _ := batch.Varint(r); int(size) != body; size, _ = batch.Varint(r) {
			value += body - int(size)
			r = record(0, 0, []byte("k"), make([]byte, value))
		}
		return r
	}
	many := sent{base: 1000}
	for i := range int32(1000) {
		many.records = append(many.records, record(0, i, nil, make([]byte, 500)))
	}
	late := sent{base: now + 10*3_600_000, records: [][]byte{record(0, 0, nil, nil), sized(20_000)}}
	keyless := plain()
	keyless.MaxDecompressedBytes, keyless.Compacted = 10_000, true
	var check Checker
	for _, c := range codecs {
		for name, k := range map[string]struct {
			topic *Topic
			sent  sent
			want  string
		}{
			"10000":     {topic, sent{base: 1000, records: [][]byte{sized(10_000)}}, "NONE"},
			"10001":     {topic, sent{base: 1000, records: [][]byte{sized(10_001)}}, "INVALID_RECORD"},
			"many":      {topic, many, "NONE"},
			"late":      {topic, late, "INVALID_RECORD"},
			"no key":    {keyless, sent{base: 1000, records: [][]byte{record(0, 0, nil, make([]byte, 20_000))}}, "INVALID_RECORD"},
			"far above": {topic, sent{base: 1000, records: [][]byte{sized(5 << 20)}}, "INVALID_RECORD"},
		} {
			if c == batch.None && k.want != "NONE" {
				continue // the limit is not asked for
			}
			if got := told(outcome(t, &check, k.topic, packed(t, c, k.sent).build(), 9)); got != k.want {
				t.Errorf("%s, %s: %s, want %s", c, name, got, k.want)
			}
		}
	}
	if got := told(outcome(t, &check, topic, sent{base: 1000, records: [][]byte{sized(20_000)}}.build(), 9)); got != "NONE" {
		t.Errorf("not compressed: %s", got)
	}
}

// spent is what f allocates, in bytes.
func spent(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Whatever a batch unpacks to, checking it and packing it anew takes the same
// few megabytes.
func TestLargeBatchesAreNotHeld(t *testing.T) {
	const size = 96 << 20
	value := make([]byte, size)
	whole := sent{base: 1000, records: [][]byte{record(0, 0, nil, value)}}
	half := sent{base: 1000, records: [][]byte{record(1, 0, nil, value[:size/2]), record(2, 1, nil, value[:size/2])}}
	for _, c := range []batch.Codec{batch.Gzip, batch.LZ4, batch.Zstd} {
		for name, s := range map[string]sent{"one": whole, "two": half} {
			b := packed(t, c, s).build()
			topic := plain()
			topic.MaxMessageBytes = 32 << 20
			v, code := Header(b, topic)
			if code != 0 {
				t.Fatal(code)
			}
			var check Checker
			check.Large(v, topic, now, nil) // fills the pools
			var r Result
			if n := spent(func() { r = check.Large(v, topic, now, nil) }); r.Code != 0 || n > 24<<20 {
				t.Errorf("%s, %s: %s, %d MiB", c, name, told(r), n>>20)
			}
			topic.Recompress, topic.Codec, topic.Level = true, batch.LZ4, codec.DefaultLz4
			if c == batch.LZ4 {
				topic.Codec, topic.Level = batch.Zstd, codec.DefaultZstd
			}
			if n := spent(func() { r = check.Large(v, topic, now, nil) }); r.Code != 0 || n > 48<<20 {
				t.Errorf("%s to %s, %s: %s, %d MiB", c, topic.Codec, name, told(r), n>>20)
			}
			topic.Codec = batch.None
			if n := spent(func() { r = check.Large(v, topic, now, nil) }); r.Code != wire.MessageTooLarge || n > 128<<20 {
				t.Errorf("%s to plain, %s: %s, %d MiB", c, name, told(r), n>>20)
			}
		}
	}
}

func TestLargeBatchesAreRebasedLikeSmallOnes(t *testing.T) {
	for _, from := range codecs {
		for _, to := range codecs {
			s := sent{base: 1000, max: ptr[int64](1998)}
			var want [][]byte
			for i := range int32(900) {
				key, value := []byte{byte(i)}, bytes.Repeat([]byte{byte(i)}, 1000)
				s.records = append(s.records, record(7+int64(i), i, key, value))
				want = append(want, record(int64(i), i, key, value))
			}
			topic := plain()
			topic.Recompress, topic.Codec, topic.Level, topic.MaxMessageBytes = true, to, levels[to], math.MaxInt32
			if from == to {
				continue
			}
			v, code := Header(packed(t, from, s).build(), topic)
			if code != 0 {
				t.Fatal(code)
			}
			var check Checker
			r := check.Large(v, topic, now, []byte("kept"))
			if r.Code != 0 || r.Batch.BaseTimestamp() != 1007 || r.Batch.MaxTimestamp() != 1906 || r.MaxTimestampDelta != 899 {
				t.Fatalf("%s to %s: %s %+v", from, to, told(r), r)
			}
			if !bytes.Equal(section(t, r.Batch), join(want)) {
				t.Errorf("%s to %s: the records differ", from, to)
			}
		}
	}
}
