package crash

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestEveryApiVersionsAnswerIsComplete (report B21): while the broker is killed and started again, clients ask for ApiVersions without
// pause; every answer on the client port lists the same keys.
func TestEveryApiVersionsAnswerIsComplete(t *testing.T) {
	b := start(t, filepath.Join(t.TempDir(), "data"))
	resp, err := harness.Once(b.Addr, kmsg.NewPtrApiVersionsRequest())
	if err != nil {
		t.Fatal(err)
	}
	want := len(resp.(*kmsg.ApiVersionsResponse).ApiKeys)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := 0
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				resp, err := harness.Once(b.Addr, kmsg.NewPtrApiVersionsRequest())
				if err != nil {
					continue // down at the moment
				}
				r := resp.(*kmsg.ApiVersionsResponse)
				mu.Lock()
				answers++
				mu.Unlock()
				if r.ErrorCode != 0 || len(r.ApiKeys) != want {
					t.Errorf("an answer with error %d and %d keys, want %d", r.ErrorCode, len(r.ApiKeys), want)
				}
			}
		})
	}
	for range rounds(t, 10) {
		b.Kill()
		if err := b.Launch(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	close(stop)
	wg.Wait()
	t.Logf("%d answers, all with %d keys", answers, want)
}

// TestDeletedRecordsStayDeleted (report B57): what DeleteRecords was acknowledged for survives a clean stop and kill -9 to the record, also
// in the middle of a batch, and the end of the log does not move.
func TestDeletedRecordsStayDeleted(t *testing.T) {
	b := start(t, filepath.Join(t.TempDir(), "data"))
	harness.CreateTopic(t, b.Addr, "deleted", 1, "segment.bytes", "1048576")
	batch := func() []byte {
		h := harness.NewBatch()
		for range 10 {
			h.Records = append(h.Records, harness.Record{Timestamp: time.Now().UnixMilli(), Value: make([]byte, 10<<10)})
		}
		return h.Bytes()
	}
	end := int64(0)
	for round, step := range []int64{35, 113, 251, 298} {
		c, err := harness.Dial(b.Addr)
		if err != nil {
			t.Fatal(err)
		}
		for end < step+50 {
			if offset := harness.MustProduce(t, c, "deleted", 0, batch()); offset != end {
				t.Fatalf("round %d: offset %d, want %d", round, offset, end)
			}
			end += 10
		}
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.Version, req.TimeoutMillis = 2, 10000
		rt := kmsg.NewDeleteRecordsRequestTopic()
		rt.Topic = "deleted"
		rp := kmsg.NewDeleteRecordsRequestTopicPartition()
		rp.Offset = step
		rt.Partitions = append(rt.Partitions, rp)
		req.Topics = append(req.Topics, rt)
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if p := resp.(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.LowWatermark != step {
			t.Fatalf("DeleteRecords to %d: error %d, low watermark %d", step, p.ErrorCode, p.LowWatermark)
		}
		c.Close()
		if round%2 == 0 {
			b.Kill()
		} else if err := b.Stop(10 * time.Second); err != nil {
			t.Fatal(err)
		}
		if err := b.Launch(); err != nil {
			t.Fatal(err)
		}
		if got, err := endOf(b.Addr, "deleted", 0); err != nil || got != end {
			t.Errorf("round %d: log ends at %d, want %d: %v", round, got, end, err)
		}
		if got, code, err := harness.EndOffset(b.Addr, "deleted", 0, -2); err != nil || code != 0 || got != step {
			t.Errorf("round %d: log starts at %d (error %d, %v), want %d", round, got, code, err, step)
		}
	}
}

// TestOneBrokerPerDirectory (PC11): a second process on the same directory is refused while the first lives, and the first goes on.
func TestOneBrokerPerDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	b := start(t, dir)
	second, err := harness.Start(harness.Options{Dir: dir, Ready: 5 * time.Second})
	if err == nil {
		second.Kill()
		t.Fatal("a second broker serves the same directory")
	}
	if err := harness.Answers(b.Addr, 2*time.Second); err != nil {
		t.Errorf("the first broker after the attempt: %v", err)
	}
	b.Kill()
	if err := b.Launch(); err != nil {
		t.Errorf("restart after kill -9: %v", err)
	}
}
