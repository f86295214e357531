package model

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"millrace/bench/target"
)

// TestSettleWaitsForTheFiles of the deleted topic, of no other, and no longer than allowed.
func TestSettleWaitsForTheFiles(t *testing.T) {
	dir := t.TempDir()
	gone := filepath.Join(dir, "data", "model-1-2-0.abc-delete")
	for _, d := range []string{gone, filepath.Join(dir, "data", "model-1-20-0")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if !holds(dir, "model-1-2-") || !holds(dir, "model-1-20-") || holds(dir, "model-1-3-") {
		t.Error("the wrong directories are found")
	}
	m := &measurer{o: &Options{Settle: 300 * time.Millisecond, Place: target.Place{Dir: dir}}, i: &target.Instance{Target: target.Target{Kind: target.Floor}}}
	began := time.Now()
	m.settle("model-1-2")
	if d := time.Since(began); d < 300*time.Millisecond || d > 10*time.Second {
		t.Errorf("waited %v for files that stay", d)
	}
	m.o.Settle = time.Minute
	time.AfterFunc(100*time.Millisecond, func() { _ = os.RemoveAll(gone) })
	began = time.Now()
	m.settle("model-1-2")
	if d := time.Since(began); d < 50*time.Millisecond || d > 50*time.Second {
		t.Errorf("waited %v for files that went", d)
	}
}
