package hostile

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// bigTopic makes a topic with n batches of about 900 kB.
func bigTopic(t *testing.T, n int) string {
	topic := harness.Name("big")
	harness.CreateTopic(t, target.Addr, topic, 1)
	conn := dial(t)
	noise := make([]byte, 900<<10)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	for i := range n {
		binary.BigEndian.PutUint64(noise, uint64(i))
		harness.MustProduce(t, conn, topic, 0, harness.NewBatch(harness.Record{Timestamp: time.Now().UnixMilli(), Value: noise}).Bytes())
	}
	return topic
}

// TestSlowReadersOfBigFetches: forty clients ask for 50 MB each and do not read. Memory stays flat, others are served, and one that does
// read in the end gets every byte right (RE3, report B81).
func TestSlowReadersOfBigFetches(t *testing.T) {
	topic := bigTopic(t, 64)
	w, canary := startWatch(t), harness.StartCanary(t, target.Addr)
	req := harness.Fetch(500, 1, 50<<20, harness.FetchFrom{Topic: topic, Max: 50 << 20})
	var slow []*harness.Conn
	var last int32
	for i := range 40 {
		c := dial(t)
		c.Timeout = time.Minute
		if i == 0 { // this one will read in the end
			id, err := c.Send(req)
			if err != nil {
				t.Fatal(err)
			}
			slow, last = append(slow, c), id
			continue
		}
		_ = c.Conn.(interface{ SetReadBuffer(int) error }).SetReadBuffer(4096)
		if _, err := c.Send(req); err != nil {
			t.Fatal(err)
		}
		slow = append(slow, c)
	}
	for range 20 {
		for _, c := range slow[1:] {
			var some [512]byte
			_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
			_, _ = io.ReadFull(c, some[:])
		}
		time.Sleep(100 * time.Millisecond)
	}
	canary.Healthy(t, quiet)
	resp, err := slow[0].Receive(req, last)
	if err != nil {
		t.Fatalf("reading the big answer at last: %v", err)
	}
	got := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0].RecordBatches
	if len(got) < 40<<20 || len(got) > 52<<20 {
		t.Errorf("big answer holds %d bytes of records", len(got))
	}
	checkBatches(t, got)
	for _, c := range slow {
		c.Close()
	}
	w.flat()
}

// checkBatches verifies offsets and checksums of all complete batches in a fetch answer.
func checkBatches(t *testing.T, records []byte) {
	t.Helper()
	for i, h := range harness.Heads(records) {
		if len(h.Data) < h.Size {
			return // the last one may be cut
		}
		if h.BaseOffset != int64(i) {
			t.Fatalf("batch %d has base offset %d", i, h.BaseOffset)
		}
		if crc32.Checksum(h.Data[21:], crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32(h.Data[17:]) {
			t.Fatalf("batch %d: bad checksum", i)
		}
		value := h.Data[len(h.Data)-(900<<10)-1 : len(h.Data)-1]
		if !bytes.Equal(value[:8], binary.BigEndian.AppendUint64(nil, uint64(i))) {
			t.Fatalf("batch %d holds another value", i)
		}
	}
}
