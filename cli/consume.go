package cli

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func consumeCommand() *cobra.Command {
	f := &flags{}
	var group, offset, separator string
	var partition int32
	var number int64
	var idle int64
	var regex, key, headers, meta bool
	c := &cobra.Command{
		Use: "consume TOPIC", Short: "Show the messages of a topic", Args: cobra.ExactArgs(1),
		Long: "Shows messages as they come, from the end unless --from says otherwise. With -g it is a member of that group and commits what it has shown.\n" +
			"It ends after -n messages, after --idle-ms without one, or with Ctrl-C.",
		Example: "  millrace consume orders --from start -n 10 --key\n  millrace consume 'orders|bills' --regex -g audit",
		RunE: func(c *cobra.Command, args []string) error {
			name := "--topic"
			if regex {
				name = "--include"
			} else if err := f.withBroker(topicExists)(c, args); err != nil {
				return err
			}
			call := []string{"--bootstrap-server", f.address(), name, args[0]}
			if partition >= 0 {
				call = append(call, "--partition", strconv.Itoa(int(partition)))
			}
			switch {
			case offset == "start" && partition < 0:
				call = append(call, "--from-beginning")
			case offset == "start":
				call = append(call, "--offset", "earliest")
			case offset == "end":
			case partition < 0:
				return fmt.Errorf("--from %s needs --partition", offset)
			default:
				call = append(call, "--offset", offset)
			}
			if group != "" {
				call = append(call, "--group", group)
			}
			if number > 0 {
				call = append(call, "--max-messages", strconv.FormatInt(number, 10))
			}
			if idle > 0 {
				call = append(call, "--timeout-ms", strconv.FormatInt(idle, 10))
			}
			for name, on := range map[string]bool{"print.key": key, "print.headers": headers, "print.timestamp": meta, "print.partition": meta, "print.offset": meta} {
				call = append(call, "--formatter-property", name+"="+strconv.FormatBool(on))
			}
			call = append(call, "--formatter-property", "key.separator="+unescape(separator))
			return runOwn(f, "kafka-console-consumer", call, "")
		},
	}
	f.add(c)
	c.Flags().StringVarP(&group, "group", "g", "", "be a member of this group")
	c.Flags().StringVar(&offset, "from", "end", "start, end, or with --partition an offset")
	c.Flags().Int32VarP(&partition, "partition", "p", -1, "only this partition")
	c.Flags().Int64VarP(&number, "number", "n", 0, "stop after so many messages")
	c.Flags().Int64Var(&idle, "idle-ms", 0, "stop when no message came for so long")
	c.Flags().BoolVar(&regex, "regex", false, "TOPIC is a regular expression")
	c.Flags().BoolVarP(&key, "key", "k", false, "show keys")
	c.Flags().BoolVar(&headers, "headers", false, "show headers")
	c.Flags().BoolVarP(&meta, "meta", "m", false, "show time, partition and offset")
	c.Flags().Lookup("partition").DefValue = "0" // -1 is no number that a user gives: not shown
	c.Flags().StringVar(&separator, "separator", "\\t", "what stands between the parts of a line")
	return c
}

// topicExists keeps a misspelled topic from being made, and waited for, by whoever only wants to read it.
func topicExists(s *session) error {
	topics, err := s.adm.ListTopicsWithInternal(s.ctx, s.args[0])
	if err != nil {
		return err
	}
	if err := topics[s.args[0]].Err; err != nil {
		return fmt.Errorf("topic %s: %w (%w)", s.args[0], errNotFound, err)
	}
	return nil
}

// unescape reads \t and \n in a flag.
func unescape(s string) string { return strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(s) }

// runOwn runs one of Kafka's tools with the connection flags of a subcommand, its input from a file if one is named.
func runOwn(f *flags, tool string, call []string, file string) error {
	if asJSON, err := f.json(); err != nil {
		return err
	} else if asJSON {
		return fmt.Errorf("-o json: this command has text only")
	}
	if f.config != "" {
		call = append(call, "--command-config", f.config)
	}
	for _, p := range f.set {
		call = append(call, "--command-property", p)
	}
	if file != "" {
		in, err := os.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		stdin := os.Stdin
		os.Stdin = in
		defer func() { os.Stdin = stdin }()
	}
	if code := runTool(tool, call, nil); code != 0 {
		return exit(code)
	}
	return nil
}
