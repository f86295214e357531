package cli

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"millrace/segment"
	"millrace/vfs"
)

func logCommand() *cobra.Command {
	return group("log", "Look into the files of a partition", nil, logDump(), logVerify())
}

func logDump() *cobra.Command {
	var o segment.DumpOptions
	c := &cobra.Command{
		Use: "dump FILE...", Short: "Show and check files of a log: .log, .index, .timeindex, .snapshot and what stands beside them", Args: cobra.MinimumNArgs(1),
		Example: "  millrace log dump data/orders-0/00000000000000000000.log --data",
		RunE: func(c *cobra.Command, args []string) error {
			problems := 0
			for _, path := range args {
				res, err := segment.Dump(vfs.OS{}, path, o, c.OutOrStdout())
				if err != nil {
					return err
				}
				problems += len(res.Problems)
			}
			if problems > 0 {
				return fmt.Errorf("%d problems: %w", problems, errUnwell)
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&o.Records, "records", "r", false, "show each record")
	c.Flags().BoolVarP(&o.Data, "data", "d", false, "show keys and values too")
	c.Flags().BoolVarP(&o.Quiet, "quiet", "q", false, "show only what is wrong")
	return c
}

func logVerify() *cobra.Command {
	return &cobra.Command{
		Use: "verify DIR...", Short: "Check every file of partition directories", Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			problems := 0
			for _, dir := range args {
				if info, err := os.Stat(dir); err != nil {
					return err
				} else if !info.IsDir() {
					return fmt.Errorf("%s is no directory", dir)
				}
				res, err := segment.Verify(vfs.OS{}, dir, segment.DumpOptions{Records: true})
				if err != nil {
					return err
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: %d batches, %d records, %d problems\n", dir, res.Batches, res.Records, len(res.Problems))
				for _, p := range res.Problems {
					fmt.Fprintf(c.OutOrStdout(), "  %s\n", p)
				}
				problems += len(res.Problems)
			}
			if problems > 0 {
				return fmt.Errorf("%d problems: %w", problems, errUnwell)
			}
			return nil
		},
	}
}
