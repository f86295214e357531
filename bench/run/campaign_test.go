package run_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/bench"
	"millrace/bench/run"
	"millrace/bench/sink"
	"millrace/bench/target"
)

// TestMain lets the test binary be the generator and the floors, as the program is in a real campaign.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "bench-self" {
		c := bench.Command()
		c.SetArgs(os.Args[2:])
		if err := c.Execute(); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func broker(t *testing.T, check bool) string {
	t.Helper()
	s, err := sink.Serve(sink.Options{Mode: "write", Addr: "127.0.0.1:0", Dir: t.TempDir(), Check: check})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.Addr()
}

func options(t *testing.T, log *bytes.Buffer, workloads ...string) run.Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sizes := run.Sizes{BulkBytes: 4 << 20, BulkSeconds: 10 * time.Millisecond, ReadBytes: 4 << 20, Sends: 50, SyncSeconds: 20 * time.Millisecond}
	return run.Options{
		Passes: []run.Pass{{Name: "pinned", BrokerCPUs: "0", Loops: 1, Workloads: workloads}}, Rounds: 2, Warmups: 0, Sizes: sizes,
		Sources: target.Sources{Self: self, SelfArgs: []string{"bench-self"}}, Dir: t.TempDir(), Port: 19660, JSON: filepath.Join(t.TempDir(), "out.json"), Log: log,
	}
}

func TestCampaignEndToEnd(t *testing.T) {
	var log, table bytes.Buffer
	o := options(t, &log, "W1", "W5")
	o.Targets = []string{"one=" + broker(t, true), "two=" + broker(t, true)}
	report, err := run.Go(context.Background(), o)
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	for _, row := range report.Rows {
		if row.Counted != 2 || row.Failed != 0 {
			t.Errorf("%s on %s: %d counted, %d failed", row.Load, row.Target, row.Counted, row.Failed)
		}
		v := row.Values["throughput"]
		if v.Median <= 0 || row.Values["p50"].Median <= 0 || row.Values["rss"].Median <= 0 {
			t.Errorf("%s on %s: %+v", row.Load, row.Target, row.Values)
		}
		f := row.Ratios["floor"]["throughput"]
		if f.N != 2 || f.Median <= 0 {
			t.Errorf("%s on %s: no ratio to the floor: %+v", row.Load, row.Target, row.Ratios)
		}
		if row.Target == "one" && row.Ratios["two"]["throughput"].N != 2 {
			t.Errorf("%s: one is not compared with two", row.Load)
		}
	}
	if t.Failed() {
		t.Log(log.String())
	}
	if want := 1 + 3; len(report.Loads) != want {
		t.Errorf("%d loads, want %d", len(report.Loads), want)
	}
	report.WriteTable(&table)
	for _, want := range []string{"W1, pinned", "floor-write-nosync", "floor-echo", "one / two", "MB/s", "req/s"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
	again, err := run.LoadReport(o.JSON)
	if err != nil || len(again.Runs) != len(report.Runs) || len(again.Rows) != len(report.Rows) {
		t.Fatalf("the file does not hold the report: %v", err)
	}
	first := again.Runs[0]
	if first.Result.Latency.Encoded == "" || first.Result.BadRecord == "" && strings.HasPrefix(first.Target, "floor") == false {
		t.Errorf("a run in the file: %+v", first.Result)
	}
}

// TestATargetThatTakesAnythingDoesNotCount: the spoiled batch of every run must be refused.
func TestATargetThatTakesAnythingDoesNotCount(t *testing.T) {
	var log bytes.Buffer
	o := options(t, &log, "W1", "W3")
	o.Rounds = 1
	o.Targets = []string{"sloppy=" + broker(t, false)}
	report, err := run.Go(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, r := range report.Runs {
		if r.Target == "sloppy" {
			seen++
			if r.Counts() {
				t.Errorf("%s counts: %+v", r.Load, r.Result)
			}
		}
	}
	if seen < 3 || !strings.Contains(log.String(), "the spoiled batch was answered with error code 0") {
		t.Errorf("%d runs, log:\n%s", seen, log.String())
	}
}

func TestStopsWhenCancelled(t *testing.T) {
	var log bytes.Buffer
	o := options(t, &log, "W5")
	o.Targets = []string{"one=" + broker(t, true)}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := run.Go(ctx, o); err == nil {
		t.Error("a cancelled campaign ends well")
	}
	if left, _ := filepath.Glob(filepath.Join(o.Dir, "floor-*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestUnknownNames(t *testing.T) {
	var log bytes.Buffer
	for _, bad := range []struct{ target, workload string }{{"nobody", "W1"}, {"kafka", "W1"}, {"one=127.0.0.1:1", "W77"}} {
		o := options(t, &log, bad.workload)
		o.Targets = []string{bad.target}
		if _, err := run.Go(context.Background(), o); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// TestRatiosAcrossLoads: W6 with many producers is divided by the floor with one, round by round.
func TestRatiosAcrossLoads(t *testing.T) {
	loads, err := run.Workloads([]string{"W6"}, run.Quick())
	if err != nil {
		t.Fatal(err)
	}
	r := &run.Report{Loads: loads}
	for round := 1; round <= 3; round++ {
		r.Runs = append(r.Runs, fake("W6-1", "floor-sync", round, int64(100*round)), fake("W6-64", "floor-sync", round, 7), fake("W6-64", "m", round, int64(1500*round)))
	}
	r.Runs = append(r.Runs, fake("W6-64", "m", 0, 1), fake("W6-64", "m", 4, 1)) // a warm-up, and a round without a floor
	r.Summarize()
	for _, row := range r.Rows {
		if row.Load == "W6-64" && row.Target == "m" {
			if f := row.Ratios["floor"]["throughput"]; f.Median != 15 || f.N != 3 || row.Counted != 4 {
				t.Errorf("%+v, %d counted", f, row.Counted)
			}
			return
		}
	}
	t.Error(fmt.Sprint("no row: ", r.Rows))
}

// TestStartFloor: W9's floor starts in every round, has a record acknowledged, and is looked at.
func TestStartFloor(t *testing.T) {
	var log, table bytes.Buffer
	o := options(t, &log, "W9")
	o.Rounds = 1
	report, err := run.Go(context.Background(), o)
	if err != nil || len(report.Starts) != 1 {
		t.Fatalf("%v, %d starts\n%s", err, len(report.Starts), log.String())
	}
	s := report.Starts[0]
	if s.Target != "floor-start" || s.Kind != "empty" || s.Error != "" || s.ListenMs <= 0 || s.FirstAckMs < s.ReadyMs || s.RSSBytes <= 0 || s.StopMs <= 0 {
		t.Errorf("%+v", s)
	}
	if report.WriteTable(&table); !strings.Contains(table.String(), "floor-start") {
		t.Errorf("the table lacks it:\n%s", table.String())
	}
}
