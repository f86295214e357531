package run_test

import (
	"testing"
	"time"

	"millrace/bench/run"
)

func TestPartsFitTheTime(t *testing.T) {
	parts := run.Parts([]string{"W1", "W4", "SOAK", "W5"}, 7, 1, 3, 20*time.Minute)
	rounds := map[string]int{}
	for _, p := range parts {
		rounds[p.Workload] += p.Rounds
	}
	if rounds["W1"] != 7 || rounds["W4"] != 7 || rounds["SOAK"] != 1 || rounds["W5"] != 7 {
		t.Errorf("%v", parts)
	}
	if len(parts) <= 4 || parts[0].Name != "W1.1" || parts[2].Name != "W4.1" {
		t.Errorf("%v", parts)
	}
}

// TestMergeGoesOnCounting: rounds of a second part stand behind those of the first, so that ratios stay within a round.
func TestMergeGoesOnCounting(t *testing.T) {
	loads, err := run.Workloads([]string{"W5"}, run.Quick())
	if err != nil {
		t.Fatal(err)
	}
	part := func(requests int64) *run.Report {
		r := &run.Report{Loads: loads, Meta: run.Meta{Started: time.Unix(requests, 0), Passes: []run.Pass{{Workloads: []string{"W5"}}}}}
		r.Runs = append(r.Runs, fake("W5-acks1", "m", 0, 1), fake("W5-acks1", "m", 1, requests), fake("W5-acks1", "floor-echo", 1, requests*2))
		r.Extras = append(r.Extras, run.Extra{Workload: "W11", Target: "m", Round: 1})
		return r
	}
	m := run.Merge([]*run.Report{part(100), part(900)})
	for _, row := range m.Rows {
		if row.Load == "W5-acks1" && row.Target == "m" {
			if row.Counted != 2 || row.Ratios["floor"]["throughput"].N != 2 || row.Ratios["floor"]["throughput"].Median != 0.5 {
				t.Errorf("%+v", row)
			}
		}
	}
	if len(m.Rows) != 2 || len(m.Extras) != 2 || m.Extras[1].Round != 2 || len(m.Meta.Passes) != 1 || m.Meta.Started.Unix() != 100 {
		t.Errorf("%+v", m)
	}
}
