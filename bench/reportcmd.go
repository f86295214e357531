package bench

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"millrace/bench/report"
)

// reportCommand makes a page of the JSON of campaigns and sweeps.
func reportCommand() *cobra.Command {
	var html, markdown, overview string
	c := &cobra.Command{
		Use:   "report FILE.json...",
		Short: "Turn the JSON of runs and sweeps into one page, and into Markdown",
		Long: `Turn the JSON of bench run (parts of one campaign are joined) and of bench model into one HTML page that needs nothing beside
it, and into Markdown:

  millrace bench report parts/*.json sweep.json --html report.html --markdown report.md

--overview writes one Markdown table of all brokers on all workloads.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if html == "" && markdown == "" && overview == "" {
				return errors.New("name a file: --html FILE, --markdown FILE or --overview FILE")
			}
			in, err := report.Load(args)
			if err != nil {
				return err
			}
			if err := writeReport(html, in, report.WriteHTML); err != nil {
				return err
			}
			if err := writeReport(markdown, in, report.WriteMarkdown); err != nil {
				return err
			}
			if err := writeReport(overview, in, report.WriteOverview); err != nil {
				return err
			}
			for _, f := range []string{html, markdown, overview} {
				if f != "" {
					fmt.Fprintln(cmd.OutOrStdout(), f)
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&html, "html", "", "write the page here")
	c.Flags().StringVar(&markdown, "markdown", "", "write Markdown here")
	c.Flags().StringVar(&overview, "overview", "", "write one table of all brokers on all workloads here, Markdown")
	return c
}

func writeReport(file string, in *report.Input, write func(io.Writer, *report.Input) error) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f, in), f.Close())
}
