package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"millrace/bench/rawgen"
	"millrace/bench/stats"
	"millrace/bench/target"
)

// Extra is one run of a workload that is more than one load: its figures by name, and the loads it was made of.
type Extra struct {
	Workload string                    `json:"workload"`
	Target   string                    `json:"target"`
	Pass     string                    `json:"pass"`
	Round    int                       `json:"round"`
	Class    string                    `json:"class,omitempty"`
	Started  time.Time                 `json:"started"`
	Values   map[string]float64        `json:"values"`
	Parts    map[string]*rawgen.Result `json:"parts,omitempty"`
	Series   []Sample                  `json:"series,omitempty"`
	Notes    []string                  `json:"notes,omitempty"`
	Error    string                    `json:"error,omitempty"`
}

// Sample is a reading of the broker's process during a run.
type Sample struct {
	Second      float64 `json:"s"`
	RSSBytes    int64   `json:"rss_bytes"`
	Descriptors int     `json:"fds"`
	Threads     int     `json:"threads"`
	Goroutines  int     `json:"goroutines,omitempty"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	Stolen      float64 `json:"stolen"` // of the machine's CPU time since the sample before, what its host took
}

// procedure is a workload with a course of its own.
type procedure struct {
	title  string
	class  string
	floors []string
	once   bool // one round only
	warm   bool // a small round first that does not count
	do     func(*campaign, context.Context, *target.Instance, *Extra) error
}

// procedures by name. NATS is one too, but its server is no target.
var procedures = map[string]procedure{
	"W8":    {title: "many partitions: creating them, and 20 MB/s spread over them, acks=1", class: PageCache, do: (*campaign).w8},
	"W10":   {title: "cold backlog drained by 3 consumers while 100 MB/s are produced, acks=1", class: PageCache, floors: []string{"floor-write"}, warm: true, do: (*campaign).w10},
	"W11":   {title: "50 MB/s in 64 KiB batches to 8 consumers of all, beside idle long polls", class: PageCache, floors: []string{"floor-read"}, warm: true, do: (*campaign).w11},
	"W12":   {title: "a cluster by one of its addresses: 12 partitions, replicated as far as it has brokers, acks=all", class: Synced, do: (*campaign).w12},
	"SOAK":  {title: "50 MB/s with retention", class: PageCache, once: true, do: (*campaign).soak},
	"STOCK": {title: "Kafka's own perf tools, 1 KiB records, acks=1", class: PageCache, warm: true, do: (*campaign).stock},
	"NATS":  {title: "NATS JetStream by its own nats bench"},
}

// procedure runs one on all targets that are up, in turn.
func (c *campaign) procedure(ctx context.Context, name string) error {
	p := procedures[name]
	if p.do == nil {
		return nil
	}
	c.memory.Drop()
	rounds := c.Rounds
	if p.once {
		rounds = 1
	}
	if p.warm {
		full := c.Sizes
		c.Sizes = Quick()
		for _, i := range c.up {
			if i.Target.Kind == target.Floor {
				continue
			}
			warmups := c.Warmups
			if i.Target.JVM() {
				warmups = max(warmups, c.JVMWarmups)
			}
			for range warmups {
				if err := c.attempt(ctx, name, p, i, 0); err != nil {
					return err
				}
			}
		}
		c.Sizes = full
	}
	last := rounds
	if c.Profile > 0 {
		last++ // profiled, not counted
	}
	for round := 1; round <= last; round++ {
		for n := range c.up {
			i := c.up[(n+round)%len(c.up)]
			if i.Target.Kind == target.Floor && !slices.Contains(p.floors, i.Target.Name) || round > rounds && i.Admin == "" {
				continue
			}
			c.profiled = round > rounds
			if err := c.attempt(ctx, name, p, i, round); err != nil {
				return err
			}
		}
	}
	c.profiled = false
	return nil
}

// attempt makes one run of a procedure. It is noted if it counts: those of round 0 and profiled ones do not.
func (c *campaign) attempt(ctx context.Context, name string, p procedure, i *target.Instance, round int) error {
	x := Extra{Workload: name, Target: i.Target.Name, Pass: c.pass.Name, Round: round, Class: p.class, Started: time.Now(), Values: map[string]float64{}, Parts: map[string]*rawgen.Result{}}
	if err := p.do(c, ctx, i, &x); err != nil {
		x.Error = err.Error()
	}
	if round > 0 && !c.profiled {
		c.note(x)
	} else if x.Error != "" {
		fmt.Fprintf(c.Log, "%-8s %-6s not counted  %-20s %s\n", x.Pass, x.Workload, x.Target, x.Error)
	}
	c.settle()
	return errors.Join(ctx.Err(), c.report.Save(c.JSON))
}

func (c *campaign) note(x Extra) {
	for name, r := range x.Parts { // a run with failures does not count
		if r != nil && r.FailureCount > 0 && x.Error == "" {
			x.Error = name + ": " + r.Failures[0]
		}
	}
	c.report.Extras = append(c.report.Extras, x)
	fmt.Fprintf(c.Log, "%-8s %-6s round %d  %-20s", x.Pass, x.Workload, x.Round, x.Target)
	for _, k := range slices.Sorted(maps.Keys(x.Values)) {
		fmt.Fprintf(c.Log, " %s %s,", k, number(x.Values[k]))
	}
	fmt.Fprintln(c.Log, x.Error)
}

// part runs a job and keeps its result under a name.
func (c *campaign) part(x *Extra, name string, j Job) (*rawgen.Result, error) {
	end := c.profilePart(x, name)
	r, err := c.generate(j)
	end()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	x.Parts[name] = r
	return r, nil
}

// both runs two jobs at once.
func (c *campaign) both(x *Extra, a string, ja Job, b string, jb Job) (ra, rb *rawgen.Result, err error) {
	type end struct {
		r   *rawgen.Result
		err error
	}
	done := make(chan end, 1)
	ended := c.profilePart(x, a+" and "+b)
	go func() {
		r, err := c.generate(ja)
		done <- end{r, err}
	}()
	rb, errB := c.generate(jb)
	e := <-done
	ended()
	if e.err == nil {
		x.Parts[a] = e.r
	}
	if errB == nil {
		x.Parts[b] = rb
	}
	return e.r, rb, errors.Join(e.err, errB)
}

// ExtraRow are the figures of a workload with a course of its own, on one target: medians, and ratios to the floor round by round.
type ExtraRow struct {
	Workload, Title, Class, Target, Pass string
	Counted, Failed                      int
	Values, Floor                        map[string]stats.Summary
}

// ExtraRows summarises the extras in the order of their first appearance, targets as they were named.
func (r *Report) ExtraRows() []ExtraRow {
	type key struct{ workload, target, pass string }
	var order []key
	byKey := map[key][]Extra{}
	for _, x := range r.Extras {
		k := key{x.Workload, x.Target, x.Pass}
		if byKey[k] == nil {
			order = append(order, k)
		}
		byKey[k] = append(byKey[k], x)
	}
	slices.SortStableFunc(order, func(a, b key) int { // floors last
		return cmp.Or(cmp.Compare(a.workload, b.workload), cmp.Compare(fmt.Sprint(strings.HasPrefix(a.target, "floor-")), fmt.Sprint(strings.HasPrefix(b.target, "floor-"))), cmp.Compare(a.target, b.target))
	})
	series := func(k key) map[string]map[int]float64 {
		out := map[string]map[int]float64{}
		for _, x := range byKey[k] {
			if x.Error != "" {
				continue
			}
			for name, v := range x.Values {
				if out[name] == nil {
					out[name] = map[int]float64{}
				}
				out[name][x.Round] = v
			}
		}
		return out
	}
	var rows []ExtraRow
	for _, k := range order {
		row := ExtraRow{Workload: k.workload, Title: procedures[k.workload].title, Class: procedures[k.workload].class, Target: k.target, Pass: k.pass, Values: map[string]stats.Summary{}, Floor: map[string]stats.Summary{}}
		for _, x := range byKey[k] {
			row.Class = cmp.Or(x.Class, row.Class)
			if x.Error == "" {
				row.Counted++
			} else {
				row.Failed++
			}
		}
		mine := series(k)
		for name, byRound := range mine {
			row.Values[name] = stats.Summarize(slices.Collect(maps.Values(byRound)))
		}
		for _, f := range procedures[k.workload].floors {
			if f == k.target {
				continue
			}
			for name, byRound := range series(key{k.workload, f, k.pass}) {
				if s := stats.Ratios(mine[name], byRound); s.N > 0 {
					row.Floor[name] = s
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *Report) extraTable(out io.Writer, p Pass) {
	last := ""
	for _, row := range r.ExtraRows() {
		if row.Pass != p.Name {
			continue
		}
		if row.Workload != last {
			fmt.Fprintf(out, "\n%s, %s, %s [%s]\n", row.Workload, p.describe(), row.Title, row.Class)
			last = row.Workload
		}
		fmt.Fprintf(out, "  %s, %d runs", row.Target, row.Counted)
		if row.Failed > 0 {
			fmt.Fprintf(out, " (%d failed)", row.Failed)
		}
		fmt.Fprintln(out)
		w := tabwriter.NewWriter(out, 4, 0, 2, ' ', 0)
		for _, name := range slices.Sorted(maps.Keys(row.Values)) {
			v := row.Values[name]
			fmt.Fprintf(w, "\t%s\t%s\t±%.0f%%", name, number(v.Median), v.Spread()*100)
			if f, ok := row.Floor[name]; ok {
				fmt.Fprintf(w, "\t%s x floor", ratio(f))
			}
			fmt.Fprintln(w)
		}
		w.Flush()
	}
	for _, x := range r.Extras {
		if x.Pass == p.Name && x.Error != "" {
			fmt.Fprintf(out, "  %s %s round %d: %s\n", x.Workload, x.Target, x.Round, x.Error)
		}
	}
}
