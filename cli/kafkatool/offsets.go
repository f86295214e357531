package kafkatool

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

const offsetsHelp = "An interactive shell for getting topic-partition offsets."

var offsetsTool = &tool{
	name:    "kafka-get-offsets",
	class:   "org.apache.kafka.tools.GetOffsetShell",
	about:   offsetsHelp,
	help:    offsetsHelp,
	options: offsetsOptions,
	run:     runOffsets,
	parseFail: func(e *Env, err error) error {
		e.complain("Error occurred: %s", err)
		return Exit(1)
	},
	fail: func(e *Env, err error) error {
		e.complain("Error occurred: %s", plain(err))
		return Exit(1)
	},
}

func offsetsOptions() *jopt.Set {
	return common(jopt.New().
		Str("bootstrap-server", "HOST1:PORT1,...,HOST3:PORT3", "REQUIRED: the brokers to ask.").
		Str("topic-partitions", "topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3", "Patterns of topics and partitions; the upper end of a range is not part of it.").
		Str("topic", "topic", "A regular expression of topics.").
		Str("partitions", "partition ids", "Partitions, separated by commas; all without it.").
		Add(jopt.Option{Names: []string{"time"}, Arg: jopt.Required, Default: "latest",
			ArgName: "<timestamp> / -1 or latest / -2 or earliest / -3 or max-timestamp / -4 or earliest-local / -5 or latest-tiered / -6 or earliest-pending-upload",
			Help:    "The time whose offsets are wanted."}).
		Str("command-config", "config file", "Properties for the connection.").
		Flag("exclude-internal-topics", "Leave out the topics that brokers keep for themselves."))
}

var offsetTimes = map[string]int64{"latest": -1, "earliest": -2, "max-timestamp": -3, "earliest-local": -4, "latest-tiered": -5, "earliest-pending-upload": -6}

func runOffsets(e *Env, v *jopt.Values) error {
	if !v.Has("bootstrap-server") {
		return usagef("Missing required option(s) [bootstrap-server]")
	}
	if v.Has("topic-partitions") && v.HasAny("topic", "partitions") {
		return errors.New("--topic-partitions cannot be used with --topic or --partitions")
	}
	ms, err := offsetTime(v.Str("time"))
	if err != nil {
		return err
	}
	wanted, err := partitionFilter(v)
	if err != nil {
		return err
	}
	cl, err := e.dial(v)
	if err != nil {
		return err
	}
	defer cl.Close()
	md, err := metadata(e, cl, nil)
	if err != nil {
		return err
	}
	var parts []topicPartition
	for i := range md.Topics {
		t := &md.Topics[i]
		if t.ErrorCode != 0 || t.Topic == nil || t.IsInternal && v.Has("exclude-internal-topics") {
			continue
		}
		for _, p := range t.Partitions {
			if tp := (topicPartition{*t.Topic, p.Partition}); wanted(tp) {
				parts = append(parts, tp)
			}
		}
	}
	if len(parts) == 0 {
		return errors.New("Could not match any topic-partitions with the specified filters")
	}
	slices.SortFunc(parts, compareNames)
	got, err := listOffsets(e.Ctx, cl, parts, ms)
	if err != nil {
		return err
	}
	for _, p := range parts {
		l, ok := got[p]
		switch {
		case !ok:
			continue
		case l.err != nil:
			e.complain("Skip getting offsets for topic-partition %s-%d due to error: %s: %s", p.topic, p.partition, conn.Class(l.err), l.err)
		case l.offset >= 0:
			e.println("%s:%d:%d", p.topic, p.partition, l.offset)
		}
	}
	return nil
}

func offsetTime(text string) (int64, error) {
	if ms, ok := offsetTimes[text]; ok {
		return ms, nil
	}
	ms, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("Malformed time argument %s. Please use -1 or latest / -2 or earliest / -3 or max-timestamp / -4 or earliest-local / -5 or latest-tiered / -6 or earliest-pending-upload, or a specified long format timestamp", text)
	}
	return ms, nil
}

// partitionFilter says which partitions are wanted.
func partitionFilter(v *jopt.Values) (func(topicPartition) bool, error) {
	if v.Has("topic-partitions") {
		return patternFilter(v.Str("topic-partitions"))
	}
	topics := regexp.MustCompile(".*")
	if v.Has("topic") {
		var err error
		if topics, err = filter(v.Str("topic")); err != nil {
			return nil, err
		}
	}
	if !v.Has("partitions") {
		return func(p topicPartition) bool { return topics.MatchString(p.topic) }, nil
	}
	ids := map[int32]bool{}
	for _, w := range strings.Split(v.Str("partitions"), ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(w), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("--partitions expects a comma separated list of numeric partition ids, but received: %s", v.Str("partitions"))
		}
		ids[int32(n)] = true
	}
	return func(p topicPartition) bool { return ids[p.partition] && topics.MatchString(p.topic) }, nil
}

var patternRule = regexp.MustCompile(`^([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?$`)

// patternFilter reads topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3.
func patternFilter(text string) (func(topicPartition) bool, error) {
	type rule struct {
		topic    *regexp.Regexp
		from, to int64
	}
	var rules []rule
	for _, part := range strings.Split(text, ",") {
		m := patternRule.FindStringSubmatch(strings.TrimSpace(part))
		if m == nil {
			return nil, fmt.Errorf("Invalid rule specification: %s", part)
		}
		r := rule{from: 0, to: 1 << 31}
		expr := m[1]
		if expr == "" {
			expr = ".*"
		}
		var err error
		if r.topic, err = filter(expr); err != nil {
			return nil, err
		}
		number := func(s string, none int64) int64 {
			if n, err := strconv.ParseInt(s, 10, 32); err == nil {
				return n
			}
			return none
		}
		if m[2] != "" {
			r.from = number(m[2], 0)
			r.to = r.from + 1
		} else {
			r.from, r.to = number(m[3], 0), number(m[4], 1<<31)
		}
		rules = append(rules, r)
	}
	return func(p topicPartition) bool {
		return slices.ContainsFunc(rules, func(r rule) bool {
			return r.topic.MatchString(p.topic) && int64(p.partition) >= r.from && int64(p.partition) < r.to
		})
	}, nil
}
