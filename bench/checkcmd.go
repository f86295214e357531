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

	"millrace/bench/run"
)

// checkCommand is the guard against regressions.
func checkCommand() *cobra.Command {
	var o run.Options
	var f runFlags
	var recorded string
	var record bool
	c := &cobra.Command{
		Use:   "check",
		Short: "Run a two-minute slice and compare its ratios to the floors with recorded ones",
		Long: `Run a two-minute slice and compare its ratios to the floors with recorded ones. What lies more than 25 % below is run once
more; only what is below twice in a row fails. --record writes ratios instead of comparing: the lower ones of two runs, since
nothing should have to be as good as a lucky run. There is a record for each kind of machine, told apart by what the floors take
for a single request; the nearest counts, and without one less than a factor of two away nothing is compared: that is an error too.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.quick = true
			f.workloads = run.CheckWorkloads()
			if err := f.fill(cmd, &o); err != nil {
				return err
			}
			defer func() { _ = os.Remove(o.Dir) }()
			o.Sizes, o.Settle, o.Rounds, o.Warmups = run.CheckSizes(), 200*time.Millisecond, 3, 1
			o.OnlyLoads = run.CheckLoads()
			ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
			defer stop()
			return check(ctx, cmd, o, recorded, record)
		},
	}
	fl := c.Flags()
	fl.StringSliceVar(&o.Targets, "targets", []string{"millrace-uring"}, "what to check")
	fl.StringVar(&o.Sources.Millrace, "millrace", "", "Millrace's binary (default: this program)")
	fl.StringVar(&recorded, "recorded", "bench/testdata/ratios.json", "recorded ratios")
	fl.BoolVar(&record, "record", false, "write them")
	fl.StringVar(&f.broker, "broker-cpus", "0", "where brokers and floors run; empty: anywhere")
	fl.StringVar(&f.gen, "gen-cpus", "1", "where the generator runs; empty: anywhere")
	fl.StringVar(&o.Dir, "dir", "", "for data (default: a new directory under the current one)")
	fl.IntVar(&o.Port, "port", 19600, "first of the ports used")
	fl.StringVar(&o.JSON, "json", "", "write every run to this file")
	return c
}

func check(ctx context.Context, cmd *cobra.Command, o run.Options, recorded string, record bool) error {
	records, err := run.LoadRecords(recorded)
	switch {
	case record && errors.Is(err, os.ErrNotExist):
		records = &run.Records{}
	case err != nil:
		return fmt.Errorf("nothing to compare with; --record writes it, on a machine that does nothing else: %w", err)
	}
	report, err := run.Go(ctx, o)
	if err != nil {
		return err
	}
	now := report.CheckRatios()
	if record {
		again, err := run.Go(ctx, o)
		if err != nil {
			return err
		}
		for name, v := range again.CheckRatios() {
			if first, ok := now[name]; !ok || v < first {
				now[name] = v
			}
		}
		records.Put(run.Recorded{Machine: fmt.Sprintf("%s, %d CPUs, Linux %s", report.Meta.CPU, report.Meta.CPUs, report.Meta.Kernel),
			Floors: report.FloorLatencies(), Ratios: now,
			Note: "a broker over its floor in the same round, medians, the lower of two runs, better when greater; written by bench check --record"})
		if err := os.MkdirAll(filepath.Dir(recorded), 0o755); err != nil {
			return err
		}
		return records.Save(recorded)
	}
	out := cmd.OutOrStdout()
	i, factor := records.Nearest(report.FloorLatencies())
	if factor >= run.Unlike {
		return fmt.Errorf("%s holds no record of a machine like this one: the floors' latencies (µs) are %v here, at least one %.1f times off the nearest record's; --record adds one", recorded, report.FloorLatencies(), factor)
	}
	want := &records.Records[i]
	fallen := want.Fallen(now)
	for name, v := range want.Ratios {
		fmt.Fprintf(out, "%-40s recorded %.2f  now %.2f\n", name, v, now[name])
	}
	if len(fallen) == 0 {
		return nil
	}
	fmt.Fprintf(out, "more than %.0f %% below, so once again: %s\n", run.Fall*100, strings.Join(fallen, ", "))
	o.OnlyLoads = nil
	for _, name := range fallen {
		o.OnlyLoads = append(o.OnlyLoads, strings.Fields(name)[0])
	}
	if o.JSON != "" {
		o.JSON = strings.TrimSuffix(o.JSON, ".json") + ".again.json"
	}
	again, err := run.Go(ctx, o)
	if err != nil {
		return err
	}
	var twice []string
	second := again.CheckRatios()
	for _, name := range want.Fallen(second) {
		for _, first := range fallen {
			if name == first {
				twice = append(twice, fmt.Sprintf("%s: recorded %.2f, measured %.2f and %.2f", name, want.Ratios[name], now[name], second[name]))
			}
		}
	}
	if len(twice) > 0 {
		return errors.New("slower twice in a row:\n" + strings.Join(twice, "\n"))
	}
	fmt.Fprintln(out, "not the second time: noise")
	return nil
}
