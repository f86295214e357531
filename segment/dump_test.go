package segment

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

func TestDumpKafkasFiles(t *testing.T) {
	for _, state := range []string{"clean", "live"} {
		for topic, end := range kafkaEnds {
			dir := "testdata/kafka/" + state + "/" + topic + "-0"
			res, err := Verify(vfs.OS{}, dir, DumpOptions{Records: true})
			must(t, err)
			if res.Records != end || len(res.Problems) != 0 || res.Entries == 0 {
				t.Errorf("%s: %+v", dir, res)
			}
			var out bytes.Buffer
			_, err = Dump(vfs.OS{}, dir+"/00000000000000000000.log", DumpOptions{Data: true}, &out)
			must(t, err)
			if !strings.Contains(out.String(), "baseOffset: 0 lastOffset:") || !strings.Contains(out.String(), "payload: ") {
				t.Errorf("%s", out.String())
			}
		}
	}
}

func TestDumpFindsWhatIsWrong(t *testing.T) {
	d := newDamagedDir(t)
	res, err := Verify(d.m, testDir, DumpOptions{Records: true})
	must(t, err)
	if len(res.Problems) != 0 || res.Records != d.model.end() {
		t.Fatalf("%+v", res)
	}
	for suffix, at := range map[string]int{suffixLog: 100, suffixIndex: 3, suffixTimeIndex: 7, suffixSnapshot: 20, suffixWindow: 20, suffixSum: 40} {
		c := *d
		c.m = d.m.Clone()
		c.spoil(c.bases[1], suffix, func(b []byte) []byte { b[at] ^= 1; return b })
		res, err := Verify(c.m, testDir, DumpOptions{})
		must(t, err)
		if len(res.Problems) == 0 {
			t.Errorf("%s: nothing found", suffix)
		}
	}
	// A leader epoch is outside Kafka's CRC; the side file's digest finds it.
	d.spoil(d.bases[1], suffixLog, func(b []byte) []byte { batch.View(b).SetLeaderEpoch(77); return b })
	if res, err = Verify(d.m, testDir, DumpOptions{}); err != nil || len(res.Problems) == 0 {
		t.Errorf("changed epoch: %+v %v", res, err)
	}
}

// TestKafkaDumpsOurs has Kafka's own tool read what we write: sealed, checkpointed and closed, with packed batches and
// gaps in time. KAFKA_DUMP_LOG names the tool; CI sets it, and there it must be set.
func TestKafkaDumpsOurs(t *testing.T) {
	tool := os.Getenv("KAFKA_DUMP_LOG")
	if tool == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("KAFKA_DUMP_LOG is not set")
		}
		t.Log("KAFKA_DUMP_LOG is not set: only our own check runs")
	}
	root := t.TempDir()
	p := testParams()
	p.Dir = filepath.Join(root, "t-0")
	l := mustCreate(t, vfs.OS{}, p)
	rng := rand.New(rand.NewPCG(1, 1))
	var ld loader
	grow := func(n int) {
		for i := range n {
			v := producerBatch(l.End(), 0, int64(i%3), 0, int32(l.End()), 1+rng.IntN(5), 1000+l.End()*10-rng.Int64N(100))
			if i%4 == 0 {
				ts := []int64{5000 + l.End(), 5001 + l.End(), 4000}
				v = timedBatch(t, l.End(), batch.Codec(rng.IntN(5)), -1, ts...)
			}
			must(t, appendAll(l, ld.entries(), v))
			ld.apply(v)
		}
	}
	grow(120)
	l.Checkpoint(ld.entries())
	must(t, runJobs(l))
	check := func(when string) {
		t.Helper()
		res, err := Verify(vfs.OS{}, p.Dir, DumpOptions{Records: true})
		must(t, err)
		if len(res.Problems) != 0 {
			t.Fatalf("%s: %v", when, res.Problems)
		}
		if tool == "" {
			return
		}
		var files []string
		for _, pattern := range []string{"*.log", "*.index", "*.timeindex", "*.snapshot"} {
			names, err := filepath.Glob(filepath.Join(p.Dir, pattern))
			must(t, err)
			files = append(files, names...)
		}
		out, err := exec.Command(tool, "--deep-iteration", "--files", strings.Join(files, ",")).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", when, err, out)
		}
		// The tool says this of every file whose first offset is not 0, Kafka's own too.
		out = regexp.MustCompile(`Non-consecutive offsets in .*\n  -1 is followed by .*`).ReplaceAll(out, nil)
		for _, bad := range []string{"Mismatch", "invalid bytes", "out of order", "Non-consecutive", "isvalid: false", "Exception", "not found", "Corrupt"} {
			if bytes.Contains(out, []byte(bad)) {
				t.Fatalf("%s: Kafka's tool says %q:\n%s", when, bad, out)
			}
		}
		if got := int64(bytes.Count(out, []byte("| offset:"))); got != l.WrittenEnd() {
			t.Fatalf("%s: Kafka's tool saw %d records, want %d", when, got, l.WrittenEnd())
		}
	}
	check("after a checkpoint")
	grow(20)
	end := l.End()
	l.Truncate(end - 10)
	must(t, runJobs(l))
	must(t, l.Close(ld.entries()))
	check("closed")
}
