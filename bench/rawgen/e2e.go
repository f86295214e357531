package rawgen

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"millrace/bench/wire"
)

// sentTimes remembers the intended send time of the latest batches of each partition, so that a consumer in the same process
// can tell how long a batch took from intent to arrival. One writer (the producer's loop), one reader.
type sentTimes struct {
	rings [][]atomic.Int64
	next  []atomic.Int64
}

const sentRing = 1 << 16

func newSentTimes(partitions int) *sentTimes {
	t := &sentTimes{rings: make([][]atomic.Int64, partitions), next: make([]atomic.Int64, partitions)}
	for i := range t.rings {
		t.rings[i] = make([]atomic.Int64, sentRing)
	}
	return t
}

// put notes the next batch of a partition.
func (t *sentTimes) put(partition int, intended int64) {
	n := t.next[partition].Load()
	t.rings[partition][n%sentRing].Store(intended)
	t.next[partition].Store(n + 1)
}

// get returns the intended time of batch number n of a partition, if it is known still.
func (t *sentTimes) get(partition int, n int64) (int64, bool) {
	at := t.rings[partition][n%sentRing].Load()
	noted := t.next[partition].Load()
	return at, n < noted && n >= noted-sentRing+64
}

// EndToEnd runs a producing load and a consumer at the end of the same partitions, and measures each batch from the time it
// should have been sent to the time its header was read, by each of the consumers. Every partition must belong to one connection.
func EndToEnd(o ProduceOptions, f FetchOptions) (*Result, error) {
	o.EnsureDefaults()
	def(&f.Consumers, 1)
	if o.Rotate && o.Conns > 1 || !o.Rotate && o.Conns*o.PerRequest > o.Partitions {
		return nil, fmt.Errorf("end to end: %d connections with %d partitions each share %d partitions", o.Conns, o.PerRequest, o.Partitions)
	}
	start, err := Offsets(o.Addr, o.Topic, o.Partitions, -1)
	if err != nil {
		return nil, err
	}
	o.sent = newSentTimes(o.Partitions)
	h := NewHistogram()
	var seen atomic.Int64
	var lost int64
	f.Addr, f.Topic, f.TopicID, f.Partitions = o.Addr, o.Topic, o.TopicID, o.Partitions
	f.tail, f.stop, f.BatchLen, f.BatchRecords, f.RecordSize = start, &atomic.Bool{}, 0, 0, o.RecordSize
	records := int64(wire.NewBodies(1, o.RecordSize, o.BatchBytes, 1).Records) // per batch
	var mu sync.Mutex                                                          // consumers are threads
	f.arrived = func(p int, base, at int64) {
		mu.Lock()
		defer mu.Unlock()
		intended, known := o.sent.get(p, (base-start[p])/records)
		if !known {
			lost++
		} else {
			Record(h, at-intended)
		}
		seen.Add(1)
	}
	type end struct {
		r   *Result
		err error
	}
	consumed := make(chan end, 1)
	connected := make(chan struct{})
	f.ready = func() { close(connected) }
	go func() {
		r, err := Fetch(f)
		consumed <- end{r, err}
	}()
	select { // beside two thousand others who connect it may take a while
	case <-connected:
	case c := <-consumed:
		if c.err != nil {
			return nil, c.err
		}
		consumed <- c // all of them failed at once: the result tells
	}
	time.Sleep(200 * time.Millisecond) // their first fetches wait at the broker
	res, err := Produce(o)
	if err != nil {
		f.stop.Store(true)
		<-consumed
		return nil, err
	}
	for until := time.Now().Add(10 * time.Second); seen.Load() < res.Batches*int64(f.Consumers) && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	f.stop.Store(true)
	c := <-consumed
	if c.err != nil {
		return nil, c.err
	}
	res.Kind = "e2e"
	res.FailureCount += c.r.FailureCount
	res.Failures = append(res.Failures, c.r.Failures...)
	if n := seen.Load(); n != res.Batches*int64(f.Consumers) || lost > 0 {
		res.Fail("%d batches were consumed of %d by each, %d without a known send time", n, res.Batches, lost)
	}
	res.EndToEnd = NewDist(h)
	return res, nil
}
