package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"millrace/internal/config"
)

func configCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Look at the broker's configuration"}
	var overrides []string
	check := &cobra.Command{
		Use:   "check [server.properties]",
		Short: "Say for each key of a file whether it is used, accepted without effect, or refused",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
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
