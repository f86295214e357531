package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
				if info, err := os.Stat(path); err != nil {
					return missing(path, err)
				} else if info.IsDir() {
					return fmt.Errorf("%s is a directory: name files in it, or check all of it with log verify", path)
				}
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
		Example: "  millrace log verify data/orders-0 data/orders-1",
		RunE: func(c *cobra.Command, args []string) error {
			problems := 0
			for _, dir := range args {
				if err := partitionDir(dir); err != nil {
					return err
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

// partitionDir is nil for a directory that holds a log. Without it a wrong path would be reported as a log without problems.
func partitionDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return missing(dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	}
	if logs, _ := filepath.Glob(filepath.Join(globEscaped.Replace(dir), "*.log")); len(logs) == 0 {
		return fmt.Errorf("%s holds no .log file: a partition's directory is meant, such as data/orders-0", dir)
	}
	return nil
}

var globEscaped = strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[")

// missing makes a path that is not there the same error as a topic that is not there.
func missing(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, errNotFound)
	}
	return err
}
