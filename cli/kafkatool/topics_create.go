package kafkatool

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
	"millrace/cli/jopt"
	"millrace/internal/config"
)

// codeTopicExists is TOPIC_ALREADY_EXISTS.
const codeTopicExists = 36

func createTopic(e *Env, v *jopt.Values, cl *kgo.Client) error {
	name, err := v.Get("topic")
	if err != nil {
		return err
	}
	t := kmsg.NewCreateTopicsRequestTopic()
	t.Topic = name
	for _, pair := range v.All("config") {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || strings.TrimRight(value, "= \t") == "" || strings.Contains(strings.TrimRight(value, "= \t"), "=") { // Java's split wants two parts; empty ones at the end do not count
			return errors.New("requirement failed: Invalid topic config: all configs to be added must be in the format \"key=val\".")
		}
		c := kmsg.NewCreateTopicsRequestTopicConfig()
		c.Name, c.Value = strings.TrimSpace(key), kmsg.StringPtr(strings.TrimSpace(value))
		if err := checkTopicConfig(c.Name, *c.Value); err != nil {
			return err
		}
		t.Configs = append(t.Configs, c)
	}
	if strings.ContainsAny(name, "._") {
		e.println("WARNING: Due to limitations in metric names, topics with a period ('.') or underscore ('_') could collide. To avoid issues it is best to use either, but not both.")
	}
	if err := sizes(v, &t); err != nil {
		return err
	}
	req := kmsg.NewPtrCreateTopicsRequest()
	req.TimeoutMillis = int32(requestTimeout.Milliseconds())
	req.Topics = append(req.Topics, t)
	resp, err := ask[*kmsg.CreateTopicsResponse](e, cl, req)
	if err != nil {
		return err
	}
	for i := range resp.Topics {
		r := &resp.Topics[i]
		if r.ErrorCode == codeTopicExists && v.Has("if-not-exists") {
			continue
		}
		if err := conn.Code(r.ErrorCode, r.ErrorMessage); err != nil {
			return err
		}
		e.println("Created topic %s.", r.Topic)
	}
	return nil
}

// checkTopicConfig refuses what Kafka's tool refuses before it asks the broker.
func checkTopicConfig(name, value string) error {
	k, ok := config.Lookup(config.Topic, name)
	if !ok {
		return &javaError{"org.apache.kafka.common.errors.InvalidConfigurationException", "Unknown topic config name: " + name}
	}
	bits := map[config.Type]int{config.Int: 32, config.Long: 64, config.Short: 16}[k.Type]
	if bits == 0 {
		return nil
	}
	if _, err := strconv.ParseInt(value, 10, bits); err != nil {
		return &javaError{"org.apache.kafka.common.config.ConfigException", fmt.Sprintf("Invalid value %s for configuration %s: Not a number of type %s", value, name, strings.ToUpper(k.Type.String()))}
	}
	return nil
}

// sizes fills in partitions and replicas, by number or by hand.
func sizes(v *jopt.Values, t *kmsg.CreateTopicsRequestTopic) error {
	if v.Has("replica-assignment") {
		lists, err := assignment(v)
		if err != nil {
			return err
		}
		t.NumPartitions, t.ReplicationFactor = -1, -1
		for i, ids := range lists {
			a := kmsg.NewCreateTopicsRequestTopicReplicaAssignment()
			a.Partition, a.Replicas = int32(i), ids
			t.ReplicaAssignment = append(t.ReplicaAssignment, a)
		}
		return nil
	}
	n, err := v.Int64("partitions", -1)
	if err != nil {
		return err
	}
	factor, err := v.Int64("replication-factor", -1)
	if err != nil {
		return err
	}
	if v.Has("replication-factor") && (factor < 1 || factor > 32767) {
		return errors.New("The replication factor must be between 1 and 32767 inclusive")
	}
	if v.Has("partitions") && n < 1 {
		return errors.New("The partitions must be greater than 0")
	}
	t.NumPartitions, t.ReplicationFactor = int32(n), int16(factor)
	return nil
}

// assignment reads --replica-assignment: partitions separated by commas, brokers by colons.
func assignment(v *jopt.Values) ([][]int32, error) {
	text, err := v.Get("replica-assignment")
	if err != nil {
		return nil, err
	}
	var out [][]int32
	for i, part := range strings.Split(text, ",") {
		var ids []int32
		seen := map[int32]bool{}
		var twice []string
		for _, word := range strings.Split(part, ":") {
			id, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
			if err != nil {
				return nil, fmt.Errorf("For input string: \"%s\"", strings.TrimSpace(word))
			}
			if seen[int32(id)] {
				twice = append(twice, strconv.FormatInt(id, 10))
			}
			seen[int32(id)] = true
			ids = append(ids, int32(id))
		}
		if len(twice) > 0 {
			return nil, &adminError{"Partition replica lists may not contain duplicate entries: " + strings.Join(twice, ",")}
		}
		if len(out) > 0 && len(ids) != len(out[0]) {
			return nil, &adminError{fmt.Sprintf("Partition %d has different replication factor: [%s]", i, strings.ReplaceAll(joinInts(ids), ",", ", "))}
		}
		out = append(out, ids)
	}
	return out, nil
}

// adminError is what Kafka's tools call an AdminCommandFailedException.
type adminError struct{ text string }

func (a *adminError) Error() string { return a.text }

func alterTopics(e *Env, v *jopt.Values, cl *kgo.Client) error {
	names, err := matching(e, v, cl)
	if err != nil || len(names) == 0 {
		return err
	}
	n, err := v.Int64("partitions", -1)
	if err != nil {
		return err
	}
	var lists [][]int32
	if v.Has("replica-assignment") {
		if lists, err = assignment(v); err != nil {
			return err
		}
	}
	md, err := metadata(e, cl, names)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrCreatePartitionsRequest()
	req.TimeoutMillis = int32(requestTimeout.Milliseconds())
	for i := range md.Topics {
		t := kmsg.NewCreatePartitionsRequestTopic()
		t.Topic, t.Count = *md.Topics[i].Topic, int32(n)
		for _, ids := range lists[min(len(lists), len(md.Topics[i].Partitions)):] {
			a := kmsg.NewCreatePartitionsRequestTopicAssignment()
			a.Replicas = ids
			t.Assignment = append(t.Assignment, a)
		}
		req.Topics = append(req.Topics, t)
	}
	resp, err := ask[*kmsg.CreatePartitionsResponse](e, cl, req)
	if err != nil {
		return err
	}
	for i := range resp.Topics {
		if err := conn.Code(resp.Topics[i].ErrorCode, resp.Topics[i].ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}

func deleteTopics(e *Env, v *jopt.Values, cl *kgo.Client) error {
	names, err := matching(e, v, cl)
	if err != nil || len(names) == 0 {
		return err
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = int32(requestTimeout.Milliseconds())
	for _, n := range names {
		t := kmsg.NewDeleteTopicsRequestTopic()
		t.Topic = kmsg.StringPtr(n)
		req.Topics = append(req.Topics, t)
	}
	req.TopicNames = names
	resp, err := ask[*kmsg.DeleteTopicsResponse](e, cl, req)
	if err != nil {
		return err
	}
	for i := range resp.Topics {
		if err := conn.Code(resp.Topics[i].ErrorCode, resp.Topics[i].ErrorMessage); err != nil {
			return err
		}
	}
	return nil
}
