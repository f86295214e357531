package run

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"millrace/bench/stats"
)

// WriteTable prints medians, spreads and ratios.
func (r *Report) WriteTable(out io.Writer) {
	m := r.Meta
	fmt.Fprintf(out, "%s, %d CPUs, %d MB, Linux %s, %s\n", m.CPU, m.CPUs, m.MemoryMB, m.Kernel, m.Go)
	if s := r.StolenLine(); s != "" {
		fmt.Fprintln(out, s)
	}
	for _, p := range m.Passes {
		for i := range r.Loads {
			r.loadTable(out, &r.Loads[i], p)
		}
		r.startTable(out, p)
		r.extraTable(out, p)
		r.profileTable(out, p)
	}
	fmt.Fprintln(out, "\nMedians; ± is (max-min)/median over the runs; x ratios are medians of ratios within a round. Differences below 25 % are noise unless repeated.")
}

func (r *Report) rows(load, pass string) []Row {
	var out []Row
	for _, row := range r.Rows {
		if row.Load == load && row.Pass == pass {
			out = append(out, row)
		}
	}
	slices.SortStableFunc(out, func(a, b Row) int { // brokers first, then floors
		return strings.Compare(fmt.Sprint(strings.HasPrefix(a.Target, "floor-")), fmt.Sprint(strings.HasPrefix(b.Target, "floor-")))
	})
	return out
}

func (r *Report) loadTable(out io.Writer, l *Load, p Pass) {
	rows := r.rows(l.ID, p.Name)
	if len(rows) == 0 {
		return
	}
	at := ""
	if l.FloorLoad != "" {
		at = " under " + l.FloorLoad
	}
	fmt.Fprintf(out, "\n%s, %s, %s [%s]; floor: %s%s\n", l.ID, p.describe(), l.Title, l.Class, l.Floor, at)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "target\tn\t%s\t±\tx floor\tCPU %s\tx floor\tp50 us\tx floor\tp99\tx floor\tp99.9\tRSS MB\tfds\tdisk/payload\tgen cores\tlag p99\t\n", l.Unit, l.cpuUnit())
	for _, row := range rows {
		v, f := row.Values, row.Ratios["floor"]
		n := fmt.Sprint(row.Counted)
		if row.Failed > 0 {
			n += fmt.Sprintf("(%d failed)", row.Failed)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%.0f%%\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", row.Target, n, number(v["throughput"].Median), v["throughput"].Spread()*100, ratio(f["throughput"]),
			value(v["cpu"]), ratio(f["cpu"]), value(v["p50"]), ratio(f["p50"]), value(v["p99"]), ratio(f["p99"]), value(v["p999"]), value(v["rss"]), value(v["fds"]), value(v["disk"]), value(v["gen cores"]), value(v["lag p99"]))
	}
	w.Flush()
	for _, row := range rows {
		if v, ok := row.Ratios["load "+l.Against]; ok {
			fmt.Fprintf(out, "  %s: throughput %s of that under %s\n", row.Target, ratio(v["throughput"]), l.Against)
		}
	}
	r.against(out, rows)
}

// against prints what brokers are to each other: each against every later one.
func (r *Report) against(out io.Writer, rows []Row) {
	for i, row := range rows {
		for _, other := range rows[i+1:] {
			ratios, ok := row.Ratios[other.Target]
			if !ok || strings.HasPrefix(other.Target, "floor-") {
				continue
			}
			fmt.Fprintf(out, "  %s / %s: throughput %s, CPU %s, p50 %s, p99 %s, p99.9 %s\n", row.Target, other.Target,
				ratio(ratios["throughput"]), ratio(ratios["cpu"]), ratio(ratios["p50"]), ratio(ratios["p99"]), ratio(ratios["p999"]))
		}
	}
}

func (r *Report) startTable(out io.Writer, p Pass) {
	type key struct{ target, kind string }
	var order []key
	groups := map[key][]Start{}
	for _, s := range r.Starts {
		if s.Pass != p.Name {
			continue
		}
		k := key{s.Target, s.Kind}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	if len(order) == 0 {
		return
	}
	fmt.Fprintf(out, "\nW9, %s, time from exec (empty: empty directory; clean: after a clean stop; killed: after kill -9 under W1)\n", p.describe())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "target\tstart\tn\tlistens ms\tready ms\tfirst ack ms\t±\tstop ms\tidle RSS MB\tidle cores\tkept MB\tpartitions\tacked\tlost\t")
	for _, k := range order {
		pick := func(f func(*Start) float64) stats.Summary { return SummarizeStarts(groups[k], f) }
		lost, acked, failed := int64(0), int64(0), 0
		for _, s := range groups[k] {
			lost += s.Lost
			acked += s.AckedBefore
			if s.Error != "" {
				failed++
			}
		}
		first := pick(func(s *Start) float64 { return s.FirstAckMs })
		n := fmt.Sprint(first.N)
		if failed > 0 {
			n += fmt.Sprintf("(%d failed)", failed)
		}
		g := groups[k][0]
		fmt.Fprintf(w, "%s\t%s\t%s\t%.1f\t%.1f\t%.1f\t%.0f%%\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t\n", k.target, k.kind, n, pick(func(s *Start) float64 { return s.ListenMs }).Median,
			pick(func(s *Start) float64 { return s.ReadyMs }).Median, first.Median, first.Spread()*100, value(pick((*Start).Stop)),
			value(pick(func(s *Start) float64 { mb, _ := s.Idle(); return mb })), value(pick(func(s *Start) float64 { _, cores := s.Idle(); return cores })), g.KeptBytes/1e6, g.KeptParts, acked, lost)
	}
	w.Flush()
	for _, s := range r.Starts {
		if s.Error != "" && s.Pass == p.Name {
			fmt.Fprintf(out, "  %s %s round %d: %s\n", s.Target, s.Kind, s.Round, s.Error)
		}
	}
}

func (r *Report) profileTable(out io.Writer, p Pass) {
	for _, pr := range r.Profiles {
		if pr.Pass != p.Name || len(pr.Shares) == 0 {
			continue
		}
		fmt.Fprintf(out, "\nCPU of %s under %s, %s, %d s profile\n", pr.Target, pr.Load, p.describe(), pr.Seconds)
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, s := range pr.Shares {
			if s.Fraction < 0.005 {
				continue
			}
			top := ""
			if len(s.Top) > 0 {
				top = s.Top[0].Name
			}
			fmt.Fprintf(w, "  %s\t%5.1f %%\t%.2f s\t%s\n", s.Subsystem, s.Fraction*100, s.Seconds, top)
		}
		w.Flush()
	}
}

func (p Pass) describe() string {
	if p.BrokerCPUs == "" {
		return fmt.Sprintf("%s: %d loops, no pinning", p.Name, p.Loops)
	}
	return fmt.Sprintf("%s: %d loop(s) on CPU %s, generator on %s", p.Name, p.Loops, p.BrokerCPUs, p.GenCPUs)
}

func ratio(s stats.Summary) string {
	if s.N == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", s.Median)
}

func value(s stats.Summary) string {
	if s.N == 0 {
		return "-"
	}
	return number(s.Median)
}

// number prints three digits that matter, and thousands and millions short.
func number(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.2fM", v/1e6)
	case v >= 1e5:
		return fmt.Sprintf("%.0fk", v/1e3)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.3g", v)
	}
}
