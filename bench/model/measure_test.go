package model_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/bench"
	"millrace/bench/model"
	"millrace/bench/target"
)

// TestMain lets the test binary be the producer and the null sink, as the program is in a real sweep.
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

// TestSweepAgainstTheNullSink calibrates, predicts and measures, and goes on where an earlier part ended.
func TestSweepAgainstTheNullSink(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	sources := target.Sources{Self: self, SelfArgs: []string{"bench-self"}, Loops: 1}
	null, err := target.Parse("floor-null", sources)
	if err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	dir := t.TempDir()
	var log, table bytes.Buffer
	g := model.Grid{RecordSize: []int{1024}, BatchSize: []int{16384}, Linger: []time.Duration{5 * time.Millisecond}, Partitions: []int{6}, InFlight: []int{5}, Rates: []float64{0, 5000}, Brokers: 1, Grouping: true}
	o := model.Options{Target: null, Place: target.Place{Dir: filepath.Join(dir, "null"), Port: port}, Sources: sources, Rounds: 1, Calibrate: 1, Duration: 150 * time.Millisecond, Warmup: 50 * time.Millisecond,
		Cells: g.Cells(), JSON: filepath.Join(dir, "sweep.json"), Log: &log}
	// The processor time of a process counts in ticks of 10 ms: on a busy machine a short cell may show none.
	var r *model.Report
	for try := 1; ; try++ {
		o.Duration, o.JSON = time.Duration(try)*200*time.Millisecond, filepath.Join(dir, fmt.Sprintf("sweep%d.json", try))
		if r, err = model.Run(context.Background(), o); err == nil {
			break
		}
		if try == 4 {
			t.Fatalf("%v\n%s", err, log.String())
		}
	}
	if r.Rounds != 1 || len(r.Costs.Cells) != 5 || r.Costs.Capacity.Request+r.Costs.Capacity.Byte <= 0 {
		t.Errorf("%d rounds, costs %+v", r.Rounds, r.Costs)
	}
	for _, c := range r.Cells {
		if c.Measured == nil || c.Predicted == nil || c.Measured.RequestsPerSec <= 0 || c.Predicted.RequestsPerSec <= 0 {
			t.Errorf("%s: %+v %+v %v", c.Name, c.Measured, c.Predicted, c.Errors)
			continue
		}
		// A given rate leaves no room for doubt; a starved machine only delays it.
		if c.Settings.Rate > 0 && (c.Measured.RecordsPerSec > 20_000 || c.Predicted.RecordsPerSec != 5000) {
			t.Errorf("%s: %.0f records/s measured, %.0f predicted", c.Name, c.Measured.RecordsPerSec, c.Predicted.RecordsPerSec)
		}
	}
	costs := *r.Costs
	o.Rounds = 2
	if r, err = model.Run(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if r.Rounds != 2 || len(r.Cells[0].Runs) != 2 || r.Costs.Client != costs.Client {
		t.Errorf("%d rounds, %d runs of the first cell, or the costs moved", r.Rounds, len(r.Cells[0].Runs))
	}
	r.WriteTable(&table)
	for _, want := range []string{"Costs, frozen, from 5 cells", "Within 20 %", "buffer.memory exhausted or not: within 20 % in", "Grouping by broker"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, table.String())
		}
	}
}
