package kafkatool

import (
	"context"
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

const groupsHelp = "This tool helps to list, describe, delete and manage the offsets of consumer groups."

var groupsTool = &tool{
	name:    "kafka-consumer-groups",
	class:   "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
	about:   groupsHelp,
	help:    groupsHelp,
	options: groupsOptions,
	run:     runGroups,
	fail: func(e *Env, err error) error {
		// Kafka's tool tells on stdout and ends with 0.
		words, trace := plain(err), conn.Class(err)+": "+plain(err)
		var f *groupFailure
		var c *conn.Error
		switch {
		case errors.As(err, &f):
			words, trace = f.words, f.trace
		case errors.As(err, &c) && errors.Is(err, kerr.GroupIDNotFound):
			words = conn.Class(err) + ": " + plain(err)
			trace = "java.util.concurrent.ExecutionException: " + words
		}
		e.println("\nError: Executing consumer group command failed due to %s", words)
		if trace != "" {
			e.complain("%s", trace)
		}
		if errors.Is(err, conn.ErrNoBroker) {
			return Exit(1)
		}
		return nil
	},
}

// groupFailure is an error with the words for stdout and those for stderr.
type groupFailure struct{ words, trace string }

func (f *groupFailure) Error() string { return f.words }

func groupsOptions() *jopt.Set {
	return common(jopt.New().
		Str("bootstrap-server", "server to connect to", "REQUIRED: the brokers to ask.").
		Str("group", "group id", "The consumer group, may be repeated.").
		Str("topic", "topic", "The topic whose offsets are reset or deleted; partitions as topic1:0,1,2. May be repeated.").
		Flag("all-topics", "With --reset-offsets: all topics of the group.").
		Flag("list", "List the groups.").
		Flag("describe", "Show offsets and lag of a group.").
		Flag("delete", "Delete groups.").
		Flag("delete-offsets", "Delete offsets of a group for topics.").
		Str("validate-regex", "regex", "Check that a regular expression is one that brokers take.").
		Long("timeout", "timeout (ms)", "How long an answer may take.").Default("30000").
		Str("command-config", "command config property file", "Properties for the connection.").
		Flag("reset-offsets", "Set the offsets of a group that is not active; --dry-run shows, --execute does, --export writes CSV.").
		Flag("all-groups", "All groups.").
		Flag("dry-run", "Only show what would be done.").
		Flag("execute", "Do it.").
		Flag("export", "Write offsets as CSV.").
		Long("to-offset", "offset", "Reset to this offset.").
		Str("from-file", "path to CSV file", "Reset to the offsets of a CSV file.").
		Str("to-datetime", "datetime", "Reset to the first message from then on: YYYY-MM-DDTHH:mm:SS.sss.").
		Str("by-duration", "duration", "Reset to what was that long ago: PnDTnHnMnS.").
		Flag("to-earliest", "Reset to the earliest offset.").
		Flag("to-latest", "Reset to the end.").
		Flag("to-current", "Reset to the current offset.").
		Long("shift-by", "number-of-offsets", "Reset by this many messages, forward or backward.").
		Flag("members", "With --describe: the members.").
		Flag("verbose", "With --describe: more columns.").
		Flag("offsets", "With --describe: the offsets, as without it.").
		Add(jopt.Option{Names: []string{"state"}, Arg: jopt.Optional, Help: "With --describe: the state of the group. With --list: the states, or only groups in these."}).
		Add(jopt.Option{Names: []string{"type"}, Arg: jopt.Optional, Help: "With --list: the types, or only groups of these."}))
}

var resetScenarios = []string{"to-offset", "to-datetime", "by-duration", "to-earliest", "to-latest", "to-current", "shift-by", "from-file"}

func checkGroups(e *Env, v *jopt.Values) error {
	if v.Has("validate-regex") && !v.HasAny("list", "describe", "delete", "reset-offsets", "delete-offsets") {
		return nil
	}
	if err := require(v, "bootstrap-server"); err != nil {
		return err
	}
	scope := func(action string) error {
		if !v.HasAny("group", "all-groups") {
			return usagef("Option [%s] takes one of these options: [group], [all-groups]", action)
		}
		return nil
	}
	if v.Has("describe") {
		if err := scope("describe"); err != nil {
			return err
		}
		n := 0
		for _, o := range []string{"members", "offsets", "state"} {
			if v.Has(o) {
				n++
			}
		}
		if n > 1 {
			return usagef("Option [describe] takes at most one of these options: [members], [offsets], [state]")
		}
		if v.Str("state") != "" {
			return usagef("Option [describe] does not take a value for [state]")
		}
	}
	if v.Has("delete") {
		if err := scope("delete"); err != nil {
			return err
		}
		if v.Has("topic") {
			return usagef("The consumer does not support topic-specific offset deletion from a consumer group.")
		}
	}
	if v.Has("delete-offsets") && (!v.Has("group") || !v.Has("topic")) {
		return usagef("Option [delete-offsets] takes the following options: [group], [topic]")
	}
	if v.Has("reset-offsets") {
		if err := checkReset(e, v, scope); err != nil {
			return err
		}
	}
	return first([]error{
		exclude(v, "group", "all-groups"), excludeLevel(v, "group", "describe", "delete", "reset-offsets", "delete-offsets"), excludeLevel(v, "topic", "delete", "reset-offsets", "delete-offsets"),
	})
}

// excludeLevel refuses an option beside actions other than those named.
func excludeLevel(v *jopt.Values, option string, allowed ...string) error {
	return exclude(v, option, without([]string{"list", "describe", "delete", "reset-offsets", "delete-offsets"}, allowed...)...)
}

func checkReset(e *Env, v *jopt.Values, scope func(string) error) error {
	if v.Has("dry-run") && v.Has("execute") {
		return usagef("Option [reset-offsets] only accepts one of [execute] and [dry-run]")
	}
	if !v.HasAny("dry-run", "execute") {
		e.complain("WARN: No action will be performed as the --execute option is missing. In version 5.0, this command will require either --dry-run or --execute to be specified. " +
			"You should add the --dry-run option explicitly if you are scripting this command and want to keep the current default behavior without prompting.")
	}
	if err := scope("reset-offsets"); err != nil {
		return err
	}
	for _, s := range resetScenarios {
		if err := exclude(v, s, without(resetScenarioOrder, s)...); err != nil {
			return err
		}
	}
	return nil
}

// resetScenarioOrder is the order in which Kafka's tool names them.
var resetScenarioOrder = []string{"by-duration", "to-datetime", "from-file", "shift-by", "to-offset", "to-earliest", "to-current", "to-latest"}

func runGroups(e *Env, v *jopt.Values) error {
	if v.Has("type") && !v.Has("list") && !e.own {
		e.complain("Exception in thread \"main\" joptsimple.UnavailableOptionException: Option(s) [type] are unavailable given other options on the command line")
		return Exit(1)
	}
	if err := checkGroups(e, v); err != nil {
		return err
	}
	n := 0
	for _, a := range []string{"list", "describe", "delete", "reset-offsets", "delete-offsets", "validate-regex"} {
		if v.Has(a) {
			n++
		}
	}
	if n != 1 {
		return usagef("Command must include exactly one action: --list, --describe, --delete, --reset-offsets, --delete-offsets, --validate-regex")
	}
	if v.Has("validate-regex") {
		_, err := syntax.Parse(v.Str("validate-regex"), syntax.Perl)
		var s *syntax.Error
		if errors.As(err, &s) {
			e.println("The regular expression `%s` is invalid: %s.", v.Str("validate-regex"), s.Code)
		} else {
			e.println("The regular expression `%s` is valid.", v.Str("validate-regex"))
		}
		return nil
	}
	ms, err := v.Int64("timeout", 30000)
	if err != nil {
		return usagef("%s", err)
	}
	cl, err := e.dial(v)
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(e.Ctx, time.Duration(ms)*time.Millisecond)
	defer cancel()
	g := &groupCommand{e: e, v: v, cl: cl, ctx: ctx}
	switch {
	case v.Has("list"):
		return g.list()
	case v.Has("describe"):
		return g.describe()
	case v.Has("delete"):
		return g.delete()
	case v.Has("delete-offsets"):
		return g.deleteOffsets()
	}
	return g.reset()
}

// groupCommand is one call of the tool. Owned by runGroups.
type groupCommand struct {
	e   *Env
	v   *jopt.Values
	cl  *kgo.Client
	ctx context.Context
}

// ids are the groups that the call is about, sorted.
func (g *groupCommand) ids() ([]string, error) {
	var out []string
	if g.v.Has("all-groups") {
		list, err := listGroups(g.ctx, g.cl, nil, nil)
		if err != nil {
			return nil, err
		}
		for _, l := range list {
			out = append(out, l.Group)
		}
	} else {
		out = slices.Clone(g.v.All("group"))
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

var groupStates = []string{"Assigning", "Stable", "CompletingRebalance", "Reconciling", "Empty", "PreparingRebalance", "Dead"}

// chosen reads a comma list of words that are known in any case.
func chosen(text, what, plural string, known []string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	var out []string
	for _, w := range strings.Split(text, ",") {
		i := slices.IndexFunc(known, func(k string) bool { return strings.EqualFold(k, strings.TrimSpace(w)) })
		if i < 0 {
			return nil, usagef("Invalid %s list '%s'. Valid %s are: %s", what, text, plural, strings.Join(known, ", "))
		}
		out = append(out, known[i])
	}
	return out, nil
}

func (g *groupCommand) list() error {
	states, err := chosen(g.v.Str("state"), "state", "states", groupStates)
	if err != nil {
		return err
	}
	types, err := chosen(g.v.Str("type"), "types", "types", []string{"Consumer", "Classic"})
	if err != nil {
		return err
	}
	list, err := listGroups(g.ctx, g.cl, states, types)
	if err != nil {
		return err
	}
	if !g.v.HasAny("state", "type") {
		for _, l := range list {
			g.e.println("%s", l.Group)
		}
		return nil
	}
	width := 15
	for _, l := range list {
		width = max(width, len(l.Group))
	}
	row := func(group, kind, state string) {
		line := fmt.Sprintf("%-*s", width+10, group)
		if g.v.Has("type") {
			line += fmt.Sprintf(" %-20s", kind)
		}
		if g.v.Has("state") {
			line += fmt.Sprintf(" %-20s", state)
		}
		g.e.println("%s", line)
	}
	row("GROUP", "TYPE", "STATE")
	for _, l := range list {
		kind := l.GroupType
		if kind == "" {
			kind = "Classic"
		}
		row(l.Group, strings.ToUpper(kind[:1])+kind[1:], l.GroupState)
	}
	return nil
}
