package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"millrace/cli/kafkatool"
)

func groupCommand() *cobra.Command {
	f := &flags{}
	return group("group", "List, describe, seek and delete consumer groups", f, groupList(f), groupDescribe(f), groupSeek(f), groupDelete(f))
}

func groupList(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List consumer groups", Args: cobra.NoArgs,
		Example: "  millrace group list -o json",
		RunE: f.withBroker(func(s *session) error {
			list, err := kafkatool.ListGroups(s.ctx, s.cl)
			if err != nil {
				return err
			}
			var rows [][]any
			for _, g := range list {
				rows = append(rows, []any{g.Group, g.Type, g.State})
			}
			return s.out.value(list, func() error { return s.out.table([]any{"GROUP", "TYPE", "STATE"}, rows) })
		}),
	}
}

func groupDescribe(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "describe GROUP...", Short: "Show offsets, lag and members of groups", Args: cobra.MinimumNArgs(1),
		Example: "  millrace group describe billing",
		RunE: f.withBroker(func(s *session) error {
			var list []*kafkatool.GroupDetails
			for _, id := range s.args {
				g, err := kafkatool.DescribeGroup(s.ctx, s.cl, id)
				if errors.Is(err, kafkatool.ErrNoGroup) {
					err = fmt.Errorf("group %s: %w", id, errNotFound)
				}
				if err != nil {
					return err
				}
				list = append(list, g)
			}
			return s.out.value(list, func() error {
				for i, g := range list {
					if i > 0 {
						s.out.line("")
					}
					s.out.line("%s  %s, %s, %d members, lag %d", g.Group, g.Type, g.State, g.Members, g.Lag)
					var rows [][]any
					for _, p := range g.Partitions {
						rows = append(rows, []any{p.Topic, p.Partition, orDash(p.Offset), orDash(p.End), orDash(p.Lag), word(p.Member), word(p.Host), word(p.ClientID)})
					}
					if err := s.out.table([]any{"TOPIC", "PARTITION", "OFFSET", "END", "LAG", "MEMBER", "HOST", "CLIENT"}, rows); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}
}

func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

func word(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func groupSeek(f *flags) *cobra.Command {
	var topics []string
	var to string
	var execute bool
	c := &cobra.Command{
		Use: "seek GROUP", Aliases: []string{"reset"}, Short: "Set the offsets of a group that has no members", Args: cobra.ExactArgs(1),
		Long: "Sets the committed offsets of a group without members. Without --execute it shows what would be set.\n" +
			"--to takes start, end, current, an offset, +N or -N messages, a time (2006-01-02T15:04:05.000) or a duration ago (PT1H).",
		Example: "  millrace group seek billing --to start -t orders\n  millrace group seek billing --to -100 --execute",
		RunE: func(c *cobra.Command, args []string) error {
			flag, value, err := seekFlag(to)
			if err != nil {
				return err
			}
			call := []string{"--bootstrap-server", f.address(), "--reset-offsets", "--group", args[0], "--" + flag}
			if value != "" {
				call = append(call, value)
			}
			if f.config != "" {
				call = append(call, "--command-config", f.config)
			}
			for _, t := range topics {
				call = append(call, "--topic", t)
			}
			if len(topics) == 0 {
				call = append(call, "--all-topics")
			}
			if execute {
				call = append(call, "--execute")
			} else {
				call = append(call, "--dry-run")
			}
			code := runTool("kafka-consumer-groups", call, nil)
			if code != 0 {
				return exit(code)
			}
			if !execute {
				fmt.Fprintln(c.ErrOrStderr(), "\nnothing was changed; --execute does it")
			}
			return nil
		},
	}
	c.Flags().StringArrayVarP(&topics, "topic", "t", nil, "topic, or topic:0,1 for some partitions; without it all topics of the group")
	c.Flags().StringVar(&to, "to", "", "where to")
	c.Flags().BoolVar(&execute, "execute", false, "do it")
	_ = c.MarkFlagRequired("to")
	return c
}

// seekFlag translates --to.
func seekFlag(to string) (flag, value string, err error) {
	switch to {
	case "start", "earliest":
		return "to-earliest", "", nil
	case "end", "latest":
		return "to-latest", "", nil
	case "current":
		return "to-current", "", nil
	case "":
		return "", "", errors.New("--to is empty")
	}
	switch {
	case to[0] == 'P' || to[0] == 'p':
		return "by-duration", to, nil
	case to[0] == '+' || to[0] == '-':
		if _, err := strconv.ParseInt(to, 10, 64); err != nil {
			return "", "", fmt.Errorf("--to %s: not a number of messages", to)
		}
		if to[0] == '+' {
			to = to[1:]
		}
		return "shift-by", to, nil
	}
	if _, err := strconv.ParseUint(to, 10, 63); err == nil {
		return "to-offset", to, nil
	}
	return "to-datetime", to, nil
}

func groupDelete(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "delete GROUP...", Aliases: []string{"rm"}, Short: "Delete groups that have no members", Args: cobra.MinimumNArgs(1),
		Example: "  millrace group delete billing",
		RunE: f.withBroker(func(s *session) error {
			resps, err := s.adm.DeleteGroups(s.ctx, s.args...)
			if err != nil {
				return err
			}
			var failed error
			for _, r := range resps.Sorted() {
				if r.Err != nil {
					failed = errors.Join(failed, fmt.Errorf("group %s: %w", r.Group, r.Err))
				}
			}
			return failed
		}),
	}
}
