// Command millrace is the broker and its tools in one binary.
//
//	millrace serve [server.properties] [--override key=value]...
//	millrace log dump FILE...
//	millrace bench ...
//
// This package only wires parts together: serve.go starts a node, drivers.go names the I/O drivers that were built in
// (uring.go adds io_uring under the build tag "uring"), listeners.go opens sockets, banner.go says what runs,
// observe.go feeds the admin port, logging.go sets up slog, logdump.go prints segments.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"millrace/bench"
)

// version is set by the linker.
var version = "dev"

func main() {
	root := &cobra.Command{
		Use:           "millrace",
		Short:         "A distributed commit log that speaks Kafka's protocol",
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.AddCommand(serveCommand(), configCommand(), bench.Command())
	if err := root.Execute(); err != nil {
		fmt.Fprintln(os.Stderr, "millrace:", err)
		var code exitCode
		if errors.As(err, &code) {
			os.Exit(int(code))
		}
		os.Exit(1)
	}
}

// exitCode is an error that names the process's exit code.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
