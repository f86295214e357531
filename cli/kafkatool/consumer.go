package kafkatool

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

const (
	consumerHelp  = "This tool helps to read data from Kafka topics and outputs it to standard output."
	consumerClass = "org.apache.kafka.tools.consumer.ConsoleConsumer"
)

var consumerTool = &tool{
	name:    "kafka-console-consumer",
	class:   consumerClass,
	about:   consumerHelp,
	help:    consumerHelp,
	options: consumerOptions,
	run:     runConsumer,
	fail: func(e *Env, err error) error {
		e.logLine("ERROR", "Unknown error when running consumer: ", consumerClass)
		e.complain("%s: %s", consumerClassOf(err), plain(err))
		return Exit(1)
	},
}

// consumerClassOf is the class of Java's exception for an error of the consumer.
func consumerClassOf(err error) string {
	var c *configError
	var n *noOffsetError
	switch {
	case errors.As(err, &c):
		return "org.apache.kafka.common.config.ConfigException"
	case errors.As(err, &n):
		return "org.apache.kafka.clients.consumer.NoOffsetForPartitionException"
	}
	return conn.Class(err)
}

func consumerOptions() *jopt.Set {
	return common(jopt.New().
		Str("topic", "topic", "The topic to read.").
		Str("include", "Java regex (String)", "A regular expression of the topics to read.").
		Int("partition", "partition", "The partition to read; begins at the end unless --offset says otherwise.").
		Add(jopt.Option{Names: []string{"offset"}, Arg: jopt.Required, ArgName: "consume offset", Default: "latest", Help: "Where to begin: a number, earliest or latest."}).
		Str("bootstrap-server", "server to connect to", "REQUIRED: the brokers to ask.").
		Str("consumer-property", "consumer_prop", "Earlier name of --command-property.").
		Str("command-property", "consumer_prop", "A property of Kafka's consumer, name=value.").
		Str("consumer.config", "config file", "Earlier name of --command-config.").
		Str("command-config", "config file", "Properties of the consumer from a file.").
		Add(jopt.Option{Names: []string{"formatter"}, Arg: jopt.Required, ArgName: "class", Default: defaultFormatter, Help: "How messages are shown: by its Java name one of Default, Logging, NoOp, Offsets and GroupMetadata MessageFormatter."}).
		Str("formatter-config", "config file", "Properties of the formatter from a file.").
		Str("formatter-property", "prop", "What is shown: print.timestamp=false print.key=false print.offset=false print.epoch=false print.partition=false print.headers=false print.value=true key.separator=\\t line.separator=\\n headers.separator=, null.literal=null key.deserializer= value.deserializer= header.deserializer=").
		Str("property", "prop", "Earlier name of --formatter-property.").
		Flag("from-beginning", "Without a committed offset begin with the earliest message.").
		Int("max-messages", "num_messages", "Stop after so many messages.").
		Long("timeout-ms", "timeout_ms", "Stop when no message came for so long.").
		Flag("skip-message-on-error", "Go on after a message that cannot be shown.").
		Str("key-deserializer", "deserializer for keys", "Java's name of how keys are read.").
		Str("value-deserializer", "deserializer for values", "Java's name of how values are read.").
		Flag("enable-systest-events", "Tell of starting and stopping (for system tests).").
		Add(jopt.Option{Names: []string{"isolation-level"}, Arg: jopt.Required, Default: "read_uncommitted", Help: "read_committed leaves out aborted transactions."}).
		Str("group", "consumer group id", "The consumer group."))
}

// consuming is one run of the console consumer. Owned by runConsumer.
type consuming struct {
	props     conn.Properties
	group     string
	own       bool // the group was named by the user
	pattern   string
	partition int64 // -1: subscribe
	start     kgo.Offset
	max       int64
	timeout   time.Duration
	skip      bool
	format    formatter
	adjuster  *adjuster // nil without a group
	interval  time.Duration
}

func runConsumer(e *Env, v *jopt.Values) error {
	if err := requireOne(v, "topic", "include"); err != nil {
		return err
	}
	old := [][2]string{{"consumer-property", "command-property"}, {"property", "formatter-property"}, {"consumer.config", "command-config"}}
	if err := notTogether(v, "Options --%s and --%s cannot be specified together.", old...); err != nil {
		return err
	}
	renamed(e, v, "Option --%s is deprecated and will be removed in a future version. Use --%s instead.", old...)
	c, err := consumingOf(e, v)
	if err != nil {
		return err
	}
	if !v.Has("bootstrap-server") {
		return usagef("Missing required argument \"[bootstrap-server]\"")
	}
	if e.JSON {
		c.format = jsonFormatter{}
	}
	return c.run(e, v.Str("bootstrap-server"))
}

func requireOne(v *jopt.Values, names ...string) error {
	n := 0
	for _, name := range names {
		if v.Has(name) {
			n++
		}
	}
	if n != 1 {
		return usagef("Exactly one of the following arguments is required: [%s]", strings.Join(names, "], ["))
	}
	return nil
}

func consumingOf(e *Env, v *jopt.Values) (*consuming, error) {
	c := &consuming{props: conn.Properties{}, partition: -1, skip: v.Has("skip-message-on-error")}
	var err error
	if c.partition, err = v.Int64("partition", -1); err != nil {
		return nil, usagef("%s", err)
	}
	if err := c.checkPlace(v); err != nil {
		return nil, err
	}
	if c.max, err = v.Int64("max-messages", -1); err != nil {
		return nil, usagef("%s", err)
	}
	ms, err := v.Int64("timeout-ms", -1)
	if err != nil {
		return nil, usagef("%s", err)
	}
	c.timeout = time.Duration(ms) * time.Millisecond
	for _, f := range []string{"consumer.config", "command-config"} {
		if err := c.props.LoadFile(v.Str(f)); err != nil {
			return nil, err
		}
	}
	given := []string{}
	note := func(id string) {
		if id != "" && !slices.Contains(given, id) {
			given = append(given, id)
		}
	}
	if v.Has("group") {
		note(v.Str("group"))
	}
	note(c.props["group.id"])
	for _, o := range []string{"consumer-property", "command-property"} {
		for _, pair := range v.All(o) {
			if err := c.props.Set(pair); err != nil {
				return nil, err
			}
		}
	}
	note(c.props["group.id"])
	if len(given) > 1 {
		return nil, usagef("The group ids provided in different places (directly using '--group', via '--consumer-property', or via '--consumer.config') do not match. Detected group ids: '%s'", strings.Join(given, "', '"))
	}
	if len(given) == 1 {
		c.group, c.own = given[0], true
		if c.partition >= 0 && v.Has("group") {
			return nil, usagef("Options group and partition cannot be specified together.")
		}
	}
	if c.format, err = formatterOf(v); err != nil {
		return nil, err
	}
	return c, c.finish(v)
}

// checkPlace reads where to begin.
func (c *consuming) checkPlace(v *jopt.Values) error {
	if c.partition >= 0 && !v.Has("topic") {
		return usagef("The topic is required when partition is specified.")
	}
	if v.Has("offset") && c.partition < 0 {
		return usagef("The partition is required when offset is specified.")
	}
	if v.Has("from-beginning") && v.Has("offset") {
		return usagef("Options from-beginning and offset cannot be specified together.")
	}
	c.start = kgo.NewOffset().AtEnd()
	if v.Has("from-beginning") {
		c.start = kgo.NewOffset().AtStart()
	}
	if !v.Has("offset") {
		return nil
	}
	switch text := v.Str("offset"); strings.ToLower(text) {
	case "earliest":
		c.start = kgo.NewOffset().AtStart()
	case "latest":
	default:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return usagef("The provided offset value '%s' is incorrect. Valid values are 'earliest', 'latest', or a non-negative long.", text)
		}
		c.start = kgo.NewOffset().At(n)
	}
	return nil
}

// finish derives what properties and options say together.
func (c *consuming) finish(v *jopt.Values) error {
	reset := c.props["auto.offset.reset"]
	switch {
	case v.Has("from-beginning") && reset != "" && reset != "earliest":
		return usagef("Can't simultaneously specify --from-beginning and 'auto.offset.reset=%s', please remove one option", reset)
	case reset != "" && c.partition < 0 && !v.Has("from-beginning"):
		start, err := resetOffset(reset)
		if err != nil {
			return err
		}
		c.start = start
	}
	merge(c.props, v, "isolation-level", "isolation.level")
	if l := c.props["isolation.level"]; l != "read_committed" && l != "read_uncommitted" {
		return &configError{"isolation.level", l, "String must be one of: read_committed, read_uncommitted"}
	}
	if c.group == "" && c.partition < 0 {
		// As Kafka does: a group of its own that commits nothing.
		c.group = "console-consumer-" + strconv.Itoa(rand.IntN(100000))
		c.props.Default("enable.auto.commit", "false")
	}
	c.props.Default("client.id", "console-consumer")
	c.pattern = v.Str("topic")
	if v.Has("include") {
		var err error
		if c.pattern, err = topicPattern(v.Str("include")); err != nil {
			return err
		}
	}
	c.props["include"] = strconv.FormatBool(v.Has("include"))
	return nil
}

// resetOffset is where a value of auto.offset.reset begins (KIP-1106).
func resetOffset(reset string) (kgo.Offset, error) {
	switch text, timed := strings.CutPrefix(reset, "by_duration:"); {
	case reset == "earliest":
		return kgo.NewOffset().AtStart(), nil
	case reset == "latest":
		return kgo.NewOffset().AtEnd(), nil
	case reset == "none": // the adjuster refuses a partition without a commit
		return kgo.NoResetOffset(), nil
	case timed:
		if d, err := parseDuration(text); err == nil && d >= 0 {
			return kgo.NewOffset().AfterMilli(time.Now().Add(-d).UnixMilli()), nil
		}
	}
	return kgo.Offset{}, &configError{"auto.offset.reset", reset, "Invalid value `" + reset +
		"` for configuration auto.offset.reset. The value must be either 'earliest', 'latest', 'none' or of the format 'by_duration:<PnDTnHnMn.nS.>'."}
}

// topicPattern is the regular expression that --include means: commas stand between alternatives, and all of a name has to match.
func topicPattern(text string) (string, error) {
	text = strings.ReplaceAll(strings.ReplaceAll(strings.Trim(text, `"' `), ",", "|"), " ", "")
	if _, err := regexp.Compile(text); err != nil {
		return "", fmt.Errorf("%s is an invalid regex.", text)
	}
	return "^(?:" + text + ")$", nil
}
