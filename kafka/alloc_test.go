package kafka

import (
	"encoding/binary"
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The steady path of Produce and Fetch allocates nothing per request, client and broker in one process counted together.
func TestSteadyProduceAndFetchAllocateNothing(t *testing.T) {
	if raceEnabled {
		return // the race detector allocates
	}
	r := newRig(t, 2)
	c := r.dial()
	c.topic("a", 1)
	id := c.topic("b", 1)
	produceV9 := produceRequest("a", 0, 1, records(1, "some record", "and another"))
	produceV13 := produceRequest("b", 0, 1, records(1, "x"))
	produceV13.Topics[0].TopicID = id
	c.produce("a", 0, records(1, "x"))
	c.produce("b", 0, records(1, "x"))
	fetchV12 := fetchRequest("a", 0, 0, 0, 1)
	fetchV18 := fetchRequest("b", 0, 0, 0, 1)
	fetchV18.Topics[0].TopicID = id
	for _, q := range []struct {
		name    string
		req     kmsg.Request
		version int16
		n       int
	}{
		{"produce v9, acks=1", produceV9, 9, 2000},
		{"produce v13, acks=1", produceV13, 13, 2000},
		{"produce v9, acks=all", produceRequest("a", 0, -1, records(1, "x")), 9, 300},
		{"fetch v12", fetchV12, 12, 2000},
		{"fetch v18", fetchV18, 18, 2000},
		{"fetch out of range", fetchRequest("a", 0, 1<<40, 0, 1), 12, 2000},
		{"fetch that waits at the end", nil, 12, 200},
	} {
		if q.req == nil {
			q.req = fetchRequest("a", 0, listOffset(c, "a", -1).Offset, 1, 1)
		}
		frame := c.frame(q.req, q.version)
		in := make([]byte, 1<<20)
		round := func() {
			c.send(frame)
			if _, err := io.ReadFull(c.conn, in[:4]); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c.conn, in[:binary.BigEndian.Uint32(in)]); err != nil {
				t.Fatal(err)
			}
		}
		for range 200 {
			round()
		}
		// What the broker does once a second allocates too, and a slow machine has many seconds: the least of some tries counts.
		least := math.Inf(1)
		for try := 0; try < 5 && least > 0.05; try++ {
			least = min(least, mallocs(q.n, round))
		}
		if least > 0.05 {
			t.Errorf("%s: %.3f allocations per request", q.name, least)
		}
	}
}

// mallocs is how many allocations of the whole process fall to one of n rounds.
func mallocs(n int, round func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		round()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(n)
}
