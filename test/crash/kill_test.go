package crash

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"millrace/test/harness"
)

// TestKill9: under idempotent acks=all load, with acks=1 load beside it, on small and large segments, the broker is killed at times picked
// by chance; one round in five kills it again while it recovers, one in five stops it with SIGTERM instead.
// Covers PC1, PC2, PC6 and PC9, and the report B59 (offsets handed out a second time after a crash).
func TestKill9(t *testing.T) {
	rng, seed := seeded(t)
	b := start(t, filepath.Join(t.TempDir(), "data"))
	var times startTimes
	// What was sent is kept in memory until it was read back; so many rounds go in laps, each with topics of its own.
	for lap, left := 0, rounds(t, 15); left > 0; lap++ {
		n := min(left, lapRounds)
		left -= n
		killLap(t, b, rng, seed+uint64(2*lap), lap, n, &times)
	}
	times.check(t)
	if err := b.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
}

// lapRounds is how many crashes one load lives through.
const lapRounds = 25

// killLap puts load on two new topics, crashes the broker n times, and reads everything back.
func killLap(t *testing.T, b *harness.Broker, rng *rand.Rand, seed uint64, lap, n int, times *startTimes) {
	t.Helper()
	small, large := fmt.Sprintf("small-%d", lap), fmt.Sprintf("large-%d", lap)
	// Kafka refuses segments below 1 MiB.
	l := startLoad(t, b, seed, small, 3, 1, "segment.bytes", "1048576", "retention.ms", "-1")
	defer l.abandon()
	l = l.join(startLoad(t, b, seed+1, large, 2, 1, "retention.ms", "-1"))
	defer l.abandon()
	for round := range n {
		l.progress(1, 20*time.Second)
		time.Sleep(time.Duration(50+rng.IntN(1200)) * time.Millisecond)
		l.verify()
		oneCrash(t, b, rng, round)
		times.add(b.ReadyAfter)
	}
	l.progress(50, 20*time.Second)
	l.finish()
	cleanDump(t, b, "after the last recovery, while running", small, large)
	if err := b.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	cleanDump(t, b, "after a clean stop", small, large)
	if err := b.Launch(); err != nil {
		t.Fatal(err)
	}
	harness.DeleteTopic(t, b.Addr, small)
	harness.DeleteTopic(t, b.Addr, large)
}

// oneCrash ends the broker in one of several ways and starts it again.
func oneCrash(t *testing.T, b *harness.Broker, rng *rand.Rand, round int) {
	t.Helper()
	switch round % 5 {
	case 3:
		b.Kill()
		for range 1 + rng.IntN(4) { // killed again while it recovers
			if err := b.LaunchNoWait(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(rng.IntN(40)) * time.Millisecond)
			b.Kill()
		}
	case 4:
		if err := b.Stop(10 * time.Second); err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
	default:
		b.Kill()
	}
	if err := b.Launch(); err != nil {
		t.Fatalf("round %d: %v", round, err)
	}
}

// cleanDump lets Kafka's own reader look at every file of the topics.
func cleanDump(t *testing.T, b *harness.Broker, when string, topics ...string) {
	t.Helper()
	for _, topic := range topics {
		r := harness.DumpLog(t, b.Dir, topic)
		t.Logf("DumpLogSegments %s, topic %s: %d files, %d batches, %d records", when, topic, r.Files, r.Batches, r.Records)
		if r.Records == 0 {
			t.Errorf("DumpLogSegments %s, topic %s: no records in %d files", when, topic, r.Files)
		}
		for i, c := range r.Complaints {
			if i == 20 {
				t.Errorf("and %d more", len(r.Complaints)-20)
				break
			}
			t.Errorf("DumpLogSegments %s, topic %s: %s", when, topic, c)
		}
	}
}
