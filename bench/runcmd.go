package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"millrace/bench/rawgen"
	"millrace/bench/run"
)

// runFlags are the flags of `bench run` that are not options of a campaign as they stand.
type runFlags struct {
	quick     bool
	unpinned  bool
	workloads []string
	broker    string
	gen       string
	bulkBytes int64
	bulkTime  time.Duration
	readBytes int64
	sends     int64
	syncTime  time.Duration
	keepBytes int64
	keepParts int
	openTime  time.Duration
	soak      time.Duration
	backlog   int64
	stock     int64
	manyParts int
	parts     string
	partTime  time.Duration
	sitting   time.Duration
}

const holdUsage = "bytes to hold between runs of produce loads, so that a virtual machine does not give them back to its host and no run pays for getting them again"

func runCommand() *cobra.Command {
	var o run.Options
	var f runFlags
	c := &cobra.Command{
		Use:   "run",
		Short: "Run workloads on targets in turn and print medians with their ratios to the floors",
		Long: `Run workloads on targets in turn and print medians with their ratios to the floors.

Targets: millrace-uring, millrace-epoll, kafka (started by --kafka-start), NAME=HOST:PORT for any broker that runs already, or a
floor by name. The floors that a workload is compared with are added by themselves.

Workloads: W1 bulk produce, W2 small records, W3 hot consume, W4 end to end at a fixed rate, W5 one record at a time, W6 durable
produce, W7 many small batches, W8 many partitions, W9 start and recovery, W10 drain of a cold backlog, W11 fan-out and an idle
crowd, W12 a cluster by one of its addresses, SOAK, STOCK (Kafka's own clients, --kafka-tools), NATS (by its own nats bench).

Example, with Apache Kafka beside Millrace:
  millrace bench run --targets millrace-uring,millrace-epoll,kafka --json bench.json --profile 5 \
    --kafka-start 'kafka/start -p {port} -d {dir} -c {cpus}' --kafka-stop 'kafka/stop {dir}'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.fill(cmd, &o); err != nil {
				return err
			}
			defer func() { _ = os.Remove(o.Dir) }() // if nothing is left in it
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			if f.parts != "" {
				return f.inParts(ctx, cmd, o)
			}
			report, err := run.Go(ctx, o)
			report.WriteTable(cmd.OutOrStdout())
			return err
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&o.Targets, "targets", []string{"millrace-uring", "millrace-epoll"}, "what to measure")
	fl.StringSliceVar(&f.workloads, "workloads", []string{"W1", "W2", "W3", "W5", "W6", "W9"}, "which workloads")
	fl.StringSliceVar(&o.OnlyLoads, "loads", nil, "only these loads of the workloads, such as W3-1,W6-64")
	fl.BoolVar(&o.FewFloors, "few-floors", false, "only the floors that ratios are made with, none for information")
	fl.IntVar(&o.Rounds, "rounds", 7, "counted runs of each load on each target")
	fl.IntVar(&o.Warmups, "warmups", 1, "runs before them")
	fl.IntVar(&o.JVMWarmups, "jvm-warmups", 3, "the same for Kafka")
	fl.Int64Var(&o.Hold, "hold-memory", 0, holdUsage)
	fl.BoolVar(&f.quick, "quick", false, "small sizes and 3 rounds: shows that it works, not how fast it is")
	fl.BoolVar(&f.unpinned, "unpinned", false, "a second pass of W1, W5 and W6 with two loops and no pinning")
	fl.StringVar(&o.Sources.Millrace, "millrace", "", "Millrace's binary (default: this program)")
	fl.StringArrayVar(&o.Sources.Overrides, "override", nil, "key=value for Millrace, may be given often")
	fl.StringVar(&o.Sources.KafkaStart, "kafka-start", "", "shell command that starts Apache Kafka and ends when it answers; {port}, {dir} and {cpus} are replaced")
	fl.StringVar(&o.Sources.KafkaStop, "kafka-stop", "", "shell command that stops it")
	fl.StringVar(&f.parts, "parts", "", "cut the campaign into parts and write each to a file in this directory; parts that are there already are not run again")
	fl.DurationVar(&f.partTime, "part-time", 20*time.Minute, "about the longest that a part takes")
	fl.DurationVar(&f.sitting, "sitting", 0, "begin no further part after this; the same command goes on later")
	fl.StringVar(&o.KafkaTools, "kafka-tools", "", "directory of Apache Kafka's own tools, for STOCK")
	fl.StringVar(&o.NATSServer, "nats-server", "nats-server", "program, for NATS")
	fl.StringVar(&o.NATSTool, "nats", "nats", "program, for NATS")
	fl.DurationVar(&f.openTime, "open-time", 0, "length of a run of W4 and W7 and of each phase of W8, W10, W11, W12")
	fl.DurationVar(&f.soak, "soak-time", 0, "length of SOAK")
	fl.Int64Var(&f.backlog, "backlog-bytes", 0, "data that W10 drains")
	fl.Int64Var(&f.stock, "stock-bytes", 0, "data of a run of STOCK and NATS")
	fl.IntVar(&f.manyParts, "many-partitions", 0, "partitions of W8")
	fl.StringVar(&f.broker, "broker-cpus", "0", "where brokers and floors run; empty: anywhere")
	fl.StringVar(&f.gen, "gen-cpus", "1", "where the generator runs; empty: anywhere")
	fl.StringVar(&o.Dir, "dir", "", "for data (default: a new directory under the current one); needs room for a bulk run per target")
	fl.IntVar(&o.Port, "port", 19600, "first of the ports used, four per target")
	fl.StringVar(&o.JSON, "json", "", "write every run to this file")
	fl.IntVar(&o.Profile, "profile", 0, "seconds of CPU profile of Millrace under each load")
	fl.Int64Var(&f.bulkBytes, "bulk-bytes", 0, "payload of a bulk run, at least")
	fl.DurationVar(&f.bulkTime, "bulk-time", 0, "length of a bulk run, at least")
	fl.Int64Var(&f.readBytes, "read-bytes", 0, "data that W3 reads over and over")
	fl.Int64Var(&f.sends, "sends", 0, "round trips of W5")
	fl.DurationVar(&f.syncTime, "sync-time", 0, "length of a run of W6")
	fl.Int64Var(&f.keepBytes, "keep-bytes", 0, "data kept in W9")
	fl.IntVar(&f.keepParts, "keep-partitions", 0, "partitions it lies in")
	return c
}

func (f *runFlags) fill(cmd *cobra.Command, o *run.Options) error {
	o.Sizes = run.Full()
	o.Settle = 1500 * time.Millisecond
	if f.quick {
		o.Sizes = run.Quick()
		o.Settle = 100 * time.Millisecond
		if !cmd.Flags().Changed("rounds") {
			o.Rounds = 3
		}
	}
	set(&o.Sizes.BulkBytes, f.bulkBytes)
	set(&o.Sizes.BulkSeconds, f.bulkTime)
	set(&o.Sizes.ReadBytes, f.readBytes)
	set(&o.Sizes.Sends, f.sends)
	set(&o.Sizes.SyncSeconds, f.syncTime)
	set(&o.Sizes.KeepBytes, f.keepBytes)
	set(&o.Sizes.KeepParts, f.keepParts)
	set(&o.Sizes.OpenSeconds, f.openTime)
	set(&o.Sizes.Soak, f.soak)
	set(&o.Sizes.Backlog, f.backlog)
	set(&o.Sizes.Stock, f.stock)
	set(&o.Sizes.ManyParts, f.manyParts)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o.Sources.Self = self
	path := strings.Fields(cmd.CommandPath()) // program bench run
	o.Sources.SelfArgs = path[1 : len(path)-1]
	if o.Sources.Millrace == "" {
		o.Sources.Millrace = self
	}
	if o.Dir == "" {
		if o.Dir, err = os.MkdirTemp(".", "bench-data-"); err != nil {
			return err
		}
	}
	if o.Dir, err = filepath.Abs(o.Dir); err != nil {
		return err
	}
	for i := range f.workloads {
		f.workloads[i] = strings.ToUpper(f.workloads[i])
	}
	o.Passes = []run.Pass{{Name: "pinned", BrokerCPUs: f.broker, GenCPUs: f.gen, Loops: 1, Workloads: f.workloads}}
	if f.broker == "" {
		o.Passes[0].Name, o.Passes[0].Loops = "unpinned", 2
	} else if f.unpinned {
		second := run.Pass{Name: "unpinned", Loops: 2}
		for _, w := range f.workloads {
			if w == "W1" || w == "W5" || w == "W6" {
				second.Workloads = append(second.Workloads, w)
			}
		}
		o.Passes = append(o.Passes, second)
	}
	if err := knownLoads(o.OnlyLoads, f.workloads, o.Sizes); err != nil {
		return err
	}
	o.Log = cmd.ErrOrStderr()
	o.Version = cmd.Root().Version
	return nil
}

// knownLoads refuses a name that none of the workloads has.
func knownLoads(names, workloads []string, s run.Sizes) error {
	loads, err := run.Workloads(workloads, s)
	if err != nil {
		return err
	}
	var ids []string
	for i := range loads {
		ids = append(ids, loads[i].ID)
	}
	for _, n := range names {
		if !slices.Contains(ids, n) {
			return fmt.Errorf("--loads %s: the workloads %s have %s", n, strings.Join(workloads, ", "), strings.Join(ids, ", "))
		}
	}
	return nil
}

func set[T int | int64 | time.Duration](to *T, v T) {
	if v != 0 {
		*to = v
	}
}

// genJob is how the runner calls the generator: one argument, all options as JSON.
func genJob() *cobra.Command {
	return &cobra.Command{Use: "job JSON", Short: "A load described in JSON", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		var j run.Job
		if err := json.Unmarshal([]byte(args[0]), &j); err != nil {
			return fmt.Errorf("job: %w", err)
		}
		rawgen.Quiet()
		return emit(cmd, j.Do)
	}}
}

// sameCommand warns when a part that is there already was measured by another command: what would be joined may not belong together.
func (f *runFlags) sameCommand(cmd *cobra.Command, file string) {
	r, err := run.LoadReport(file)
	if err == nil && !slices.Equal(r.Meta.Command, os.Args) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is there already, measured by another command, and is kept:\n  %s\n", file, strings.Join(r.Meta.Command, " "))
	}
}

// inParts runs what is missing of a campaign, part by part.
func (f *runFlags) inParts(ctx context.Context, cmd *cobra.Command, o run.Options) error {
	if err := os.MkdirAll(f.parts, 0o755); err != nil {
		return err
	}
	began := time.Now()
	parts := run.Parts(f.workloads, o.Rounds, o.Warmups, len(o.Targets), f.partTime)
	var files []*run.Report
	for n, p := range parts {
		file := filepath.Join(f.parts, p.Name+".json")
		if run.Whole(file) {
			f.sameCommand(cmd, file)
		} else {
			if f.sitting > 0 && time.Since(began) > f.sitting {
				fmt.Fprintf(cmd.ErrOrStderr(), "%d of %d parts are done and the time is over: start again to go on\n", n, len(parts))
				break
			}
			if err := run.Discard(file); err != nil {
				return err
			}
			part := o
			part.JSON, part.Rounds, part.Passes = file, p.Rounds, nil
			for _, pass := range o.Passes {
				if slices.Contains(pass.Workloads, p.Workload) {
					pass.Workloads = []string{p.Workload}
					part.Passes = append(part.Passes, pass)
				}
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "part %s (%d of %d)\n", p.Name, n+1, len(parts))
			if _, err := run.Go(ctx, part); err != nil {
				return err
			}
		}
		r, err := run.LoadReport(file)
		if err != nil {
			return err
		}
		files = append(files, r)
	}
	run.Merge(files).WriteTable(cmd.OutOrStdout())
	return nil
}
