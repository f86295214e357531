package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"millrace/cli/kafkatool"
)

func installCommand() *cobra.Command {
	var force, sh bool
	c := &cobra.Command{
		Use:   "install-tools DIR",
		Short: "Write links with the names of Kafka's tools",
		Long: `Writes a symbolic link to this program into DIR for every tool of Apache Kafka that it knows:
kafka-topics, kafka-console-producer and so on, also with the ending .sh. Called by such a name the program
behaves as that tool.`,
		Example: "  millrace install-tools ~/bin\n  kafka-topics --bootstrap-server localhost:9092 --list",
		Args:    cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			n, err := install(self, args[0], force, sh)
			if err == nil {
				fmt.Fprintf(c.OutOrStdout(), "%d links to %s in %s\n", n, self, args[0])
			}
			return err
		},
	}
	c.Flags().BoolVar(&force, "force", false, "replace files that are there and are no link to this program")
	c.Flags().BoolVar(&sh, "sh", true, "write the names with .sh too")
	return c
}

// install links every tool's name in dir to program and returns how many links there are.
func install(program, dir string, force, sh bool) (int, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	n := 0
	for _, name := range kafkatool.Names() {
		names := []string{name}
		if sh {
			names = append(names, name+".sh")
		}
		for _, link := range names {
			if err := symlink(program, filepath.Join(dir, link), force); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}

func symlink(program, link string, force bool) error {
	if old, err := os.Readlink(link); err == nil && old == program {
		return nil
	}
	if info, err := os.Lstat(link); err == nil {
		if info.Mode()&fs.ModeSymlink == 0 && !force {
			return fmt.Errorf("%s is there already; --force replaces it", link)
		}
		if err := os.Remove(link); err != nil {
			return err
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Symlink(program, link)
}
