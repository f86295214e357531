package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"millrace/cli"
	"millrace/internal/config"
)

func configCommand() *cobra.Command {
	cmd := cli.Group("config", "Show, set and check configurations", cli.ConfigCommands()...)
	var overrides []string
	check := &cobra.Command{
		Use:     "check [server.properties]",
		Short:   "Say for each key of a file whether it is used, accepted without effect, or refused",
		Example: "  millrace config check server.properties\n  millrace config check --override log.retention.hours=24",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			if path == "" && len(overrides) == 0 {
				return errors.New("nothing to check: name a property file or give --override key=value")
			}
			loaded, err := config.Load(path, overrides)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			for _, f := range loaded.Findings {
				fmt.Fprintln(out, f)
			}
			for _, w := range loaded.Warnings {
				fmt.Fprintln(out, "warning:", w)
			}
			fmt.Fprintf(out, "%d keys, nothing wrong\n", len(loaded.Findings))
			return nil
		},
	}
	check.Flags().StringArrayVar(&overrides, "override", nil, "key=value; may be repeated")
	cmd.AddCommand(check)
	return cmd
}
