package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/kafkatool"
)

// completing bounds a question that is asked while somebody presses the tab key.
const completing = 2 * time.Second

// completion is cobra's function that proposes arguments.
type completion = func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective)

// asked proposes what a broker says; nothing where none answers. Repeated: also behind the first argument, what stands there left out.
func asked(f *flags, repeated bool, ask func(ctx context.Context, cl *kgo.Client) ([]string, error)) completion {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 && !repeated {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		p, err := f.properties()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completing)
		defer cancel()
		cl, err := conn.Open(ctx, f.address(), p)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer cl.Close()
		list, err := ask(ctx, cl)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return slices.DeleteFunc(list, func(n string) bool { return slices.Contains(args, n) }), cobra.ShellCompDirectiveNoFileComp
	}
}

func listTopics(ctx context.Context, cl *kgo.Client) ([]string, error) {
	topics, err := kadm.NewClient(cl).ListTopicsWithInternal(ctx)
	return topics.Names(), err
}

// topicNames proposes topics.
func topicNames(f *flags, repeated bool) completion { return asked(f, repeated, listTopics) }

// groupNames proposes consumer groups.
func groupNames(f *flags, repeated bool) completion {
	return asked(f, repeated, func(ctx context.Context, cl *kgo.Client) ([]string, error) {
		list, err := kafkatool.ListGroups(ctx, cl)
		var out []string
		for _, g := range list {
			out = append(out, g.Group)
		}
		return out, err
	})
}

// placeNames proposes places of configurations.
func placeNames(f *flags) completion {
	places := asked(f, false, func(ctx context.Context, cl *kgo.Client) ([]string, error) {
		list, err := kadm.NewClient(cl).ListBrokers(ctx)
		if err != nil {
			return nil, err
		}
		out := []string{"brokers"}
		for _, b := range list {
			out = append(out, "broker/"+strconv.Itoa(int(b.NodeID)))
		}
		topics, err := listTopics(ctx, cl)
		for _, t := range topics {
			out = append(out, "topic/"+t)
		}
		return out, err
	})
	keys := func(c *cobra.Command, args []string, suffix string) ([]string, cobra.ShellCompDirective) {
		p, err := placeOf(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list, how := asked(f, true, func(ctx context.Context, cl *kgo.Client) ([]string, error) {
			list, err := p.read(&session{ctx: ctx, cl: cl, adm: kadm.NewClient(cl)})
			var out []string
			for _, c := range list {
				out = append(out, c.Key+suffix)
			}
			return out, err
		})(c, args, "")
		if suffix != "" {
			how |= cobra.ShellCompDirectiveNoSpace
		}
		return list, how
	}
	return func(c *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return places(c, args, toComplete)
		case strings.HasPrefix(c.Use, "get "):
			return keys(c, args, "")
		case strings.HasPrefix(c.Use, "set "):
			return keys(c, args, "=")
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}
