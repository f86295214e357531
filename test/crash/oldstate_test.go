package crash

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestOlderStatesInAllCombinations (B61): what a crash or an operator can leave of a log and of the files beside it, in every combination.
// The broker starts, the log is whole up to where its bytes end, nothing visible lies beyond, and writing goes on from there.
func TestOlderStatesInAllCombinations(t *testing.T) {
	b := start(t, filepath.Join(t.TempDir(), "data"))
	harness.CreateTopic(t, b.Addr, "old", 1)
	id := initProducerID(t, b.Addr, kmsg.NewPtrInitProducerIDRequest())
	seq := int32(0)
	write := func(n int) {
		t.Helper()
		for range n {
			h := harness.NewBatch(harness.Record{Timestamp: time.Now().UnixMilli(), Value: make([]byte, 3000)})
			h.ProducerID, h.ProducerEpoch, h.BaseSequence = id.ProducerID, id.ProducerEpoch, seq
			produceBatch(t, b.Addr, "old", h.Bytes())
			seq++
		}
	}
	// Two clean stops leave two states of every file; a third part of the log is above all of them.
	older, newer := t.TempDir(), t.TempDir()
	for _, to := range []string{older, newer} {
		write(20)
		if err := b.Stop(10 * time.Second); err != nil {
			t.Fatal(err)
		}
		copyTree(t, b.Dir, to)
		relaunch(t, b)
	}
	write(20)
	b.Kill()
	const all = 60
	log := filepath.Join("old-0", fmt.Sprintf("%020d.log", 0))
	size := fileSize(t, filepath.Join(b.Dir, log))
	one := size / all

	files := []string{"recovery-point-offset-checkpoint", "old-0/leader-epoch-checkpoint", "snapshots"}
	states := []string{"new", "old", "missing"}
	var times startTimes
	for _, cut := range []int64{0, 1, one/2 + one, size / 2, size - 10} {
		for combo := range 27 {
			name := fmt.Sprintf("%d bytes cut", cut)
			dir := filepath.Join(t.TempDir(), "data")
			copyTree(t, b.Dir, dir)
			for i, n := 0, combo; i < len(files); i, n = i+1, n/3 {
				name += fmt.Sprintf(", %s %s", files[i], states[n%3])
				setState(t, dir, older, files[i], states[n%3])
			}
			if err := os.Truncate(filepath.Join(dir, log), size-cut); err != nil {
				t.Fatal(err)
			}
			c, err := harness.Start(harness.Options{Dir: dir})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			times.add(c.ReadyAfter)
			checkState(t, c.Addr, name, all-(cut+one-1)/one)
			c.Kill()
			os.RemoveAll(dir)
			if t.Failed() {
				t.Fatalf("broker's log:\n%s", c.Logs())
			}
		}
	}
	times.check(t)
}

// checkState reads a log whole and writes on.
func checkState(t *testing.T, addr, name string, want int64) {
	t.Helper()
	end, code, err := harness.EndOffset(addr, "old", 0, -1)
	if err != nil || code != 0 || end != want {
		t.Errorf("%s: the log ends at %d (error %d, %v), want %d", name, end, code, err, want)
		return
	}
	for at := int64(0); at < end; {
		resp, err := harness.Once(addr, harness.Fetch(100, 1, 1<<20, harness.FetchFrom{Topic: "old", Offset: at}))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		p := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
		heads := harness.Heads(p.RecordBatches)
		if p.ErrorCode != 0 || len(heads) == 0 || p.HighWatermark != end {
			t.Errorf("%s: fetch at %d: error %d, %d batches, high watermark %d of %d", name, at, p.ErrorCode, len(heads), p.HighWatermark, end)
			return
		}
		for _, h := range heads {
			if h.BaseOffset != at {
				t.Errorf("%s: offset %d where %d comes next", name, h.BaseOffset, at)
				return
			}
			at = h.LastOffset + 1
		}
	}
	resp, err := harness.Once(addr, harness.Produce("old", 0, -1, oneRecord()))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if p := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]; p.ErrorCode != 0 || p.BaseOffset != end {
		t.Errorf("%s: the next record: error %d, offset %d, want %d", name, p.ErrorCode, p.BaseOffset, end)
	}
}

// setState puts one kind of file into the state it had in the older copy, or takes it away.
func setState(t *testing.T, dir, older, file, state string) {
	t.Helper()
	if state == "new" {
		return
	}
	pattern := file
	if file == "snapshots" {
		pattern = "old-0/*.snapshot*"
	}
	now, _ := filepath.Glob(filepath.Join(dir, pattern))
	for _, f := range now {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
	if state == "missing" {
		return
	}
	then, _ := filepath.Glob(filepath.Join(older, pattern))
	for _, f := range then {
		rel, err := filepath.Rel(older, f)
		if err != nil {
			t.Fatal(err)
		}
		copyFile(t, f, filepath.Join(dir, rel))
	}
}

// produceBatch writes one encoded batch with acks=all.
func produceBatch(t *testing.T, addr, topic string, records []byte) {
	t.Helper()
	resp, err := harness.Once(addr, harness.Produce(topic, 0, -1, records))
	if err != nil {
		t.Fatal(err)
	}
	if code := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
		t.Fatalf("produce to %s: error %d", topic, code)
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func copyTree(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		copyFile(t, path, filepath.Join(to, rel))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return // removed in the background
	}
	if err == nil {
		err = os.WriteFile(to, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}
