package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kadm"
)

// ConfigCommands returns what belongs under `millrace config`, beside what the broker's own package has there.
func ConfigCommands() []*cobra.Command {
	return []*cobra.Command{configGet(), configSet(), configDescribe()}
}

// place is what a configuration belongs to: topic/NAME, broker/ID, or brokers for what all have in common.
type place struct {
	broker bool
	name   string
	id     int32
	all    bool
}

const placeWords = "PLACE is topic/NAME, broker/ID, or brokers for the defaults of all."

func placeOf(text string) (place, error) {
	kind, name, _ := strings.Cut(text, "/")
	switch {
	case kind == "topic" && name != "":
		return place{name: name}, nil
	case kind == "brokers" && name == "":
		return place{broker: true, all: true}, nil
	case kind == "broker":
		id, err := strconv.ParseInt(name, 10, 32)
		if err != nil || id < 0 {
			return place{}, fmt.Errorf("%s: a broker is named by its number", text)
		}
		return place{broker: true, id: int32(id)}, nil
	}
	return place{}, fmt.Errorf("%q: %s", text, placeWords)
}

// called is how one of these is called in a message: the name of a broker alone would be a bare number or nothing.
func (p place) called(name string) string {
	switch {
	case p.broker && name == "":
		return "brokers"
	case p.broker:
		return "broker " + name
	}
	return "topic " + name
}

// exists refuses a broker that the cluster does not have, in the words of other things that are not there.
func (p place) exists(s *session) error {
	if !p.broker || p.all {
		return nil
	}
	list, err := s.adm.ListBrokers(s.ctx)
	if err != nil {
		return err
	}
	ids := list.NodeIDs()
	if slices.Contains(ids, p.id) {
		return nil
	}
	return fmt.Errorf("broker %d: %w; brokers: %s", p.id, errNotFound, strings.Trim(fmt.Sprint(ids), "[]"))
}

func (p place) read(s *session) ([]kadm.Config, error) {
	var all kadm.ResourceConfigs
	var err error
	switch {
	case p.broker && p.all:
		all, err = s.adm.DescribeBrokerConfigs(s.ctx)
	case p.broker:
		all, err = s.adm.DescribeBrokerConfigs(s.ctx, p.id)
	default:
		all, err = s.adm.DescribeTopicConfigs(s.ctx, p.name)
	}
	if err != nil {
		return nil, err
	}
	for _, r := range all {
		if r.Err != nil {
			return nil, refused(p.called(r.Name), r.Err, r.ErrMessage)
		}
		return r.Configs, nil
	}
	return nil, errNotFound
}

// placed is a command about a place; check, if not nil, sees what stands behind it before anybody is asked.
func placed(use, short, example string, args cobra.PositionalArgs, check func(rest []string) error, run func(s *session, p place, rest []string) error) *cobra.Command {
	f := &flags{}
	c := &cobra.Command{
		Use: use, Short: short, Long: short + ". " + placeWords, Example: example, Args: args,
		RunE: f.withBroker(func(s *session) error {
			p, err := placeOf(s.args[0])
			if err != nil {
				return err
			}
			if err := p.exists(s); err != nil {
				return err
			}
			return run(s, p, s.args[1:])
		}),
		ValidArgsFunction: placeNames(f),
		PreRunE: func(_ *cobra.Command, args []string) error {
			if _, err := placeOf(args[0]); err != nil || check == nil {
				return err
			}
			return check(args[1:])
		},
	}
	f.add(c)
	return c
}

func configGet() *cobra.Command {
	return placed("get PLACE KEY...", "Show values of keys", "  millrace config get topic/orders retention.ms", cobra.MinimumNArgs(1), func(keys []string) error {
		if len(keys) == 0 {
			return errors.New("name the keys to show, or show all with config describe (--changed: only what was set)")
		}
		return nil
	}, func(s *session, p place, keys []string) error {
		list, err := p.read(s)
		if err != nil {
			return err
		}
		values := map[string]string{}
		for _, c := range list {
			values[c.Key] = c.MaybeValue()
		}
		found := map[string]string{}
		for _, k := range keys {
			v, ok := values[k]
			if !ok {
				return fmt.Errorf("key %s: %w", k, errNotFound)
			}
			found[k] = v
		}
		return s.out.value(found, func() error {
			for _, k := range keys {
				s.out.line("%s", found[k])
			}
			return nil
		})
	})
}

func configSet() *cobra.Command {
	var unset []string
	c := placed("set PLACE [KEY=VALUE...]", "Set keys, or unset them with --unset", "  millrace config set topic/orders retention.ms=3600000\n  millrace config set brokers --unset log.retention.ms", cobra.MinimumNArgs(1),
		func(words []string) error {
			values, err := pairs(words)
			if err == nil && len(values)+len(unset) == 0 {
				err = errors.New("nothing to set: KEY=VALUE or --unset KEY is meant")
			}
			return err
		},
		func(s *session, p place, words []string) error {
			values, err := pairs(words)
			if err != nil {
				return err
			}
			return alterConfigs(values, unset, p.called, func(changes []kadm.AlterConfig) (kadm.AlterConfigsResponses, error) {
				switch {
				case p.broker && p.all:
					return s.adm.AlterBrokerConfigs(s.ctx, changes)
				case p.broker:
					return s.adm.AlterBrokerConfigs(s.ctx, changes, p.id)
				}
				return s.adm.AlterTopicConfigs(s.ctx, changes, p.name)
			})
		})
	c.Flags().StringArrayVar(&unset, "unset", nil, "`KEY` to set back to its default; may be repeated")
	return c
}

func configDescribe() *cobra.Command {
	var changed bool
	c := placed("describe PLACE", "Show all keys with their values and where they come from", "  millrace config describe broker/0 --changed", cobra.ExactArgs(1), nil,
		func(s *session, p place, _ []string) error {
			list, err := p.read(s)
			if err != nil {
				return err
			}
			type entry struct {
				Key    string `json:"key"`
				Value  string `json:"value"`
				Source string `json:"source"`
			}
			out := []entry{}
			var rows [][]any
			for _, c := range list {
				if changed && c.Source.String() == "DEFAULT_CONFIG" {
					continue
				}
				out = append(out, entry{c.Key, c.MaybeValue(), c.Source.String()})
				rows = append(rows, []any{c.Key, c.MaybeValue(), c.Source})
			}
			return s.out.value(out, func() error { return s.out.table([]any{"KEY", "VALUE", "SOURCE"}, rows) })
		})
	c.Flags().BoolVar(&changed, "changed", false, "only keys that are not at their built-in default")
	return c
}
