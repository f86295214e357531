// Command millrace is the broker and its tools in one binary.
//
//	millrace serve [server.properties] [--override key=value]...
//	millrace topic|produce|consume|group|config|log|cluster|version ...
//	millrace bench ...
//
// Called by the name of one of Apache Kafka's tools (millrace install-tools writes such links) it is that tool.
//
// This package only wires parts together: serve.go starts a node, drivers.go names the I/O drivers that were built in
// (uring.go adds io_uring under the build tag "uring"), listeners.go opens sockets, banner.go says what runs,
// observe.go feeds the admin port, version.go says what was built, logging.go sets up slog. Package cli has the tools.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"millrace/bench"
	"millrace/cli"
)

// version is set by the linker.
var version = "dev"

func main() {
	if handled, code := cli.Main(os.Args, func(args []string) int { return run(append([]string{"serve"}, args...)) }); handled {
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:]))
}

// run carries out a command line and returns the exit code.
func run(args []string) int {
	root := &cobra.Command{
		Use:           "millrace",
		Short:         "A distributed commit log that speaks Kafka's protocol",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(serveCommand(), configCommand(), versionCommand(), bench.Command())
	root.AddCommand(cli.Commands()...)
	root.Args, root.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	root.SetFlagErrorFunc(explainFlags)
	explainArgs(root)
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		var code exitCode
		if errors.As(err, &code) {
			return int(code)
		}
		if !cli.Told(err) {
			fmt.Fprintln(os.Stderr, "millrace:", err)
		}
		return cli.ExitCode(err)
	}
	return 0
}

// explainFlags says in fewer words what Go says of a number that is none, and where the flags are told.
func explainFlags(c *cobra.Command, err error) error {
	text := err.Error()
	if i := strings.Index(text, "strconv."); i > 0 {
		why := "not a number"
		if strings.HasSuffix(text, "value out of range") {
			why = "too large or too small"
		}
		text = text[:i] + why
	}
	return fmt.Errorf("%s; %s --help tells of the flags", text, c.CommandPath())
}

// explainArgs lets a wrong number of arguments be answered with the form of the command, and a mistyped subcommand with
// those that look like it.
func explainArgs(c *cobra.Command) {
	if c.HasParent() && c.HasSubCommands() && !c.Runnable() { // else cobra answers a typo with the help and 0
		c.Args = cobra.NoArgs
		c.RunE = func(c *cobra.Command, _ []string) error {
			_ = c.Help()
			return exitCode(2)
		}
	}
	if check := c.Args; check != nil {
		c.Args = func(c *cobra.Command, args []string) error {
			err := check(c, args)
			switch {
			case err == nil:
				return nil
			case !c.HasSubCommands():
				return fmt.Errorf("%w; usage: %s", err, c.UseLine())
			}
			c.SuggestionsMinimumDistance = 2
			if like := c.SuggestionsFor(args[0]); len(like) > 0 {
				return fmt.Errorf("%w; did you mean %s?", err, strings.Join(like, " or "))
			}
			return fmt.Errorf("%w; %s --help lists them", err, c.CommandPath())
		}
	}
	for _, sub := range c.Commands() {
		explainArgs(sub)
	}
}

// exitCode is an error that names the process's exit code and has been told already.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
