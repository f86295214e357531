package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"millrace/bench/backing"
	"millrace/bench/target"
)

// Pass is one way to place the processes; all targets are started anew for each pass.
type Pass struct {
	Name       string   `json:"name"`
	BrokerCPUs string   `json:"broker_cpus"` // empty: all
	GenCPUs    string   `json:"generator_cpus"`
	Loops      int      `json:"loops"`
	Workloads  []string `json:"workloads"`
}

// Options describe a campaign.
type Options struct {
	Targets    []string // see target.Parse; floors that the workloads need are added
	Passes     []Pass
	Rounds     int // counted runs of each load on each target
	Warmups    int // runs before them
	JVMWarmups int // the same for Kafka
	Sizes      Sizes
	Sources    target.Sources
	OnlyLoads  []string // leave out all other loads of the workloads; empty: none
	FewFloors  bool     // leave out floors that are run for information only
	KafkaTools string   // directory of Apache Kafka's own tools, for STOCK
	NATSServer string   // programs, for NATS
	NATSTool   string
	Dir        string        // for data; below it everything is removed at the end
	Port       int           // first of the ports used
	JSON       string        // report file; empty: none
	Profile    int           // seconds of CPU profile of each Millrace target under each load, from a run that is not counted; 0: none
	Settle     time.Duration // pause after a run, then a sync of the machine; 0: neither
	Hold       int64         // bytes of memory that are held between runs, see package backing; 0: none
	Log        io.Writer
	Version    string
}

// campaign is a running one. Owned by its goroutine.
type campaign struct {
	Options
	report   *Report
	pass     Pass
	up       []*target.Instance
	topics   int
	profiled bool // the run under way is for its profile
	memory   *backing.Memory
}

// Go runs a campaign to its end, or as far as it gets: the report holds what was measured even if an error is returned.
func Go(ctx context.Context, o Options) (*Report, error) {
	c := &campaign{Options: o, memory: backing.New(o.Hold), report: &Report{Meta: Meta{Started: time.Now(), Version: o.Version, Command: os.Args, Passes: o.Passes}}}
	c.report.Meta.Machine()
	if cc := c.report.Meta.Congest; cc == "bbr" {
		fmt.Fprintln(c.Log, "this machine's congestion control is bbr, which throttles loopback: Kafka has no setting for it and will read and answer slower than it could; for fair figures: sysctl net.ipv4.tcp_congestion_control=cubic")
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return c.report, err
	}
	defer c.memory.Drop()
	var err error
	for _, p := range o.Passes {
		if err = c.onePass(ctx, p); err != nil {
			err = fmt.Errorf("pass %s: %w", p.Name, err)
			break
		}
	}
	c.report.Meta.Ended, c.report.Meta.Complete = time.Now(), err == nil
	c.report.Summarize()
	return c.report, errors.Join(err, c.report.Save(o.JSON))
}

func (c *campaign) onePass(ctx context.Context, p Pass) (err error) {
	c.pass = p
	c.memory.Drop()
	loads, err := Workloads(p.Workloads, c.Sizes)
	if err != nil {
		return err
	}
	if len(c.OnlyLoads) > 0 {
		loads = slices.DeleteFunc(loads, func(l Load) bool {
			return !slices.Contains(c.OnlyLoads, l.ID) && !floorLoadOf(loads, c.OnlyLoads, l.ID)
		})
	}
	for at, l := range loads {
		if c.FewFloors {
			l.Beside = nil
			loads[at] = l
		}
		if c.report.load(l.ID) == nil {
			c.report.Loads = append(c.report.Loads, l)
		}
	}
	sources := c.Sources
	sources.Loops = p.Loops
	names := append([]string(nil), c.Targets...)
	if slices.Contains(p.Workloads, "W9") {
		if err := c.starts(ctx, names, sources); err != nil {
			return err
		}
	}
	if slices.Contains(p.Workloads, "NATS") {
		if err := c.nats(ctx); err != nil {
			return err
		}
	}
	for _, w := range p.Workloads {
		for _, f := range procedures[w].floors {
			if !slices.Contains(names, f) {
				names = append(names, f)
			}
		}
	}
	if len(loads) == 0 && !slices.ContainsFunc(p.Workloads, func(w string) bool { return procedures[w].do != nil }) {
		return nil
	}
	for _, l := range loads {
		for _, f := range append([]string{l.Floor}, l.Beside...) {
			if !slices.Contains(names, f) {
				names = append(names, f)
			}
		}
	}
	defer func() { err = errors.Join(err, c.stopAll()) }()
	for _, n := range names {
		t, err := target.Parse(n, sources)
		if err != nil {
			return err
		}
		if err := c.start(t); err != nil {
			return err
		}
	}
	for at := 0; at < len(loads); {
		end := at
		for end < len(loads) && loads[end].Workload == loads[at].Workload {
			end++
		}
		if err := c.workload(ctx, loads[at:end]); err != nil {
			return err
		}
		at = end
	}
	for _, w := range p.Workloads {
		if err := c.procedure(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// floorLoadOf says whether a wanted load is compared with a floor under this one.
func floorLoadOf(loads []Load, wanted []string, id string) bool {
	return slices.ContainsFunc(loads, func(l Load) bool { return l.FloorLoad == id && slices.Contains(wanted, l.ID) })
}

func (c *campaign) place(name string, index int) target.Place {
	return target.Place{Dir: filepath.Join(c.Dir, name), Port: c.Port + 4*index, AdminPort: c.Port + 4*index + 2, CPUs: c.pass.BrokerCPUs}
}

func (c *campaign) start(t target.Target) error {
	i, times, err := target.Start(t, c.place(t.Name, len(c.up)))
	if err != nil {
		return err
	}
	c.up = append(c.up, i)
	if !slices.ContainsFunc(c.report.Meta.Targets, func(k target.Target) bool { return k.Name == t.Name && k.Loops == t.Loops }) {
		c.report.Meta.Targets = append(c.report.Meta.Targets, t)
	}
	fmt.Fprintf(c.Log, "%s: %s at %s, process %d, listens after %.1f ms\n", c.pass.Name, t.Name, i.Addr, i.PID, ms(times.Listen))
	return nil
}

func (c *campaign) stopAll() error {
	var errs []error
	for _, i := range c.up {
		errs = append(errs, i.Stop())
		if i.Target.Kind != target.Address {
			errs = append(errs, os.RemoveAll(i.Place.Dir))
		}
	}
	c.up = nil
	return errors.Join(errs...)
}

// takesPart: floors run only the loads that name them; all else runs everything.
func takesPart(t target.Target, l *Load) bool {
	return t.Kind != target.Floor || t.Name == l.Floor || slices.Contains(l.Beside, t.Name)
}

// workload runs the loads of one workload: fill, warm up, then rounds in which every load visits every target.
func (c *campaign) workload(ctx context.Context, loads []Load) error {
	kept := map[string]string{} // topic by target and fill: loads with the same data share it
	defer func() {
		for _, i := range c.up {
			if topic := kept[i.Target.Name]; topic != "" {
				_ = target.DeleteTopic(i.Addr, topic) // its directory goes away at the end in any case
			}
		}
	}()
	for k := range loads {
		l := &loads[k]
		for _, i := range c.up {
			if !takesPart(i.Target, l) {
				continue
			}
			if l.Fill != nil && kept[i.Target.Name] == "" {
				topic, err := c.fill(i, l)
				if err != nil {
					return fmt.Errorf("%s: fill %s: %w", l.ID, i.Target.Name, err)
				}
				kept[i.Target.Name] = topic
			}
			warmups := c.Warmups
			if i.Target.JVM() {
				warmups = max(warmups, c.JVMWarmups)
			}
			for range warmups {
				if err := c.once(ctx, l, i, kept[i.Target.Name], 0, 0); err != nil {
					return err
				}
			}
		}
	}
	for round := 1; round <= c.Rounds; round++ {
		for k := range loads {
			l := &loads[k]
			for n := range c.up {
				i := c.up[(n+round)%len(c.up)]
				if !takesPart(i.Target, l) {
					continue
				}
				if err := c.once(ctx, l, i, kept[i.Target.Name], round, n); err != nil {
					return err
				}
			}
		}
	}
	return c.profiles(ctx, loads, kept)
}

// settle lets deletions and write-back of the last run end before the next begins.
func (c *campaign) settle() {
	if c.Settle == 0 {
		return
	}
	time.Sleep(c.Settle)
	unix.Sync()
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
