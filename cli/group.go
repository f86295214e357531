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
		Use: "describe GROUP...", ValidArgsFunction: groupNames(f, true), Short: "Show offsets, lag and members of groups", Args: cobra.MinimumNArgs(1),
		Example: "  millrace group describe billing",
		RunE: f.withBroker(func(s *session) error {
			var list []*kafkatool.GroupDetails
			for _, id := range s.args {
				g, err := kafkatool.DescribeGroup(s.ctx, s.cl, id)
				if err != nil {
					return noGroup(id, err)
				}
				list = append(list, g)
			}
			return s.out.value(list, func() error {
				for i, g := range list {
					if i > 0 {
						s.out.line("")
					}
					s.out.line("%s  %s, %s, %s, lag %s", g.Group, g.Type, g.State, counted(g.Members, "member"), orDash(g.Lag))
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

func groupDelete(f *flags) *cobra.Command {
	var exists bool
	c := &cobra.Command{
		Use: "delete GROUP...", ValidArgsFunction: groupNames(f, true), Aliases: []string{"rm"}, Short: "Delete groups that have no members", Args: cobra.MinimumNArgs(1),
		Example: "  millrace group delete billing",
		RunE: f.withBroker(func(s *session) error {
			resps, err := s.adm.DeleteGroups(s.ctx, s.args...)
			if err != nil {
				return err
			}
			var failed error
			for _, r := range resps.Sorted() {
				switch {
				case r.Err == nil:
				case missing(r.Err) && exists:
				default:
					failed = errors.Join(failed, refused("group "+r.Group, r.Err, r.ErrMessage))
				}
			}
			return failed
		}),
	}
	c.Flags().BoolVar(&exists, "if-exists", false, "a missing group is no error")
	return c
}

// noGroup names the group that is not there.
func noGroup(id string, err error) error {
	if errors.Is(err, kafkatool.ErrNoGroup) {
		return fmt.Errorf("group %s: %w", id, errNotFound)
	}
	return err
}
