package hostile

import (
	"testing"
	"time"

	"millrace/test/harness"
)

// TestDecompressionBombs: a small batch that unpacks to 512 MiB, in every codec. Whatever the broker says to it, its memory stays flat and
// others are served (PA8).
func TestDecompressionBombs(t *testing.T) {
	topic := harness.Name("bomb")
	harness.CreateTopic(t, target.Addr, topic, 1, "max.message.bytes", "67108864")
	bomb := harness.EncodeRecords(harness.Record{Timestamp: time.Now().UnixMilli(), Value: make([]byte, 512<<20)})
	batches := map[string][]byte{}
	for codec := 1; codec < len(harness.Codecs); codec++ {
		b := harness.NewBatch(harness.Record{Timestamp: time.Now().UnixMilli()})
		b.Codec, b.Payload = codec, harness.Compress(codec, bomb)
		batches[harness.Codecs[codec]] = b.Bytes()
	}
	bomb = nil
	w, canary := startWatch(t), harness.StartCanary(t, target.Addr)
	for codec, batch := range batches {
		conn := dial(t)
		conn.Timeout = 60 * time.Second
		p, err := harness.ProduceOne(conn, topic, 0, batch)
		if err != nil {
			t.Errorf("%s bomb of %d bytes: %v", codec, len(batch), err)
			continue
		}
		t.Logf("%s bomb of %d bytes: error %d", codec, len(batch), p.ErrorCode)
	}
	canary.Healthy(t, 2*time.Second)
	w.flat()
}
