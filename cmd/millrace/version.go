package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"millrace/cli/kafkatool"
)

// build is what `millrace version` shows.
type build struct {
	Version  string     `json:"version"`
	Go       string     `json:"go"`
	Platform string     `json:"platform"`
	Engines  []ioEngine `json:"ioEngines"`
	Kafka    string     `json:"kafkaTools"`
}

// ioEngine is an I/O driver that was built in.
type ioEngine struct {
	Name   string `json:"name"`
	Usable bool   `json:"usable"`
	Why    string `json:"why,omitempty"`
}

func thisBuild() build {
	b := build{Version: version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, Kafka: kafkatool.Version}
	for _, d := range drivers {
		e := ioEngine{Name: d.Name, Usable: true}
		if err := d.Probe(); err != nil {
			e.Usable, e.Why = false, err.Error()
		}
		b.Engines = append(b.Engines, e)
	}
	return b
}

func versionCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use: "version", Short: "Show the version, and which I/O engines are built in", Args: cobra.NoArgs,
		Example: "  millrace version -o json",
		RunE: func(c *cobra.Command, _ []string) error {
			b := thisBuild()
			switch output {
			case "json":
				enc := json.NewEncoder(c.OutOrStdout())
				enc.SetIndent("", "  ")
				return enc.Encode(b)
			case "text":
			default:
				return fmt.Errorf("-o %s: text and json are known", output)
			}
			var engines []string
			for _, e := range b.Engines {
				if !e.Usable {
					e.Name += " (not usable here: " + e.Why + ")"
				}
				engines = append(engines, e.Name)
			}
			fmt.Fprintf(c.OutOrStdout(), "millrace %s\nbuilt with %s for %s\nI/O engines: %s\nKafka's tools as of Apache Kafka %s\n",
				b.Version, b.Go, b.Platform, strings.Join(engines, ", "), b.Kafka)
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	_ = c.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}
