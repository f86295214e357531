package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"millrace/bench/model"
	"millrace/bench/target"
)

// modelFlags are the flags of `bench model`.
type modelFlags struct {
	target, costs, saveCosts, broker, dir   string
	port, loops                             int
	quick                                   bool
	batch, partitions, flight, record       []int
	linger, rates                           []float64
	wantRate                                float64
	wantLatency                             time.Duration
	wantRecord, wantPartitions, wantBrokers int
}

func modelCommand() *cobra.Command {
	var o model.Options
	var f modelFlags
	c := &cobra.Command{
		Use:   "model",
		Short: "Predict what producer settings yield, and measure it",
		Long: `Predict what producer settings (batch.size, linger.ms, partitions, requests in flight) yield, by the batching model that
Kafka's users are taught, and measure the same with a producer that follows it.

Costs are calibrated on five named cells of the target and then frozen (--save-costs, --costs). The sweep is measured round by
round and written to --json after each run; started again with the same file it goes on where it was. After every run its topic is deleted
and the file system is given time (--settle) to write that out, so that no run pays for the one before.

  millrace bench model --target millrace-uring --json sweep.json --save-costs costs.json
  millrace bench model best --costs costs.json --rate 50000 --latency 10ms --partitions 12`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.measure(cmd, &o) },
	}
	fl := c.Flags()
	fl.StringVar(&f.target, "target", "millrace-uring", "what to measure, as in bench run")
	fl.StringVar(&f.costs, "costs", "", "frozen costs (default: calibrate first)")
	fl.StringVar(&f.saveCosts, "save-costs", "", "write the costs to this file")
	fl.StringVar(&o.Sources.Millrace, "millrace", "", "Millrace's binary (default: this program)")
	fl.StringArrayVar(&o.Sources.Overrides, "override", nil, "key=value for Millrace, may be given often")
	fl.StringVar(&o.Sources.KafkaStart, "kafka-start", "", "shell command that starts Apache Kafka, as in bench run")
	fl.StringVar(&o.Sources.KafkaStop, "kafka-stop", "", "shell command that stops it")
	fl.StringVar(&f.broker, "broker-cpus", "0", "where the broker runs; empty: anywhere")
	fl.StringVar(&o.GenCPUs, "gen-cpus", "1", "where the producer runs; empty: anywhere")
	fl.StringVar(&f.dir, "dir", "", "for data (default: a new directory under the current one)")
	fl.IntVar(&f.port, "port", 19600, "first of the ports used")
	fl.IntVar(&f.loops, "loops", 1, "loops of Millrace or a floor")
	fl.IntVar(&o.Rounds, "rounds", 5, "runs of each cell")
	fl.DurationVar(&o.Duration, "duration", time.Second, "of a run")
	fl.DurationVar(&o.Warmup, "warmup", 300*time.Millisecond, "of a run, before counting begins")
	fl.DurationVar(&o.Settle, "settle", time.Second, "at most so long is waited after a run until its data are gone and the file system is written out")
	fl.Int64Var(&o.Hold, "hold-memory", 0, holdUsage)
	fl.IntVar(&o.RunIn, "run-in", 3, "rounds of the calibration cells that are not counted, before those that are")
	fl.IntVar(&o.Calibrate, "calibrate", 0, "counted runs of each calibration cell (default: as --rounds, at least 3)")
	fl.Int16Var(&o.Acks, "acks", 1, "1 or -1")
	fl.Float64Var(&o.NetworkMBs, "network", 0, "what the network carries, MB/s; 0: no bound")
	fl.DurationVar(&o.MaxTime, "max-time", 0, "begin no further run after this; the same command goes on later")
	fl.StringVar(&o.JSON, "json", "", "write the sweep to this file")
	fl.BoolVar(&f.quick, "quick", false, "a small grid, two short rounds")
	fl.IntSliceVar(&f.batch, "batch-size", nil, "batch.size values of the grid")
	fl.Float64SliceVar(&f.linger, "linger", nil, "linger.ms values")
	fl.IntSliceVar(&f.partitions, "partitions", nil, "numbers of partitions")
	fl.IntSliceVar(&f.flight, "in-flight", nil, "requests in flight")
	fl.IntSliceVar(&f.record, "record-size", nil, "bytes of a record")
	fl.Float64SliceVar(&f.rates, "rates", nil, "records per second; 0: as fast as it goes")
	c.AddCommand(bestCommand(&f))
	return c
}

func (f *modelFlags) grid(o *model.Options) model.Grid {
	g := model.DefaultGrid()
	if f.quick {
		g.BatchSize, g.Linger, g.Partitions, g.InFlight = []int{16384}, []time.Duration{0, 5 * time.Millisecond}, []int{1, 6}, []int{1, 5}
		o.RunIn, o.Rounds, o.Duration, o.Warmup = 0, 2, 300*time.Millisecond, 200*time.Millisecond
	}
	for to, v := range map[*[]int][]int{&g.BatchSize: f.batch, &g.Partitions: f.partitions, &g.InFlight: f.flight, &g.RecordSize: f.record} {
		if len(v) > 0 {
			*to = v
		}
	}
	if len(f.rates) > 0 {
		g.Rates = f.rates
	}
	if len(f.linger) > 0 {
		g.Linger = nil
		for _, l := range f.linger {
			g.Linger = append(g.Linger, time.Duration(l*float64(time.Millisecond)))
		}
	}
	return g
}

func (f *modelFlags) measure(cmd *cobra.Command, o *model.Options) error {
	o.Cells = f.grid(o).Cells()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Sources.Self, o.Sources.Loops = self, f.loops
	path := strings.Fields(cmd.CommandPath())
	o.Sources.SelfArgs = path[1 : len(path)-1]
	if o.Sources.Millrace == "" {
		o.Sources.Millrace = self
	}
	if o.Target, err = target.Parse(f.target, o.Sources); err != nil {
		return err
	}
	if f.costs != "" {
		if o.Costs, err = model.LoadCosts(f.costs); err != nil {
			return err
		}
		if o.NetworkMBs > 0 {
			c := *o.Costs
			c.NetworkMBs = o.NetworkMBs
			o.Costs = &c
		}
	}
	if f.dir == "" {
		if f.dir, err = os.MkdirTemp(".", "bench-model-"); err != nil {
			return err
		}
		defer func() { _ = os.Remove(f.dir) }()
	}
	if f.dir, err = filepath.Abs(f.dir); err != nil {
		return err
	}
	o.Place = target.Place{Dir: filepath.Join(f.dir, o.Target.Name), Port: f.port, AdminPort: f.port + 2, CPUs: f.broker}
	o.Log, o.Version = cmd.ErrOrStderr(), cmd.Root().Version
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	r, err := model.Run(ctx, *o)
	if r != nil {
		r.WriteTable(cmd.OutOrStdout())
		if f.saveCosts != "" && r.Costs != nil {
			err = errors.Join(err, r.Costs.Save(f.saveCosts))
		}
	}
	return err
}

// bestCommand answers from frozen costs, without measuring anything.
func bestCommand(f *modelFlags) *cobra.Command {
	c := &cobra.Command{Use: "best", Short: "Name the settings that carry a rate within a latency, from frozen costs", Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		if f.costs == "" || f.wantRate <= 0 {
			return errors.New("best needs --costs FILE and --rate")
		}
		costs, err := model.LoadCosts(f.costs)
		if err != nil {
			return err
		}
		s := model.Settings{RecordSize: f.wantRecord, Partitions: f.wantPartitions, Brokers: f.wantBrokers}
		fmt.Fprintf(cmd.OutOrStdout(), "%g records/s of %d bytes to %d partitions on %d broker(s), costs of %s; cheapest first\n", f.wantRate, f.wantRecord, f.wantPartitions, f.wantBrokers, costs.Target)
		model.WriteBest(cmd.OutOrStdout(), model.Best(s, f.wantRate, f.wantLatency, costs), 8)
		return nil
	}}
	fl := c.Flags()
	fl.StringVar(&f.costs, "costs", "", "frozen costs")
	fl.Float64Var(&f.wantRate, "rate", 0, "records per second")
	fl.DurationVar(&f.wantLatency, "latency", 0, "bound of the 99th percentile; 0: none")
	fl.IntVar(&f.wantRecord, "record-size", 1024, "bytes of a record")
	fl.IntVar(&f.wantPartitions, "partitions", 6, "partitions")
	fl.IntVar(&f.wantBrokers, "brokers", 1, "brokers that lead them")
	return c
}
