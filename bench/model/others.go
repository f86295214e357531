package model

import (
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// quantity is something that is predicted beside the two figures that a cell is judged by.
type quantity struct {
	name                string
	predicted, measured func(*Cell) float64
}

var quantities = []quantity{
	{"fill", func(c *Cell) float64 { return c.Predicted.Fill }, func(c *Cell) float64 { return c.Measured.Fill }},
	{"wait us", func(c *Cell) float64 { return c.Predicted.Wait }, func(c *Cell) float64 { return c.Measured.Wait }},
	{"answer us", func(c *Cell) float64 { return c.Predicted.RoundTrip }, func(c *Cell) float64 { return c.Measured.RoundTrip }},
	{"p50 us", func(c *Cell) float64 { return c.Predicted.P50 }, func(c *Cell) float64 { return c.Measured.P50 }},
	{"p99 us", func(c *Cell) float64 { return c.Predicted.P99 }, func(c *Cell) float64 { return c.Measured.P99 }},
	{"client cores", func(c *Cell) float64 { return c.Predicted.ClientCores }, func(c *Cell) float64 { return c.Measured.ClientCores }},
	{"broker cores", func(c *Cell) float64 { return c.Predicted.BrokerCores }, func(c *Cell) float64 { return c.Measured.BrokerCores }},
}

// Told says how often a quantity was predicted within the allowed error, at a rate and as fast as it goes.
type Told struct {
	Name                              string
	Paced, OfPaced, Unpaced, OfUnpace int
}

// blockedShare of the time is taken for an application that buffer.memory held up.
const blockedShare = 0.05

// Others counts what is predicted beside throughput and requests/s.
func (r *Report) Others() []Told {
	count := func(name string, right func(*Cell) bool) Told {
		t := Told{Name: name}
		for k := range r.Cells {
			c := &r.Cells[k]
			if c.Predicted == nil || c.Measured == nil {
				continue
			}
			met, of := &t.Unpaced, &t.OfUnpace
			if c.Settings.Rate > 0 {
				met, of = &t.Paced, &t.OfPaced
			}
			*of++
			if right(c) {
				*met++
			}
		}
		return t
	}
	var out []Told
	for _, q := range quantities {
		out = append(out, count(q.name, func(c *Cell) bool { return math.Abs(off(q.predicted(c), q.measured(c))) <= Within }))
	}
	return append(out, count("buffer.memory exhausted or not", func(c *Cell) bool { return c.Predicted.Exhausted == (c.Measured.Blocked > blockedShare) }))
}

// writeOthers prints what is predicted beside throughput and requests/s, cell by cell, and how well.
func (r *Report) writeOthers(out io.Writer) {
	fmt.Fprintln(out, "\nBeside these, each measured, predicted")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "cell\t±\t")
	for _, q := range quantities {
		fmt.Fprintf(w, "%s\tpred.\t", q.name)
	}
	fmt.Fprintln(w, "blocked\texhausted\tafter s\t")
	for k := range r.Cells {
		c := &r.Cells[k]
		if c.Predicted == nil || c.Measured == nil {
			continue
		}
		fmt.Fprintf(w, "%s\t%.0f %%\t", c.Name, c.Measured.Spread*100)
		for _, q := range quantities {
			fmt.Fprintf(w, "%.3g\t%.3g\t", q.measured(c), q.predicted(c))
		}
		exhausted, after := "no", "-"
		if c.Predicted.Exhausted {
			exhausted = "yes"
			if c.Predicted.ExhaustedAfter > 0 {
				after = fmt.Sprintf("%.2f", c.Predicted.ExhaustedAfter)
			}
		}
		fmt.Fprintf(w, "%.0f %%\t%s\t%s\t\n", c.Measured.Blocked*100, exhausted, after)
	}
	w.Flush()
	fmt.Fprintln(out)
	for _, t := range r.Others() {
		fmt.Fprintln(out, t)
	}
}

func (t Told) String() string {
	return fmt.Sprintf("%s: within 20 %% in %d of %d cells at a rate, in %d of %d as fast as it goes", t.Name, t.Paced, t.OfPaced, t.Unpaced, t.OfUnpace)
}
