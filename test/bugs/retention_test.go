package bugs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// start asks for the first offset of partition 0.
func start(t *testing.T, name string) int64 {
	t.Helper()
	offset, code, err := harness.EndOffset(target.Addr, name, 0, -2)
	if err != nil || code != 0 {
		t.Fatalf("start of %s: error %d, %v", name, code, err)
	}
	return offset
}

// TestFetchUnderTinyRetention (B11): records expire within a second under two readers, one slow and one at the head, beside a quiet topic on
// the same connection. There is data or error 1, never a closed connection, and a reader that resets goes on.
func TestFetchUnderTinyRetention(t *testing.T) {
	name := topic(t, "b11", 1, "retention.ms", "1000", "segment.ms", "1000", "segment.bytes", "1048576", "file.delete.delay.ms", "0")
	quietTopic := topic(t, "b11-quiet", 1)
	writer, fast, slow := dial(t), dial(t), dial(t)
	harness.MustProduce(t, writer, quietTopic, 0, one(now(), "quiet"))
	var at [2]int64
	var resets, read int
	text := strings.Repeat("some text ", 60)
	for begin := time.Now(); time.Since(begin) < 8*time.Second; time.Sleep(20 * time.Millisecond) {
		b := harness.NewBatch()
		for range 30 {
			b.Records = append(b.Records, harness.Record{Timestamp: now(), Value: []byte(text)})
		}
		harness.MustProduce(t, writer, name, 0, b.Bytes())
		for i, c := range []*harness.Conn{fast, slow} {
			if i == 1 && time.Since(begin)%(1500*time.Millisecond) > 60*time.Millisecond {
				continue // the slow one polls rarely
			}
			resp := do[*kmsg.FetchResponse](t, c, harness.Fetch(10, 1, 1<<20, harness.FetchFrom{Topic: name, Offset: at[i]}, harness.FetchFrom{Topic: quietTopic}))
			for _, rt := range resp.Topics {
				p := rt.Partitions[0]
				switch {
				case rt.Topic == quietTopic:
					if p.ErrorCode != 0 || len(harness.Heads(p.RecordBatches)) != 1 && len(resp.Topics[0].Partitions[0].RecordBatches) < 500<<10 {
						t.Fatalf("the quiet topic beside it: error %d, %d bytes", p.ErrorCode, len(p.RecordBatches))
					}
				case p.ErrorCode == 1:
					at[i] = start(t, name)
					resets++
				case p.ErrorCode != 0:
					t.Fatalf("error %d at offset %d", p.ErrorCode, at[i])
				default:
					for _, h := range harness.Heads(p.RecordBatches) {
						if len(h.Data) == h.Size {
							at[i] = h.LastOffset + 1
							read++
						}
					}
				}
			}
		}
	}
	if read == 0 {
		t.Error("nothing was read")
	}
	if s := start(t, name); s == 0 {
		t.Error("nothing expired: the log still starts at 0")
	}
	t.Logf("%d batches read, %d resets after error 1", read, resets)
}

// TestOneRetentionPassReachesTheEnd (B55): with a start raised into the third segment and everything expired, the old segments go and stay
// gone, no offset is given again, and what is written afterwards is kept.
func TestOneRetentionPassReachesTheEnd(t *testing.T) {
	name := topic(t, "b55", 1, "segment.bytes", "1048576", "retention.ms", "-1", "file.delete.delay.ms", "0")
	c := dial(t)
	value := make([]byte, 300<<10)
	for range 15 { // three a segment
		harness.MustProduce(t, c, name, 0, harness.NewBatch(harness.Record{Timestamp: now() - 3600_000, Value: value}).Bytes())
	}
	if low, code := deleteRecords(t, c, name, 7); low != 7 || code != 0 {
		t.Fatalf("DeleteRecords to 7: low watermark %d, error %d", low, code)
	}
	harness.TopicConfig(t, target.Addr, name, "retention.ms", "60000")
	for deadline := time.Now().Add(15 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		if s := start(t, name); s == 15 {
			break
		} else if s < 7 {
			t.Fatalf("log starts at %d after DeleteRecords to 7", s)
		}
		if time.Now().After(deadline) {
			t.Fatalf("log starts at %d, want 15: everything is older than retention.ms", start(t, name))
		}
	}
	if offset := harness.MustProduce(t, c, name, 0, one(now(), "new")); offset != 15 {
		t.Errorf("the next record got offset %d, want 15", offset)
	}
	time.Sleep(1500 * time.Millisecond)
	if s := start(t, name); s != 15 {
		t.Errorf("log starts at %d, want 15: the new record is young", s)
	}
}

// deleteRecords deletes up to an offset of partition 0 and returns the low watermark and the error.
func deleteRecords(t *testing.T, c *harness.Conn, name string, offset int64) (int64, int16) {
	t.Helper()
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.Version, req.TimeoutMillis = 2, 10000
	rt := kmsg.NewDeleteRecordsRequestTopic()
	rt.Topic = name
	rp := kmsg.NewDeleteRecordsRequestTopicPartition()
	rp.Partition, rp.Offset = 0, offset
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	p := do[*kmsg.DeleteRecordsResponse](t, c, req).Topics[0].Partitions[0]
	return p.LowWatermark, p.ErrorCode
}

// TestDeleteRecordsBounds (B57): -1 is the high watermark, beyond it is error 1, the middle of a batch is honoured, the start never falls.
// What of it survives restarts is tested in package crash.
func TestDeleteRecordsBounds(t *testing.T) {
	c := dial(t)
	name := topic(t, "b57", 1)
	for i := range 10 {
		b := harness.NewBatch()
		for j := range 10 {
			b.Records = append(b.Records, harness.Record{Timestamp: now(), Value: fmt.Appendf(nil, "%d", i*10+j)})
		}
		harness.MustProduce(t, c, name, 0, b.Bytes())
	}
	steps := []struct {
		offset, low int64
		code        int16
		start       int64
	}{{25, 25, 0, 25}, {101, -1, 1, 25}, {-2, -1, 1, 25}, {10, 25, 0, 25}, {100, 100, 0, 100}, {-1, 100, 0, 100}}
	for _, s := range steps {
		low, code := deleteRecords(t, c, name, s.offset)
		if low != s.low || code != s.code {
			t.Errorf("DeleteRecords to %d: low watermark %d, error %d, want %d and %d", s.offset, low, code, s.low, s.code)
		}
		if got := start(t, name); got != s.start {
			t.Errorf("after DeleteRecords to %d the log starts at %d, want %d", s.offset, got, s.start)
		}
		p := do[*kmsg.FetchResponse](t, c, harness.Fetch(50, 1, 1<<20, harness.FetchFrom{Topic: name, Offset: s.start - 1})).Topics[0].Partitions[0]
		if p.ErrorCode != 1 {
			t.Errorf("fetch below the start %d: error %d, want 1", s.start, p.ErrorCode)
		}
	}
	if offset := harness.MustProduce(t, c, name, 0, one(now(), "next")); offset != 100 {
		t.Errorf("the next record got offset %d, want 100", offset)
	}
}
