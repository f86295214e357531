package compaction

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/test/harness"
)

// writer updates the keys of one partition in one codec. Owned by one goroutine at a time.
type writer struct {
	t         *testing.T
	cl        *kgo.Client
	topic     string
	partition int
	rng       *rand.Rand
	last      []int  // update that each key saw last, -1 none
	deleted   []bool // whether that update was a tombstone
	n         int    // updates so far
}

// deletions is how many updates there are to one tombstone.
const deletions = 50

func newWriter(t *testing.T, addr, topic string, partition, keys int, seed uint64) *writer {
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchCompression(harness.Codec(partition)),
		kgo.ProducerBatchMaxBytes(64<<10), kgo.UnknownTopicRetries(-1), kgo.AlwaysRetryEOF(), kgo.MaxBufferedRecords(20000))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	w := &writer{t: t, cl: cl, topic: topic, partition: partition, rng: rand.New(rand.NewPCG(seed, uint64(partition))), last: make([]int, keys), deleted: make([]bool, keys)}
	for i := range w.last {
		w.last[i] = -1
	}
	return w
}

func (w *writer) key(k int) string { return fmt.Sprintf("key-%d-%d", w.partition, k) }

// value is the content of an update, about 90 bytes that do not compress well.
func (w *writer) value(update int) []byte {
	rng := rand.New(rand.NewPCG(uint64(update), uint64(w.partition)))
	out := strconv.AppendInt(nil, int64(update), 10)
	for range 6 {
		out = strconv.AppendUint(append(out, ' '), rng.Uint64(), 36)
	}
	return out
}

// update writes n updates of keys picked by chance, at most perSecond, and waits until all are acknowledged.
func (w *writer) update(n, perSecond int) {
	began := time.Now()
	for i := range n {
		if i%100 == 0 {
			time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(perSecond))))
		}
		k := w.rng.IntN(len(w.last))
		r := &kgo.Record{Topic: w.topic, Partition: int32(w.partition), Key: []byte(w.key(k)), Value: w.value(w.n)}
		if w.deleted[k] = w.rng.IntN(deletions) == 0; w.deleted[k] {
			r.Value = nil
		}
		w.last[k] = w.n
		w.n++
		w.cl.Produce(context.Background(), r, func(_ *kgo.Record, err error) {
			if err != nil {
				w.t.Errorf("partition %d: %v", w.partition, err)
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	if err := w.cl.Flush(ctx); err != nil {
		w.t.Errorf("partition %d: %v", w.partition, err)
	}
}

// verify reads the partition from its start: offsets rise, updates of a key rise, and each key ends with what was written last.
func (w *writer) verify(addr string) (records int) {
	end, code, err := harness.EndOffset(addr, w.topic, int32(w.partition), -1)
	if err != nil || code != 0 {
		w.t.Fatalf("end of partition %d: error %d, %v", w.partition, code, err)
	}
	if end != int64(w.n) {
		w.t.Errorf("partition %d ends at %d after %d updates", w.partition, end, w.n)
	}
	cl, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{w.topic: {int32(w.partition): kgo.NewOffset().At(0)}}))
	if err != nil {
		w.t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	found := make([]int, len(w.last))
	for i := range found {
		found[i] = -1
	}
	for at := int64(-1); at < end-1; {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			w.t.Fatalf("partition %d, after offset %d of %d: %v", w.partition, at, end, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset <= at {
				w.t.Errorf("partition %d: offset %d follows %d", w.partition, r.Offset, at)
			}
			at = r.Offset
			records++
			w.apply(r, found)
		})
	}
	wrong := 0
	for k, want := range w.last {
		if w.deleted[k] {
			want = -1
		}
		if found[k] != want {
			if wrong++; wrong <= 5 {
				w.t.Errorf("partition %d, %s: last value is of update %d, want %d (deleted: %v)", w.partition, w.key(k), found[k], want, w.deleted[k])
			}
		}
	}
	if wrong > 5 {
		w.t.Errorf("partition %d: %d of %d keys are wrong", w.partition, wrong, len(w.last))
	}
	return records
}

func (w *writer) apply(r *kgo.Record, found []int) {
	var p, k int
	if _, err := fmt.Sscanf(string(r.Key), "key-%d-%d", &p, &k); err != nil || p != w.partition || k < 0 || k >= len(found) {
		w.t.Errorf("partition %d offset %d has key %q", w.partition, r.Offset, r.Key)
		return
	}
	if r.Value == nil {
		found[k] = -1
		return
	}
	u := int(r.Offset) // one update is one record
	if !bytes.Equal(r.Value, w.value(u)) {
		w.t.Errorf("partition %d offset %d has value %.40q", w.partition, r.Offset, r.Value)
	}
	found[k] = u
}
