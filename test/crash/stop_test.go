package crash

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"millrace/test/harness"
)

// TestStopOfManyPartitions: a clean stop takes at most ten seconds, however many partitions were written to, and the next start
// reads nothing again. 2,000 partitions here, MILLRACE_PARTITIONS otherwise.
func TestStopOfManyPartitions(t *testing.T) {
	partitions := amount(t, "MILLRACE_PARTITIONS", 2000)
	b := start(t, filepath.Join(t.TempDir(), "data"))
	const each = 2000 // a request to create more than 10,000 would be refused
	topics := map[string]int{}
	for left := partitions; left > 0; left -= each {
		name := fmt.Sprintf("many-%d", left)
		topics[name] = min(left, each)
		harness.CreateTopic(t, b.Addr, name, topics[name])
		produceAll(t, b.Addr, name, topics[name], sized(1000))
	}
	began := time.Now()
	if err := b.Stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	relaunch(t, b)
	t.Logf("%d partitions: stopped after %v, ready after %v", partitions, took.Round(time.Millisecond), b.ReadyAfter.Round(time.Millisecond))
	if took > 10*time.Second {
		t.Errorf("the stop took %v, want at most 10 s", took)
	}
	if n := scanned(t, b); n != 0 {
		t.Errorf("%d bytes read again after a clean stop", n)
	}
	for name, n := range topics {
		for p := range n {
			if end, err := endOf(b.Addr, name, int32(p)); err != nil || end != 1 {
				t.Fatalf("%s-%d ends at %d, want 1: %v", name, p, end, err)
			}
		}
	}
}
