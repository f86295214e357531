package report

import (
	"fmt"
	"html/template"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"millrace/bench/model"
	"millrace/bench/run"
	"millrace/bench/stats"
)

// view is everything that the page shows, as text.
type view struct {
	Title    string
	Facts    []string
	Commands []string
	Sections []section
}

// section is a heading with tables and charts.
type section struct {
	ID, Title, Note string
	Tables          []table
	Charts          []template.HTML
	After           []string // lines below
}

// table is cells of text; the first column is a name.
type table struct {
	Caption string
	Head    []string
	Rows    []row
}

type row struct {
	Cells []string
	Floor bool
	Miss  bool
	Chart template.HTML
}

func makeView(in *Input) *view {
	v := &view{Title: "Millrace measured"}
	if c := in.Campaign; c != nil {
		m := c.Meta
		v.Facts = append(v.Facts, fmt.Sprintf("%s, %d CPUs, %d MB, Linux %s, %s", m.CPU, m.CPUs, m.MemoryMB, m.Kernel, m.Go),
			fmt.Sprintf("Measured %s to %s, version %s", m.Started.UTC().Format(time.DateTime), m.Ended.UTC().Format(time.DateTime), m.Version))
		if s := c.StolenLine(); s != "" {
			v.Facts = append(v.Facts, s)
		}
		for _, args := range append([][]string{m.Command}, m.Further...) {
			if line := commandLine(args); !slices.Contains(v.Commands, line) {
				v.Commands = append(v.Commands, line)
			}
		}
		for _, p := range m.Passes {
			if t := overview(c, p.Name); len(t.Rows) > 0 {
				v.Sections = append(v.Sections, section{ID: p.Name + "-all", Title: "Overview, " + p.Name, Note: "Medians ± (max−min)/median. What stands below a bold line belongs to its load.", Tables: []table{t}})
			}
			for _, l := range c.Loads {
				if s, ok := loadSection(c, l, p); ok {
					v.Sections = append(v.Sections, s)
				}
			}
			v.Sections = append(v.Sections, extraSections(c, p)...)
			if s, ok := startSection(c, p); ok {
				v.Sections = append(v.Sections, s)
			}
			if s, ok := cpuSection(c, p); ok {
				v.Sections = append(v.Sections, s)
			}
		}
	}
	for _, s := range in.Sweeps {
		if len(v.Facts) == 0 {
			v.Facts = append(v.Facts, fmt.Sprintf("%s, %d CPUs, %d MB, Linux %s, %s", s.Meta.CPU, s.Meta.CPUs, s.Meta.MemoryMB, s.Meta.Kernel, s.Meta.Go))
		}
		v.Commands = append(v.Commands, commandLine(s.Meta.Command))
		v.Sections = append(v.Sections, modelSections(s)...)
	}
	v.Facts = append(v.Facts, "Medians; ± is (max−min)/median over the runs; × are medians of ratios within a round. Differences below 25 % are noise unless repeated. Figures are compared within a durability class only.")
	return v
}

func loadSection(c *run.Report, l run.Load, p run.Pass) (section, bool) {
	s := section{ID: p.Name + "-" + l.ID, Title: l.ID + ", " + p.Name, Note: fmt.Sprintf("%s. Durability: %s. Floor: %s.", l.Title, l.Class, l.Floor)}
	if l.FloorLoad != "" {
		s.Note = strings.TrimSuffix(s.Note, ".") + " under " + l.FloorLoad + "."
	}
	t := table{Head: []string{"target", "runs", l.Unit, "±", "× floor", "CPU", "× floor", "p50 us", "× floor", "p99 us", "× floor", "p99.9 us", "RSS MB", "fds", "disk/payload", "lag p99 us"}}
	lat := chart{title: "Latency, " + l.ID, xName: "percentile", yName: "us", quantileX: true, logY: true}
	tput := chart{title: "Throughput over time, median run, " + l.ID, xName: "s", yName: "MB/s", fromZero: true}
	rows := slices.DeleteFunc(slices.Clone(c.Rows), func(r run.Row) bool { return r.Load != l.ID || r.Pass != p.Name })
	slices.SortStableFunc(rows, func(a, b run.Row) int { return strings.Compare(rankOf(a.Target), rankOf(b.Target)) })
	for _, r := range rows {
		n := fmt.Sprint(r.Counted)
		if r.Failed > 0 {
			n += fmt.Sprintf(" (%d failed)", r.Failed)
		}
		x, f := r.Values, r.Ratios["floor"]
		t.Rows = append(t.Rows, row{Floor: isFloor(r.Target), Cells: []string{r.Target, n, med(x["throughput"]), spread(x["throughput"]), ratio(f["throughput"]), med(x["cpu"]), ratio(f["cpu"]), med(x["p50"]), ratio(f["p50"]), med(x["p99"]), ratio(f["p99"]), med(x["p999"]), med(x["rss"]), med(x["fds"]), med(x["disk"]), med(x["lag p99"])}})
		if h := joined(c, p.Name, l.ID, r.Target); h != nil {
			lat.series = append(lat.series, series{r.Target, curve(h)})
		}
		if pts := overTime(c, p.Name, l.ID, r.Target); pts != nil {
			tput.series = append(tput.series, series{r.Target, pts})
		}
		for i := range rows {
			other := rows[i].Target
			if v, ok := r.Ratios[other]; ok && !isFloor(other) && !isFloor(r.Target) && other > r.Target {
				s.After = append(s.After, fmt.Sprintf("%s / %s: throughput %s, CPU %s, p50 %s, p99 %s", r.Target, other, ratio(v["throughput"]), ratio(v["cpu"]), ratio(v["p50"]), ratio(v["p99"])))
			}
		}
		if v, ok := r.Ratios["load "+l.Against]; ok {
			s.After = append(s.After, fmt.Sprintf("%s: throughput %s of that under %s", r.Target, ratio(v["throughput"]), l.Against))
		}
	}
	s.Tables = []table{t}
	s.Charts = charts(&lat, &tput)
	return s, len(rows) > 0
}

func charts(cs ...*chart) []template.HTML {
	var out []template.HTML
	for _, c := range cs {
		if len(c.series) > 0 {
			out = append(out, c.svg())
		}
	}
	return out
}

func extraSections(c *run.Report, p run.Pass) []section {
	var out []section
	for _, r := range c.ExtraRows() {
		if r.Pass != p.Name {
			continue
		}
		id := p.Name + "-" + r.Workload
		if len(out) == 0 || out[len(out)-1].ID != id {
			out = append(out, section{ID: id, Title: r.Workload + ", " + p.Name, Note: r.Title + "."})
		}
		s := &out[len(out)-1]
		t := table{Caption: fmt.Sprintf("%s, %d runs, %s", r.Target, r.Counted, r.Class), Head: []string{"figure", "median", "±", "× floor"}}
		if r.Failed > 0 {
			t.Caption += fmt.Sprintf(", %d failed", r.Failed)
		}
		for _, name := range slices.Sorted(maps.Keys(r.Values)) {
			t.Rows = append(t.Rows, row{Floor: isFloor(r.Target), Cells: []string{name, med(r.Values[name]), spread(r.Values[name]), ratio(r.Floor[name])}})
		}
		s.Tables = append(s.Tables, t)
	}
	for i := range out {
		for _, x := range c.Extras {
			if p.Name+"-"+x.Workload != out[i].ID || x.Pass != p.Name {
				continue
			}
			if x.Error != "" {
				out[i].After = append(out[i].After, fmt.Sprintf("%s, round %d failed: %s", x.Target, x.Round, x.Error))
			}
			for _, n := range x.Notes {
				out[i].After = append(out[i].After, fmt.Sprintf("%s, round %d: %s", x.Target, x.Round, n))
			}
			out[i].Charts = append(out[i].Charts, seriesCharts(&x)...)
		}
		out[i].Charts = append(out[i].Charts, partCharts(c, strings.TrimPrefix(out[i].ID, p.Name+"-"), p.Name)...)
	}
	return out
}

// seriesCharts are the courses of a long run: memory, and latency second by second.
func seriesCharts(x *run.Extra) []template.HTML {
	if len(x.Series) < 3 {
		return nil
	}
	rss := chart{title: "Memory of " + x.Target, xName: "s", yName: "MB", fromZero: true}
	fds := chart{title: "Descriptors and goroutines of " + x.Target, xName: "s", yName: "", fromZero: true}
	var a, b, g, taken []point
	for _, s := range x.Series {
		a = append(a, point{s.Second, float64(s.RSSBytes) / 1e6})
		b = append(b, point{s.Second, float64(s.Descriptors)})
		g = append(g, point{s.Second, float64(s.Goroutines)})
		taken = append(taken, point{s.Second, 100 * s.Stolen})
	}
	rss.series = []series{{"RSS", a}}
	fds.series = []series{{"descriptors", b}, {"goroutines", g}}
	lat := chart{title: "p99 of each second, " + x.Target, xName: "s", yName: "us", logY: true}
	if r := x.Parts["soak"]; r != nil {
		for _, i := range r.Intervals[:max(0, len(r.Intervals)-1)] {
			if n := len(lat.series); n == 0 {
				lat.series = []series{{name: "p99"}}
			}
			lat.series[0].points = append(lat.series[0].points, point{float64(i.Second), float64(max(1, i.P99))})
		}
	}
	host := chart{title: "CPU time that the host took, " + x.Target, xName: "s", yName: "%", fromZero: true, series: []series{{"taken", taken}}}
	return charts(&rss, &fds, &lat, &host)
}

func startSection(c *run.Report, p run.Pass) (section, bool) {
	t := table{Head: []string{"target", "start", "runs", "listens ms", "ready ms", "first ack ms", "±", "stop ms", "idle RSS MB", "idle cores", "acked", "lost"}}
	type key struct{ target, kind string }
	var order []key
	groups := map[key][]run.Start{}
	s := section{ID: p.Name + "-W9", Title: "W9, " + p.Name, Note: "Start from an empty directory, from data left by a clean stop, and from data left by kill -9 under W1; from exec."}
	for _, x := range c.Starts {
		if x.Pass != p.Name {
			continue
		}
		k := key{x.Target, x.Kind}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], x)
		if x.Error != "" {
			s.After = append(s.After, fmt.Sprintf("%s %s round %d failed: %s", x.Target, x.Kind, x.Round, x.Error))
		}
	}
	for _, k := range order {
		pick := func(f func(*run.Start) float64) stats.Summary { return run.SummarizeStarts(groups[k], f) }
		acked, lost := int64(0), int64(0)
		for _, x := range groups[k] {
			acked, lost = acked+x.AckedBefore, lost+x.Lost
		}
		first := pick(func(x *run.Start) float64 { return x.FirstAckMs })
		t.Rows = append(t.Rows, row{Miss: lost > 0, Cells: []string{k.target, k.kind, fmt.Sprint(first.N), med(pick(func(x *run.Start) float64 { return x.ListenMs })), med(pick(func(x *run.Start) float64 { return x.ReadyMs })), med(first), spread(first),
			med(pick((*run.Start).Stop)), med(pick(func(x *run.Start) float64 { mb, _ := x.Idle(); return mb })), med(pick(func(x *run.Start) float64 { _, cores := x.Idle(); return cores })), fmt.Sprint(acked), fmt.Sprint(lost)}})
	}
	s.Tables = []table{t}
	return s, len(order) > 0
}

func cpuSection(c *run.Report, p run.Pass) (section, bool) {
	s := section{ID: p.Name + "-cpu", Title: "Where CPU time goes, " + p.Name, Note: "Samples of runtime/pprof by subsystem, from runs that are not counted."}
	t := table{Head: []string{"load", "target", "shares", "most of it in"}}
	colour := map[string]int{}
	for _, pr := range c.Profiles {
		if pr.Pass != p.Name {
			continue
		}
		if pr.Error != "" {
			s.After = append(s.After, fmt.Sprintf("%s under %s: %s", pr.Target, pr.Load, pr.Error))
			continue
		}
		var bars []bar
		var top []string
		for _, sh := range pr.Shares {
			if sh.Fraction < 0.005 {
				continue
			}
			if _, ok := colour[sh.Subsystem]; !ok {
				colour[sh.Subsystem] = len(colour)
			}
			bars = append(bars, bar{sh.Subsystem, sh.Fraction})
			if len(sh.Top) > 0 && len(top) < 3 {
				top = append(top, sh.Top[0].Name)
			}
		}
		t.Rows = append(t.Rows, row{Cells: []string{pr.Load, pr.Target, barText(bars), strings.Join(top, ", ")}, Chart: stack(bars, colour)})
	}
	s.Tables = []table{t}
	return s, len(t.Rows) > 0
}

func barText(bars []bar) string {
	var out []string
	for _, b := range bars {
		out = append(out, fmt.Sprintf("%s %.0f %%", b.name, b.fraction*100))
	}
	return strings.Join(out, ", ")
}

func modelSections(r *model.Report) []section {
	s := section{ID: "model-" + r.Target, Title: "The batching model on " + r.Target}
	if c := r.Costs; c != nil {
		var names []string
		for _, cell := range c.Cells {
			names = append(names, cell.Name)
		}
		s.Note = fmt.Sprintf("Frozen costs from the cells %s on %s: %s.", strings.Join(names, ", "), c.Target, c)
	}
	if sc := r.Score(); sc.Cells > 0 {
		s.After = append(s.After, fmt.Sprintf("Within 20 %%: throughput in %d of %d cells, requests/s in %d, both in %d.", sc.Records, sc.Cells, sc.Requests, sc.Both))
		for _, t := range r.Others() {
			s.After = append(s.After, t.String()+".")
		}
	}
	t := table{Caption: "Prediction beside measurement", Head: []string{"cell", "MB/s", "predicted", "error", "req/s", "predicted", "error", "rec/batch", "predicted", "batch/req", "predicted", "p50 us", "predicted", "client", "predicted", "broker", "predicted", "bound", "±"}}
	requests := chart{title: "Requests/s, predicted over measured (lines: ±20 %)", xName: "measured", yName: "predicted", logX: true, logY: true, dots: true, diagonal: true}
	through := chart{title: "MB/s, predicted over measured (lines: ±20 %)", xName: "measured", yName: "predicted", logX: true, logY: true, dots: true, diagonal: true}
	clouds := map[string]*[2]series{}
	var order []string
	for k := range r.Cells {
		c := &r.Cells[k]
		if c.Measured == nil || c.Predicted == nil {
			continue
		}
		m, p := c.Measured, c.Predicted
		a, b := p.RecordsPerSec/m.RecordsPerSec-1, p.RequestsPerSec/m.RequestsPerSec-1
		two := func(x, y float64, f string) []string { return []string{fmt.Sprintf(f, x), fmt.Sprintf(f, y)} }
		cells := []string{c.Name}
		cells = append(cells, two(m.MBPerSec, p.MBPerSec, "%.1f")...)
		cells = append(cells, fmt.Sprintf("%+.0f %%", a*100))
		cells = append(cells, two(m.RequestsPerSec, p.RequestsPerSec, "%.0f")...)
		cells = append(cells, fmt.Sprintf("%+.0f %%", b*100))
		cells = append(cells, two(m.RecordsPerBatch, p.RecordsPerBatch, "%.1f")...)
		cells = append(cells, two(m.BatchesPerRequest, p.BatchesPerRequest, "%.1f")...)
		cells = append(cells, two(m.P50, p.P50, "%.0f")...)
		cells = append(cells, two(m.ClientCores, p.ClientCores, "%.2f")...)
		cells = append(cells, two(m.BrokerCores, p.BrokerCores, "%.2f")...)
		t.Rows = append(t.Rows, row{Miss: math.Abs(a) > model.Within || math.Abs(b) > model.Within, Cells: append(cells, p.Bound, fmt.Sprintf("%.0f %%", m.Spread*100))})
		if clouds[p.Bound] == nil {
			clouds[p.Bound] = &[2]series{{name: p.Bound}, {name: p.Bound}}
			order = append(order, p.Bound)
		}
		cl := clouds[p.Bound]
		cl[0].points = append(cl[0].points, point{m.RequestsPerSec, p.RequestsPerSec})
		cl[1].points = append(cl[1].points, point{m.MBPerSec, p.MBPerSec})
	}
	for _, o := range order {
		requests.series = append(requests.series, clouds[o][0])
		through.series = append(through.series, clouds[o][1])
	}
	s.Charts = charts(&requests, &through)
	if pairs := r.Pairs(); len(pairs) > 0 {
		g := table{Caption: "Grouping by broker against one request per partition", Head: []string{"cell", "req/s grouped", "single", "MB/s", "single", "client cores", "single", "broker cores", "single", "p50 us", "single", "p99 us", "single"}}
		for _, p := range pairs {
			a, b := p.Grouped.Measured, p.Single.Measured
			g.Rows = append(g.Rows, row{Cells: []string{p.Grouped.Name, number(a.RequestsPerSec), number(b.RequestsPerSec), number(a.MBPerSec), number(b.MBPerSec), number(a.ClientCores), number(b.ClientCores), number(a.BrokerCores), number(b.BrokerCores), number(a.P50), number(b.P50), number(a.P99), number(b.P99)}})
		}
		s.Tables = append(s.Tables, g)
	}
	s.Tables = append(s.Tables, t)
	return []section{s}
}

// commandLine is a command as a shell takes it, the program by its name alone.
func commandLine(args []string) string {
	out := make([]string, len(args))
	for i, a := range args {
		if i == 0 {
			a = filepath.Base(a)
		}
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$`*?#&;|<>(){}[]~!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out[i] = a
	}
	return strings.Join(out, " ")
}

func isFloor(name string) bool { return strings.HasPrefix(name, "floor-") }

func rankOf(name string) string { // brokers first
	if isFloor(name) {
		return "1"
	}
	return "0"
}

func med(s stats.Summary) string {
	if s.N == 0 {
		return "–"
	}
	return number(s.Median)
}

func spread(s stats.Summary) string {
	if s.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", math.Abs(s.Spread())*100)
}

func ratio(s stats.Summary) string {
	if s.N == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", s.Median)
}

func number(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e6:
		return fmt.Sprintf("%.2fM", v/1e6)
	case a >= 1e5:
		return fmt.Sprintf("%.0fk", v/1e3)
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3g", v)
}
