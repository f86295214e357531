package model

import (
	"fmt"
	"io"
	"math"
	"strings"
	"text/tabwriter"
)

// Within is how far a prediction may lie from the measurement to count as met.
const Within = 0.20

// Score says how many cells' predictions are within the allowed error.
type Score struct {
	Cells, Records, Requests, Both int
}

// Score counts.
func (r *Report) Score() Score {
	var s Score
	for k := range r.Cells {
		records, requests, ok := r.Cells[k].off()
		if !ok {
			continue
		}
		s.Cells++
		a, b := math.Abs(records) <= Within, math.Abs(requests) <= Within
		if a {
			s.Records++
		}
		if b {
			s.Requests++
		}
		if a && b {
			s.Both++
		}
	}
	return s
}

// Misses are the cells outside the allowed error.
func (r *Report) Misses() []*Cell {
	var out []*Cell
	for k := range r.Cells {
		records, requests, ok := r.Cells[k].off()
		if ok && (math.Abs(records) > Within || math.Abs(requests) > Within) {
			out = append(out, &r.Cells[k])
		}
	}
	return out
}

// Pair is a cell and the same one with a request per partition.
type Pair struct{ Grouped, Single *Cell }

// Pairs finds the cells that show what grouping by broker saves.
func (r *Report) Pairs() []Pair {
	var out []Pair
	for k := range r.Cells {
		c := &r.Cells[k]
		if !c.Settings.PerPartition || c.Measured == nil {
			continue
		}
		s := c.Settings
		s.PerPartition = false
		if g := byName(r.Cells, s.name()); g != nil && g.Measured != nil {
			out = append(out, Pair{g, c})
		}
	}
	return out
}

// WriteTable prints prediction beside measurement.
func (r *Report) WriteTable(out io.Writer) {
	fmt.Fprintf(out, "%s, %d CPUs, Linux %s; target %s, %d runs of each cell, medians\n\n", r.Meta.CPU, r.Meta.CPUs, r.Meta.Kernel, r.Target, r.Rounds)
	if r.Costs != nil {
		r.Costs.write(out)
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nrate\tbatch.size\tlinger\tpart.\tflight\tMB/s\tpred.\terror\treq/s\tpred.\terror\trec/batch\tpred.\tbatch/req\tpred.\tp50 us\tpred.\tclient\tpred.\tbroker\tpred.\tbound\t")
	for k := range r.Cells {
		c := &r.Cells[k]
		s, p, m := c.Settings, c.Predicted, c.Measured
		if p == nil {
			continue
		}
		rate := "max"
		if s.Rate > 0 {
			rate = fmt.Sprintf("%g", s.Rate)
		}
		flight := fmt.Sprint(s.MaxInFlight)
		if s.PerPartition {
			flight += " single"
		}
		fmt.Fprintf(w, "%s\t%d\t%g\t%d\t%s\t", rate, s.BatchSize, float64(s.Linger)/1e6, s.Partitions, flight)
		if m == nil {
			m = &Measured{}
		}
		a, b, ok := c.off()
		percent := func(x float64) string {
			if !ok {
				return "-"
			}
			return fmt.Sprintf("%+.0f %%", x*100)
		}
		fmt.Fprintf(w, "%.1f\t%.1f\t%s\t%.0f\t%.0f\t%s\t%.1f\t%.1f\t%.1f\t%.1f\t%.0f\t%.0f\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t\n", m.MBPerSec, p.MBPerSec, percent(a), m.RequestsPerSec, p.RequestsPerSec, percent(b),
			m.RecordsPerBatch, p.RecordsPerBatch, m.BatchesPerRequest, p.BatchesPerRequest, m.P50, p.P50, m.ClientCores, p.ClientCores, m.BrokerCores, p.BrokerCores, p.Bound)
	}
	w.Flush()
	if s := r.Score(); s.Cells > 0 {
		n := float64(s.Cells)
		fmt.Fprintf(out, "\nWithin 20 %%: throughput %d of %d cells (%.0f %%), requests/s %d (%.0f %%), both %d (%.0f %%)\n", s.Records, s.Cells, float64(s.Records)/n*100, s.Requests, float64(s.Requests)/n*100, s.Both, float64(s.Both)/n*100)
	}
	r.writeMisses(out)
	r.writeOthers(out)
	r.writePairs(out)
}

// writeMisses says of each miss where prediction and measurement part.
func (r *Report) writeMisses(out io.Writer) {
	misses := r.Misses()
	if len(misses) == 0 {
		return
	}
	fmt.Fprintln(out, "\nOutside")
	for _, c := range misses {
		records, requests, _ := c.off()
		fmt.Fprintf(out, "  %s: throughput %+.0f %%, requests/s %+.0f %%: %s\n", c.Name, records*100, requests*100, c.why())
	}
}

// why names what a miss comes from, as far as the figures of its runs tell.
func (c *Cell) why() string {
	p, m := c.Predicted, c.Measured
	var out []string
	records, requests, _ := c.off()
	if wide := m.Spread; wide > Within {
		out = append(out, fmt.Sprintf("its own runs differ by %.0f %%", wide*100))
	}
	if x := off(p.RecordsPerBatch, m.RecordsPerBatch); math.Abs(x) > Within/2 {
		out = append(out, fmt.Sprintf("batches hold %.1f records instead of %.1f", m.RecordsPerBatch, p.RecordsPerBatch))
	}
	if x := off(p.BatchesPerRequest, m.BatchesPerRequest); math.Abs(x) > Within/2 {
		out = append(out, fmt.Sprintf("requests hold %.1f batches instead of %.1f", m.BatchesPerRequest, p.BatchesPerRequest))
	}
	per := func(cores, rate float64) float64 { return cores / rate * 1e6 } // CPU us a request
	switch {
	case c.Settings.Rate > 0 && math.Abs(records) <= Within:
		if len(out) == 0 {
			out = append(out, fmt.Sprintf("%.0f requests/s instead of %.0f carry the rate, with nearly as many batches each", m.RequestsPerSec, p.RequestsPerSec))
		}
	case requests > 0 && m.BrokerCores < 0.85 && m.ClientCores < 0.85 && c.Settings.MaxInFlight > 1:
		out = append(out, fmt.Sprintf("neither client (%.2f of a core) nor broker (%.2f) is busy: it waits for pages or the disk more than where it was calibrated", m.ClientCores, m.BrokerCores))
	default:
		out = append(out, fmt.Sprintf("a request takes the broker %.0f us of CPU (predicted %.0f) and the client %.0f (%.0f)", per(m.BrokerCores, m.RequestsPerSec), per(p.BrokerCores, p.RequestsPerSec), per(m.ClientCores, m.RequestsPerSec), per(p.ClientCores, p.RequestsPerSec)))
	}
	return strings.Join(out, "; ")
}

func (c *Costs) write(out io.Writer) {
	fmt.Fprintf(out, "Costs, frozen, from %d cells on %s: %s\n", len(c.Cells), c.Target, c)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "calibration cell\tMB/s\treq/s\trec/batch\tbatch/req\tanswer us\tclient cores\tbroker cores\t")
	for _, cell := range c.Cells {
		if m := cell.Measured; m != nil {
			fmt.Fprintf(w, "%s\t%.1f\t%.0f\t%.1f\t%.1f\t%.1f\t%.2f\t%.2f\t\n", cell.Name, m.MBPerSec, m.RequestsPerSec, m.RecordsPerBatch, m.BatchesPerRequest, m.RoundTrip, m.ClientCores, m.BrokerCores)
		}
	}
	w.Flush()
}

func (r *Report) writePairs(out io.Writer) {
	pairs := r.Pairs()
	if len(pairs) == 0 {
		return
	}
	fmt.Fprintln(out, "\nGrouping by broker against one request per partition")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "cell\treq/s grouped\tsingle\tMB/s\tsingle\tclient cores\tsingle\tbroker cores\tsingle\tp50 us\tsingle\tp99\tsingle\t")
	for _, p := range pairs {
		g, s := p.Grouped.Measured, p.Single.Measured
		fmt.Fprintf(w, "%s\t%.0f\t%.0f\t%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f\t%.0f\t%.0f\t\n", p.Grouped.Name, g.RequestsPerSec, s.RequestsPerSec, g.MBPerSec, s.MBPerSec, g.ClientCores, s.ClientCores, g.BrokerCores, s.BrokerCores, g.P50, s.P50, g.P99, s.P99)
	}
	w.Flush()
}

// WriteBest prints the first few choices.
func WriteBest(out io.Writer, choices []Choice, n int) {
	if len(choices) == 0 {
		fmt.Fprintln(out, "No setting carries that rate within that latency.")
		return
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "batch.size\tlinger.ms\tin flight\treq/s\trec/batch\tbatch/req\tp50 us\tp99 us\tclient cores\tbroker cores\t")
	for _, c := range choices[:min(n, len(choices))] {
		s, p := c.Settings, c.Prediction
		fmt.Fprintf(w, "%d\t%g\t%d\t%.0f\t%.1f\t%.1f\t%.0f\t%.0f\t%.3f\t%.3f\t\n", s.BatchSize, float64(s.Linger)/1e6, s.MaxInFlight, p.RequestsPerSec, p.RecordsPerBatch, p.BatchesPerRequest, p.P50, p.P99, p.ClientCores, p.BrokerCores)
	}
	w.Flush()
}
