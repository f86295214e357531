package kafkatool

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

const deleteRecordsHelp = "This tool helps to delete records of the given partitions down to the specified offset."

var deleteRecordsTool = &tool{
	name:    "kafka-delete-records",
	class:   "org.apache.kafka.tools.DeleteRecordsCommand",
	about:   deleteRecordsHelp,
	help:    deleteRecordsHelp,
	options: deleteRecordsOptions,
	run:     runDeleteRecords,
}

func deleteRecordsOptions() *jopt.Set {
	return common(jopt.New().
		Str("bootstrap-server", "server(s) to use for bootstrapping", "REQUIRED: the brokers to ask.").
		Str("offset-json-file", "Offset json file path", `REQUIRED: what to delete: {"partitions":[{"topic":"foo","partition":1,"offset":1}],"version":1}. An offset of -1 means all.`).
		Str("command-config", "command config property file path", "Properties for the connection."))
}

// readDeletions reads the file: partitions with the first offset to keep.
func readDeletions(path string) (map[topicPartition]int64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("Unable to read file %s", path)
		}
		return nil, err
	}
	var doc struct {
		Version    *int `json:"version"`
		Partitions *[]struct {
			Topic     *string `json:"topic"`
			Partition *int32  `json:"partition"`
			Offset    *int64  `json:"offset"`
		} `json:"partitions"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, errors.New("The input string is not a valid JSON")
	}
	if doc.Version != nil && *doc.Version != 1 {
		return nil, fmt.Errorf("Not supported version field value %d", *doc.Version)
	}
	if doc.Partitions == nil {
		return nil, errors.New("Missing partitions field")
	}
	out := map[topicPartition]int64{}
	var twice []string
	for _, p := range *doc.Partitions {
		if p.Topic == nil || p.Partition == nil || p.Offset == nil {
			return nil, errors.New("a partition needs topic, partition and offset")
		}
		tp := topicPartition{*p.Topic, *p.Partition}
		if _, ok := out[tp]; ok {
			twice = append(twice, fmt.Sprintf("%s-%d", tp.topic, tp.partition))
		}
		out[tp] = *p.Offset
	}
	if len(twice) > 0 {
		return nil, fmt.Errorf("Offset json file contains duplicate topic partitions: %s", joinWords(twice))
	}
	return out, nil
}

func joinWords(list []string) string {
	out := ""
	for i, s := range list {
		if i > 0 {
			out += ","
		}
		out += s
	}
	return out
}

func runDeleteRecords(e *Env, v *jopt.Values) error {
	if err := require(v, "bootstrap-server", "offset-json-file"); err != nil {
		return err
	}
	want, err := readDeletions(v.Str("offset-json-file"))
	if err != nil {
		return err
	}
	cl, err := e.dial(v)
	if err != nil {
		return err
	}
	defer cl.Close()
	e.println("Executing records delete operation")
	got, err := deleteRecords(e, cl, want)
	if err != nil {
		return err
	}
	e.println("Records delete operation completed:")
	parts := make([]topicPartition, 0, len(want))
	for p := range want {
		parts = append(parts, p)
	}
	slices.SortFunc(parts, comparePartitions)
	for _, p := range parts {
		l, ok := got[p]
		if !ok {
			l.err = conn.Code(kerr.UnknownTopicOrPartition.Code, nil)
		}
		if l.err != nil {
			e.println("partition: %s-%d\terror: %s: %s", p.topic, p.partition, conn.Class(l.err), l.err)
		} else {
			e.println("partition: %s-%d\tlow_watermark: %d", p.topic, p.partition, l.offset)
		}
	}
	return nil
}

func deleteRecords(e *Env, cl *kgo.Client, want map[topicPartition]int64) (map[topicPartition]listed, error) {
	req := kmsg.NewPtrDeleteRecordsRequest()
	req.TimeoutMillis = int32(requestTimeout.Milliseconds())
	topics := map[string]int{}
	for p, o := range want {
		i, ok := topics[p.topic]
		if !ok {
			i = len(req.Topics)
			topics[p.topic] = i
			t := kmsg.NewDeleteRecordsRequestTopic()
			t.Topic = p.topic
			req.Topics = append(req.Topics, t)
		}
		rp := kmsg.NewDeleteRecordsRequestTopicPartition()
		rp.Partition, rp.Offset = p.partition, o
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, rp)
	}
	resp, err := ask[*kmsg.DeleteRecordsResponse](e, cl, req)
	if err != nil {
		return nil, err
	}
	out := map[topicPartition]listed{}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			out[topicPartition{t.Topic, p.Partition}] = listed{offset: p.LowWatermark, err: conn.Code(p.ErrorCode, nil)}
		}
	}
	return out, nil
}
