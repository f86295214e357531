package run

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"millrace/bench/target"
)

func TestParseToolsOfOthers(t *testing.T) {
	v, err := parseProducerPerf("1000 records sent, 10.0 records/sec (1.00 MB/sec), 1.0 ms avg latency, 9.0 ms max latency.\n" +
		"5000000 records sent, 198412.698413 records/sec (193.76 MB/sec), 12.40 ms avg latency, 240.00 ms max latency, 9 ms 50th, 31 ms 95th, 55 ms 99th, 120 ms 99.9th.\n")
	if err != nil || v["rec/s"] != 198412.698413 || math.Abs(v["MB/s"]-203.17) > 0.01 || v["p50 ms"] != 9 || v["p99 ms"] != 55 {
		t.Errorf("%v %v", v, err)
	}
	if _, err := parseProducerPerf("ERROR no broker"); err == nil {
		t.Error("an error message is a result")
	}
	v, err = parseConsumerPerf("WARN something, odd\n2026-11-29 20:00:00:000, 2026-11-29 20:00:05:000, 4882.8125, 976.5625, 5000000, 1000000.0, 3100, 1900, 2569.9, 2631578.9\n")
	if err != nil || v["rec/s"] != 2631578.9 || v["rebalance ms"] != 3100 || math.Abs(v["MB/s"]-2694.7) > 0.1 {
		t.Errorf("%v %v", v, err)
	}
	if _, err := parseConsumerPerf(""); err == nil {
		t.Error("nothing is a result")
	}
	v, err = parseNATS("#RunID,ClientID,MsgCount,MsgBytes,MsgsPerSec,BytesPerSec,DurationSecs,P50LatencyMicroSecs,P99LatencyMicroSecs\na,P0,10,100,1000,1024000,1,40,200\na,P1,10,100,500,512000,1,50,100\n")
	if err != nil || v["rec/s"] != 1500 || v["MB/s"] != 1.536 || v["p50 us"] != 50 || v["p99 us"] != 200 {
		t.Errorf("%v %v", v, err)
	}
	if _, err := parseNATS("#RunID\n"); err == nil {
		t.Error("nothing is a result")
	}
}

func TestSlope(t *testing.T) {
	var s []Sample
	for k := range 50 {
		s = append(s, Sample{Second: float64(k) * 5, RSSBytes: int64(1e6 * (100 + 3*float64(k)*5))})
	}
	if got := slope(s, func(x Sample) float64 { return float64(x.RSSBytes) / 1e6 }); math.Abs(got-3) > 1e-9 {
		t.Errorf("slope %g", got)
	}
	if got := slope(s[:1], func(x Sample) float64 { return 1 }); got != 0 {
		t.Errorf("slope of one point %g", got)
	}
}

func TestCoolCountsLogsOnly(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "data", "t-0"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, n := range map[string]int{"data/t-0/0.log": 5000, "data/t-0/0.index": 70, "broker.log": 11} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, n), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n, left, err := cool(filepath.Join(dir, "data")); err != nil || n != 5000 || left > n {
		t.Errorf("%d, %d left, %v", n, left, err)
	}
}

// TestExtraRowsDivideRoundByRound: ratios pair by pair, a failed round left out.
func TestExtraRowsDivideRoundByRound(t *testing.T) {
	r := &Report{Meta: Meta{Passes: []Pass{{Name: "p"}}}}
	for round := 1; round <= 3; round++ {
		f := float64(round)
		r.Extras = append(r.Extras,
			Extra{Workload: "W11", Target: "floor-read", Pass: "p", Round: round, Values: map[string]float64{"CPU s/GB out": 0.1 * f}},
			Extra{Workload: "W11", Target: "m", Pass: "p", Round: round, Values: map[string]float64{"CPU s/GB out": 0.3 * f}})
	}
	r.Extras = append(r.Extras, Extra{Workload: "W11", Target: "m", Pass: "p", Round: 4, Values: map[string]float64{"CPU s/GB out": 99}, Error: "broke"})
	rows := r.ExtraRows()
	if len(rows) != 2 || rows[0].Target != "m" || rows[0].Counted != 3 || rows[0].Failed != 1 {
		t.Fatalf("%+v", rows)
	}
	if got := rows[0].Floor["CPU s/GB out"]; math.Abs(got.Median-3) > 1e-9 || got.N != 3 {
		t.Errorf("%+v", got)
	}
	var b strings.Builder
	r.WriteTable(&b)
	for _, want := range []string{"W11", "CPU s/GB out", "3.00 x floor", "round 4: broke"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}

func TestOpenLoadsOnFloorsHaveNoConsumer(t *testing.T) {
	for _, l := range w4(Quick()) {
		floor := job(&l, &target.Instance{Target: target.Target{Kind: target.Floor}}, "t")
		broker := job(&l, &target.Instance{Target: target.Target{Kind: target.Millrace}}, "t")
		if floor.Fetch != nil || floor.Produce == nil || broker.Fetch == nil || broker.Produce == nil || !broker.Produce.Sleep {
			t.Errorf("%s: %+v %+v", l.ID, floor, broker)
		}
	}
	for _, l := range w7(Quick()) {
		if m := configs(target.Target{Kind: target.Millrace}, &l); m["write.caching"] != "true" {
			t.Errorf("%s: %v", l.ID, m)
		}
		if m := configs(target.Target{Kind: target.Kafka}, &l); m["write.caching"] != "" {
			t.Errorf("%s on Kafka: %v", l.ID, m)
		}
	}
}
