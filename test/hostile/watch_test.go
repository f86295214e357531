package hostile

import (
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"millrace/test/harness"
)

var target harness.Target

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &target)) }

// watch follows the broker's memory during a test. Any goroutine may stop it.
type watch struct {
	t         *testing.T
	pid       int
	rss, peak int64
	before    int // sockets
	stop      chan struct{}
	wg        sync.WaitGroup
}

// startWatch notes memory and descriptors and begins to sample.
func startWatch(t *testing.T) *watch {
	w := &watch{t: t, pid: target.PID(), stop: make(chan struct{})}
	if w.pid == 0 {
		return w
	}
	w.rss, w.before = w.memory(), w.sockets()
	w.peak = w.rss
	w.wg.Go(func() {
		for {
			select {
			case <-w.stop:
				return
			case <-time.After(20 * time.Millisecond):
				if rss, err := harness.RSS(w.pid); err == nil {
					w.peak = max(w.peak, rss)
				}
			}
		}
	})
	return w
}

func (w *watch) memory() int64 {
	rss, err := harness.RSS(w.pid)
	if err != nil {
		w.t.Fatalf("the broker is gone: %v", err)
	}
	return rss
}

func (w *watch) sockets() int {
	n, err := harness.Sockets(w.pid)
	if err != nil {
		w.t.Fatalf("the broker is gone: %v", err)
	}
	return n
}

// flat ends the watch: memory must have stayed within the slack, sockets must come back to where they were (give or take a few of
// the broker's own), and the broker must answer.
func (w *watch) flat() {
	w.t.Helper()
	close(w.stop)
	w.wg.Wait()
	if err := harness.Answers(target.Addr, 5*time.Second); err != nil {
		w.t.Errorf("afterwards the broker does not answer: %v", err)
	}
	if w.pid == 0 {
		return
	}
	slack := int64(256)
	if s := os.Getenv("MILLRACE_TEST_RSS_SLACK_MB"); s != "" {
		slack, _ = strconv.ParseInt(s, 10, 64)
	}
	w.t.Logf("broker memory: %d MiB before, %d MiB at most", w.rss>>20, w.peak>>20)
	if w.peak-w.rss > slack<<20 {
		w.t.Errorf("broker memory grew by %d MiB, want at most %d", (w.peak-w.rss)>>20, slack)
	}
	const few = 4
	deadline := time.Now().Add(15 * time.Second)
	for w.sockets() > w.before+few {
		if time.Now().After(deadline) {
			report := w.t.Errorf
			if target.Broker == nil { // Apache Kafka keeps the connections of requests that it never answered
				report = w.t.Logf
			}
			report("broker holds %d sockets, %d before", w.sockets(), w.before)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// dial connects or ends the test.
func dial(t testing.TB) *harness.Conn {
	t.Helper()
	c, err := harness.Dial(target.Addr)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// quiet is how slow a canary round may be at the 99th percentile while the machine's two cores are shared with the abuser.
const quiet = 400 * time.Millisecond
