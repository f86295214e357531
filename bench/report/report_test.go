package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"millrace/bench/model"
	"millrace/bench/proc"
	"millrace/bench/prof"
	"millrace/bench/rawgen"
	"millrace/bench/run"
	"millrace/bench/target"
)

var update = flag.Bool("update", false, "write the golden files anew")

// result is a run of so many seconds with latencies around a median, ns.
func result(mbps float64, seconds int, median int64, cores float64) *rawgen.Result {
	h := rawgen.NewHistogram()
	for k := range int64(5000) {
		rawgen.Record(h, median+median*k/5000*k/5000*3)
	}
	r := &rawgen.Result{Kind: "produce", Seconds: float64(seconds), Requests: int64(mbps * float64(seconds)), Records: int64(mbps * 1000 * float64(seconds)), PayloadBytes: int64(mbps * 1e6 * float64(seconds)),
		Latency: rawgen.NewDist(h), Lag: rawgen.NewDist(h), Broker: &proc.Delta{CPUSeconds: cores * float64(seconds), RSSPeakBytes: 50e6, Descriptors: 21, WrittenBytes: int64(mbps * 1.01e6 * float64(seconds))}}
	for s := range seconds + 1 {
		r.Intervals = append(r.Intervals, rawgen.Interval{Second: s, Bytes: int64(mbps * 1e6 * (1 + float64(s%2)/10)), P99: median / 1000})
	}
	return r
}

// input is a campaign and a sweep with everything in it that a page can show.
func input(t *testing.T) *Input {
	t.Helper()
	loads, err := run.Workloads([]string{"W1", "W7"}, run.Quick())
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	c := &run.Report{Loads: loads, Meta: run.Meta{Started: at, Ended: at.Add(time.Hour), Version: "v0", Command: []string{"/usr/bin/millrace", "bench", "run"}, Further: [][]string{{"millrace", "bench", "run"}, {"millrace", "bench", "run", "--kafka-stop", "stop it"}}, Kernel: "6.0", CPU: "A CPU & more", CPUs: 2, MemoryMB: 1000, Go: "go1.26",
		Targets: []target.Target{{Name: "millrace-uring"}, {Name: "kafka"}, {Name: "floor-write"}}, Passes: []run.Pass{{Name: "pinned", BrokerCPUs: "0", GenCPUs: "1", Loops: 1}}}}
	for round := range 4 {
		add := func(load, target string, r *rawgen.Result) {
			c.Runs = append(c.Runs, run.Run{Load: load, Target: target, Pass: "pinned", Round: round, Result: r})
		}
		f := 1 + float64(round)/20
		add("W1", "millrace-uring", result(900*f, 5, 800_000, 0.5))
		add("W1", "kafka", result(250*f, 5, 4_000_000, 0.9))
		add("W1", "floor-write", result(1100*f, 5, 500_000, 0.6))
		add("W7-4", "millrace-uring", result(80, 3, 300_000, 0.7))
		add("W7-50", "millrace-uring", result(76, 3, 300_000, 0.7))
		c.Extras = append(c.Extras, run.Extra{Workload: "W11", Target: "millrace-uring", Pass: "pinned", Round: round + 1, Class: run.PageCache, Values: map[string]float64{"CPU s/GB out": 0.2 * f, "idle crowd cores": 0.02}},
			run.Extra{Workload: "W11", Target: "floor-read", Pass: "pinned", Round: round + 1, Values: map[string]float64{"CPU s/GB out": 0.1 * f}})
	}
	broken := result(1, 5, 1000, 0.1)
	broken.FailureCount, broken.Failures = 1, []string{"it broke"}
	c.Runs = append(c.Runs, run.Run{Load: "W1", Target: "kafka", Pass: "pinned", Round: 9, Result: broken})
	soak := run.Extra{Workload: "SOAK", Target: "millrace-uring", Pass: "pinned", Round: 1, Values: map[string]float64{"p99 last/first": 1.05}, Parts: map[string]*rawgen.Result{"soak": result(50, 6, 500_000, 0.2)}, Notes: []string{"a note <b>"}}
	soak.Parts["soak"].Stolen = 0.125
	for s := range 6 {
		soak.Series = append(soak.Series, run.Sample{Second: float64(s), RSSBytes: 40e6, Descriptors: 20, Goroutines: 12, Stolen: float64(s) / 20})
	}
	c.Extras = append(c.Extras, soak, run.Extra{Workload: "W8", Target: "kafka", Pass: "pinned", Round: 1, Error: "no <memory>"})
	for k := range 3 {
		c.Starts = append(c.Starts, run.Start{Target: "millrace-uring", Pass: "pinned", Kind: "killed", Round: k + 1, ListenMs: 9, ReadyMs: 10, FirstAckMs: 12 + float64(k), RSSBytes: 14e6, AckedBefore: 1000},
			run.Start{Target: "floor-start", Pass: "pinned", Kind: "killed", Round: k + 1, ListenMs: 5, ReadyMs: 5, FirstAckMs: 6},
			run.Start{Target: "nats, " + run.PageCache, Pass: "pinned", Kind: "empty", Round: k + 1, ListenMs: 40, ReadyMs: 41, FirstAckMs: 50, RSSBytes: 16e6})
	}
	c.Profiles = []run.Profile{{Load: "W1", Target: "millrace-uring", Pass: "pinned", Seconds: 5, Shares: []prof.Share{
		{Subsystem: prof.FileWrite, Seconds: 3, Fraction: 0.6, Top: []prof.Func{{Name: "vfs.write"}}}, {Subsystem: prof.Sockets, Seconds: 1.5, Fraction: 0.3}, {Subsystem: "engine", Seconds: 0.5, Fraction: 0.1}}}}
	cost := model.Cost{Request: 10_000, Batch: 1000, Record: 100, Byte: 0.1}
	g := model.Grid{RecordSize: []int{1024}, BatchSize: []int{16384}, Linger: []time.Duration{5 * time.Millisecond}, Partitions: []int{6}, InFlight: []int{1, 5}, Rates: []float64{0, 20_000}, Grouping: true}
	s := &model.Report{Target: "millrace-uring", Rounds: 5, Meta: run.Meta{Command: []string{"millrace", "bench", "model"}}, Costs: &model.Costs{Target: "millrace-uring", Client: cost, Broker: cost, Capacity: cost, LoneCycle: model.Lone{Request: 40_000, Byte: 0.4}, Cells: []model.Cell{{Name: "lone"}}}, Cells: g.Cells()}
	s.Predict()
	for k := range s.Cells {
		p := s.Cells[k].Predicted
		f := 1 + float64(k%4)/10
		s.Cells[k].Measured = &model.Measured{Runs: 5, RecordsPerSec: p.RecordsPerSec * f, MBPerSec: p.MBPerSec * f, RequestsPerSec: p.RequestsPerSec * f, P50: p.P50, P99: p.P99}
	}
	// Through files, as the command does.
	dir := t.TempDir()
	var files []string
	for n, x := range []any{c, s} {
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, filepath.Join(dir, string(rune('a'+n))+".json"))
		if err := os.WriteFile(files[n], b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for n := range min(len(g), len(w)) {
			if g[n] != w[n] {
				t.Fatalf("%s differs in line %d (-update writes it anew):\n got %s\nwant %s", name, n+1, g[n], w[n])
			}
		}
		t.Fatalf("%s: %d lines, want %d", name, len(g), len(w))
	}
}

func TestGolden(t *testing.T) {
	in := input(t)
	var html, md bytes.Buffer
	if err := WriteHTML(&html, in); err != nil {
		t.Fatal(err)
	}
	if err := WriteMarkdown(&md, in); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.html", html.Bytes())
	golden(t, "report.md", md.Bytes())
	page := html.String()
	for _, want := range []string{"Latency, W1", "Throughput over time", "kernel: file write 60 %", "3 (1 failed)", "no &lt;memory&gt;", "a note &lt;b&gt;", "Requests/s, predicted", "class=\"miss\"", "0.95 of that under W7-4"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	// Self-contained: nothing is fetched from anywhere.
	for _, bad := range []string{"http:", "https:", "<script", "src=", "@import", "url("} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("the page does not parse: %v", err)
		}
	}
}

// TestHistogramsAreJoined: the curve of two runs is that of all their samples, not of their quantiles' mean.
func TestHistogramsAreJoined(t *testing.T) {
	in := input(t)
	h := joined(in.Campaign, "pinned", "W1", "millrace-uring")
	if h == nil || h.TotalCount() != 3*5000 { // the warm-up does not count
		t.Fatalf("%v", h)
	}
	pts := curve(h)
	for k := 1; k < len(pts); k++ {
		if pts[k].y < pts[k-1].y {
			t.Errorf("latency falls from %v to %v", pts[k-1], pts[k])
		}
	}
	if last := pts[len(pts)-1].x; last > 99.995 {
		t.Errorf("15000 samples say something about the %gth percentile", last)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		n      int
	}{{0, 10, false, 6}, {0, 1, false, 6}, {2, 5, true, 4}, {0, 1, true, 4}, {-5, 5, false, 5}} {
		if got := ticks(c.lo, c.hi, c.log); len(got) != c.n {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestLoadRefusesOtherFiles(t *testing.T) {
	f := filepath.Join(t.TempDir(), "x.json")
	for _, text := range []string{`{"a":1}`, `nothing`} {
		if err := os.WriteFile(f, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Load([]string{f}); err == nil {
			t.Errorf("%s is a report", text)
		}
	}
}

// TestOverviewOfStarts: W9's floor and NATS, whose starts are kept where the brokers' are.
func TestOverviewOfStarts(t *testing.T) {
	var b strings.Builder
	if err := WriteOverview(&b, input(t)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"| after `kill -9` under load: ms | 13.0 ± 15 % | – | – | 6 ± 0 % |", "first acknowledged record: ms | – | – | 50.0 ± 0 % | – |", "resident memory, idle: MB | – | – | 16.0 ± 0 % | – |"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the overview lacks %q:\n%s", want, b.String())
		}
	}
}
