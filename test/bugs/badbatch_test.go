package bugs

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestBadBatchesAreNotWritten (B67): batches whose checksum is right but whose content is not are refused with 2 or 87 before anything is
// written, and the next good one gets offset 0.
func TestBadBatchesAreNotWritten(t *testing.T) {
	c := dial(t)
	name := topic(t, "b67", 1)
	record := harness.EncodeRecords(harness.Record{Timestamp: now(), Key: []byte("key"), Value: []byte("value")})
	payload := func(codec int, p []byte) []byte {
		b := harness.NewBatch(harness.Record{Timestamp: now()})
		b.Codec, b.Payload = codec, p
		return b.Bytes()
	}
	changed := func(f func(b []byte)) []byte {
		b := one(now(), "value")
		f(b)
		harness.Checksum(b)
		return b
	}
	wrongCount := harness.NewBatch(harness.Record{Timestamp: now(), Value: []byte("v")})
	wrongCount.Count = 3
	headers := append([]byte{}, record[:len(record)-1]...)
	headers = append(headers, 0xfe, 0xff, 0xff, 0xff, 0x0f) // 2^31-1 headers
	headers[0] += 2 * 4
	cases := map[string][]byte{
		"undecodable zstd":          payload(4, []byte("this is no zstd frame")),
		"undecodable snappy":        payload(2, []byte("\xff\xff\xff\xff\xff\xff\xff nor is this snappy")),
		"undecodable gzip":          payload(1, []byte("this is no gzip stream")),
		"undecodable lz4":           payload(3, []byte("this is no lz4 frame")),
		"zstd cut":                  payload(4, harness.Compress(4, record)[:10]),
		"gzip cut":                  payload(1, harness.Compress(1, record)[:12]),
		"more records announced":    wrongCount.Bytes(),
		"record cut":                payload(0, record[:len(record)-3]),
		"key longer than the batch": payload(0, append([]byte{30, 0, 0, 0, 0xfe, 0xff, 0xff, 0x0f}, record[5:]...)),
		"2^31-1 headers":            payload(0, headers),
		"negative record length":    payload(0, append([]byte{3}, record[1:]...)),
		"endless varint":            payload(0, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
		"no payload":                payload(0, []byte{}),
		"count 2^31-1": changed(func(b []byte) {
			binary.BigEndian.PutUint32(b[57:], 1<<31-1)
			binary.BigEndian.PutUint32(b[23:], 1<<31-2)
		}),
		"count 0":                    changed(func(b []byte) { binary.BigEndian.PutUint32(b[57:], 0) }),
		"count -1":                   changed(func(b []byte) { binary.BigEndian.PutUint32(b[57:], 0xffffffff) }),
		"last offset delta 7":        changed(func(b []byte) { binary.BigEndian.PutUint32(b[23:], 7) }),
		"control batch":              changed(func(b []byte) { b[22] |= 0x20 }),
		"codec 5":                    changed(func(b []byte) { b[22] |= 5 }),
		"base offset 5":              changed(func(b []byte) { b[7] = 5 }),
		"magic 1":                    changed(func(b []byte) { b[16] = 1 }),
		"magic 3":                    changed(func(b []byte) { b[16] = 3 }),
		"checksum off by one":        func() []byte { b := one(now(), "v"); b[20]++; return b }(),
		"length longer than the set": func() []byte { b := one(now(), "v"); b[11] += 9; return b }(),
		"two batches":                append(one(now(), "v"), one(now(), "v")...),
		"half a batch":               one(now(), "value")[:40],
		"empty":                      {},
	}
	for what, batch := range cases {
		t.Run(what, func(t *testing.T) {
			p, err := harness.ProduceOne(c, name, 0, batch)
			if err != nil {
				c = dial(t)
				t.Fatalf("connection closed: %v", err)
			}
			// Kafka says -1 where unpacking fails, for an unknown codec too; the report asks for 2 or 87, and 76 names the codec.
			if !slices.Contains([]int16{2, 87, -1}, p.ErrorCode) && (what != "codec 5" || p.ErrorCode != 76) || p.BaseOffset != -1 {
				t.Errorf("error %d, base offset %d, want 2, 87 or -1, and -1", p.ErrorCode, p.BaseOffset)
			}
		})
	}
	if offset := harness.MustProduce(t, c, name, 0, one(now(), "good")); offset != 0 {
		t.Errorf("the first good batch got offset %d", offset)
	}
	got := do[*kmsg.FetchResponse](t, c, harness.Fetch(500, 1, 1<<20, harness.FetchFrom{Topic: name})).Topics[0].Partitions[0]
	if heads := harness.Heads(got.RecordBatches); len(heads) != 1 || got.HighWatermark != 1 {
		t.Errorf("%d batches, high watermark %d, want 1 and 1", len(heads), got.HighWatermark)
	}
}
