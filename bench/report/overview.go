package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"millrace/bench/run"
	"millrace/bench/stats"
)

// figure is one line of the overview: where its number stands for a broker, and for NATS, which has its own tool.
type figure struct {
	text        string
	load, value string                   // of a load
	also        string                   // a second value, behind a stroke
	workload    string                   // or of a workload with a course of its own
	start       string                   // or of W9: the kind of start
	of          func(*run.Start) float64 // and its figure
	nats, what  string                   // class and shape of nats bench; class alone: of the server that starts
	natsAlso    string
	per         float64 // divides the number; 0: 1
}

const natsPage, natsSynced = "nats, " + run.PageCache, "nats, " + run.Synced

var figures = []figure{
	{text: "**W1** bulk produce, 1 KiB in 64 KiB batches, `acks=1`: MB/s", load: "W1", value: "throughput", nats: natsPage, what: "W1 like, async 1 KiB: MB/s"},
	{text: "its broker CPU, s/GB", load: "W1", value: "cpu", nats: natsPage, what: "W1 like, async 1 KiB: CPU s/GB"},
	{text: "**W2** 100 B records in 8 KiB batches: thousand records/s", load: "W2", value: "throughput", nats: natsPage, what: "W2 like, async 100 B: rec/s", per: 1e3},
	{text: "its broker CPU, s/GB", load: "W2", value: "cpu", nats: natsPage, what: "W2 like, async 100 B: CPU s/GB"},
	{text: "**W3** consume from the page cache: MB/s", load: "W3-1", value: "throughput", nats: natsPage, what: "W3 like, consume: MB/s"},
	{text: "its broker CPU, s/GB", load: "W3-1", value: "cpu", nats: natsPage, what: "W3 like, consume: CPU s/GB"},
	{text: "**W4** end to end, 1,000 records/s one by one, `acks=1`: p50 / p99 µs", load: "W4-acks1-1k", value: "p50", also: "p99"},
	{text: "10,000 records/s: p50 / p99 µs", load: "W4-acks1-10k", value: "p50", also: "p99"},
	{text: "1,000 records/s, synced: p50 / p99 µs", load: "W4-all-1k", value: "p50", also: "p99"},
	{text: "10,000 records/s, synced: p50 / p99 µs", load: "W4-all-10k", value: "p50", also: "p99"},
	{text: "**W5** one 100 B record at a time, `acks=1`: p50 / p99 µs", load: "W5-acks1", value: "p50", also: "p99", nats: natsPage, what: "W5 like, sync 100 B: p50 us", natsAlso: "W5 like, sync 100 B: p99 us"},
	{text: "synced: p50 / p99 µs", load: "W5-all", value: "p50", also: "p99"},
	{text: "**W6** each 1 KiB record synced, 1 producer: records/s", load: "W6-1", value: "throughput", nats: natsSynced, what: "W6 like, sync 1 KiB, 1 client: rec/s"},
	{text: "64 producers on one partition: records/s", load: "W6-64", value: "throughput", nats: natsSynced, what: "W6 like, sync 1 KiB, 64 clients: rec/s"},
	{text: "64 producers on 64 partitions: records/s", load: "W6-64x64", value: "throughput"},
	{text: "**W7** single 1 KiB records, 100 partitions, 4 producers: requests/s", load: "W7-4", value: "throughput"},
	{text: "50 producers: requests/s", load: "W7-50", value: "throughput"},
	{text: "**W9** empty directory to first acknowledged record: ms", start: "empty", of: func(s *run.Start) float64 { return s.FirstAckMs }, nats: natsPage},
	{text: "after a clean stop, data kept: ms", start: "clean", of: func(s *run.Start) float64 { return s.FirstAckMs }},
	{text: "after `kill -9` under load: ms", start: "killed", of: func(s *run.Start) float64 { return s.FirstAckMs }},
	{text: "resident memory, idle: MB", start: "empty", of: func(s *run.Start) float64 { mb, _ := s.Idle(); return mb }, nats: natsPage},
	{text: "**W10** cold backlog read by 3 consumers beside 100 MB/s produced: MB/s", workload: "W10", value: "drain MB/s"},
	{text: "its produce p99 meanwhile, ms", workload: "W10", value: "p99 us during", per: 1e3},
	{text: "**W11** 50 MB/s to 8 consumers: CPU-s per GB out", workload: "W11", value: "CPU s/GB out"},
	{text: "end to end p50 µs", workload: "W11", value: "e2e p50 us"},
	{text: "2,000 idle long polls: % of a core", workload: "W11", value: "idle crowd cores", per: 0.01},
	{text: "**Kafka's own tools**, producer, 1 KiB: MB/s", workload: "STOCK", value: "producer, 1 KiB: MB/s"},
	{text: "its broker CPU, s/GB", workload: "STOCK", value: "producer, 1 KiB: CPU s/GB"},
	{text: "producer, 100 B: thousand records/s", workload: "STOCK", value: "producer, 100 B: rec/s", per: 1e3},
	{text: "consumer, 1 KiB: MB/s", workload: "STOCK", value: "consumer: MB/s"},
	{text: "its broker CPU, s/GB", workload: "STOCK", value: "consumer: CPU s/GB"},
}

// overview is the table of all brokers on all workloads, one line a figure, the floor last.
func overview(c *run.Report, pass string) table {
	o := overviewOf{c: c, pass: pass, extras: c.ExtraRows()}
	targets := o.targets()
	t := table{Head: append(append([]string{"load"}, targets...), "NATS JetStream", "floor")}
	for i := range figures {
		f := &figures[i]
		cells := []string{f.text}
		found := false
		for _, target := range targets {
			s := o.get(f, target)
			found = found || s.N > 0
			cells = append(cells, f.cell(s, o.row(f.load, target, f.also)))
		}
		s, also := stats.Summary{}, stats.Summary{}
		switch {
		case f.nats != "" && f.of != nil:
			s = o.starts(f, func(name string) bool { return name == f.nats })
		case f.nats != "":
			s, also = o.extra("NATS", f.nats, f.what), o.extra("NATS", f.nats, f.natsAlso)
		}
		floorAlso := stats.Summary{}
		if f.also != "" {
			floorAlso = o.floor(f, f.also)
		}
		cells = append(cells, f.cell(s, also), f.cell(o.floor(f, f.value), floorAlso))
		if found || s.N > 0 {
			t.Rows = append(t.Rows, row{Cells: cells})
		}
	}
	return t
}

// cell is a median and how far the runs lie apart, by the first figure where there are two.
func (f *figure) cell(s, also stats.Summary) string {
	if s.N == 0 {
		return "–"
	}
	text := number(s.Median / cmp.Or(f.per, 1))
	if also.N > 0 {
		text += " / " + number(also.Median/cmp.Or(f.per, 1))
	}
	return fmt.Sprintf("%s ± %.0f %%", text, s.Spread()*100)
}

// overviewOf looks figures up.
type overviewOf struct {
	c      *run.Report
	pass   string
	extras []run.ExtraRow
}

// targets are the brokers in the order of their names, Millrace first.
func (o *overviewOf) targets() []string {
	seen := map[string]bool{}
	for _, r := range o.c.Rows {
		seen[r.Target] = true
	}
	for _, x := range o.extras {
		seen[x.Target] = true
	}
	for _, s := range o.c.Starts {
		seen[s.Target] = true
	}
	var out []string
	for name := range seen {
		if !isFloor(name) && !strings.HasPrefix(name, "nats, ") {
			out = append(out, name)
		}
	}
	rank := func(n string) string {
		if strings.HasPrefix(n, "millrace") {
			return "0" + map[bool]string{true: "0", false: "1"}[strings.HasSuffix(n, "uring")] + n
		}
		return "1" + n
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
	return out
}

func (o *overviewOf) get(f *figure, target string) stats.Summary {
	switch {
	case f.load != "":
		return o.row(f.load, target, f.value)
	case f.workload != "":
		return o.extra(f.workload, target, f.value)
	}
	return o.starts(f, func(name string) bool { return name == target })
}

// starts looks through W9.
func (o *overviewOf) starts(f *figure, of func(target string) bool) stats.Summary {
	var found []run.Start
	for i := range o.c.Starts {
		if s := &o.c.Starts[i]; of(s.Target) && s.Kind == f.start && s.Pass == o.pass {
			found = append(found, *s)
		}
	}
	return run.SummarizeStarts(found, f.of)
}

func (o *overviewOf) row(load, target, value string) stats.Summary {
	for _, r := range o.c.Rows {
		if r.Load == load && r.Target == target && r.Pass == o.pass {
			return r.Values[value]
		}
	}
	return stats.Summary{}
}

func (o *overviewOf) extra(workload, target, value string) stats.Summary {
	for _, x := range o.extras {
		if x.Workload == workload && x.Target == target && x.Pass == o.pass {
			return x.Values[value]
		}
	}
	return stats.Summary{}
}

func (o *overviewOf) floor(f *figure, value string) stats.Summary {
	if f.of != nil {
		return o.starts(f, isFloor)
	}
	for i := range o.c.Loads {
		if l := &o.c.Loads[i]; l.ID == f.load {
			return o.row(cmp.Or(l.FloorLoad, l.ID), l.Floor, value)
		}
	}
	for _, x := range o.extras {
		if x.Workload == f.workload && x.Pass == o.pass && isFloor(x.Target) {
			return x.Values[value]
		}
	}
	return stats.Summary{}
}

// WriteOverview writes the table of all brokers on all workloads, for README.md.
func WriteOverview(w io.Writer, in *Input) error {
	if in.Campaign == nil || len(in.Campaign.Meta.Passes) == 0 {
		return fmt.Errorf("no campaign is among the files")
	}
	b := &strings.Builder{}
	markdownTable(b, overview(in.Campaign, in.Campaign.Meta.Passes[0].Name))
	_, err := io.WriteString(w, b.String())
	return err
}
