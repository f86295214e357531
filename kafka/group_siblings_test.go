package kafka

import (
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafka/wire"
)

// TestRefusedPartitionsStandFirst: OffsetCommit and OffsetDelete answer as Kafka does, what does not exist before the rest,
// and a topic that is named twice once if anything was refused, twice otherwise.
func TestRefusedPartitionsStandFirst(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	c.topic("a", 3)
	c.topic("b", 1)
	c.coordinated("g")
	for _, tt := range []struct{ ask, commit, delete string }{
		{"a/0,9,1 none/0 b/0", "a/9:3,0:0,1:0 none/0:3 b/0:0", "a/9:3,0:0,1:0 none/0:3 b/0:0"},
		{"a/0 b/0 a/1,9", "a/9:3,0:0,1:0 b/0:0", "a/9:3,0:0,1:0 b/0:0"},
		{"a/0 b/0 a/1", "a/0:0 b/0:0 a/1:0", "a/0:0 b/0:0 a/1:0"},
		{"b/0 none/0 b/0 none/1", "none/0:3,1:3 b/0:0,0:0", "none/0:3,1:3 b/0:0,0:0"},
		{"a b/7", "b/7:3", "b/7:3"},
	} {
		commit, remove := commitRequest("g", "a"), kmsg.NewPtrOffsetDeleteRequest()
		commit.Topics, remove.Group = nil, "g"
		for _, word := range strings.Fields(tt.ask) {
			name, list, _ := strings.Cut(word, "/")
			ct, dt := kmsg.NewOffsetCommitRequestTopic(), kmsg.NewOffsetDeleteRequestTopic()
			ct.Topic, dt.Topic = name, name
			for _, p := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
				cp, dp := kmsg.NewOffsetCommitRequestTopicPartition(), kmsg.NewOffsetDeleteRequestTopicPartition()
				fmt.Sscan(p, &cp.Partition)
				dp.Partition = cp.Partition
				ct.Partitions, dt.Partitions = append(ct.Partitions, cp), append(dt.Partitions, dp)
			}
			commit.Topics, remove.Topics = append(commit.Topics, ct), append(remove.Topics, dt)
		}
		line := ""
		for _, topic := range c.ask(commit, 8).(*kmsg.OffsetCommitResponse).Topics {
			line += " " + topic.Topic + "/"
			for _, p := range topic.Partitions {
				line += fmt.Sprintf("%d:%d,", p.Partition, p.ErrorCode)
			}
		}
		if got := strings.ReplaceAll(line+" ", ", ", " "); strings.TrimSpace(got) != tt.commit {
			t.Errorf("commit of %s: %s, not %s", tt.ask, got, tt.commit)
		}
		line = ""
		for _, topic := range c.ask(remove, 0).(*kmsg.OffsetDeleteResponse).Topics {
			line += " " + topic.Topic + "/"
			for _, p := range topic.Partitions {
				line += fmt.Sprintf("%d:%d,", p.Partition, p.ErrorCode)
			}
		}
		if got := strings.ReplaceAll(line+" ", ", ", " "); strings.TrimSpace(got) != tt.delete {
			t.Errorf("delete of %s: %s, not %s", tt.ask, got, tt.delete)
		}
	}
	if got := c.allOffsets("g"); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}

// TestStateFilterIsTrimmed: ListGroups ignores case and outer space of states, of types only case.
func TestStateFilterIsTrimmed(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	c.topic("t", 1)
	c.coordinated("g")
	c.ask(commitRequest("g", "t", 1), 8)
	for _, tt := range []struct {
		state, kind string
		groups      int
	}{{" EMPTY\n", "Classic", 1}, {"Stable", "classic", 0}, {"empty", " classic", 0}} {
		req := kmsg.NewPtrListGroupsRequest()
		req.StatesFilter, req.TypesFilter = []string{tt.state}, []string{tt.kind}
		if got := c.ask(req, 5).(*kmsg.ListGroupsResponse).Groups; len(got) != tt.groups {
			t.Errorf("state %q, type %q: %+v", tt.state, tt.kind, got)
		}
	}
}

// TestRefusedFirstJoinMakesTheGroup, empty, as in Kafka; one that names a member does not.
func TestRefusedFirstJoinMakesTheGroup(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	c.coordinated("g")
	state := func() string {
		d := kmsg.NewPtrDescribeGroupsRequest()
		d.Groups = []string{"g"}
		return c.ask(d, 5).(*kmsg.DescribeGroupsResponse).Groups[0].State
	}
	join := joinRequest("g", "made-up")
	expectCode(t, "a join of a stranger", c.ask(join, 5).(*kmsg.JoinGroupResponse).ErrorCode, wire.UnknownMemberId)
	if got := state(); got != "Dead" {
		t.Errorf("after it the group is %s", got)
	}
	join = joinRequest("g", "")
	join.Protocols = nil
	expectCode(t, "a join without protocols", c.ask(join, 5).(*kmsg.JoinGroupResponse).ErrorCode, wire.InconsistentGroupProtocol)
	if got := state(); got != "Empty" {
		t.Errorf("after it the group is %s", got)
	}
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.MemberID, sync.ProtocolType = "", "m", kmsg.StringPtr("consumer")
	expectCode(t, "a sync without protocol", c.ask(sync, 5).(*kmsg.SyncGroupResponse).ErrorCode, wire.InconsistentGroupProtocol)
	expectCode(t, "one of version 4", c.ask(sync, 4).(*kmsg.SyncGroupResponse).ErrorCode, wire.InvalidGroupId)
}
