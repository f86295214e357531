package cli

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

func topicCommand() *cobra.Command {
	f := &flags{}
	return group("topic", "Create, list, describe, change and delete topics", f,
		topicCreate(f), topicList(f), topicDescribe(f), topicAlter(f), topicDelete(f))
}

// pairs cuts "name=value" words.
func pairs(list []string) (map[string]*string, error) {
	out := map[string]*string{}
	for _, p := range list {
		k, v, ok := strings.Cut(p, "=")
		if !ok || k == "" {
			return nil, fmt.Errorf("%q is not NAME=VALUE", p)
		}
		out[k] = &v
	}
	return out, nil
}

func topicCreate(f *flags) *cobra.Command {
	var partitions int32
	var replicas int16
	var config []string
	var exists bool
	c := &cobra.Command{
		Use: "create TOPIC...", Short: "Create topics", Args: cobra.MinimumNArgs(1),
		Example: "  millrace topic create orders -p 6 --replication-factor 1 -c retention.ms=86400000",
		PreRunE: func(*cobra.Command, []string) error { // before anybody is asked
			_, err := pairs(config)
			return err
		},
		RunE: f.withBroker(func(s *session) error {
			set, err := pairs(config)
			if err != nil {
				return err
			}
			resps, err := s.adm.CreateTopics(s.ctx, partitions, replicas, set, s.args...)
			if err != nil {
				return err
			}
			type created struct {
				Topic      string `json:"topic"`
				ID         string `json:"id,omitempty"`
				Partitions int32  `json:"partitions,omitempty"`
				Error      string `json:"error,omitempty"`
			}
			var list []created
			for _, r := range resps.Sorted() {
				one := created{Topic: r.Topic, ID: topicID(r.ID), Partitions: r.NumPartitions}
				if r.Err != nil && !(exists && errors.Is(r.Err, kerr.TopicAlreadyExists)) {
					one = created{Topic: r.Topic, Error: words(r.Err, r.ErrMessage)}
					err = errors.Join(err, fmt.Errorf("topic %s: %s", r.Topic, one.Error))
				}
				list = append(list, one)
			}
			perr := s.out.value(list, func() error {
				for _, l := range list {
					if l.Error == "" {
						s.out.line("%s", l.Topic)
					}
				}
				return nil
			})
			return errors.Join(err, perr)
		}),
	}
	c.Flags().Int32VarP(&partitions, "partitions", "p", -1, "number of partitions; without it the broker's num.partitions")
	c.Flags().Int16VarP(&replicas, "replication-factor", "r", -1, "replicas of each partition; without it the broker's default.replication.factor")
	c.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "replicas" { // the short name that works too
			name = "replication-factor"
		}
		return pflag.NormalizedName(name)
	})
	for _, name := range []string{"partitions", "replication-factor"} {
		c.Flags().Lookup(name).DefValue = "0" // -1 is no number that a user gives: not shown
	}
	c.Flags().StringArrayVarP(&config, "config", "c", nil, "`NAME=VALUE` of the topic's configuration; may be repeated")
	c.Flags().BoolVar(&exists, "if-not-exists", false, "a topic that is there is no error")
	return c
}

func words(err error, message string) string {
	if message != "" {
		return message
	}
	return err.Error()
}

// topicID writes an id as Kafka does.
func topicID(id kadm.TopicID) string { return base64.RawURLEncoding.EncodeToString(id[:]) }

func topicList(f *flags) *cobra.Command {
	var internal bool
	c := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List topics", Args: cobra.NoArgs,
		Example: "  millrace topic list -o json",
		RunE: f.withBroker(func(s *session) error {
			topics, err := s.adm.ListTopicsWithInternal(s.ctx)
			if err != nil {
				return err
			}
			type row struct {
				Topic      string `json:"topic"`
				Partitions int    `json:"partitions"`
				Replicas   int    `json:"replicas"`
				Internal   bool   `json:"internal"`
			}
			list := []row{}
			var rows [][]any
			for _, t := range topics.Sorted() {
				if t.IsInternal && !internal || t.Err != nil {
					continue
				}
				list = append(list, row{t.Topic, len(t.Partitions), t.Partitions.NumReplicas(), t.IsInternal})
				rows = append(rows, []any{t.Topic, len(t.Partitions), t.Partitions.NumReplicas()})
			}
			return s.out.value(list, func() error { return s.out.table([]any{"TOPIC", "PARTITIONS", "REPLICAS"}, rows) })
		}),
	}
	c.Flags().BoolVarP(&internal, "internal", "i", false, "show the topics that brokers keep for themselves too")
	return c
}

// topicDetails is a described topic.
type topicDetails struct {
	Topic      string             `json:"topic"`
	ID         string             `json:"id"`
	Internal   bool               `json:"internal"`
	Partitions []partitionDetails `json:"partitions"`
	Config     map[string]string  `json:"config"`
}

type partitionDetails struct {
	Partition   int32   `json:"partition"`
	Leader      int32   `json:"leader"`
	LeaderEpoch int32   `json:"leaderEpoch"`
	Replicas    []int32 `json:"replicas"`
	ISR         []int32 `json:"isr"`
	Offline     []int32 `json:"offline,omitempty"`
	Start       int64   `json:"startOffset"`
	End         int64   `json:"endOffset"`
}

func topicDescribe(f *flags) *cobra.Command {
	return &cobra.Command{
		Use: "describe TOPIC...", ValidArgsFunction: topicNames(f, true), Short: "Show partitions, offsets and configuration of topics", Args: cobra.MinimumNArgs(1),
		Example: "  millrace topic describe orders",
		RunE: f.withBroker(func(s *session) error {
			list, err := describeTopics(s, s.args)
			if err != nil {
				return err
			}
			return s.out.value(list, func() error {
				for i, t := range list {
					if i > 0 {
						s.out.line("")
					}
					s.out.line("%s  id %s, %s", t.Topic, t.ID, counted(len(t.Partitions), "partition"))
					for _, k := range slices.Sorted(maps.Keys(t.Config)) {
						s.out.line("  %s=%s", k, t.Config[k])
					}
					var rows [][]any
					for _, p := range t.Partitions {
						start, end, count := "-", "-", "-" // not known without a leader
						if p.Start >= 0 && p.End >= 0 {
							start, end, count = strconv.FormatInt(p.Start, 10), strconv.FormatInt(p.End, 10), strconv.FormatInt(p.End-p.Start, 10)
						}
						rows = append(rows, []any{p.Partition, p.Leader, p.LeaderEpoch, p.Replicas, p.ISR, start, end, count})
					}
					if err := s.out.table([]any{"PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "START", "END", "COUNT"}, rows); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}
}

func describeTopics(s *session, names []string) ([]topicDetails, error) {
	topics, err := s.adm.ListTopicsWithInternal(s.ctx, names...)
	if err != nil {
		return nil, err
	}
	starts, err := s.adm.ListStartOffsets(s.ctx, names...)
	if err != nil {
		return nil, err
	}
	ends, err := s.adm.ListEndOffsets(s.ctx, names...)
	if err != nil {
		return nil, err
	}
	configs, err := s.adm.DescribeTopicConfigs(s.ctx, names...)
	if err != nil {
		return nil, err
	}
	var list []topicDetails
	for _, t := range topics.Sorted() {
		if t.Err != nil {
			return nil, refused("topic "+t.Topic, t.Err, "")
		}
		d := topicDetails{Topic: t.Topic, ID: topicID(t.ID), Internal: t.IsInternal, Config: map[string]string{}}
		for _, p := range t.Partitions.Sorted() {
			one := partitionDetails{Partition: p.Partition, Leader: p.Leader, LeaderEpoch: p.LeaderEpoch, Replicas: p.Replicas, ISR: p.ISR, Offline: p.OfflineReplicas, Start: -1, End: -1}
			if o, ok := starts.Lookup(t.Topic, p.Partition); ok && o.Err == nil {
				one.Start = o.Offset
			}
			if o, ok := ends.Lookup(t.Topic, p.Partition); ok && o.Err == nil {
				one.End = o.Offset
			}
			d.Partitions = append(d.Partitions, one)
		}
		if rc, err := configs.On(t.Topic, nil); err == nil {
			for _, c := range rc.Configs {
				if c.Source.String() == "DYNAMIC_TOPIC_CONFIG" {
					d.Config[c.Key] = c.MaybeValue()
				}
			}
		}
		list = append(list, d)
	}
	return list, nil
}

func topicAlter(f *flags) *cobra.Command {
	var partitions int
	var set, unset []string
	c := &cobra.Command{
		Use: "alter TOPIC...", ValidArgsFunction: topicNames(f, true), Short: "Give topics more partitions or another configuration", Args: cobra.MinimumNArgs(1),
		Example: "  millrace topic alter orders -p 12 -c retention.ms=3600000 --unset cleanup.policy",
		PreRunE: func(*cobra.Command, []string) error { // before anybody is asked
			values, err := pairs(set)
			switch {
			case err != nil:
				return err
			case partitions < 0:
				return fmt.Errorf("-p %d: a number of partitions is meant", partitions)
			case partitions == 0 && len(values)+len(unset) == 0:
				return errors.New("nothing to change: -p gives more partitions, -c and --unset change the configuration")
			}
			return nil
		},
		RunE: f.withBroker(func(s *session) error {
			values, err := pairs(set)
			if err != nil {
				return err
			}
			if partitions > 0 {
				resps, err := s.adm.UpdatePartitions(s.ctx, partitions, s.args...)
				if err != nil {
					return err
				}
				for _, r := range resps.Sorted() {
					if r.Err != nil {
						return refused("topic "+r.Topic, r.Err, r.ErrMessage)
					}
				}
			}
			return alterConfigs(values, unset, place{}.called, func(changes []kadm.AlterConfig) (kadm.AlterConfigsResponses, error) {
				return s.adm.AlterTopicConfigs(s.ctx, changes, s.args...)
			})
		}),
	}
	c.Flags().IntVarP(&partitions, "partitions", "p", 0, "new number of partitions")
	c.Flags().StringArrayVarP(&set, "config", "c", nil, "`NAME=VALUE` to set; may be repeated")
	c.Flags().StringArrayVar(&unset, "unset", nil, "`NAME` to set back to its default; may be repeated")
	return c
}

// alterConfigs sets and unsets keys and tells of the first refusal; called is how a resource is called in it.
func alterConfigs(set map[string]*string, unset []string, called func(name string) string, send func([]kadm.AlterConfig) (kadm.AlterConfigsResponses, error)) error {
	var changes []kadm.AlterConfig
	for _, k := range slices.Sorted(maps.Keys(set)) {
		changes = append(changes, kadm.AlterConfig{Op: kadm.SetConfig, Name: k, Value: set[k]})
	}
	for _, k := range unset {
		changes = append(changes, kadm.AlterConfig{Op: kadm.DeleteConfig, Name: k})
	}
	if len(changes) == 0 {
		return nil
	}
	resps, err := send(changes)
	if err != nil {
		return err
	}
	for _, r := range resps {
		if r.Err != nil {
			return refused(called(r.Name), r.Err, r.ErrMessage)
		}
	}
	return nil
}

func topicDelete(f *flags) *cobra.Command {
	var exists bool
	c := &cobra.Command{
		Use: "delete TOPIC...", ValidArgsFunction: topicNames(f, true), Aliases: []string{"rm"}, Short: "Delete topics", Args: cobra.MinimumNArgs(1),
		Example: "  millrace topic delete orders",
		RunE: f.withBroker(func(s *session) error {
			resps, err := s.adm.DeleteTopics(s.ctx, s.args...)
			if err != nil {
				return err
			}
			var failed error
			for _, r := range resps.Sorted() {
				switch {
				case r.Err == nil:
				case missing(r.Err) && exists:
				default:
					failed = errors.Join(failed, refused("topic "+r.Topic, r.Err, r.ErrMessage))
				}
			}
			return failed
		}),
	}
	c.Flags().BoolVar(&exists, "if-exists", false, "a missing topic is no error")
	return c
}
