package run_test

import (
	"path/filepath"
	"testing"

	"millrace/bench/proc"
	"millrace/bench/rawgen"
	"millrace/bench/run"
)

func TestFallenRatios(t *testing.T) {
	r := &run.Recorded{Ratios: map[string]float64{"a": 0.8, "b": 0.8, "c": 0.8, "d": 0.8}}
	got := r.Fallen(map[string]float64{"a": 0.61, "b": 0.59, "c": 2, "new": 0.1})
	if len(got) != 2 || got[0] != "b" || got[1] != "d" {
		t.Errorf("%v", got)
	}
}

// TestRecordsAreOfAKindOfMachine: ratios are compared with those of a machine whose floors are alike.
func TestRecordsAreOfAKindOfMachine(t *testing.T) {
	floors := func(echo, sync float64) map[string]float64 {
		return map[string]float64{"W5 floor-echo": echo, "W6 floor-sync": sync}
	}
	rs := &run.Records{}
	rs.Put(run.Recorded{Machine: "slow", Floors: floors(90, 450), Ratios: map[string]float64{"a": 2}})
	rs.Put(run.Recorded{Machine: "quick", Floors: floors(30, 160), Ratios: map[string]float64{"a": 1}})
	rs.Put(run.Recorded{Machine: "quick, again", Floors: floors(35, 150), Ratios: map[string]float64{"a": 1.1}})
	file := filepath.Join(t.TempDir(), "r.json")
	if err := rs.Save(file); err != nil {
		t.Fatal(err)
	}
	rs, err := run.LoadRecords(file)
	if err != nil || len(rs.Records) != 2 {
		t.Fatalf("%v %v", rs, err)
	}
	for _, c := range []struct {
		echo, sync float64
		want       string // empty: none is alike
	}{{80, 500, "slow"}, {25, 200, "quick, again"}, {25, 500, ""}, {300, 450, ""}} {
		i, factor := rs.Nearest(floors(c.echo, c.sync))
		if got := factor < run.Unlike; got != (c.want != "") || got && rs.Records[i].Machine != c.want {
			t.Errorf("floors %v and %v: record %d, factor %.1f, want %q", c.echo, c.sync, i, factor, c.want)
		}
	}
	if _, factor := rs.Nearest(map[string]float64{"W5 floor-echo": 90}); factor < run.Unlike {
		t.Error("a machine without one of the floors is like another")
	}
	for _, bad := range []*run.Records{{}, {Records: []run.Recorded{{Machine: "x", Floors: floors(1, 1)}}}} {
		if err := bad.Save(file); err != nil {
			t.Fatal(err)
		}
		if _, err := run.LoadRecords(file); err == nil {
			t.Error("nothing to compare with passes as a record")
		}
	}
}

func TestCheckRatiosAreThoseToTheFloor(t *testing.T) {
	loads, err := run.Workloads([]string{"W1", "W5"}, run.Quick())
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Report{Loads: loads}
	add := func(load, target string, round int, requests int64, p50, cpu float64) {
		x := fake(load, target, round, requests)
		x.Result.Latency, x.Result.Broker = &rawgen.Dist{P50: p50}, &proc.Delta{CPUSeconds: cpu}
		r.Runs = append(r.Runs, x)
	}
	for round := 1; round <= 3; round++ {
		add("W5-acks1", "m", round, 100, 50, 0.2)
		add("W5-acks1", "floor-echo", round, 100, 25, 0.1)
		add("W1", "m", round, 60, 1, 1)
		add("W1", "floor-write", round, 100, 1, 1)
	}
	r.Summarize()
	got := r.CheckRatios()
	want := map[string]float64{"W5-acks1 m efficiency": 0.5, "W5-acks1 m speed": 0.5, "W1 m throughput": 0.6, "W1 m efficiency": 0.6}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
	for k, v := range want {
		if d := got[k] - v; d > 1e-9 || d < -1e-9 {
			t.Errorf("%s: %g, want %g", k, got[k], v)
		}
	}
}
