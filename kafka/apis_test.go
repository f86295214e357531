package kafka

import (
	"io"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafka/wire"
)

// Every listed API answers an empty request at every version, and closes the connection one version further.
func TestListedAPIsAnswerAtEveryVersion(t *testing.T) {
	r := newRig(t, 1)
	listed := r.dial().ask(kmsg.NewPtrApiVersionsRequest(), 0).(*kmsg.ApiVersionsResponse).ApiKeys
	if len(listed) < 19 {
		t.Fatalf("only %d APIs are listed", len(listed))
	}
	for _, k := range listed {
		a := wire.Lookup(k.ApiKey)
		if a == nil || k.MinVersion != a.Min || k.MaxVersion != a.Max {
			t.Errorf("%s is listed as %d-%d", kmsg.NameForKey(k.ApiKey), k.MinVersion, k.MaxVersion)
			continue
		}
		c := r.dial()
		for v := a.Lowest; v <= a.Max; v++ {
			req := kmsg.RequestForKey(k.ApiKey)
			switch q := req.(type) {
			case *kmsg.ProduceRequest:
				q.Acks = 1
			case *kmsg.ApiVersionsRequest:
				q.ClientSoftwareName, q.ClientSoftwareVersion = "test", "1"
			}
			c.ask(req, v)
		}
		if k.ApiKey != wire.KeyApiVersions && !c.closes(c.frame(kmsg.RequestForKey(k.ApiKey), a.Max+1)) {
			t.Errorf("%s v%d is answered", a.Name, a.Max+1)
		}
	}
	for _, a := range wire.Versions() {
		if !r.fe.table[a.Key].served() && !r.dial().closes(r.dial().frame(kmsg.RequestForKey(a.Key), a.Min)) {
			t.Errorf("%s is not listed, and answered", a.Name)
		}
	}
}

func TestApiVersionsOfTheFutureAndOddNames(t *testing.T) {
	c := newRig(t, 1).dial()
	c.send(c.frame(kmsg.NewPtrApiVersionsRequest(), 9))
	b, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	req := kmsg.NewPtrApiVersionsRequest()
	resp := c.decode(req, c.corr, b).(*kmsg.ApiVersionsResponse)
	expectCode(t, "version 9", resp.ErrorCode, wire.UnsupportedVersion)
	if len(resp.ApiKeys) != 1 || resp.ApiKeys[0].MaxVersion != 5 {
		t.Errorf("version 9 is told %v", resp.ApiKeys)
	}
	req.ClientSoftwareName, req.ClientSoftwareVersion = "no good name!", "1"
	expectCode(t, "odd name", c.ask(req, 3).(*kmsg.ApiVersionsResponse).ErrorCode, wire.InvalidRequest)
}

// What came before a bad frame is answered, in order, and then the connection ends.
func TestAnswersComeBeforeTheEndOfABadConnection(t *testing.T) {
	r := newRig(t, 1)
	r.dial().topic("a", 1)
	c := r.dial()
	var all []byte
	for range 3 {
		all = append(all, c.frame(kmsg.NewPtrMetadataRequest(), 9)...)
		all = append(all, c.frame(produceRequest("a", 0, -1, records(1, "x")), 9)...)
		all = append(all, c.frame(produceRequest("a", 0, 1, records(1, "y")), 9)...)
	}
	all = append(all, 0xff, 0xff, 0xff, 0xff)
	c.send(all)
	for want := int32(1); want <= 9; want++ {
		b, err := c.read()
		if err != nil {
			t.Fatalf("answer %d: %v", want, err)
		}
		req := kmsg.Request(kmsg.NewPtrMetadataRequest())
		if want%3 != 1 {
			req = kmsg.NewPtrProduceRequest()
		}
		req.SetVersion(9)
		if p, ok := c.decode(req, want, b).(*kmsg.ProduceResponse); ok {
			expectCode(t, "produce", p.Topics[0].Partitions[0].ErrorCode, wire.NoError)
		}
	}
	if _, err := c.read(); err != io.EOF {
		t.Errorf("the connection goes on: %v", err)
	}
}

func TestDescribeClusterAndMetadata(t *testing.T) {
	r := newRig(t, 2)
	c := r.dial()
	id := c.topic("a", 3)
	meta := c.ask(kmsg.NewPtrMetadataRequest(), 12).(*kmsg.MetadataResponse)
	if len(meta.Brokers) != 1 || meta.Brokers[0].NodeID != 1 || meta.ControllerID != 1 || *meta.ClusterID != r.node.ClusterID() {
		t.Errorf("brokers %v controller %d cluster %s", meta.Brokers, meta.ControllerID, *meta.ClusterID)
	}
	if len(meta.Topics) != 1 || meta.Topics[0].TopicID != id || len(meta.Topics[0].Partitions) != 3 {
		t.Fatalf("topics %v", meta.Topics)
	}
	for _, p := range meta.Topics[0].Partitions {
		if p.Leader != 1 || p.ErrorCode != 0 || p.LeaderEpoch != 0 {
			t.Errorf("partition %+v", p)
		}
	}
	byID := kmsg.NewPtrMetadataRequest()
	for _, topic := range []struct {
		id   [16]byte
		want wire.ErrorCode
	}{{id, wire.NoError}, {[16]byte{9}, wire.UnknownTopicId}} {
		q := kmsg.NewMetadataRequestTopic()
		q.TopicID = topic.id
		byID.Topics = []kmsg.MetadataRequestTopic{q}
		expectCode(t, "by id", c.ask(byID, 12).(*kmsg.MetadataResponse).Topics[0].ErrorCode, topic.want)
	}
	expectCode(t, "by id at v10", c.ask(byID, 10).(*kmsg.MetadataResponse).Topics[0].ErrorCode, wire.InvalidRequest)
	cluster := kmsg.NewPtrDescribeClusterRequest()
	cluster.EndpointType = 1
	if got := c.ask(cluster, 2).(*kmsg.DescribeClusterResponse); len(got.Brokers) != 1 || got.ErrorCode != 0 {
		t.Errorf("cluster %+v", got)
	}
	cluster.EndpointType = 2
	expectCode(t, "controllers", c.ask(cluster, 1).(*kmsg.DescribeClusterResponse).ErrorCode, wire.MismatchedEndpointType)
}

func TestAutoCreateMakesATopicThatTakesWrites(t *testing.T) {
	c := newRig(t, 1, "num.partitions=2").dial()
	req := kmsg.NewPtrMetadataRequest()
	q := kmsg.NewMetadataRequestTopic()
	name := "made"
	q.Topic = &name
	req.Topics, req.AllowAutoTopicCreation = append(req.Topics, q), true
	expectCode(t, "first", c.ask(req, 9).(*kmsg.MetadataResponse).Topics[0].ErrorCode, wire.UnknownTopicOrPartition)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		got := c.ask(req, 9).(*kmsg.MetadataResponse).Topics[0]
		if got.ErrorCode == 0 && len(got.Partitions) == 2 && got.Partitions[0].Leader == 1 && got.Partitions[1].Leader == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("not made: %+v", got)
		}
	}
	expectCode(t, "produce", c.produce(name, 1, records(1, "x")).ErrorCode, wire.NoError)
}
