package cli

import "github.com/spf13/cobra"

// Commands returns the subcommands to mount under millrace.
func Commands() []*cobra.Command {
	return []*cobra.Command{installCommand()}
}

// ConfigCommands returns what belongs under `millrace config`, beside what the broker's own package has there.
func ConfigCommands() []*cobra.Command { return nil }

// ExitCode is the exit code for an error of a subcommand: 2 where the command line was wrong, else 1.
func ExitCode(error) int { return 1 }
