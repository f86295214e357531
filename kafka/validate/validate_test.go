package validate

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"millrace/kafka/wire"
	"millrace/segment/batch"
)

// told is a result in the words of the recordings.
func told(r Result) string {
	s := r.Code.Name()
	var bad []string
	for _, e := range r.Errors {
		bad = append(bad, fmt.Sprint(e.Index))
	}
	if len(bad) > 0 {
		s += " bad records " + strings.Join(bad, ",")
	}
	return s
}

// Each line is what Apache Kafka 4.4.0 answered, or "refused" where this broker
// refuses with a better code than Kafka's unexpected error.
func TestAnswersOfKafka(t *testing.T) {
	good := sent{base: 1000, records: values("value")}.build()
	batchOf := func(count, last int32) []byte {
		return sent{records: values("x", "y", "z"), count: &count, last: &last}.build()
	}
	length := func(n uint32) []byte {
		b := bytes.Clone(good)
		b[8], b[9], b[10], b[11] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
		return b
	}
	huge := batch.AppendVarint(nil, math.MaxInt32)
	compacted := plain()
	compacted.Compacted = true
	small := plain()
	small.MaxMessageBytes, small.Compacted = 100, true
	window := plain()
	window.TimestampBeforeMaxMs, window.TimestampAfterMaxMs = 600_000, 900_000
	segment := plain()
	segment.SegmentBytes = 200
	appendTime := plain()
	appendTime.LogAppendTime = true
	fat := [][]byte{record(0, 0, nil, make([]byte, 200))}
	sequence := func(seq int32) *batch.Fields { return &batch.Fields{ProducerID: 1, BaseSequence: seq} }
	keys := sent{records: [][]byte{record(0, 0, []byte("k"), nil), record(0, 1, nil, nil), record(0, 2, []byte{}, nil), record(0, 3, nil, nil)}}

	for _, c := range []struct {
		name    string
		topic   *Topic
		records []byte
		want    string
	}{
		{"plain", nil, good, "NONE"},
		{"null", nil, nil, "INVALID_RECORD"},
		{"empty", nil, []byte{}, "INVALID_RECORD"},
		{"bad checksum", nil, sent{records: values("x"), badCRC: true}.build(), "CORRUPT_MESSAGE"},

		{"magic 0", nil, sent{magic: 0, records: values("x")}.build()[:16:16], "INVALID_RECORD"},
		{"magic 1", nil, sent{magic: 1, records: values("x")}.build(), "INVALID_RECORD"},
		{"magic 3", nil, sent{magic: 3, records: values("x")}.build(), "CORRUPT_MESSAGE"},
		{"magic 127", nil, sent{magic: 127, records: values("x")}.build(), "CORRUPT_MESSAGE"},
		{"magic -1", nil, sent{magic: -1, records: values("x")}.build(), "CORRUPT_MESSAGE"},

		{"two batches", nil, append(bytes.Clone(good), sent{baseOffset: 1, records: values("y")}.build()...), "INVALID_RECORD"},
		{"second with a bad checksum", nil, append(bytes.Clone(good), sent{records: values("y"), badCRC: true}.build()...), "INVALID_RECORD"},
		{"trailing 5 bytes", nil, append(bytes.Clone(good), 1, 2, 3, 4, 5), "NONE"},
		{"trailing 11 zero bytes", nil, append(bytes.Clone(good), make([]byte, 11)...), "NONE"},
		{"trailing 12 zero bytes", nil, append(bytes.Clone(good), make([]byte, 12)...), "CORRUPT_MESSAGE"},
		{"trailing cut batch", nil, append(bytes.Clone(good), good[:40]...), "NONE"},
		{"trailing wrong magic", nil, append(bytes.Clone(good), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 14, 1, 1, 1, 1, 9, 1), "CORRUPT_MESSAGE"},

		{"length one more", nil, sent{records: values("x"), length: 1}.build(), "INVALID_RECORD"},
		{"length one less", nil, sent{records: values("x"), length: -1}.build(), "CORRUPT_MESSAGE"},
		{"length 0", nil, length(0), "CORRUPT_MESSAGE"},
		{"length 13", nil, length(13), "CORRUPT_MESSAGE"},
		{"length 48", nil, length(48), "CORRUPT_MESSAGE"},
		{"length -1", nil, length(math.MaxUint32), "CORRUPT_MESSAGE"},
		{"length lowest", nil, length(1 << 31), "CORRUPT_MESSAGE"},
		{"length highest", nil, length(1<<31 - 1), "INVALID_RECORD"},

		{"count 2 last 2", nil, batchOf(2, 2), "INVALID_RECORD"},
		{"count 4 last 2", nil, batchOf(4, 2), "INVALID_RECORD"},
		{"count 3 last 1", nil, batchOf(3, 1), "INVALID_RECORD"},
		{"count 3 last 3", nil, batchOf(3, 3), "INVALID_RECORD"},
		{"count 2 last 1", nil, batchOf(2, 1), "INVALID_RECORD"},
		{"count 4 last 3", nil, batchOf(4, 3), "INVALID_RECORD"},
		{"count 0 last -1", nil, batchOf(0, -1), "INVALID_RECORD"},
		{"count 0 last 2", nil, batchOf(0, 2), "INVALID_RECORD"},
		{"count -1 last -2", nil, batchOf(-1, -2), "INVALID_RECORD"},
		{"count -1 last 2", nil, batchOf(-1, 2), "INVALID_RECORD"},
		{"count highest", nil, batchOf(math.MaxInt32, math.MaxInt32-1), "INVALID_RECORD"},
		{"count lowest, last highest", nil, batchOf(math.MinInt32, math.MaxInt32), "INVALID_RECORD"},

		{"base offset 1", nil, sent{baseOffset: 1, records: values("x")}.build(), "INVALID_RECORD"},
		{"base offset -1", nil, sent{baseOffset: -1, records: values("x")}.build(), "INVALID_RECORD"},
		{"control", nil, sent{attributes: batch.Control, records: values("x")}.build(), "INVALID_RECORD"},
		{"log append time bit", nil, sent{attributes: batch.LogAppendTime, base: 1000, records: values("x")}.build(), "NONE"},
		{"log append time bit without a time", nil, sent{attributes: batch.LogAppendTime, base: 5, max: ptr[int64](-1), records: values("x")}.build(), "INVALID_TIMESTAMP bad records 0"},
		{"log append time bit on its topic", appendTime, sent{attributes: batch.LogAppendTime, base: 5, records: values("x", "y")}.build(), "INVALID_TIMESTAMP bad records 0,1"},
		{"any time on a log append time topic", appendTime, at(now+7200_000, -5).build(), "NONE"},
		{"codec 5", nil, sent{attributes: 5, records: values("x")}.build(), "UNKNOWN_SERVER_ERROR"},
		{"codec 7", nil, sent{attributes: 7, records: values("x")}.build(), "UNKNOWN_SERVER_ERROR"},
		{"sequence 0", nil, sent{producer: sequence(0), records: values("x")}.build(), "NONE"},
		{"sequence -1", nil, sent{producer: sequence(-1), records: values("x")}.build(), "INVALID_RECORD"},
		{"sequence lowest", nil, sent{producer: sequence(math.MinInt32), records: values("x")}.build(), "INVALID_RECORD"},

		{"record longer than the batch", nil, one([]byte{80, 0, 0, 0, 1, 1, 0}).build(), "INVALID_RECORD"},
		{"record length 0", nil, one([]byte{0}).build(), "INVALID_RECORD"},
		{"record length negative", nil, one([]byte{1}).build(), "INVALID_RECORD"},
		{"key longer than the record", nil, one(raw(0, 0, 0, 40, 'k', 1, 0)).build(), "INVALID_RECORD"},
		{"value longer than the record", nil, one(raw(0, 0, 0, 1, 40, 'v', 0)).build(), "INVALID_RECORD"},
		{"key longest", nil, one(raw(append(append([]byte{0, 0, 0}, huge...), 1, 0)...)).build(), "INVALID_RECORD"},
		{"no header count", nil, one(raw(0, 0, 0, 1, 2, 'v')).build(), "INVALID_RECORD"},
		{"header count negative", nil, one(raw(0, 0, 0, 1, 2, 'v', 1)).build(), "INVALID_RECORD"},
		{"header count huge", nil, one(raw(append([]byte{0, 0, 0, 1, 2, 'v'}, huge...)...)).build(), "INVALID_RECORD"},
		{"header key null", nil, one(raw(0, 0, 0, 1, 2, 'v', 2, 1, 2, 'h')).build(), "INVALID_RECORD"},
		{"header cut", nil, one(raw(0, 0, 0, 1, 2, 'v', 2, 2, 'k')).build(), "INVALID_RECORD"},
		{"header good", nil, one(raw(0, 0, 0, 1, 2, 'v', 4, 2, 'k', 1, 0, 2, 'x')).build(), "NONE"},
		{"byte left in the record", nil, one(raw(0, 0, 0, 1, 2, 'v', 0, 0)).build(), "INVALID_RECORD"},
		{"bytes left after the record", nil, one(append(record(0, 0, nil, []byte("v")), 0, 0, 0)).build(), "INVALID_RECORD"},
		{"record length not ended", nil, one(bytes.Repeat([]byte{0xff}, 11)).build(), "refused"},
		{"record attributes", nil, one(raw(1, 0, 0, 1, 2, 'v', 0)).build(), "NONE"},
		{"key length -5", nil, one(raw(0, 0, 0, 9, 2, 'v', 0)).build(), "NONE"},
		{"offsets 0 0", nil, sent{records: [][]byte{record(0, 0, nil, nil), record(0, 0, nil, nil)}}.build(), "NONE"},
		{"offsets -1 0", nil, sent{records: [][]byte{record(0, -1, nil, nil), record(0, 0, nil, nil)}}.build(), "NONE"},

		{"keys on a compacted topic", compacted, keys.build(), "INVALID_RECORD bad records 1,3"},
		{"keys elsewhere", nil, keys.build(), "NONE"},
		{"tombstone", compacted, sent{records: [][]byte{record(0, 0, []byte("a"), nil)}}.build(), "NONE"},

		{"now", nil, at(now).build(), "NONE"},
		{"time 0", nil, at(0).build(), "NONE"},
		{"time -1", nil, at(-1).build(), "NONE"},
		{"time -2", nil, at(-2).build(), "NONE"},
		{"in 30 minutes", nil, at(now + 1800_000).build(), "NONE"},
		{"in 2 hours", nil, at(now + 7200_000).build(), "INVALID_TIMESTAMP bad records 0"},
		{"highest time", nil, at(math.MaxInt64).build(), "INVALID_TIMESTAMP bad records 0"},
		{"lowest time", nil, at(math.MinInt64).build(), "INVALID_TIMESTAMP bad records 0"},
		{"each bad time", nil, at(now, now+7200_000, now+1, now+7200_000, now+2).build(), "INVALID_TIMESTAMP bad records 1,3"},
		{"9 minutes ago", window, at(now - 540_000).build(), "NONE"},
		{"11 minutes ago", window, at(now - 660_000).build(), "INVALID_TIMESTAMP bad records 0"},
		{"in 14 minutes", window, at(now + 840_000).build(), "NONE"},
		{"in 16 minutes", window, at(now + 960_000).build(), "INVALID_TIMESTAMP bad records 0"},
		{"-1 in a window", window, at(-1).build(), "NONE"},
		{"0 in a window", window, at(0).build(), "INVALID_TIMESTAMP bad records 0"},

		{"larger than a segment", segment, sent{records: fat}.build(), "RECORD_LIST_TOO_LARGE"},
		{"bad checksum and control bit", small, sent{attributes: batch.Control, badCRC: true, records: values("x")}.build(), "CORRUPT_MESSAGE"},
		{"bad checksum and base offset", small, sent{baseOffset: 3, badCRC: true, records: values("x")}.build(), "INVALID_RECORD"},
		{"bad checksum and too large", small, sent{badCRC: true, records: fat}.build(), "MESSAGE_TOO_LARGE"},
		{"bad checksum and count", small, sent{badCRC: true, count: ptr[int32](9), records: values("x")}.build(), "CORRUPT_MESSAGE"},
		{"too large and null key", small, sent{records: fat}.build(), "MESSAGE_TOO_LARGE"},
		{"too large and control bit", small, sent{attributes: batch.Control, records: fat}.build(), "MESSAGE_TOO_LARGE"},
		{"null key and bad time", small, sent{base: 1 << 50, records: values("x")}.build(), "INVALID_RECORD bad records 0"},
		{"null key and count", small, sent{count: ptr[int32](9), records: values("x")}.build(), "INVALID_RECORD"},
		{"null key and malformed", small, sent{records: append(values("x"), raw(0, 0, 2, 1, 1, 1))}.build(), "INVALID_RECORD"},
	} {
		topic := c.topic
		if topic == nil {
			topic = plain()
		}
		var check Checker
		before := bytes.Clone(c.records)
		r := outcome(t, &check, topic, c.records, 9)
		got := told(r)
		if c.want == "refused" {
			if r.Code == 0 || r.Code == wire.UnknownServerError {
				t.Errorf("%s: %s", c.name, got)
			}
		} else if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if r.Code != 0 && !bytes.Equal(before, c.records) {
			t.Errorf("%s: refused and changed", c.name)
		}
	}
	// Cut anywhere, a batch is no batch.
	for n := range good {
		if _, code := Rules(good[:n], 9); code != wire.InvalidRecord {
			t.Errorf("cut to %d: %s", n, code)
		}
	}
}

func TestZstdNeedsVersion7(t *testing.T) {
	b := sent{attributes: batch.Attributes(batch.Zstd), records: values("x")}.build()
	for version := int16(3); version <= 13; version++ {
		want := wire.NoError
		if version < 7 {
			want = wire.UnsupportedCompressionType
		}
		if _, code := Rules(b, version); code != want {
			t.Errorf("v%d: %s", version, code)
		}
	}
	b[21+1] = byte(batch.LZ4)
	if _, code := Rules(b, 3); code != wire.NoError {
		t.Error("lz4 works at every version")
	}
}

// The header that ends up in the log.
func TestHeaderIsPutRight(t *testing.T) {
	appendTime := plain()
	appendTime.LogAppendTime = true
	for _, c := range []struct {
		name       string
		topic      *Topic
		sent       sent
		attributes batch.Attributes
		max        int64
		maxDelta   int32
	}{
		{"max -1", plain(), sent{base: 1000, max: ptr[int64](-1), records: at(1000, 1005, 1009).records}, 0, 1009, 2},
		{"max too high", plain(), sent{base: 1000, max: ptr[int64](5000), records: at(1000, 1009, 1005).records}, 0, 1009, 1},
		{"max right", plain(), sent{base: 1000, max: ptr[int64](1009), records: at(1000, 1009, 1009).records}, 0, 1009, 1},
		{"base that no record has", plain(), sent{base: 1000, records: [][]byte{record(7, 0, nil, nil), record(9, 1, nil, nil)}}, 0, 1009, 1},
		{"times below -1", plain(), at(-2, -3), 0, -1, 0},
		{"append time", appendTime, sent{base: 5, max: ptr[int64](3), records: values("x", "y")}, batch.LogAppendTime, now, 0},
		{"append time bit is cleared", plain(), sent{attributes: batch.LogAppendTime, base: 5, max: ptr[int64](777), records: values("x")}, 0, 777, 0},
		{"bits 6 and 15 stay", plain(), sent{attributes: 0x8040, base: 5, records: values("x")}, 0x8040, 5, 0},
		{"bit 7 goes when the header changes", plain(), sent{attributes: 0xc0, base: 5, max: ptr[int64](777), records: values("x")}, 0x40, 5, 0},
	} {
		b := c.sent.build()
		payload := bytes.Clone(b[batch.HeaderSize:])
		var check Checker
		r := outcome(t, &check, c.topic, b, 9)
		if r.Code != 0 {
			t.Errorf("%s: %s", c.name, told(r))
			continue
		}
		if &r.Batch[0] != &b[0] || !bytes.Equal(r.Batch.Payload(), payload) {
			t.Errorf("%s: records moved or changed", c.name)
		}
		if r.Batch.Attributes() != c.attributes || r.Batch.MaxTimestamp() != c.max || r.MaxTimestampMs != c.max || r.MaxTimestampDelta != c.maxDelta {
			t.Errorf("%s: attributes %#x max %d, result %+v", c.name, r.Batch.Attributes(), r.Batch.MaxTimestamp(), r)
		}
		if want := map[bool]int64{true: now, false: -1}[c.topic.LogAppendTime]; r.AppendTimeMs != want {
			t.Errorf("%s: append time %d", c.name, r.AppendTimeMs)
		}
	}
}

func TestTransactionalIsSeenFirst(t *testing.T) {
	if Transactional(nil) || Transactional(sent{records: values("x")}.build()) {
		t.Error("plain batches")
	}
	if !Transactional(sent{attributes: batch.Transactional | batch.Control, records: values("x"), badCRC: true}.build()) {
		t.Error("a transactional batch")
	}
}

func TestRecordErrorsAreBounded(t *testing.T) {
	s := sent{}
	for i := range int32(70_000) {
		s.records = append(s.records, record(0, i, nil, nil))
	}
	topic := plain()
	topic.Compacted = true
	var check Checker
	r := outcome(t, &check, topic, s.build(), 9)
	if r.Code != wire.InvalidRecord || len(r.Errors) != maxRecordErrors {
		t.Fatal(r.Code, len(r.Errors))
	}
	if r.Errors[0].Message == "" || r.Errors[maxRecordTexts].Message != "" {
		t.Fatal("texts")
	}
}
