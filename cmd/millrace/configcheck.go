package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"millrace/cli"
	"millrace/internal/config"
)

func configCommand() *cobra.Command {
	cmd := cli.Group("config", "Show, set and check configurations", cli.ConfigCommands()...)
	var overrides []string
	var output string
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
			if output != "text" && output != "json" {
				return fmt.Errorf("-o %s: text and json are known", output)
			}
			loaded, err := config.Load(path, overrides)
			if err != nil {
				return cli.MissingFile(path, err)
			}
			out := cmd.OutOrStdout()
			if output == "json" {
				return findingsJSON(out, loaded)
			}
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
	check.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	_ = check.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	check.Flags().StringArrayVar(&overrides, "override", nil, "key=value; may be repeated")
	cmd.AddCommand(check)
	return cmd
}

// findingsJSON shows what became of each key as JSON.
func findingsJSON(w io.Writer, loaded *config.Loaded) error {
	type finding struct {
		Key     string `json:"key"`
		Value   string `json:"value"`
		File    string `json:"file,omitempty"`
		Line    int    `json:"line,omitempty"`
		Verdict string `json:"verdict"`
		Why     string `json:"why,omitempty"`
	}
	all := struct {
		Keys     []finding `json:"keys"`
		Warnings []string  `json:"warnings"`
	}{[]finding{}, append([]string{}, loaded.Warnings...)}
	for _, f := range loaded.Findings {
		all.Keys = append(all.Keys, finding{f.Key, f.Value, f.File, f.Line, f.Verdict.String(), f.Why})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(all)
}
