package bench

import (
	"github.com/spf13/cobra"

	"millrace/bench/run"
)

// tableCommand prints the table of an earlier campaign again.
func tableCommand() *cobra.Command {
	return &cobra.Command{Use: "table FILE.json", Short: "Print the table of an earlier run", Args: cobra.ExactArgs(1), RunE: func(cmd *cobra.Command, args []string) error {
		report, err := run.LoadReport(args[0])
		if err != nil {
			return err
		}
		report.Summarize()
		report.WriteTable(cmd.OutOrStdout())
		return nil
	}}
}
