package kafkatool

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

var topicsTool = &tool{
	name:    "kafka-topics",
	class:   "org.apache.kafka.tools.TopicCommand",
	about:   "Create, delete, describe, or change a topic.",
	help:    "This tool helps to create, delete, describe, or change a topic.",
	options: topicsOptions,
	run:     runTopics,
	parseFail: func(e *Env, err error) error {
		e.complain("%s", err)
		return Exit(1)
	},
	fail: func(e *Env, err error) error {
		var told *toldError
		if errors.As(err, &told) {
			e.complain("%s", told.text)
			return Exit(1)
		}
		e.println("Error while executing topic command : %s", plain(err))
		class := conn.Class(err)
		var j *jopt.Error
		var a *adminError
		var c *javaError
		switch {
		case errors.As(err, &j):
			class = "joptsimple.OptionArgumentConversionException"
		case errors.As(err, &a):
			class = "org.apache.kafka.server.common.AdminCommandFailedException"
		case errors.As(err, &c):
			class = c.class
		}
		e.logLine("ERROR", class+": "+plain(err)+"\n", "org.apache.kafka.tools.TopicCommand")
		return Exit(1)
	},
}

// javaError is an error under a Java name.
type javaError struct{ class, text string }

func (j *javaError) Error() string { return j.text }

// toldError is an error that Kafka's tool prints on stderr without its usual introduction.
type toldError struct{ text string }

func (t *toldError) Error() string { return t.text }

func topicsOptions() *jopt.Set {
	return common(jopt.New().
		Str("bootstrap-server", "server to connect to", "REQUIRED: the broker to ask.").
		Str("command-config", "command config property file", "Properties for the connection.").
		Flag("list", "List the topics.").
		Flag("create", "Create a topic.").
		Flag("delete", "Delete a topic.").
		Flag("alter", "Give a topic more partitions.").
		Flag("describe", "Show partitions, leaders and replicas.").
		Str("topic", "topic", "The topic; for all but --create also a regular expression.").
		Str("topic-id", "topic-id", "The id of the topic to describe.").
		Str("config", "name=value", "A setting of the new topic, may be repeated.").
		Str("delete-config", "name", "Not supported any more: kafka-configs does it.").
		Int("partitions", "# of partitions", "The number of partitions; without it the broker's num.partitions.").
		Int("replication-factor", "replication factor", "How many brokers hold each partition; without it the broker's default.replication.factor.").
		Str("replica-assignment", "broker_id_for_part1_replica1 : broker_id_for_part1_replica2 , broker_id_for_part2_replica1 : broker_id_for_part2_replica2 , ...", "Brokers for each partition by hand.").
		Flag("under-replicated-partitions", "Describe only partitions with fewer replicas in sync than there should be.").
		Flag("unavailable-partitions", "Describe only partitions without a leader.").
		Flag("under-min-isr-partitions", "Describe only partitions with fewer replicas in sync than min.insync.replicas.").
		Flag("at-min-isr-partitions", "Describe only partitions with as many replicas in sync as min.insync.replicas.").
		Flag("topics-with-overrides", "Describe only topics that have settings of their own.").
		Flag("if-exists", "A missing topic is no error.").
		Flag("if-not-exists", "A topic that is there is no error.").
		Flag("exclude-internal", "Leave out the topics that brokers keep for themselves.").
		Int("partition-size-limit-per-response", "maximum number of partitions per response", "How many partitions one answer may hold.").
		Old(jopt.NoArg, "force", "disable-rack-aware"))
}

var topicActions = []string{"create", "list", "alter", "describe", "delete"}

// topicLevel are the options that only some actions take.
var topicLevel = []string{"alter", "create", "delete", "describe", "list"}

func checkTopics(e *Env, v *jopt.Values) error {
	n := 0
	for _, a := range topicActions {
		if v.Has(a) {
			n++
		}
	}
	if n != 1 {
		return usagef("Command must include exactly one action: --list, --describe, --create, --alter or --delete")
	}
	if v.Has("delete-config") {
		e.complain("delete-config option is no longer supported and deprecated since version 4.0. The config will be fully removed in future releases.")
	}
	if !v.Has("bootstrap-server") {
		return &toldError{"--bootstrap-server must be specified"}
	}
	if v.Has("describe") && v.Has("if-exists") && !v.HasAny("topic", "topic-id") {
		return usagef("--topic or --topic-id is required to describe a topic")
	}
	if !v.HasAny("list", "describe") {
		if err := require(v, "topic"); err != nil {
			return err
		}
	}
	if v.Has("alter") {
		if v.Has("config") {
			return usagef("Option combination \"[[config], [bootstrap-server]]\" can't be used with option \"[alter]\" (To alter topic configurations, the kafka-configs tool can be used.)")
		}
		if err := require(v, "partitions"); err != nil {
			return err
		}
	}
	return checkTopicCombinations(v)
}

func checkTopicCombinations(v *jopt.Values) error {
	reports := []string{"under-replicated-partitions", "under-min-isr-partitions", "at-min-isr-partitions", "unavailable-partitions"}
	only := func(option string, actions ...string) error {
		return exclude(v, option, without(topicLevel, actions...)...)
	}
	checks := []error{
		only("config", "alter", "create"), only("partitions", "alter", "create"), only("replication-factor", "create"),
		only("replica-assignment", "alter", "create"),
	}
	if v.Has("create") {
		checks = append(checks, exclude(v, "replica-assignment", "partitions", "replication-factor"))
	}
	for _, r := range reports {
		checks = append(checks, only(r, "describe"), exclude(v, r, "topics-with-overrides"))
	}
	checks = append(checks, only("topics-with-overrides", "describe"), exclude(v, "topics-with-overrides", reports...),
		only("if-exists", "alter", "delete", "describe"), only("if-not-exists", "create"), only("exclude-internal", "list", "describe"))
	return first(checks)
}

func first(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func without(list []string, drop ...string) []string {
	var out []string
	for _, s := range list {
		keep := true
		for _, d := range drop {
			keep = keep && s != d
		}
		if keep {
			out = append(out, s)
		}
	}
	return out
}

func runTopics(e *Env, v *jopt.Values) error {
	if err := checkTopics(e, v); err != nil {
		return err
	}
	cl, err := e.dial(v)
	if err != nil {
		return err
	}
	defer cl.Close()
	switch {
	case v.Has("create"):
		return createTopic(e, v, cl)
	case v.Has("list"):
		return listTopics(e, v, cl)
	case v.Has("alter"):
		return alterTopics(e, v, cl)
	case v.Has("describe"):
		return describeTopics(e, v, cl)
	}
	return deleteTopics(e, v, cl)
}

// matching lists the topics that --topic names; none is an error unless --if-exists says otherwise.
func matching(e *Env, v *jopt.Values, cl *kgo.Client) ([]string, error) {
	md, err := metadata(e, cl, nil)
	if err != nil {
		return nil, err
	}
	all := topicNames(md, !v.Has("exclude-internal"))
	expr, err := v.Get("topic")
	if err != nil || !v.Has("topic") {
		return all, err
	}
	re, err := filter(expr)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, t := range all {
		if re.MatchString(t) {
			out = append(out, t)
		}
	}
	if len(out) == 0 && !v.HasAny("if-exists", "list") {
		return nil, fmt.Errorf("Topic '%s' does not exist as expected", expr)
	}
	return out, nil
}

func listTopics(e *Env, v *jopt.Values, cl *kgo.Client) error {
	names, err := matching(e, v, cl)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		e.println("")
	}
	for _, n := range names {
		e.println("%s", n)
	}
	return nil
}
