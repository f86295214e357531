package run

import (
	"cmp"
	"slices"

	"millrace/bench/stats"
)

// Row is what the table says of one target under one load. Summaries are over the counted runs; ratios pair by pair.
type Row struct {
	Load    string                              `json:"load"`
	Pass    string                              `json:"pass"`
	Target  string                              `json:"target"`
	Counted int                                 `json:"counted"`
	Failed  int                                 `json:"failed"`
	Values  map[string]stats.Summary            `json:"values"`
	Ratios  map[string]map[string]stats.Summary `json:"ratios"` // by what it is compared with: "floor", "kafka", ...; then by figure
}

// Compared figures: throughput and CPU as the load counts them, and latencies.
var compared = []string{"throughput", "cpu", "p50", "p99", "p999"}

// Summarize computes the rows of a report, in the order in which its targets were named.
func (r *Report) Summarize() {
	type key struct{ pass, load, target string }
	series := map[key]map[string]map[int]float64{}
	counted, failed := map[key]int{}, map[key]int{}
	var order []key
	for i := range r.Runs {
		run := &r.Runs[i]
		l := r.load(run.Load)
		if l == nil || run.Round == 0 {
			continue
		}
		k := key{run.Pass, run.Load, run.Target}
		if series[k] == nil {
			series[k] = map[string]map[int]float64{}
			order = append(order, k)
		}
		if !run.Counts() {
			failed[k]++
			continue
		}
		counted[k]++
		for name, v := range l.values(run.Result) {
			if series[k][name] == nil {
				series[k][name] = map[int]float64{}
			}
			series[k][name][run.Round] = v
		}
	}
	// Targets in the order they were named, whoever had the first turn of round 1.
	rank := map[string]int{}
	for i, t := range r.Meta.Targets {
		if _, ok := rank[t.Name]; !ok {
			rank[t.Name] = i
		}
	}
	slices.SortStableFunc(order, func(a, b key) int { return cmp.Compare(rank[a.target], rank[b.target]) })
	r.Rows = nil
	for _, k := range order {
		l := r.load(k.load)
		row := Row{Load: k.load, Pass: k.pass, Target: k.target, Counted: counted[k], Failed: failed[k], Values: map[string]stats.Summary{}, Ratios: map[string]map[string]stats.Summary{}}
		for name, byRound := range series[k] {
			var v []float64
			for _, x := range byRound {
				v = append(v, x)
			}
			row.Values[name] = stats.Summarize(v)
		}
		compare := func(label string, base key) {
			ratios := map[string]stats.Summary{}
			for _, name := range compared {
				if s := stats.Ratios(series[k][name], series[base][name]); s.N > 0 {
					ratios[name] = s
				}
			}
			if len(ratios) > 0 {
				row.Ratios[label] = ratios
			}
		}
		floorLoad := l.ID
		if l.FloorLoad != "" {
			floorLoad = l.FloorLoad
		}
		compare("floor", key{k.pass, floorLoad, l.Floor})
		if l.Against != "" {
			compare("load "+l.Against, key{k.pass, l.Against, k.target})
		}
		for _, other := range order {
			if other.pass == k.pass && other.load == k.load && other.target != k.target && other.target != l.Floor {
				compare(other.target, other)
			}
		}
		r.Rows = append(r.Rows, row)
	}
}
