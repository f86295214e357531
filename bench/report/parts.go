package report

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"millrace/bench/rawgen"
	"millrace/bench/run"
)

// partCharts are the courses of what a workload with several parts is made of: latency of each part over all counted runs, and
// throughput over time of one run, that of the middle round.
func partCharts(c *run.Report, workload, pass string) []template.HTML {
	byPart := map[string]map[string][]*rawgen.Result{} // by part, by target
	for _, x := range c.Extras {
		if x.Workload != workload || x.Pass != pass || x.Error != "" || workload == "SOAK" { // SOAK has charts of its own
			continue
		}
		for name, r := range x.Parts {
			if r == nil {
				continue
			}
			if byPart[name] == nil {
				byPart[name] = map[string][]*rawgen.Result{}
			}
			byPart[name][x.Target] = append(byPart[name][x.Target], r)
		}
	}
	var out []template.HTML
	for _, name := range slices.Sorted(maps.Keys(byPart)) {
		title := workload + ", " + name
		lat := chart{title: "Latency, " + title, xName: "percentile", yName: "us", quantileX: true, logY: true}
		tput := chart{title: "Throughput over time, " + title, xName: "s", yName: "MB/s", fromZero: true}
		targets := slices.SortedFunc(maps.Keys(byPart[name]), func(a, b string) int { return cmp.Or(strings.Compare(rankOf(a), rankOf(b)), strings.Compare(a, b)) })
		for _, t := range targets {
			runs := byPart[name][t]
			if h := merged(runs); h != nil && h.TotalCount() > 100 {
				lat.series = append(lat.series, series{t, curve(h)})
			}
			if mid := runs[len(runs)/2]; len(mid.Intervals) > 2 {
				tput.series = append(tput.series, series{t, seconds(mid, func(s rawgen.Interval) float64 { return float64(s.Bytes) / 1e6 })})
			}
		}
		out = append(out, charts(&lat, &tput)...)
	}
	return out
}

// merged is the histogram of all samples of some runs; nil if none is stored.
func merged(runs []*rawgen.Result) *hdrhistogram.Histogram {
	var sum *hdrhistogram.Histogram
	for _, r := range runs {
		d := latency(r)
		if d == nil || d.Encoded == "" {
			continue
		}
		h, err := hdrhistogram.Decode([]byte(d.Encoded))
		if err != nil {
			continue // the quantiles are in the table still
		}
		if sum == nil {
			sum = h
		} else {
			sum.Merge(h)
		}
	}
	return sum
}
