package run_test

import (
	"path/filepath"
	"testing"

	"millrace/bench/run"
)

func TestFallenRatios(t *testing.T) {
	r := &run.Recorded{Ratios: map[string]float64{"a": 0.8, "b": 0.8, "c": 0.8, "d": 0.8}}
	got := r.Fallen(map[string]float64{"a": 0.61, "b": 0.59, "c": 2, "new": 0.1})
	if len(got) != 2 || got[0] != "b" || got[1] != "d" {
		t.Errorf("%v", got)
	}
	file := filepath.Join(t.TempDir(), "r.json")
	if err := r.Save(file); err != nil {
		t.Fatal(err)
	}
	if again, err := run.LoadRecorded(file); err != nil || len(again.Ratios) != 4 {
		t.Errorf("%v %v", again, err)
	}
	if err := (&run.Recorded{}).Save(file); err != nil {
		t.Fatal(err)
	}
	if _, err := run.LoadRecorded(file); err == nil {
		t.Error("nothing to compare with passes as a record")
	}
}

func TestCheckRatiosAreThoseToTheFloor(t *testing.T) {
	loads, err := run.Workloads([]string{"W5"}, run.Quick())
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Report{Loads: loads}
	for round := 1; round <= 3; round++ {
		r.Runs = append(r.Runs, fake("W5-acks1", "m", round, 60), fake("W5-acks1", "floor-echo", round, 100))
	}
	r.Summarize()
	if got := r.CheckRatios(); len(got) != 1 || got["W5-acks1 m throughput"] != 0.6 {
		t.Errorf("%v", got)
	}
}
