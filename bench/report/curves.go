package report

import (
	"github.com/HdrHistogram/hdrhistogram-go"

	"millrace/bench/rawgen"
	"millrace/bench/run"
)

// quantiles of a latency curve, percent.
var quantiles = []float64{0, 10, 20, 30, 40, 50, 60, 70, 80, 85, 90, 93, 95, 97, 98, 99, 99.3, 99.5, 99.7, 99.9, 99.95, 99.97, 99.99, 99.995, 99.999}

// latency is what a run is about: end to end if it has that.
func latency(r *rawgen.Result) *rawgen.Dist {
	if r.EndToEnd != nil {
		return r.EndToEnd
	}
	return r.Latency
}

// joined is the histogram of all counted runs of a load on a target; nil if none is stored.
func joined(c *run.Report, pass, load, target string) *hdrhistogram.Histogram {
	var runs []*rawgen.Result
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Load == load && r.Target == target && r.Pass == pass && r.Counts() {
			runs = append(runs, r.Result)
		}
	}
	return merged(runs)
}

// curve is latency in us over quantiles, as far as the number of samples carries.
func curve(h *hdrhistogram.Histogram) []point {
	var out []point
	for _, q := range quantiles {
		if q > 50 && float64(h.TotalCount())*(100-q)/100 < 1 {
			break
		}
		out = append(out, point{q, float64(h.ValueAtQuantile(q)) / 1000})
	}
	return out
}

// overTime is throughput per second, in MB/s, of the counted run with the median throughput.
func overTime(c *run.Report, pass, load, target string) []point {
	var runs []*rawgen.Result
	for i := range c.Runs {
		r := &c.Runs[i]
		if r.Load == load && r.Target == target && r.Pass == pass && r.Counts() && len(r.Result.Intervals) > 2 {
			runs = append(runs, r.Result)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	rate := func(r *rawgen.Result) float64 { return float64(r.PayloadBytes) / r.Seconds }
	best := runs[0]
	for _, r := range runs {
		below := 0
		for _, o := range runs {
			if rate(o) < rate(r) {
				below++
			}
		}
		if below == len(runs)/2 {
			best = r
		}
	}
	return seconds(best, func(s rawgen.Interval) float64 { return float64(s.Bytes) / 1e6 })
}

// seconds are the whole seconds of a run: the last one was cut short.
func seconds(r *rawgen.Result, value func(rawgen.Interval) float64) []point {
	var out []point
	for _, s := range r.Intervals[:max(0, len(r.Intervals)-1)] {
		out = append(out, point{float64(s.Second), value(s)})
	}
	return out
}
