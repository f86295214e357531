package bugs

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestFetchOverManyTopics (B07): one fetch over many topics and partitions, some empty, some missing: each is answered once, under its own
// index, with its own code and its own records.
func TestFetchOverManyTopics(t *testing.T) {
	c := dial(t)
	var names []string
	for i := range 20 {
		name := topic(t, fmt.Sprintf("b07-%d", i), 7)
		names = append(names, name)
		for p := range int32(7) {
			if (i+int(p))%3 != 0 {
				harness.MustProduce(t, c, name, p, one(now(), fmt.Sprintf("%s/%d", name, p)))
			}
		}
	}
	var parts []harness.FetchFrom
	for _, name := range append(names, "b07-missing-topic") {
		for p := range int32(9) { // 7 and 8 do not exist
			parts = append(parts, harness.FetchFrom{Topic: name, Partition: 8 - p})
		}
	}
	resp := do[*kmsg.FetchResponse](t, c, harness.Fetch(100, 1, 50<<20, parts...))
	seen := map[string]int{}
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			id := fmt.Sprintf("%s/%d", rt.Topic, p.Partition)
			seen[id]++
			exists := rt.Topic != "b07-missing-topic" && p.Partition < 7
			if want := map[bool]int16{true: 0, false: 3}[exists]; p.ErrorCode != want {
				t.Errorf("%s: error %d, want %d", id, p.ErrorCode, want)
			}
			heads := harness.Heads(p.RecordBatches)
			var i int
			fmt.Sscanf(rt.Topic, "b07-%d", &i)
			if has := exists && (i+int(p.Partition))%3 != 0; has != (len(heads) == 1) {
				t.Errorf("%s: %d batches", id, len(heads))
			} else if has && string(heads[0].Data[len(heads[0].Data)-1-len(id):len(heads[0].Data)-1]) != id {
				t.Errorf("%s holds another partition's record", id)
			}
		}
	}
	if len(seen) != len(parts) {
		t.Errorf("%d partitions answered, %d asked for", len(seen), len(parts))
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s answered %d times", id, n)
		}
	}
}

// TestFetchNamingATopicTwice (B07): a partition named twice is answered once, by its last entry.
func TestFetchNamingATopicTwice(t *testing.T) {
	c := dial(t)
	name := topic(t, "b07-twice", 1)
	for i := range 3 {
		harness.MustProduce(t, c, name, 0, one(now(), fmt.Sprint(i)))
	}
	req := harness.Fetch(100, 1, 1<<20, harness.FetchFrom{Topic: name, Offset: 0})
	req.Topics = append(req.Topics, harness.Fetch(0, 0, 0, harness.FetchFrom{Topic: name, Offset: 2}).Topics...)
	resp := do[*kmsg.FetchResponse](t, c, req)
	var parts []kmsg.FetchResponseTopicPartition
	for _, rt := range resp.Topics {
		parts = append(parts, rt.Partitions...)
	}
	if len(parts) != 1 || len(harness.Heads(parts[0].RecordBatches)) != 1 || harness.Heads(parts[0].RecordBatches)[0].BaseOffset != 2 {
		t.Errorf("%d partitions answered, want one with the batch at offset 2", len(parts))
	}
}

// TestIdleFetchEndsInTime (B09): a fetch at the end of the log ends at max_wait with code 0, and a record that comes meanwhile ends it early.
func TestIdleFetchEndsInTime(t *testing.T) {
	c, writer := dial(t), dial(t)
	name := topic(t, "b09", 3)
	for version := int16(4); version <= 11; version++ {
		req := harness.Fetch(300, 1, 1<<20, harness.FetchFrom{Topic: name}, harness.FetchFrom{Topic: name, Partition: 1}, harness.FetchFrom{Topic: name, Partition: 2})
		req.Version = version
		begin := time.Now()
		resp := do[*kmsg.FetchResponse](t, c, req)
		if took := time.Since(begin); took < 250*time.Millisecond || took > 1500*time.Millisecond {
			t.Errorf("v%d: idle fetch with max_wait 300 ms took %v", version, took)
		}
		if resp.ErrorCode != 0 {
			t.Errorf("v%d: error %d", version, resp.ErrorCode)
		}
	}
	req := harness.Fetch(20000, 1, 1<<20, harness.FetchFrom{Topic: name}, harness.FetchFrom{Topic: name, Partition: 1}, harness.FetchFrom{Topic: name, Partition: 2})
	begin := time.Now()
	id, err := c.Send(req)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	harness.MustProduce(t, writer, name, 1, one(now(), "wake"))
	resp, err := c.Receive(req, id)
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("a record ended the fetch only after %v", took)
	}
	got := 0
	for _, p := range resp.(*kmsg.FetchResponse).Topics[0].Partitions {
		got += len(harness.Heads(p.RecordBatches))
	}
	if got != 1 {
		t.Errorf("the woken fetch holds %d batches, want 1", got)
	}
}

// TestClientsAtTheEndSeeTheNextRecord (B09): franz-go waits at the end of three partitions and gets what is then written to one.
func TestClientsAtTheEndSeeTheNextRecord(t *testing.T) {
	name := topic(t, "b09-franz", 3)
	offsets := map[string]map[int32]kgo.Offset{name: {0: kgo.NewOffset().AtEnd(), 1: kgo.NewOffset().AtEnd(), 2: kgo.NewOffset().AtEnd()}}
	cl, err := kgo.NewClient(kgo.SeedBrokers(target.Addr), kgo.ConsumePartitions(offsets))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	cl.PollFetches(ctx) // settles at the end
	cancel()
	harness.MustProduce(t, dial(t), name, 2, one(now(), "next"))
	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	fetches := cl.PollFetches(ctx)
	if n := fetches.NumRecords(); n != 1 {
		t.Errorf("%d records, want 1: %v", n, fetches.Err())
	}
}

// TestBatchBiggerThanTheLimits (B13): the first partition with data gives its whole first batch even if it is bigger than every limit; the
// second gives nothing this time, and is the one served when it is asked first.
func TestBatchBiggerThanTheLimits(t *testing.T) {
	c := dial(t)
	name := topic(t, "b13", 3, "max.message.bytes", "10000000")
	big := make([]byte, 5<<20)
	for p := range int32(2) {
		harness.MustProduce(t, c, name, p, harness.NewBatch(harness.Record{Timestamp: now(), Value: big}).Bytes())
	}
	for version := int16(4); version <= 11; version++ {
		for _, order := range [][]int32{{2, 0, 1}, {2, 1, 0}} {
			var parts []harness.FetchFrom
			for _, p := range order {
				parts = append(parts, harness.FetchFrom{Topic: name, Partition: p, Max: 1024})
			}
			req := harness.Fetch(500, 1, 1024, parts...)
			req.Version = version
			for _, p := range do[*kmsg.FetchResponse](t, c, req).Topics[0].Partitions {
				want := 0
				if p.Partition == order[1] {
					want = 1
				}
				heads := harness.Heads(p.RecordBatches)
				if len(heads) != want || want == 1 && len(heads[0].Data) != heads[0].Size {
					t.Errorf("v%d, order %v, partition %d: %d batches in %d bytes, want %d whole", version, order, p.Partition, len(heads), len(p.RecordBatches), want)
				}
			}
		}
	}
}

// TestFetchOverManyPartitionsIsBounded (B81): many partitions full of data and one limit: the answer stays within the limit and one batch.
func TestFetchOverManyPartitionsIsBounded(t *testing.T) {
	c := dial(t)
	const n, batch, limit = 200, 100 << 10, 5 << 20
	name := topic(t, "b81", n)
	var parts []harness.FetchFrom
	noise := make([]byte, batch)
	for p := range int32(n) {
		harness.MustProduce(t, c, name, p, harness.NewBatch(harness.Record{Timestamp: now(), Value: noise}).Bytes())
		parts = append(parts, harness.FetchFrom{Topic: name, Partition: p})
	}
	resp := do[*kmsg.FetchResponse](t, c, harness.Fetch(500, 1, limit, parts...))
	total, answered := 0, 0
	for _, p := range resp.Topics[0].Partitions {
		total += len(p.RecordBatches)
		answered++
	}
	if answered != n {
		t.Errorf("%d partitions answered, want %d", answered, n)
	}
	if total < limit-2*batch || total > limit+2*batch {
		t.Errorf("%d bytes of records for a limit of %d", total, limit)
	}
}
