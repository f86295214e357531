package bench

import (
	"github.com/spf13/cobra"
)

// Command is `bench` with everything below it.
func Command() *cobra.Command {
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure brokers against floors and against each other",
		Long: `Measure brokers: every workload is run on each target in turn (A B A B), medians are shown as ratios to a floor of
the same run (a program that does only what cannot be left out), and every run is kept in a JSON file.`,
		SilenceUsage: true,
	}
	c.AddCommand(runCommand(), tableCommand(), engineCommand(), genCommand(), floorCommand(), modelCommand(), reportCommand(), checkCommand())
	return c
}
