package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

// TestKafkaDumpsCleaned has Kafka's own tool read cleaned segments, emptied batches, delete horizons and packed batches
// among them. Gaps between offsets are all it may find.
func TestKafkaDumpsCleaned(t *testing.T) {
	tool := os.Getenv("KAFKA_DUMP_LOG")
	if tool == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("KAFKA_DUMP_LOG is not set")
		}
		t.Log("KAFKA_DUMP_LOG is not set: only our own check runs")
	}
	p := testParams()
	p.Dir = filepath.Join(t.TempDir(), "t-0")
	l := mustCreate(t, vfs.OS{}, p)
	rng := rand.New(rand.NewPCG(1, 1))
	var ld loader
	o := cleanSettings(l, 0)
	o.DeleteRetentionMs = 1500
	for i := range 600 {
		now := int64(10_000 + i*10)
		var b batch.Builder
		b.Reset(nil, l.End(), 0)
		c := batch.Codec(rng.IntN(5))
		if i%3 == 0 && i < 300 {
			b.SetProducer(int64(i%21), 0, int32(i))
		}
		if i%7 == 0 {
			b.SetAttributes(batch.LogAppendTime)
		}
		for range 1 + rng.IntN(4) {
			var v []byte
			if rng.IntN(4) > 0 {
				v = value(l.End(), 40)
			}
			b.Add(now-rng.Int64N(50), fmt.Appendf(nil, "k%d", rng.IntN(40)), v)
		}
		v := pack(b.Finish(), c)
		must(t, appendAll(l, ld.entries(), v))
		ld.apply(v)
		if i%100 == 99 {
			o.NowMs, o.Stable, o.Producers = now, l.WrittenEnd(), ld.entries()
			if _, err := cleanLog(l, o, ld.entries()); err != nil {
				t.Fatal(err)
			}
		}
	}
	empty, horizons := 0, 0
	for _, raw := range readBatches(t, l, 0, l.WrittenEnd(), 1000) {
		if v := batch.View(raw); v.Count() == 0 {
			empty++
		} else if v.Attributes().DeleteHorizon() {
			horizons++
		}
	}
	if empty == 0 || horizons == 0 {
		t.Fatalf("%d emptied batches, %d with a horizon", empty, horizons)
	}
	records := len(flatten(t, l, 0))
	must(t, l.Close(ld.entries()))
	res, err := Verify(vfs.OS{}, p.Dir, DumpOptions{Records: true})
	if err != nil || len(res.Problems) > 0 || res.Records != int64(records) {
		t.Fatalf("%v %v: %d of %d records", err, res.Problems, res.Records, records)
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
		t.Fatalf("%v\n%s", err, out)
	}
	for _, bad := range []string{"Mismatch", "invalid bytes", "out of order", "isvalid: false", "Exception", "not found", "Corrupt"} {
		if i := bytes.Index(out, []byte(bad)); i >= 0 {
			t.Fatalf("Kafka's tool says %q: %s", bad, out[max(i-500, 0):min(i+500, len(out))])
		}
	}
	if got := bytes.Count(out, []byte("| offset:")); got != records {
		t.Fatalf("Kafka's tool saw %d records, want %d", got, records)
	}
}
