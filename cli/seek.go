package cli

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"millrace/cli/kafkatool"
)

// sought is what group seek shows.
type sought struct {
	Group      string              `json:"group"`
	Executed   bool                `json:"executed"`
	Partitions []kafkatool.SeekRow `json:"partitions"`
}

const seekWords = "start, end, current, an offset, +N or -N messages, a time (2006-01-02T15:04:05.000) or a duration ago (PT1H)"

func groupSeek(f *flags) *cobra.Command {
	var topics []string
	var to string
	var execute bool
	c := &cobra.Command{
		Use: "seek GROUP", Aliases: []string{"reset"}, Short: "Set the offsets of a group that has no members", Args: cobra.ExactArgs(1),
		ValidArgsFunction: groupNames(f, false),
		Long: "Sets the committed offsets of a group without members. Without --execute it shows what would be set.\n" +
			"--to takes " + seekWords + ".",
		Example: "  millrace group seek billing --to start -t orders\n  millrace group seek billing --to -100 --execute",
		PreRunE: func(*cobra.Command, []string) error { // before anybody is asked
			_, _, err := seekFlag(to)
			return err
		},
		RunE: f.withBroker(func(s *session) error {
			scenario, value, err := seekFlag(to)
			if err != nil {
				return err
			}
			e := environment(s.ctx, "millrace", nil)
			e.Out = bufio.NewWriter(os.Stderr)
			rows, err := kafkatool.SeekGroup(s.ctx, e, s.cl, kafkatool.Seek{Group: s.args[0], Scenario: scenario, Value: value, Topics: topics, Execute: execute})
			if err != nil {
				return noGroup(s.args[0], err)
			}
			if err := s.out.value(sought{s.args[0], execute, rows}, func() error { return seekTable(s, rows) }); err != nil {
				return err
			}
			switch {
			case len(rows) == 0 && len(topics) == 0:
				e.Note("the group has committed nothing; -t names topics")
			case !execute:
				e.Note("nothing was changed; --execute does it")
			}
			return nil
		}),
	}
	c.Flags().StringArrayVarP(&topics, "topic", "t", nil, "`TOPIC`, or TOPIC:0,1 for some partitions; may be repeated; without it all topics of the group")
	c.Flags().StringVar(&to, "to", "", "`WHERE` to: start, end, current, OFFSET, +N, -N, a time or a duration ago")
	c.Flags().BoolVar(&execute, "execute", false, "do it")
	_ = c.MarkFlagRequired("to")
	_ = c.RegisterFlagCompletionFunc("to", cobra.FixedCompletions([]string{"start", "end", "current"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("topic", topicNames(f, true))
	return c
}

func seekTable(s *session, list []kafkatool.SeekRow) error {
	var rows [][]any
	for _, r := range list {
		rows = append(rows, []any{r.Topic, r.Partition, orDash(r.From), r.To})
	}
	return s.out.table([]any{"TOPIC", "PARTITION", "OFFSET", "NEW-OFFSET"}, rows)
}

// seekFlag translates --to into a scenario of Kafka's tool and its value.
func seekFlag(to string) (scenario, value string, err error) {
	bad := func(why string) error { return fmt.Errorf("--to %q %s: it takes %s", to, why, seekWords) }
	switch to {
	case "start", "earliest":
		return "to-earliest", "", nil
	case "end", "latest":
		return "to-latest", "", nil
	case "current":
		return "to-current", "", nil
	case "":
		return "", "", bad("is empty")
	}
	switch {
	case to[0] == 'P' || to[0] == 'p':
		scenario, value = "by-duration", to
	case to[0] == '+' || to[0] == '-':
		if _, err := strconv.ParseInt(to, 10, 64); err != nil {
			return "", "", bad("is no number of messages")
		}
		if to[0] == '+' {
			to = to[1:]
		}
		return "shift-by", to, nil
	default:
		_, err := strconv.ParseInt(to, 10, 64)
		if err == nil {
			return "to-offset", to, nil
		}
		if errors.Is(err, strconv.ErrRange) {
			return "", "", bad("is too large for an offset")
		}
		scenario, value = "to-datetime", to
	}
	if err := kafkatool.CheckScenario(scenario, value); err != nil {
		return "", "", bad("is none of what is known")
	}
	return scenario, value, nil
}
