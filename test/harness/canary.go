package harness

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Canary is an innocent client beside the abuse: it writes one record and reads it back on one connection, over and over, and notes
// how long each round took. Any goroutine may stop it.
type Canary struct {
	stop chan struct{}
	wg   sync.WaitGroup

	mu     sync.Mutex
	rounds []time.Duration
	err    error
}

// StartCanary begins the rounds, one each 5 ms at most.
func StartCanary(t testing.TB, addr string) *Canary {
	t.Helper()
	topic := Name("canary")
	CreateTopic(t, addr, topic, 1)
	conn, err := Dial(addr)
	if err != nil {
		t.Fatalf("canary: %v", err)
	}
	c := &Canary{stop: make(chan struct{})}
	c.wg.Go(func() {
		defer conn.Close()
		for offset := int64(0); ; offset++ {
			select {
			case <-c.stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			begin := time.Now()
			err := canaryRound(conn, topic, offset)
			c.mu.Lock()
			c.rounds = append(c.rounds, time.Since(begin))
			c.err = err
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() { c.Stop() })
	return c
}

func canaryRound(conn *Conn, topic string, offset int64) error {
	value := fmt.Appendf(nil, "canary %d", offset)
	p, err := ProduceOne(conn, topic, 0, NewBatch(Record{Timestamp: time.Now().UnixMilli(), Value: value}).Bytes())
	if err != nil {
		return err
	}
	if p.ErrorCode != 0 || p.BaseOffset != offset {
		return fmt.Errorf("produce: error %d, offset %d, want offset %d", p.ErrorCode, p.BaseOffset, offset)
	}
	resp, err := conn.Do(Fetch(5000, 1, 1<<20, FetchFrom{Topic: topic, Offset: offset}))
	if err != nil {
		return err
	}
	got := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if heads := Heads(got.RecordBatches); got.ErrorCode != 0 || len(heads) == 0 || heads[0].BaseOffset != offset {
		return fmt.Errorf("fetch of offset %d: error %d, %d batches", offset, got.ErrorCode, len(heads))
	}
	return nil
}

// Stop ends the rounds and returns how many there were, their 99th percentile, the longest, and the error that ended them, if any.
func (c *Canary) Stop() (n int, p99, worst time.Duration, err error) {
	select {
	case <-c.stop:
	default:
		close(c.stop)
	}
	c.wg.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.rounds) == 0 {
		return 0, 0, 0, c.err
	}
	slices.Sort(c.rounds)
	n = len(c.rounds)
	return n, c.rounds[n*99/100], c.rounds[n-1], c.err
}

// Healthy stops the canary and fails the test if it met an error or its 99th percentile is above the limit.
func (c *Canary) Healthy(t testing.TB, limit time.Duration) {
	t.Helper()
	n, p99, worst, err := c.Stop()
	t.Logf("canary: %d rounds, p99 %v, worst %v", n, p99.Round(time.Microsecond), worst.Round(time.Microsecond))
	if err != nil {
		t.Errorf("canary: round %d: %v", n, err)
	}
	if p99 > limit {
		t.Errorf("canary: p99 %v, want at most %v", p99, limit)
	}
}
