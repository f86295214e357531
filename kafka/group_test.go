package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/group"
	"millrace/kafka/wire"
)

// coordinated asks for the coordinator of a group, which makes the topic that holds groups.
func (c *client) coordinated(group string) {
	c.t.Helper()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKeys = []string{group}
	resp := c.ask(find, 6).(*kmsg.FindCoordinatorResponse)
	expectCode(c.t, "coordinator", resp.Coordinators[0].ErrorCode, wire.NoError)
}

func commitRequest(group, topic string, offsets ...int64) *kmsg.OffsetCommitRequest {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = group, -1
	t := kmsg.NewOffsetCommitRequestTopic()
	t.Topic = topic
	for p, o := range offsets {
		rp := kmsg.NewOffsetCommitRequestTopicPartition()
		rp.Partition, rp.Offset = int32(p), o
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// allOffsets are the committed offsets of a group by topic and partition.
func (c *client) allOffsets(group string) map[string]map[int32]int64 {
	c.t.Helper()
	req := kmsg.NewPtrOffsetFetchRequest()
	g := kmsg.NewOffsetFetchRequestGroup()
	g.Group, g.MemberEpoch = group, -1
	req.Groups = append(req.Groups, g)
	resp := c.ask(req, 9).(*kmsg.OffsetFetchResponse)
	expectCode(c.t, "offsets of "+group, resp.Groups[0].ErrorCode, wire.NoError)
	out := map[string]map[int32]int64{}
	for _, t := range resp.Groups[0].Topics {
		out[t.Topic] = map[int32]int64{}
		for _, p := range t.Partitions {
			out[t.Topic][p.Partition] = p.Offset
		}
	}
	return out
}

func joinRequest(group, member string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Group, req.MemberID, req.SessionTimeoutMillis, req.RebalanceTimeoutMillis, req.ProtocolType = group, member, 30000, 30000, "consumer"
	p := kmsg.NewJoinGroupRequestProtocol()
	p.Name = "range"
	req.Protocols = append(req.Protocols, p)
	return req
}

// TestFirstCoordinatorMakesTheTopic: fifty compacted partitions, usable as soon as the answer is there.
func TestFirstCoordinatorMakesTheTopic(t *testing.T) {
	r := newRig(t, 2)
	c := r.dial()
	c.topic("t", 1)
	c.coordinated("g")
	expectCode(t, "commit", c.ask(commitRequest("g", "t", 5), 8).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode, wire.NoError)
	topic := r.node.FindTopic("__consumer_offsets")
	if topic == nil || !topic.Internal || len(topic.Partitions()) != 50 {
		t.Fatalf("the topic: %+v", topic)
	}
	if cfg := topic.Config(); !cfg.Compact || cfg.Delete || cfg.SegmentBytes != 104857600 {
		t.Errorf("its configuration: %+v", cfg)
	}
	if got := c.allOffsets("g"); got["t"][0] != 5 {
		t.Errorf("offsets: %v", got)
	}
}

// TestDeletedTopicTakesItsOffsets also while the group goes on to read others.
func TestDeletedTopicTakesItsOffsets(t *testing.T) {
	r := newRig(t, 2)
	c := r.dial()
	c.topic("gone", 2)
	c.topic("kept", 1)
	for _, g := range []string{"a", "b", "c"} {
		c.coordinated(g)
		c.ask(commitRequest(g, "gone", 1, 2), 8)
		c.ask(commitRequest(g, "kept", 3), 8)
	}
	del := kmsg.NewPtrDeleteTopicsRequest()
	dt := kmsg.NewDeleteTopicsRequestTopic()
	dt.Topic = kmsg.StringPtr("gone")
	del.Topics = append(del.Topics, dt)
	c.ask(del, 6)
	for _, g := range []string{"a", "b", "c"} {
		deadline := time.Now().Add(5 * time.Second)
		for got := c.allOffsets(g); len(got) != 1 || got["kept"][0] != 3; got = c.allOffsets(g) {
			if time.Now().After(deadline) {
				t.Fatalf("%s: %v", g, got)
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	c.topic("gone", 2)
	if got := c.allOffsets("a"); len(got["gone"]) != 0 {
		t.Errorf("a new topic of the name has offsets: %v", got)
	}
}

// TestLagIsShown among the metrics.
func TestLagIsShown(t *testing.T) {
	r := newRig(t, 2)
	c := r.dial()
	c.topic("t", 2)
	c.coordinated("g")
	for range 3 {
		c.produce("t", 1, records(1, "a", "b"))
	}
	c.ask(commitRequest("g", "t", 0, 4), 8)
	var b strings.Builder
	if err := r.node.Metrics().WriteText(&b); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`kafka_consumergroup_current_offset{consumergroup="g",partition="1",topic="t"} 4`,
		`kafka_consumergroup_lag{consumergroup="g",partition="0",topic="t"} 0`,
		`kafka_consumergroup_lag{consumergroup="g",partition="1",topic="t"} 2`,
		`kafka_consumergroup_lag_sum{consumergroup="g",topic="t"} 2`,
	} {
		if !strings.Contains(b.String(), line+"\n") {
			t.Errorf("the metrics do not have %s", line)
		}
	}
}

// TestDrainAnswersWaitingMembers: a node that stops sends members elsewhere at once, though their rebalance would go on.
func TestDrainAnswersWaitingMembers(t *testing.T) {
	r := newRig(t, 2, "group.initial.rebalance.delay.ms=60000")
	c := r.dial()
	c.coordinated("g")
	waiting := joinRequest("g", "")
	c.send(c.frame(waiting, 3))
	other := r.dial()
	deadline := time.Now().Add(5 * time.Second)
	for {
		d := kmsg.NewPtrDescribeGroupsRequest()
		d.Groups = []string{"g"}
		if other.ask(d, 5).(*kmsg.DescribeGroupsResponse).Groups[0].State == "PreparingRebalance" {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the member does not wait")
		}
		time.Sleep(5 * time.Millisecond)
	}
	began := time.Now()
	r.fe.Drain(10 * time.Second)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("the drain took %v", took)
	}
	frame, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	resp := kmsg.NewPtrJoinGroupResponse()
	resp.Version = 3
	if err := resp.ReadFrom(frame[4:]); err != nil {
		t.Fatal(err)
	}
	expectCode(t, "the waiting join", resp.ErrorCode, wire.NotCoordinator)
}

// TestOffsetsOfManyGroupsInOneRequest mixes known, unknown and empty ids, names and topic ids.
func TestOffsetsOfManyGroupsInOneRequest(t *testing.T) {
	r := newRig(t, 2)
	c := r.dial()
	id := c.topic("t", 3)
	c.coordinated("g")
	c.ask(commitRequest("g", "t", 1, 2), 8)
	c.ask(commitRequest("", "t", 9), 8)
	req := kmsg.NewPtrOffsetFetchRequest()
	for _, name := range []string{"g", "", "nobody"} {
		g := kmsg.NewOffsetFetchRequestGroup()
		g.Group, g.MemberEpoch = name, -1
		for _, id := range [][16]byte{id, {1}} {
			gt := kmsg.NewOffsetFetchRequestGroupTopic()
			gt.TopicID, gt.Partitions = id, []int32{0, 2}
			g.Topics = append(g.Topics, gt)
		}
		req.Groups = append(req.Groups, g)
	}
	want := map[string]int64{"g": 1, "": 9, "nobody": -1}
	for i, g := range c.ask(req, 10).(*kmsg.OffsetFetchResponse).Groups {
		if g.Group != req.Groups[i].Group || g.ErrorCode != 0 || len(g.Topics) != 2 {
			t.Fatalf("group %d: %+v", i, g)
		}
		known, unknown := g.Topics[0].Partitions, g.Topics[1].Partitions
		if g.Topics[0].TopicID != id || known[0].Offset != want[g.Group] || known[1].Partition != 2 || known[1].Offset != -1 {
			t.Errorf("group %q: %+v", g.Group, known)
		}
		expectCode(t, "unknown topic id", unknown[1].ErrorCode, wire.UnknownTopicId)
	}
}

// TestCoordinatorSurvivesAFault: a panic in a coordinator costs its members an answer, and nobody what was committed.
func TestCoordinatorSurvivesAFault(t *testing.T) {
	r := newRig(t, 2)
	c := r.dial()
	c.topic("t", 1)
	c.coordinated("g")
	c.ask(commitRequest("g", "t", 5), 8)
	r.node.Group(&group.HeartbeatRequest{Header: group.Header{Group: "g"}}, func(any) { panic("a fault") })
	deadline := time.Now().Add(5 * time.Second)
	for {
		code := c.ask(commitRequest("g", "t", 6), 8).(*kmsg.OffsetCommitResponse).Topics[0].Partitions[0].ErrorCode
		if code == 0 {
			break
		}
		expectCode(t, "while the groups are loaded", code, wire.CoordinatorLoadInProgress)
		if time.Now().After(deadline) {
			t.Fatal("the coordinator does not come back")
		}
		time.Sleep(5 * time.Millisecond)
	}
	if got := c.allOffsets("g"); got["t"][0] != 6 {
		t.Errorf("offsets: %v", got)
	}
}
