package kafkatool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/cli/conn"
)

// request asks until there is a coordinator: the first question about groups makes a broker create their topic.
func request[R kmsg.Response](ctx context.Context, cl *kgo.Client, req kmsg.Request) (R, error) {
	for {
		resp, err := cl.Request(ctx, req)
		if err == nil {
			return resp.(R), nil
		}
		if !errors.Is(err, kerr.CoordinatorNotAvailable) && !errors.Is(err, kerr.CoordinatorLoadInProgress) && !errors.Is(err, kerr.NotCoordinator) {
			var none R
			return none, err
		}
		select {
		case <-ctx.Done():
			var none R
			return none, err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// listGroups asks all brokers for groups of consumers, sorted by name.
func listGroups(ctx context.Context, cl *kgo.Client, states, types []string) ([]kmsg.ListGroupsResponseGroup, error) {
	req := kmsg.NewPtrListGroupsRequest()
	req.StatesFilter, req.TypesFilter = states, types
	resp, err := request[*kmsg.ListGroupsResponse](ctx, cl, req)
	if err != nil {
		return nil, err
	}
	if err := conn.Code(resp.ErrorCode, nil); err != nil {
		return nil, err
	}
	var out []kmsg.ListGroupsResponseGroup
	for _, g := range resp.Groups {
		if (g.ProtocolType == "consumer" || g.ProtocolType == "") && g.GroupType != "share" && g.GroupType != "streams" {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b kmsg.ListGroupsResponseGroup) int {
		if a.Group < b.Group {
			return -1
		}
		return 1
	})
	return out, nil
}

// groupInfo is a group as a description shows it, whichever protocol it speaks. Immutable once built.
type groupInfo struct {
	id, state, strategy string
	consumer            bool // KIP-848
	epoch, target       int32
	members             []memberInfo
	missing             error // the group does not exist
}

// memberInfo is one member.
type memberInfo struct {
	id, host, client, instance string
	epoch                      int32
	assigned, target           map[string][]int32
	subscribed                 []string
	hasTarget                  bool
	kind                       int8 // in a group of the new protocol: classicMember, consumerMember, or not said
}

// What DescribeConsumerGroups says a member is, from version 1 on.
const (
	classicMember  = 0
	consumerMember = 1
)

func (m *memberInfo) count() int {
	n := 0
	for _, p := range m.assigned {
		n += len(p)
	}
	return n
}

// describeGroup asks first as for a group of the new protocol, then as for a classic one.
func describeGroup(ctx context.Context, cl *kgo.Client, id string) (*groupInfo, error) {
	req := kmsg.NewPtrConsumerGroupDescribeRequest()
	req.Groups = []string{id}
	resp, err := request[*kmsg.ConsumerGroupDescribeResponse](ctx, cl, req)
	if err == nil && len(resp.Groups) == 1 {
		g := &resp.Groups[0]
		if g.ErrorCode == 0 {
			return consumerInfo(g), nil
		}
		if kerr := kerr.ErrorForCode(g.ErrorCode); !isFallback(kerr) {
			return nil, conn.Code(g.ErrorCode, g.ErrorMessage)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return describeClassic(ctx, cl, id)
}

func isFallback(err error) bool {
	return errors.Is(err, kerr.GroupIDNotFound) || errors.Is(err, kerr.UnsupportedVersion)
}

func consumerInfo(g *kmsg.ConsumerGroupDescribeResponseGroup) *groupInfo {
	out := &groupInfo{id: g.Group, state: g.State, strategy: g.AssignorName, consumer: true, epoch: g.Epoch, target: g.AssignmentEpoch}
	for i := range g.Members {
		m := &g.Members[i]
		out.members = append(out.members, memberInfo{
			id: m.MemberID, host: m.ClientHost, client: m.ClientID, instance: deref(m.InstanceID), epoch: m.MemberEpoch, subscribed: m.SubscribedTopics,
			assigned: assignmentOf(m.Assignment), target: assignmentOf(m.TargetAssignment), hasTarget: true, kind: m.MemberType,
		})
	}
	return out
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func assignmentOf(a kmsg.Assignment) map[string][]int32 {
	out := map[string][]int32{}
	for _, t := range a.TopicPartitions {
		out[t.Topic] = append(out[t.Topic], t.Partitions...)
	}
	return out
}

func describeClassic(ctx context.Context, cl *kgo.Client, id string) (*groupInfo, error) {
	req := kmsg.NewPtrDescribeGroupsRequest()
	req.Groups = []string{id}
	resp, err := request[*kmsg.DescribeGroupsResponse](ctx, cl, req)
	if err != nil {
		return nil, err
	}
	if len(resp.Groups) != 1 {
		return nil, errors.New("the broker did not answer for the group")
	}
	g := &resp.Groups[0]
	missing := &conn.Error{Code: kerr.GroupIDNotFound.Code, Message: "Group " + id + " not found."}
	if err := conn.Code(g.ErrorCode, g.ErrorMessage); err != nil {
		if g.ErrorCode == missing.Code {
			return &groupInfo{id: id, state: "Dead", missing: missing}, nil
		}
		return nil, err
	}
	out := &groupInfo{id: id, state: g.State, strategy: g.Protocol}
	if g.State == "Dead" && len(g.Members) == 0 { // before DescribeGroups 6
		out.missing = missing
	}
	for i := range g.Members {
		m := &g.Members[i]
		info := memberInfo{id: m.MemberID, host: m.ClientHost, client: m.ClientID, instance: deref(m.InstanceID), assigned: map[string][]int32{}}
		a := kmsg.NewConsumerMemberAssignment()
		if len(m.MemberAssignment) > 0 && a.ReadFrom(m.MemberAssignment) == nil {
			for _, t := range a.Topics {
				info.assigned[t.Topic] = append(info.assigned[t.Topic], t.Partitions...)
			}
		}
		out.members = append(out.members, info)
	}
	return out, nil
}

// topicPartition names a partition.
type topicPartition struct {
	topic     string
	partition int32
}

// compareNames is the order of Kafka's tools where they sort by a partition's text: t-10 comes before t-2.
func compareNames(a, b topicPartition) int {
	return strings.Compare(fmt.Sprintf("%s-%d", a.topic, a.partition), fmt.Sprintf("%s-%d", b.topic, b.partition))
}

func comparePartitions(a, b topicPartition) int {
	switch {
	case a.topic < b.topic:
		return -1
	case a.topic > b.topic:
		return 1
	}
	return int(a.partition) - int(b.partition)
}

// committed is a committed offset.
type committed struct {
	offset   int64
	epoch    int32
	metadata string
}

// committedOffsets are all offsets of a group.
func committedOffsets(ctx context.Context, cl *kgo.Client, group string) (map[topicPartition]committed, error) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = group
	rg := kmsg.NewOffsetFetchRequestGroup()
	rg.Group = group
	req.Groups = append(req.Groups, rg)
	resp, err := request[*kmsg.OffsetFetchResponse](ctx, cl, req)
	if err != nil {
		return nil, err
	}
	out := map[topicPartition]committed{}
	put := func(topic string, partition int32, offset int64, epoch int32, meta *string) {
		if offset >= 0 {
			out[topicPartition{topic, partition}] = committed{offset, epoch, deref(meta)}
		}
	}
	if err := conn.Code(resp.ErrorCode, nil); err != nil {
		return nil, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			put(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata)
		}
	}
	for i := range resp.Groups {
		g := &resp.Groups[i]
		if err := conn.Code(g.ErrorCode, nil); err != nil {
			return nil, err
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				put(t.Topic, p.Partition, p.Offset, p.LeaderEpoch, p.Metadata)
			}
		}
	}
	return out, nil
}

// listed is an answer to ListOffsets.
type listed struct {
	offset, timestamp int64
	err               error
}

// listOffsets asks leaders; ms -1 is the end, -2 the start, else the first message not older.
func listOffsets(ctx context.Context, cl *kgo.Client, parts []topicPartition, ms int64) (map[topicPartition]listed, error) {
	out := map[topicPartition]listed{}
	if len(parts) == 0 {
		return out, nil
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	byTopic := map[string]int{}
	for _, p := range parts {
		i, ok := byTopic[p.topic]
		if !ok {
			i = len(req.Topics)
			byTopic[p.topic] = i
			t := kmsg.NewListOffsetsRequestTopic()
			t.Topic = p.topic
			req.Topics = append(req.Topics, t)
		}
		rp := kmsg.NewListOffsetsRequestTopicPartition()
		rp.Partition, rp.Timestamp, rp.CurrentLeaderEpoch, rp.MaxNumOffsets = p.partition, ms, -1, 1
		req.Topics[i].Partitions = append(req.Topics[i].Partitions, rp)
	}
	resp, err := request[*kmsg.ListOffsetsResponse](ctx, cl, req)
	if err != nil {
		return nil, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			out[topicPartition{t.Topic, p.Partition}] = listed{p.Offset, p.Timestamp, conn.Code(p.ErrorCode, nil)}
		}
	}
	return out, nil
}
