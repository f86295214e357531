package kafka

import (
	"math"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafka/wire"
)

// Requests that no client sends by intent. What stands here is what Apache Kafka 4.4.0 answers, odd or not.

func TestApiVersionsAsksForAnotherNode(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	ours, other := r.node.ClusterID(), "another"
	for _, q := range []struct {
		what    string
		cluster *string
		node    int32
		want    wire.ErrorCode
	}{
		{"neither", nil, -1, wire.NoError}, {"both right", &ours, 1, wire.NoError},
		{"cluster alone", &ours, -1, wire.InvalidRequest}, {"node alone", nil, 1, wire.InvalidRequest},
		{"another cluster", &other, 1, wire.RebootstrapRequired}, {"another node", &ours, 7, wire.RebootstrapRequired},
	} {
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "test", "1"
		req.ClusterID, req.NodeID = q.cluster, q.node
		resp := c.ask(req, 5).(*kmsg.ApiVersionsResponse)
		expectCode(t, q.what, resp.ErrorCode, q.want)
		if (len(resp.ApiKeys) == 0) != (q.want != wire.NoError) {
			t.Errorf("%s: %d keys", q.what, len(resp.ApiKeys))
		}
	}
}

func TestFetchThatFailsWhole(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	id := c.topic("t", 1)
	c.produce("t", 0, records(0, "a"))
	first := func(resp *kmsg.FetchResponse) wire.ErrorCode {
		if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
			t.Fatalf("%+v", resp)
		}
		return wire.ErrorCode(resp.Topics[0].Partitions[0].ErrorCode)
	}
	ask := func(version int16, change func(*kmsg.FetchRequest)) *kmsg.FetchResponse {
		req := fetchRequest("t", 0, 0, 0, 0)
		req.SessionEpoch = -1
		req.Topics[0].TopicID = id
		change(req)
		return c.ask(req, version).(*kmsg.FetchResponse)
	}
	for _, level := range []int8{2, -1} {
		isolation := func(q *kmsg.FetchRequest) { q.IsolationLevel = level }
		if resp := ask(6, isolation); first(resp) != wire.UnknownServerError {
			t.Errorf("isolation %d, version 6: %+v", level, resp)
		}
		if resp := ask(12, isolation); first(resp) != wire.UnknownServerError || resp.ErrorCode != -1 || resp.Topics[0].Partitions[0].AbortedTransactions == nil {
			t.Errorf("isolation %d, version 12: %+v", level, resp)
		}
		if resp := ask(17, isolation); len(resp.Topics) != 0 || resp.ErrorCode != -1 {
			t.Errorf("isolation %d, version 17: %+v", level, resp)
		}
		if resp := ask(12, func(q *kmsg.FetchRequest) { q.IsolationLevel, q.Topics[0].Topic = level, "unknown" }); first(resp) != wire.UnknownTopicOrPartition || resp.ErrorCode != 0 {
			t.Errorf("isolation %d, unknown topic: %+v", level, resp)
		}
	}
	for session, want := range map[int32]int16{math.MaxInt32: -1, math.MinInt32: -1, -5: 0, 5: 0} {
		resp := ask(12, func(q *kmsg.FetchRequest) { q.SessionID = session })
		if resp.ErrorCode != want || int16(first(resp)) != want || want != 0 && resp.SessionID != session {
			t.Errorf("session %d: %+v", session, resp)
		}
	}
	for epoch, want := range map[int32]wire.ErrorCode{-1: wire.NotLeaderOrFollower, 0: wire.UnknownLeaderEpoch} {
		resp := ask(12, func(q *kmsg.FetchRequest) { q.ReplicaID, q.Topics[0].Partitions[0].CurrentLeaderEpoch = 3, epoch })
		if got := first(resp); got != want && epoch < 0 || epoch >= 0 && got != want && got != wire.FencedLeaderEpoch {
			t.Errorf("a replica with epoch %d: %s", epoch, got.Name())
		}
	}
}

func TestListOffsetsUnknownIsolation(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("t", 1)
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID, req.IsolationLevel = -1, 2
	topic := kmsg.NewListOffsetsRequestTopic()
	topic.Topic = "t"
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp = -1
	topic.Partitions = append(topic.Partitions, p)
	req.Topics = append(req.Topics, topic)
	got := c.ask(req, 7).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
	if got.ErrorCode != -1 || got.Offset != -1 || got.Timestamp != -1 || got.LeaderEpoch != -1 {
		t.Errorf("%+v", got)
	}
}

func TestInitProducerIDUnsetIsMinusOne(t *testing.T) {
	c := newRig(t, 1).dial()
	for _, q := range []struct {
		id    int64
		epoch int16
		want  wire.ErrorCode
	}{{-1, -1, wire.NoError}, {-2, 0, wire.NoError}, {5, -2, wire.NoError}, {-2, -1, wire.InvalidRequest}, {-1, -2, wire.InvalidRequest}, {5, -1, wire.InvalidRequest}} {
		req := kmsg.NewPtrInitProducerIDRequest()
		req.ProducerID, req.ProducerEpoch = q.id, q.epoch
		expectCode(t, "id and epoch", c.ask(req, 4).(*kmsg.InitProducerIDResponse).ErrorCode, q.want)
	}
}

func TestInternalTopicsThatDoNotExist(t *testing.T) {
	c := newRig(t, 1).dial()
	for _, name := range []string{"__transaction_state", "__share_group_state", "plain"} {
		req := kmsg.NewPtrMetadataRequest()
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		req.Topics, req.AllowAutoTopicCreation = append(req.Topics, topic), false
		got := c.ask(req, 9).(*kmsg.MetadataResponse).Topics[0]
		described := c.ask(pagesRequest(10, name), 0).(*kmsg.DescribeTopicPartitionsResponse).Topics[0]
		if want := name != "plain"; got.IsInternal != want || described.IsInternal != want || got.ErrorCode != 3 || described.ErrorCode != 3 {
			t.Errorf("%s: %+v, %+v", name, got, described)
		}
	}
}

func TestCursorBeyondWhatAPartitionCanBe(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("a", 3)
	c.topic("b", 1)
	req := pagesRequest(2000, "a", "b")
	cursor := kmsg.NewDescribeTopicPartitionsRequestCursor()
	cursor.Topic, cursor.Partition = "a", math.MaxInt32
	req.Cursor = &cursor
	resp := c.ask(req, 0).(*kmsg.DescribeTopicPartitionsResponse)
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 0 || resp.NextCursor == nil || resp.NextCursor.Partition != -2147481649 {
		t.Errorf("%+v, next %+v", resp.Topics, resp.NextCursor)
	}
	cursor.Partition = 99
	if resp := c.ask(req, 0).(*kmsg.DescribeTopicPartitionsResponse); len(resp.Topics) != 2 || resp.NextCursor != nil {
		t.Errorf("%+v, next %+v", resp.Topics, resp.NextCursor)
	}
}

func TestDeleteRecordsWithoutPolicy(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("none", 1, "cleanup.policy", "")
	c.topic("compacted", 1, "cleanup.policy", "compact")
	for name, want := range map[string]wire.ErrorCode{"none": wire.NoError, "compacted": wire.PolicyViolation} {
		req := kmsg.NewPtrDeleteRecordsRequest()
		req.TimeoutMillis = 5000
		topic := kmsg.NewDeleteRecordsRequestTopic()
		topic.Topic = name
		topic.Partitions = append(topic.Partitions, kmsg.DeleteRecordsRequestTopicPartition{Offset: -1})
		req.Topics = append(req.Topics, topic)
		expectCode(t, name, c.ask(req, 2).(*kmsg.DeleteRecordsResponse).Topics[0].Partitions[0].ErrorCode, want)
	}
}

func TestBadAcksOnAnInternalTopic(t *testing.T) {
	c := newRig(t, 1).dial()
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKeys = []string{"g"}
	c.ask(find, 4) // makes the topic
	for acks, want := range map[int16]wire.ErrorCode{2: wire.InvalidRequiredAcks, 1: wire.InvalidTopicException} {
		resp := c.ask(produceRequest("__consumer_offsets", 0, acks, records(0, "a")), 9).(*kmsg.ProduceResponse)
		expectCode(t, "acks", resp.Topics[0].Partitions[0].ErrorCode, want)
	}
}

func TestShareKeys(t *testing.T) {
	const id = "AAAAAAAAAAAAAAAAAAAAAQ"
	for key, want := range map[string]bool{
		"g:" + id + ":0": true, "a:b:" + id + ":0": true, "g:" + id + ":0:": true, "g:" + id + "==:0": true,
		" :" + id + ":0": false, ":" + id + ":0": false, id + ":0": false, "g:" + id + ":x": false, "g:short:0": false, "": false,
	} {
		if shareKey(key) != want {
			t.Errorf("%q: %v", key, !want)
		}
	}
}
