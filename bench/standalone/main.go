// Command standalone is the bench command alone, in a program that links nothing of the broker.
package main

import (
	"os"

	"github.com/spf13/cobra"

	"millrace/bench"
)

func main() {
	root := &cobra.Command{Use: "standalone"}
	root.AddCommand(bench.Command())
	if root.Execute() != nil {
		os.Exit(1)
	}
}
