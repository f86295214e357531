package kafkatool

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

// topicInfo is a topic as describe shows it. Immutable once built.
type topicInfo struct {
	name       string
	id         [16]byte
	partitions []partitionInfo
	configs    []kmsg.DescribeConfigsResponseResourceConfig
}

// partitionInfo is one of its partitions. elr is nil where the broker says nothing of eligible leader replicas.
type partitionInfo struct {
	id, leader    int32
	replicas, isr []int32
	elr, lastElr  []int32
	knowsElr      bool
	offline       []int32
}

func describeTopics(e *Env, v *jopt.Values, cl *kgo.Client) error {
	names, err := toDescribe(e, v, cl)
	if err != nil || len(names) == 0 {
		return err
	}
	limit, err := v.Int64("partition-size-limit-per-response", 2000)
	if err != nil {
		return err
	}
	infos, err := topicInfos(e, cl, names, int32(limit))
	if err != nil {
		return err
	}
	report := v.HasAny("under-replicated-partitions", "unavailable-partitions", "under-min-isr-partitions", "at-min-isr-partitions")
	for i := range infos {
		t := &infos[i]
		if v.Has("topics-with-overrides") && t.overrides() == "" {
			continue
		}
		if !report {
			e.println("%s", t.line())
		}
		if v.Has("topics-with-overrides") {
			continue
		}
		for j := range t.partitions {
			if p := &t.partitions[j]; !report || p.wanted(v, t) {
				e.println("%s", p.line(t.name))
			}
		}
	}
	return nil
}

func toDescribe(e *Env, v *jopt.Values, cl *kgo.Client) ([]string, error) {
	if !v.Has("topic-id") {
		return matching(e, v, cl)
	}
	text, err := v.Get("topic-id")
	if err != nil {
		return nil, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("Illegal base64 character in topic id `%s`", text)
	}
	if len(raw) != 16 {
		return nil, fmt.Errorf("Input string `%s` decoded as %d bytes, which is not equal to the expected 16 bytes of a base64-encoded UUID", text, len(raw))
	}
	md, err := metadata(e, cl, nil)
	if err != nil {
		return nil, err
	}
	for i := range md.Topics {
		if t := &md.Topics[i]; t.TopicID == [16]byte(raw) && t.Topic != nil {
			return []string{*t.Topic}, nil
		}
	}
	if v.Has("if-exists") {
		return nil, nil
	}
	return nil, fmt.Errorf("TopicId '%s' does not exist as expected", text)
}

// topicInfos gathers partitions and settings of topics, in the order of names.
func topicInfos(e *Env, cl *kgo.Client, names []string, limit int32) ([]topicInfo, error) {
	infos, err := partitionInfos(e, cl, names, limit)
	if err != nil {
		infos, err = partitionInfosOfMetadata(e, cl, names)
	}
	if err != nil {
		return nil, err
	}
	configs, err := topicConfigs(e, cl, names)
	if err != nil {
		return nil, err
	}
	for i := range infos {
		infos[i].configs = configs[infos[i].name]
	}
	return infos, nil
}

// partitionInfos asks by DescribeTopicPartitions (KIP-966), following its cursor.
func partitionInfos(e *Env, cl *kgo.Client, names []string, limit int32) ([]topicInfo, error) {
	req := kmsg.NewPtrDescribeTopicPartitionsRequest()
	req.ResponsePartitionLimit = limit
	for _, n := range names {
		t := kmsg.NewDescribeTopicPartitionsRequestTopic()
		t.Topic = n
		req.Topics = append(req.Topics, t)
	}
	var out []topicInfo
	for {
		resp, err := ask[*kmsg.DescribeTopicPartitionsResponse](e, cl, req)
		if err != nil {
			return nil, err
		}
		for i := range resp.Topics {
			t := &resp.Topics[i]
			if err := conn.Code(t.ErrorCode, nil); err != nil {
				return nil, err
			}
			if len(out) == 0 || out[len(out)-1].name != *t.Topic {
				out = append(out, topicInfo{name: *t.Topic, id: t.TopicID})
			}
			last := &out[len(out)-1]
			for _, p := range t.Partitions {
				last.partitions = append(last.partitions, partitionInfo{id: p.Partition, leader: p.LeaderID, replicas: p.Replicas, isr: p.ISR,
					elr: p.EligibleLeaderReplicas, lastElr: p.LastKnownELR, knowsElr: true, offline: p.OfflineReplicas})
			}
		}
		if resp.NextCursor == nil {
			return out, nil
		}
		c := kmsg.NewDescribeTopicPartitionsRequestCursor()
		c.Topic, c.Partition = resp.NextCursor.Topic, resp.NextCursor.Partition
		req.Cursor = &c
	}
}

func partitionInfosOfMetadata(e *Env, cl *kgo.Client, names []string) ([]topicInfo, error) {
	md, err := metadata(e, cl, names)
	if err != nil {
		return nil, err
	}
	var out []topicInfo
	for i := range md.Topics {
		t := &md.Topics[i]
		if err := conn.Code(t.ErrorCode, nil); err != nil {
			return nil, err
		}
		info := topicInfo{name: *t.Topic, id: t.TopicID}
		for _, p := range t.Partitions {
			info.partitions = append(info.partitions, partitionInfo{id: p.Partition, leader: p.Leader, replicas: p.Replicas, isr: p.ISR, offline: p.OfflineReplicas})
		}
		out = append(out, info)
	}
	return out, nil
}

func topicConfigs(e *Env, cl *kgo.Client, names []string) (map[string][]kmsg.DescribeConfigsResponseResourceConfig, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	for _, n := range names {
		r := kmsg.NewDescribeConfigsRequestResource()
		r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeTopic, n
		req.Resources = append(req.Resources, r)
	}
	resp, err := ask[*kmsg.DescribeConfigsResponse](e, cl, req)
	if err != nil {
		return nil, err
	}
	out := map[string][]kmsg.DescribeConfigsResponseResourceConfig{}
	for i := range resp.Resources {
		r := &resp.Resources[i]
		// Who may not read settings still sees partitions.
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAuthorizationFailed) && !errors.Is(err, kerr.ClusterAuthorizationFailed) && !errors.Is(err, kerr.UnsupportedVersion) {
			return nil, conn.Code(r.ErrorCode, r.ErrorMessage)
		}
		out[r.ResourceName] = r.Configs
	}
	return out, nil
}

// overrides is what the topic sets differently from the built-in defaults, as "a=b,c=d".
func (t *topicInfo) overrides() string {
	var pairs []string
	for _, c := range t.configs {
		switch {
		case c.Source == kmsg.ConfigSourceDefaultConfig:
		case c.Name == "min.insync.replicas": // it stands first in Kafka's answer, whatever else is set
			pairs = slices.Insert(pairs, 0, c.Name+"="+text(c.Value))
		default:
			pairs = append(pairs, c.Name+"="+text(c.Value))
		}
	}
	return strings.Join(pairs, ",")
}

func text(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

func (t *topicInfo) line() string {
	factor := 0
	if len(t.partitions) > 0 {
		factor = len(t.partitions[0].replicas)
	}
	id := ""
	if t.id != ([16]byte{}) {
		id = "\tTopicId: " + formatID(t.id)
	}
	return fmt.Sprintf("Topic: %s%s\tPartitionCount: %d\tReplicationFactor: %d\tConfigs: %s", t.name, id, len(t.partitions), factor, t.overrides())
}

func (p *partitionInfo) line(topic string) string {
	leader, elr, last := "none", "N/A", "N/A"
	if p.leader >= 0 {
		leader = strconv.Itoa(int(p.leader))
	}
	if p.knowsElr {
		elr, last = joinInts(p.elr), joinInts(p.lastElr)
	}
	return fmt.Sprintf("\tTopic: %s\tPartition: %d\tLeader: %s\tReplicas: %s\tIsr: %s\tElr: %s\tLastKnownElr: %s",
		topic, p.id, leader, joinInts(p.replicas), joinInts(p.isr), elr, last)
}

func (p *partitionInfo) wanted(v *jopt.Values, t *topicInfo) bool {
	minISR := 1
	for _, c := range t.configs {
		if c.Name == "min.insync.replicas" && c.Value != nil {
			if n, err := strconv.Atoi(*c.Value); err == nil {
				minISR = n
			}
		}
	}
	return v.Has("under-replicated-partitions") && len(p.isr) < len(p.replicas) ||
		v.Has("unavailable-partitions") && p.leader < 0 ||
		v.Has("under-min-isr-partitions") && (p.leader < 0 || len(p.isr) < minISR) ||
		v.Has("at-min-isr-partitions") && len(p.isr) == minISR
}
