package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"millrace/segment"
	"millrace/vfs"
)

func logCommand() *cobra.Command {
	f := &flags{}
	c := group("log", "Look into the files of a partition", nil, logDump(f), logVerify(f))
	f.addOutput(c)
	return c
}

// checked is what log dump and log verify show as JSON.
type checked struct {
	Path     string   `json:"path"`
	Batches  int64    `json:"batches"`
	Records  int64    `json:"records"`
	Entries  int64    `json:"entries"` // of an index
	Problems []string `json:"problems"`
}

func checkedOf(path string, r segment.DumpResult) checked {
	return checked{path, r.Batches, r.Records, r.Entries, append([]string{}, r.Problems...)}
}

// problems is an error where there are any.
func problems(list []checked) error {
	n := 0
	for _, c := range list {
		n += len(c.Problems)
	}
	if n > 0 {
		return fmt.Errorf("%s: %w", counted(n, "problem"), errUnwell)
	}
	return nil
}

func logDump(f *flags) *cobra.Command {
	var o segment.DumpOptions
	c := &cobra.Command{
		Use: "dump FILE...", Short: "Show and check files of a log: .log, .index, .timeindex, .snapshot and what stands beside them", Args: cobra.MinimumNArgs(1),
		Long: "Shows and checks files of a log: .log, .index, .timeindex, .snapshot and what stands beside them.\n" +
			"With -o json it says for each file what was counted and what is wrong; the records are shown as text only.",
		Example: "  millrace log dump data/orders-0/00000000000000000000.log --data",
		RunE: func(c *cobra.Command, args []string) error {
			asJSON, err := f.json()
			if err != nil {
				return err
			}
			out := c.OutOrStdout()
			if asJSON {
				out, o.Records = io.Discard, true // records are counted only where they are shown
			}
			list := []checked{}
			for _, path := range args {
				if info, err := os.Stat(path); err != nil {
					return MissingFile(path, err)
				} else if info.IsDir() {
					return fmt.Errorf("%s is a directory: name files in it, or check all of it with log verify", path)
				}
				res, err := segment.Dump(vfs.OS{}, path, o, out)
				if err != nil {
					return err
				}
				list = append(list, checkedOf(path, res))
			}
			if asJSON {
				if err := (&printer{w: c.OutOrStdout(), json: true}).value(list, nil); err != nil {
					return err
				}
			}
			return problems(list)
		},
	}
	c.Flags().BoolVarP(&o.Records, "records", "r", false, "show each record")
	c.Flags().BoolVarP(&o.Data, "data", "d", false, "show keys and values too")
	c.Flags().BoolVarP(&o.Quiet, "quiet", "q", false, "show only what is wrong")
	return c
}

func logVerify(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "verify DIR...", Short: "Check every file of partition directories", Args: cobra.MinimumNArgs(1),
		Example: "  millrace log verify data/orders-0 data/orders-1",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			asJSON, err := f.json()
			if err != nil {
				return err
			}
			list := []checked{}
			out := &printer{w: c.OutOrStdout(), json: asJSON}
			for _, dir := range args {
				if err := partitionDir(dir); err != nil {
					return err
				}
				res, err := segment.Verify(vfs.OS{}, dir, segment.DumpOptions{Records: true})
				if err != nil {
					return err
				}
				d := checkedOf(dir, res)
				list = append(list, d)
				if asJSON {
					continue
				}
				// At once: a directory takes long, and the next one may end it all with an error.
				out.line("%s: %s, %s, %s", dir, counted(d.Batches, "batch"), counted(d.Records, "record"), counted(len(d.Problems), "problem"))
				for _, p := range d.Problems {
					out.line("  %s", p)
				}
			}
			if asJSON {
				if err := out.value(list, nil); err != nil {
					return err
				}
			}
			return problems(list)
		},
	}
}

// partitionDir is nil for a directory that holds a log. Without it a wrong path would be reported as a log without problems.
func partitionDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return MissingFile(dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	}
	if logs, _ := filepath.Glob(filepath.Join(globEscaped.Replace(dir), strings.Repeat("[0-9]", 20)+".log")); len(logs) == 0 {
		return fmt.Errorf("%s holds no .log file: a partition's directory is meant, such as data/orders-0", dir)
	}
	return nil
}

var globEscaped = strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[")

// MissingFile makes a path that is not there the same error as a topic that is not there.
func MissingFile(path string, err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w", path, errNotFound)
	}
	return err
}
