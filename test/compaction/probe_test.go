package compaction

import (
	"slices"
	"sync"
	"testing"
	"time"

	"millrace/test/harness"
)

// probe writes one record at a time with acks=all to a topic of its own and notes how long each took.
type probe struct {
	stop chan struct{}
	wait sync.WaitGroup
	took []time.Duration
	err  error
}

func startProbe(t *testing.T, addr, topic string) *probe {
	conn, err := harness.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	p := &probe{stop: make(chan struct{})}
	batch := harness.NewBatch(harness.Record{Timestamp: time.Now().UnixMilli(), Value: make([]byte, 1000)}).Bytes()
	p.wait.Go(func() {
		defer conn.Close()
		for {
			select {
			case <-p.stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
			began := time.Now()
			if _, p.err = harness.ProduceOne(conn, topic, 0, batch); p.err != nil {
				return
			}
			p.took = append(p.took, time.Since(began))
		}
	})
	return p
}

// end stops the probe and returns the median and the 99th percentile.
func (p *probe) end(t *testing.T) (p50, p99 time.Duration) {
	close(p.stop)
	p.wait.Wait()
	if p.err != nil || len(p.took) == 0 {
		t.Fatalf("probe: %d records: %v", len(p.took), p.err)
	}
	slices.Sort(p.took)
	return p.took[len(p.took)/2], p.took[len(p.took)*99/100]
}
