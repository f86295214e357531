package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafka/wire"
)

func TestTopicsFromCreationToDeletion(t *testing.T) {
	c := newRig(t, 2).dial()
	create := kmsg.NewPtrCreateTopicsRequest()
	for _, q := range []struct {
		name       string
		partitions int32
	}{{"a", 2}, {"bad name", 1}, {"none", 0}} {
		topic := kmsg.NewCreateTopicsRequestTopic()
		topic.Topic, topic.NumPartitions, topic.ReplicationFactor = q.name, q.partitions, 1
		create.Topics = append(create.Topics, topic)
	}
	create.ValidateOnly = true
	for pass, want := range []wire.ErrorCode{wire.NoError, wire.NoError, wire.TopicAlreadyExists} {
		got := c.ask(create, 7).(*kmsg.CreateTopicsResponse).Topics
		expectCode(t, "create", got[0].ErrorCode, want)
		expectCode(t, "bad name", got[1].ErrorCode, wire.InvalidTopicException)
		expectCode(t, "no partitions", got[2].ErrorCode, wire.InvalidPartitions)
		if want == wire.NoError && (got[0].NumPartitions != 2 || got[0].ReplicationFactor != 1 || len(got[0].Configs) < 20) || got[1].Configs == nil {
			t.Errorf("pass %d: %+v", pass, got[0])
		}
		create.ValidateOnly = false
	}
	grow := kmsg.NewPtrCreatePartitionsRequest()
	for _, q := range []struct {
		name  string
		count int32
	}{{"a", 3}, {"unknown", 3}} {
		topic := kmsg.NewCreatePartitionsRequestTopic()
		topic.Topic, topic.Count = q.name, q.count
		grow.Topics = append(grow.Topics, topic)
	}
	grown := c.ask(grow, 3).(*kmsg.CreatePartitionsResponse).Topics
	expectCode(t, "grow", grown[0].ErrorCode, wire.NoError)
	expectCode(t, "grow unknown", grown[1].ErrorCode, wire.UnknownTopicOrPartition)
	expectCode(t, "produce to the new partition", c.produce("a", 2, records(1, "x")).ErrorCode, wire.NoError)
	expectCode(t, "grow to the same", c.ask(grow, 3).(*kmsg.CreatePartitionsResponse).Topics[0].ErrorCode, wire.InvalidPartitions)

	remove := kmsg.NewPtrDeleteTopicsRequest()
	for _, name := range []string{"a", "unknown"} {
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = &name
		remove.Topics = append(remove.Topics, topic)
	}
	removed := c.ask(remove, 6).(*kmsg.DeleteTopicsResponse).Topics
	expectCode(t, "delete", removed[0].ErrorCode, wire.NoError)
	expectCode(t, "delete unknown", removed[1].ErrorCode, wire.UnknownTopicOrPartition)
	expectCode(t, "produce to the deleted", c.produce("a", 0, records(1, "x")).ErrorCode, wire.UnknownTopicOrPartition)
	// A topic of the same name starts anew.
	c.topic("a", 1)
	if got := c.produce("a", 0, records(1, "x")); got.ErrorCode != 0 || got.BaseOffset != 0 {
		t.Errorf("the new topic: %+v", got)
	}
}

func TestDeletionCanBeSwitchedOff(t *testing.T) {
	c := newRig(t, 1, "delete.topic.enable=false").dial()
	c.topic("a", 1)
	req := kmsg.NewPtrDeleteTopicsRequest()
	name := "a"
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &name
	req.Topics, req.TopicNames = append(req.Topics, topic), []string{"a"}
	expectCode(t, "v6", c.ask(req, 6).(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode, wire.TopicDeletionDisabled)
	expectCode(t, "v2", c.ask(req, 2).(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode, wire.InvalidRequest)
	expectCode(t, "still there", c.produce("a", 0, records(1, "x")).ErrorCode, wire.NoError)
}

func TestPagesOfPartitions(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("a", 3)
	c.topic("b", 2)
	req := pagesRequest(2)
	type place struct {
		topic     string
		partition int32
	}
	var seen []place
	for page := 0; ; page++ {
		resp := c.ask(req, 0).(*kmsg.DescribeTopicPartitionsResponse)
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				seen = append(seen, place{*topic.Topic, p.Partition})
				if p.LeaderID != 1 || p.ErrorCode != 0 || p.EligibleLeaderReplicas == nil {
					t.Errorf("%s %+v", *topic.Topic, p)
				}
			}
			if topic.AuthorizedOperations != topicOperations {
				t.Errorf("operations %d", topic.AuthorizedOperations)
			}
		}
		if resp.NextCursor == nil {
			break
		}
		if page > 5 {
			t.Fatal("the pages do not end")
		}
		cursor := kmsg.NewDescribeTopicPartitionsRequestCursor()
		cursor.Topic, cursor.Partition = resp.NextCursor.Topic, resp.NextCursor.Partition
		req.Cursor = &cursor
	}
	want := []place{{"a", 0}, {"a", 1}, {"a", 2}, {"b", 0}, {"b", 1}}
	if len(seen) != len(want) {
		t.Fatalf("seen %v", seen)
	}
	for i := range want {
		if seen[i] != want[i] {
			t.Errorf("seen %v", seen)
		}
	}
	named := kmsg.NewDescribeTopicPartitionsRequestTopic()
	named.Topic = "a"
	req.Topics = append(req.Topics, named)
	req.Cursor.Topic = "b"
	expectCode(t, "cursor outside the list", c.ask(req, 0).(*kmsg.DescribeTopicPartitionsResponse).Topics[0].ErrorCode, wire.InvalidRequest)
	req.Cursor = nil
	req.Topics[0].Topic = "unknown"
	expectCode(t, "unknown", c.ask(req, 0).(*kmsg.DescribeTopicPartitionsResponse).Topics[0].ErrorCode, wire.UnknownTopicOrPartition)
}
