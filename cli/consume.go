package cli

import (
	"errors"
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
			"It ends after -n messages, after --idle-ms without one, or with Ctrl-C. With -o json each message is one line of JSON.",
		Example:           "  millrace consume orders --from start -n 10 --key\n  millrace consume 'orders|bills' --regex -g audit",
		ValidArgsFunction: topicNames(f, false),
		RunE: func(c *cobra.Command, args []string) error {
			asJSON, err := f.check()
			switch {
			case err != nil:
				return err
			case c.Flags().Changed("number") && number <= 0:
				return fmt.Errorf("-n %d: a number of messages is meant", number)
			case c.Flags().Changed("partition") && partition < 0:
				return fmt.Errorf("-p %d: a partition's number is meant", partition)
			case idle < 0:
				return fmt.Errorf("--idle-ms %d: a number of milliseconds is meant", idle)
			case group != "" && partition >= 0:
				return errors.New("-g and -p cannot stand together: a group's partitions are given to its members")
			case regex && partition >= 0:
				return errors.New("--regex and -p cannot stand together: one topic is meant")
			}
			from, err := fromFlag(offset, partition >= 0)
			if err != nil {
				return err
			}
			name := "--topic="
			if regex {
				name = "--include="
			} else if err := f.withBroker(topicExists(partition))(c, args); err != nil {
				return err
			}
			call := []string{"--bootstrap-server=" + f.address(), name + args[0]}
			if partition >= 0 {
				call = append(call, "--partition", strconv.Itoa(int(partition)))
			}
			call = append(call, from...)
			if group != "" {
				call = append(call, "--group="+group)
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
			return runOwn(f, "kafka-console-consumer", call, "", asJSON)
		},
	}
	f.addConnection(c)
	c.Flags().StringVarP(&group, "group", "g", "", "be a member of this group")
	c.Flags().StringVar(&offset, "from", "end", "`WHERE` to begin: start, end, or with -p an offset")
	c.Flags().Int32VarP(&partition, "partition", "p", -1, "only this partition")
	c.Flags().Int64VarP(&number, "number", "n", 0, "stop after so many messages")
	c.Flags().Int64Var(&idle, "idle-ms", 0, "stop when no message came for so long")
	c.Flags().BoolVar(&regex, "regex", false, "TOPIC is a regular expression")
	c.Flags().BoolVarP(&key, "key", "k", false, "show keys")
	c.Flags().BoolVar(&headers, "headers", false, "show headers")
	c.Flags().BoolVarP(&meta, "meta", "m", false, "show time, partition and offset")
	c.Flags().Lookup("partition").DefValue = "0" // -1 is no number that a user gives: not shown
	c.Flags().StringVar(&separator, "separator", "\\t", "what stands between the parts of a line")
	_ = c.RegisterFlagCompletionFunc("from", cobra.FixedCompletions([]string{"start", "end"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("group", groupNames(f, true))
	return c
}

// fromFlag translates --from.
func fromFlag(from string, onePartition bool) ([]string, error) {
	switch from {
	case "start", "earliest":
		if onePartition {
			return []string{"--offset", "earliest"}, nil
		}
		return []string{"--from-beginning"}, nil
	case "end", "latest":
		return nil, nil
	}
	if n, err := strconv.ParseInt(from, 10, 64); err != nil || n < 0 {
		return nil, fmt.Errorf("--from %q: start, end or an offset is meant", from)
	}
	if !onePartition {
		return nil, fmt.Errorf("--from %s: an offset belongs to one partition, which -p names", from)
	}
	return []string{"--offset", from}, nil
}

// topicExists keeps a misspelled topic or partition from being made, and waited for, by whoever only wants to read it.
func topicExists(partition int32) func(s *session) error {
	return func(s *session) error {
		topics, err := s.adm.ListTopicsWithInternal(s.ctx, s.args[0])
		if err != nil {
			return err
		}
		t := topics[s.args[0]]
		if t.Err != nil {
			return refused("topic "+s.args[0], t.Err, "")
		}
		if _, ok := t.Partitions[partition]; !ok && partition >= 0 {
			return fmt.Errorf("partition %d of topic %s: %w; it has %s", partition, s.args[0], errNotFound, counted(len(t.Partitions), "partition"))
		}
		return nil
	}
}

// unescape reads \t and \n in a flag.
func unescape(s string) string { return strings.NewReplacer(`\t`, "\t", `\n`, "\n").Replace(s) }

// runOwn runs one of Kafka's tools with the connection flags of a subcommand, its input from a file if one is named.
func runOwn(f *flags, tool string, call []string, file string, asJSON bool) error {
	if f.config != "" {
		call = append(call, "--command-config="+f.config)
	}
	for _, p := range f.set {
		call = append(call, "--command-property="+p)
	}
	if file != "" {
		in, err := os.Open(file)
		if err != nil {
			return MissingFile(file, err)
		}
		defer in.Close()
		if info, err := in.Stat(); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory", file)
		}
		stdin := os.Stdin
		os.Stdin = in
		defer func() { os.Stdin = stdin }()
	}
	return callTool(tool, call, asJSON)
}
