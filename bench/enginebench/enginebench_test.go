package enginebench

import (
	"context"
	"os/exec"
	"strings"
	"testing"
)

func TestAppendAndReadBack(t *testing.T) {
	for _, o := range []Options{
		{Partitions: 3, Bytes: 4 << 20, ReadBack: true},
		{Partitions: 2, Loops: 2, Bytes: 1 << 20, RecordSize: 100, BatchBytes: 4096, Synced: true, ReadBack: true},
	} {
		o.Dir = t.TempDir()
		r, err := Run(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Batches == 0 || r.Verified != r.Batches || r.Latency.Count != r.Batches || r.Seconds <= 0 {
			t.Errorf("%+v", r)
		}
		if s := Summary(r); !strings.Contains(s, "MB/s") || !strings.Contains(s, "read back") {
			t.Error(s)
		}
	}
}

// TestLinksNoFrontend: the engine must be usable, and measurable, without anything above it.
func TestLinksNoFrontend(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for dep := range strings.FieldsSeq(string(out)) {
		seen = seen || dep == "millrace/engine"
		for _, above := range []string{"kafka", "broker", "group", "controller", "replica", "cli", "sim"} {
			if dep == "millrace/"+above || strings.HasPrefix(dep, "millrace/"+above+"/") {
				t.Errorf("links %s", dep)
			}
		}
	}
	if !seen {
		t.Error("the engine is not linked at all")
	}
}
