package groups

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"millrace/test/harness"
)

// TestCommitsSurviveKill9 commits rising offsets in several groups, kills the broker at a random moment and looks at what a
// new one knows: nothing older than the last acknowledged commit, and nothing that was never sent.
func TestCommitsSurviveKill9(t *testing.T) {
	const groups, partitions = 8, 3
	b, err := harness.Start(harness.Options{Dir: filepath.Join(t.TempDir(), "data")})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Kill()
	topic := harness.Name("kill")
	harness.CreateTopic(t, b.Addr, topic, partitions)
	seed := uint64(number("MILLRACE_SEED", int(time.Now().UnixNano()%1e6)))
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	var committers [groups]*committer
	for i := range committers {
		committers[i] = &committer{group: fmt.Sprintf("group-%d", i), topic: topic, partitions: partitions}
	}
	for round := range number("MILLRACE_ROUNDS", 8) {
		var wait sync.WaitGroup
		for _, c := range committers {
			conn := coordinator(t, b.Addr, c.group, topic, partitions)
			c.check(t, conn, round)
			wait.Add(1)
			go func() {
				defer wait.Done()
				defer conn.Close()
				c.run(conn)
			}()
		}
		time.Sleep(time.Duration(20+rnd.IntN(250)) * time.Millisecond)
		b.Kill()
		wait.Wait()
		if err := b.Launch(); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	for _, c := range committers {
		conn := coordinator(t, b.Addr, c.group, topic, partitions)
		c.check(t, conn, -1)
		conn.Close()
		if c.acked == 0 {
			t.Errorf("%s: nothing was ever acknowledged", c.group)
		}
	}
}

// committer commits the same rising number in every partition. Owned by one goroutine at a time.
type committer struct {
	group, topic string
	partitions   int
	sent, acked  int64
}

func (c *committer) run(conn *harness.Conn) {
	for {
		c.sent++
		offsets := make([]int64, c.partitions)
		for i := range offsets {
			offsets[i] = c.sent
		}
		if commit(conn, c.group, c.topic, offsets) != nil {
			return
		}
		c.acked = c.sent
	}
}

func (c *committer) check(t *testing.T, conn *harness.Conn, round int) {
	got, err := committed(conn, c.group, c.topic, c.partitions)
	if err != nil {
		t.Fatalf("round %d, %s: %v", round, c.group, err)
	}
	for p, o := range got {
		if o != got[0] {
			t.Errorf("round %d, %s: one commit is there in parts: %v", round, c.group, got)
			break
		}
		if o < c.acked && c.acked > 0 || o > c.sent {
			t.Errorf("round %d, %s/%d: committed %d, acknowledged was %d, sent %d", round, c.group, p, o, c.acked, c.sent)
		}
	}
}
