package kafkatool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

const logDirsHelp = "This tool helps to query log directory usage on the specified brokers."

var logDirsTool = &tool{
	name:    "kafka-log-dirs",
	class:   "org.apache.kafka.tools.LogDirsCommand",
	about:   logDirsHelp,
	help:    logDirsHelp,
	options: logDirsOptions,
	run:     runLogDirs,
}

func logDirsOptions() *jopt.Set {
	return common(jopt.New().
		Str("bootstrap-server", "The server (s) to use for bootstrapping", "REQUIRED: the brokers to ask.").
		Str("command-config", "Admin client property file", "Properties for the connection.").
		Flag("describe", "REQUIRED: show the log directories.").
		Str("topic-list", "Topic list", "Topics, separated by commas; all without it.").
		Str("broker-list", "Broker list", "Brokers, separated by commas; all without it."))
}

func runLogDirs(e *Env, v *jopt.Values) error {
	if err := require(v, "bootstrap-server", "describe"); err != nil {
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
	var ids []int32
	for _, b := range brokers(md) {
		ids = append(ids, b.NodeID)
	}
	if v.Has("broker-list") {
		var wanted, missing []int32
		for _, w := range splitNames(v.All("broker-list")) {
			n, err := strconv.ParseInt(w, 10, 32)
			if err != nil {
				return fmt.Errorf("ERROR: %s is no broker id", w)
			}
			if !slices.Contains(ids, int32(n)) {
				missing = append(missing, int32(n))
			}
			wanted = append(wanted, int32(n))
		}
		if len(missing) > 0 {
			return fmt.Errorf("ERROR: The given brokers do not exist from --broker-list: %s. Current existent brokers: %s", joinInts(missing), joinInts(ids))
		}
		slices.Sort(wanted)
		ids = slices.Compact(wanted)
	}
	e.println("Querying brokers for log directories information")
	topics := splitNames(v.All("topic-list"))
	docs := make([]string, 0, len(ids))
	for _, id := range ids {
		resp, err := askBroker[*kmsg.DescribeLogDirsResponse](e, cl, id, kmsg.NewPtrDescribeLogDirsRequest())
		if err != nil {
			return err
		}
		docs = append(docs, (&object{}).num("broker", int64(id)).raw("logDirs", logDirText(resp, topics)).String())
	}
	e.println("Received log directory information from brokers %s", joinInts(ids))
	e.println("%s", (&object{}).raw("brokers", "["+strings.Join(docs, ",")+"]").num("version", 1).String())
	return nil
}

func logDirText(resp *kmsg.DescribeLogDirsResponse, topics []string) string {
	return array(resp.Dirs, func(d kmsg.DescribeLogDirsResponseDir) string {
		slices.SortFunc(d.Topics, func(a, b kmsg.DescribeLogDirsResponseDirTopic) int { return strings.Compare(a.Topic, b.Topic) })
		var parts []string
		for _, t := range d.Topics {
			if len(topics) > 0 && !slices.Contains(topics, t.Topic) {
				continue
			}
			slices.SortFunc(t.Partitions, func(a, b kmsg.DescribeLogDirsResponseDirTopicPartition) int { return int(a.Partition - b.Partition) })
			for _, p := range t.Partitions {
				parts = append(parts, (&object{}).str("partition", fmt.Sprintf("%s-%d", t.Topic, p.Partition)).num("size", p.Size).num("offsetLag", p.OffsetLag).
					raw("isFuture", strconv.FormatBool(p.IsFuture)).String())
			}
		}
		o := (&object{}).raw("partitions", "["+strings.Join(parts, ",")+"]")
		if err := conn.Code(d.ErrorCode, nil); err != nil {
			o.str("error", conn.Class(err))
		} else {
			o.raw("error", "null")
		}
		return o.str("logDir", d.Dir).String()
	})
}
