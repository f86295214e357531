package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

var codecs = []string{"none", "gzip", "snappy", "lz4", "zstd"}

func produceCommand() *cobra.Command {
	f := &flags{}
	var separator, file, compression, acks string
	var sync bool
	c := &cobra.Command{
		Use: "produce TOPIC", Short: "Write the lines of standard input or a file to a topic", Args: cobra.ExactArgs(1),
		Long: "Writes each line as one message. With -k the part of a line before the separator is the key.\n" +
			"The end of the input ends it; a refused message is told on stderr, and the exit code is 1. With -o json it says how many were sent.",
		ValidArgsFunction: topicNames(f, false),
		Example:           "  echo hello | millrace produce greetings\n  millrace produce users -f users.tsv -k '\\t' -z zstd",
		RunE: func(c *cobra.Command, args []string) error {
			asJSON, err := f.check()
			switch {
			case err != nil:
				return err
			case !slices.Contains(codecs, compression):
				return fmt.Errorf("-z %s: %s are known", compression, strings.Join(codecs, ", "))
			case acks != "all" && acks != "-1" && acks != "1" && acks != "0":
				return fmt.Errorf("--acks %s: all, 1 and 0 are known", acks)
			case c.Flags().Changed("key-separator") && separator == "":
				return errors.New("-k is empty: what stands between key and value is meant")
			}
			call := []string{"--bootstrap-server=" + f.address(), "--topic=" + args[0], "--request-required-acks=" + acks, "--compression-codec=" + compression, "--timeout=5"}
			if separator != "" {
				call = append(call, "--reader-property", "parse.key=true", "--reader-property", "key.separator="+unescape(separator))
			}
			if sync {
				call = append(call, "--sync")
			}
			return runOwn(f, "kafka-console-producer", call, file, asJSON)
		},
	}
	f.addConnection(c)
	c.Flags().StringVarP(&separator, "key-separator", "k", "", "what stands between key and value; \\t is a tab")
	c.Flags().StringVarP(&file, "file", "f", "", "read this file instead of standard input")
	c.Flags().StringVarP(&compression, "compression", "z", "none", "none, gzip, snappy, lz4 or zstd")
	c.Flags().StringVar(&acks, "acks", "all", "all, 1 or 0")
	c.Flags().BoolVar(&sync, "sync", false, "wait for the answer to each message before the next")
	_ = c.RegisterFlagCompletionFunc("compression", cobra.FixedCompletions(codecs, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("acks", cobra.FixedCompletions([]string{"all", "1", "0"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}
