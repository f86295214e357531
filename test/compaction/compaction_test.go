package compaction

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

func number(t *testing.T, name string, otherwise int) int {
	s := os.Getenv(name)
	if s == "" {
		return otherwise
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q: want a number", name, s)
	}
	return n
}

// TestUpdates writes a third of MILLRACE_UPDATES updates of MILLRACE_KEYS keys to a topic that is not compacted, a third while it is, and a
// third while the broker is killed in the middle of cleaning. The full size is 10 M updates of 100 k keys.
func TestUpdates(t *testing.T) {
	updates, keys := number(t, "MILLRACE_UPDATES", 300_000), number(t, "MILLRACE_KEYS", 5000)
	rate, kills := number(t, "MILLRACE_RATE", 30_000), number(t, "MILLRACE_ROUNDS", 4)
	partitions := len(harness.Codecs)
	b, err := harness.Start(harness.Options{Dir: filepath.Join(t.TempDir(), "data"), Overrides: []string{"log.cleaner.backoff.ms=100",
		"log.retention.check.interval.ms=500", "log.initial.task.delay.ms=500"}})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Kill()
	defer func() {
		if t.Failed() {
			t.Logf("end of the broker's log:\n%s", b.Logs()[max(0, len(b.Logs())-6000):])
		}
	}()
	seed := uint64(number(t, "MILLRACE_SEED", int(time.Now().UnixNano()%1e6)+1))
	t.Logf("MILLRACE_SEED=%d", seed)
	const topic = "updates"
	harness.CreateTopic(t, b.Addr, topic, partitions, "segment.bytes", "1048576", "min.cleanable.dirty.ratio", "0.3", "retention.ms", "-1")
	harness.CreateTopic(t, b.Addr, "probe", 1)
	var writers []*writer
	for p := range partitions {
		writers = append(writers, newWriter(t, b.Addr, topic, p, keys/partitions, seed))
	}
	third := func() {
		var wait sync.WaitGroup
		for _, w := range writers {
			wait.Go(func() { w.update(updates/3/partitions, rate/partitions) })
		}
		wait.Wait()
	}

	probe := startProbe(t, b.Addr, "probe")
	third()
	before50, before99 := probe.end(t)
	full := size(t, b.Dir, topic)
	harness.TopicConfig(t, b.Addr, topic, "cleanup.policy", "compact")
	probe = startProbe(t, b.Addr, "probe")
	third()
	during50, during99 := probe.end(t)
	t.Logf("acks=all of a producer beside the load: p50 %v p99 %v before, p50 %v p99 %v during cleaning", before50.Round(time.Microsecond), before99.Round(time.Microsecond),
		during50.Round(time.Microsecond), during99.Round(time.Microsecond))

	done := make(chan struct{})
	go func() {
		defer close(done)
		third()
	}()
	inside := killWhileCleaning(t, b, topic, kills, rand.New(rand.NewPCG(seed, 99)))
	<-done
	t.Logf("%d kills, %d of them with a file under cleaning on the disk", kills, inside)

	// Everything but the active segments and what is less than the dirty ratio is clean in the end.
	written := 3 * full
	deadline := time.Now().Add(time.Minute)
	for size(t, b.Dir, topic) > written/3 && time.Now().Before(deadline) {
		time.Sleep(100 * time.Millisecond)
	}
	left := size(t, b.Dir, topic)
	t.Logf("%d KiB after the first third, about %d KiB written in all, %d KiB on the disk at the end", full>>10, written>>10, left>>10)
	if left > written/3 {
		t.Errorf("%d KiB are left of %d KiB written", left>>10, written>>10)
	}
	records := 0
	for _, w := range writers {
		records += w.verify(b.Addr)
		everyOffset(t, b.Addr, topic, w, rand.New(rand.NewPCG(seed, 7)))
	}
	t.Logf("%d records are left of %d updates of %d keys", records, 3*(updates/3), keys)
	if err := b.Stop(20 * time.Second); err != nil {
		t.Error(err)
	}
	cleanDump(t, b, topic)
}

// killWhileCleaning kills the broker and starts it again, each time when a file of the cleaner is on the disk, if one can be seen within
// some seconds. It returns how often one was.
func killWhileCleaning(t *testing.T, b *harness.Broker, topic string, kills int, rng *rand.Rand) (inside int) {
	for round := range kills {
		time.Sleep(time.Duration(100+rng.IntN(400)) * time.Millisecond)
		for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
			if underCleaning(t, b.Dir, topic) {
				inside++
				break
			}
		}
		b.Kill()
		if err := b.Launch(); err != nil {
			t.Fatalf("kill %d: %v", round, err)
		}
	}
	return inside
}

func underCleaning(t *testing.T, dir, topic string) bool {
	for p := range harness.Codecs {
		entries, err := os.ReadDir(filepath.Join(dir, fmt.Sprintf("%s-%d", topic, p)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".cleaned") || strings.HasSuffix(e.Name(), ".swap") {
				return true
			}
		}
	}
	return false
}

// size is the number of bytes in the .log files of a topic.
func size(t *testing.T, dir, topic string) (n int64) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(filepath.Base(filepath.Dir(path)), topic+"-") && strings.HasSuffix(path, ".log") {
			if info, err := d.Info(); err == nil { // a file may be gone by now
				n += info.Size()
			}
		}
		return nil
	})
	if n == 0 {
		t.Fatalf("no segments of %s in %s", topic, dir)
	}
	return n
}

// everyOffset reads at offsets picked by chance: each answer has a record at that offset or beyond, unless it is the end.
func everyOffset(t *testing.T, addr, topic string, w *writer, rng *rand.Rand) {
	conn, err := harness.Dial(addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 200 {
		at := rng.Int64N(int64(w.n))
		resp, err := conn.Do(harness.Fetch(500, 1, 1, harness.FetchFrom{Topic: topic, Partition: int32(w.partition), Offset: at, Max: 1}))
		if err != nil {
			t.Fatal(err)
		}
		part := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
		heads := harness.Heads(part.RecordBatches)
		if part.ErrorCode != 0 || len(heads) == 0 || heads[0].LastOffset < at || len(heads[0].Data) < heads[0].Size {
			t.Errorf("partition %d: a read at offset %d of %d makes no progress: error %d, %d batches", w.partition, at, w.n, part.ErrorCode, len(heads))
		}
	}
}

func cleanDump(t *testing.T, b *harness.Broker, topic string) {
	r := harness.DumpLog(t, b.Dir, topic)
	t.Logf("DumpLogSegments: %d files, %d batches, %d records", r.Files, r.Batches, r.Records)
	for i, c := range r.Complaints {
		if i < 20 && !strings.Contains(c, " is followed by ") { // gaps are what a cleaner leaves
			t.Errorf("DumpLogSegments: %s", c)
		}
	}
}
