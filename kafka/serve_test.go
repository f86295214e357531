package kafka

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A stop does not wait for clients that never pause: what was received is answered, the rest is not read any more.
func TestDrainEndsUnderLoad(t *testing.T) {
	r := newRig(t, 2)
	r.dial().topic("a", 4)
	var answered atomic.Int64
	var done sync.WaitGroup
	for i := range 4 {
		c := r.dial()
		frame := c.frame(produceRequest("a", int32(i), acksOne, records(1, "x")), 9)
		done.Add(2)
		go func() { // until the broker closes the connection
			defer done.Done()
			for {
				if _, err := c.conn.Write(frame); err != nil {
					return
				}
			}
		}()
		go func() {
			defer done.Done()
			for {
				if _, err := c.read(); err != nil {
					return
				}
				answered.Add(1)
			}
		}()
	}
	for answered.Load() < 100 {
		time.Sleep(time.Millisecond)
	}
	const limit = 5 * time.Second
	began := time.Now()
	r.net.CloseListeners()
	r.net.FinishConns()
	r.fe.Drain(limit)
	if took := time.Since(began); took >= limit {
		t.Fatalf("the stop took %s: requests went on being begun", took)
	}
	done.Wait()
	if open := r.fe.stats.open.Load(); open != 0 {
		t.Errorf("%d requests are open (%d in the log)", open, r.fe.node.TopicByName([]byte("a")).Stats.MessagesIn.Load())
	}
}

// A fetch that waits is answered when the broker stops, and its connection is closed behind the answer.
func TestDrainAnswersWaitingFetches(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	c.topic("a", 1)
	req := fetchRequest("a", 0, 0, 60_000, 1)
	c.send(c.frame(req, 12))
	for parked := false; !parked; time.Sleep(time.Millisecond) {
		seen := make(chan bool)
		r.fe.loops[0].loop.PostFunc(func() { seen <- r.fe.loops[0].parked != nil })
		parked = <-seen
	}
	r.net.FinishConns()
	r.fe.Drain(5 * time.Second)
	b, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	c.decode(req, c.corr, b)
	if _, err := c.read(); err == nil {
		t.Error("the connection stays open")
	}
}
