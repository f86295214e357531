package batch_test

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"millrace/segment/batch"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What franz-go's encoder and reader of batches makes of the same records.
func TestBuilderAgreesWithFranzGo(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	bytesOf := func() []byte {
		if r.IntN(4) == 0 {
			return nil
		}
		return bytes.Repeat([]byte{'x'}, r.IntN(3)*r.IntN(100))
	}
	for i := 0; i < 300; i++ {
		var b batch.Builder
		b.Reset(nil, 100, 4)
		base := int64(r.IntN(1 << 30))
		n := 1 + r.IntN(20)
		var sent []kmsg.Record
		for j := 0; j < n; j++ {
			ts := base + int64(r.IntN(1<<20)) - 1<<19
			if j == 0 {
				ts = base
			}
			rec := kmsg.Record{TimestampDelta64: ts - base, OffsetDelta: int32(j), Key: bytesOf(), Value: bytesOf(), Headers: []kmsg.Header{}}
			var headers []batch.Header
			for k := r.IntN(4); k > 0; k-- {
				value := bytesOf()
				headers = append(headers, batch.Header{Key: []byte("key"), Value: value})
				rec.Headers = append(rec.Headers, kmsg.Header{Key: "key", Value: value})
			}
			b.Add(ts, rec.Key, rec.Value, headers...)
			sent = append(sent, rec)
		}
		got := b.Finish()
		var want kmsg.RecordBatch
		if err := want.ReadFrom(got); err != nil {
			t.Fatal(err)
		}
		if want.FirstOffset != 100 || want.PartitionLeaderEpoch != 4 || int(want.NumRecords) != n || want.FirstTimestamp != base || uint32(want.CRC) != got.CRC() {
			t.Fatalf("%+v", want)
		}
		if again := want.AppendTo(nil); !bytes.Equal(again, got) {
			t.Fatal("franz-go writes it otherwise")
		}
		rest := want.Records
		for j := 0; j < n; j++ {
			size, k := batch.Varint(rest)
			// The encoder takes the length from its caller, whose count of the
			// bytes is ours to check: the same record must come out.
			sent[j].Length = size
			if one := sent[j].AppendTo(nil); len(one) != k+int(size) || !bytes.Equal(one, rest[:len(one)]) {
				t.Fatalf("record %d: %x, franz-go writes %x", j, rest[:k+int(size)], one)
			}
			rest = rest[k+int(size):]
		}
		if len(rest) != 0 {
			t.Fatal("bytes left")
		}
	}
}
