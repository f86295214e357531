package wire

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// compareProduce checks that the view says what kmsg read.
func compareProduce(t *testing.T, body []byte, want *kmsg.ProduceRequest) {
	t.Helper()
	var v ProduceView
	if err := v.Parse(body, want.Version); err != nil {
		t.Fatalf("v%d: %v\n%x", want.Version, err, body)
	}
	if (v.TransactionalID == nil) != (want.TransactionID == nil) || v.TransactionalID != nil && string(v.TransactionalID) != *want.TransactionID {
		t.Fatalf("v%d: transactional id %q", want.Version, v.TransactionalID)
	}
	if v.Acks != want.Acks || v.TimeoutMs != want.TimeoutMillis || v.TopicCount != len(want.Topics) {
		t.Fatalf("v%d: head differs: %+v", want.Version, v)
	}
	topics, total := v.Topics(), 0
	var topic ProduceTopic
	for _, wt := range want.Topics {
		if !topics.Next(&topic) {
			t.Fatal("too few topics")
		}
		if string(topic.Name) != wt.Topic || topic.ID != wt.TopicID || topic.PartitionCount != len(wt.Partitions) {
			t.Fatalf("v%d: topic differs: %q", want.Version, topic.Name)
		}
		parts := topic.Partitions()
		var p ProducePartition
		for _, wp := range wt.Partitions {
			if !parts.Next(&p) {
				t.Fatal("too few partitions")
			}
			total++
			if p.Index != wp.Partition || !bytes.Equal(p.Records, wp.Records) || (p.Records == nil) != (wp.Records == nil) {
				t.Fatalf("v%d: partition differs", want.Version)
			}
			if !bytes.Equal(body[p.Position:p.Position+len(p.Records)], wp.Records) {
				t.Fatalf("v%d: position %d is wrong", want.Version, p.Position)
			}
		}
		if parts.Next(&p) {
			t.Fatal("too many partitions")
		}
	}
	if topics.Next(&topic) || total != v.PartitionCount {
		t.Fatal("too many topics, or a wrong sum")
	}
}

func TestProduceRequestAgreesWithKmsg(t *testing.T) {
	r := seeded(1)
	for version := int16(3); version <= 13; version++ {
		for i := 0; i < 200; i++ {
			req, body := random(r, KeyProduce, version)
			compareProduce(t, body, req.(*kmsg.ProduceRequest))
			// Bytes behind the body are nobody's business.
			compareProduce(t, append(body, 1, 2, 3), req.(*kmsg.ProduceRequest))
		}
	}
}

func TestProduceRequestCutAnywhereIsMalformed(t *testing.T) {
	r := seeded(2)
	for version := int16(3); version <= 13; version++ {
		for i := 0; i < 20; i++ {
			_, body := random(r, KeyProduce, version)
			for n := range body {
				var v ProduceView
				if err := v.Parse(body[:n:n], version); err != ErrMalformed {
					t.Fatalf("v%d cut at %d of %d: %v", version, n, len(body), err)
				}
			}
		}
	}
}

func TestProduceRequestNullRecordsAndTopics(t *testing.T) {
	req := kmsg.NewPtrProduceRequest()
	req.Topics = []kmsg.ProduceRequestTopic{{Topic: "t", Partitions: []kmsg.ProduceRequestTopicPartition{{}}}}
	for version := int16(3); version <= 13; version++ {
		req.Version = version
		if version == 13 {
			req.Topics[0].Topic = ""
		}
		body := req.AppendTo(nil)
		compareProduce(t, body, req)
		// The array of topics must not be null.
		head := append([]byte{0xff, 0xff}, 0, 1, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff)
		if version >= 9 {
			head = []byte{0, 0, 1, 0, 0, 0, 1, 0, 0}
		}
		var v ProduceView
		if err := v.Parse(head, version); err != ErrMalformed {
			t.Fatalf("v%d: null topics: %v", version, err)
		}
	}
}

func FuzzProduceRequest(f *testing.F) {
	r := seeded(3)
	for version := int16(3); version <= 13; version++ {
		_, body := random(r, KeyProduce, version)
		f.Add(body, uint8(version))
	}
	f.Fuzz(func(t *testing.T, body []byte, version uint8) {
		at := 3 + int16(version)%11
		var v ProduceView
		if v.Parse(body, at) != nil {
			return
		}
		// What we take kmsg takes too, with the same meaning.
		want := kmsg.NewPtrProduceRequest()
		want.Version = at
		if err := want.ReadFrom(body); err != nil {
			t.Fatalf("v%d: kmsg refuses: %v", at, err)
		}
		compareProduce(t, body, want)
	})
}

var testEndpoints = []NodeEndpoint{{NodeID: 1, Host: "a.example", Port: 9092}, {NodeID: 2, Host: "b", Port: -1, Rack: "r"}}

// produceReply writes an answer that has everything in it.
func produceReply(w *ProduceReply, dst []byte, version int16, id UUID, parts []ProducePartitionReply) []byte {
	w.Begin(dst, version, 77, 2)
	w.Topic([]byte("first"), id, len(parts))
	for i := range parts {
		w.Partition(&parts[i])
	}
	w.EndTopic()
	w.Topic([]byte("second"), UUID{}, 0)
	w.EndTopic()
	return w.End(5, testEndpoints)
}

var testProduceParts = []ProducePartitionReply{
	{Index: 3, BaseOffset: 100, LogAppendTimeMs: -1, LogStartOffset: 4, Leader: NoLeaderHint},
	{Index: 4, Error: NotLeaderOrFollower, BaseOffset: -1, LogAppendTimeMs: -1, LogStartOffset: -1, Leader: LeaderHint{2, 9}},
	{Index: 5, Error: InvalidRecord, BaseOffset: -1, LogAppendTimeMs: 12, LogStartOffset: -1, Leader: NoLeaderHint,
		Message: "bad", RecordErrors: []RecordError{{Index: 1, Message: "no key"}, {Index: 7}}},
}

func TestProduceReplyIsWhatKmsgReads(t *testing.T) {
	var w ProduceReply
	id := UUID{1, 2, 3}
	for version := int16(3); version <= 13; version++ {
		out := produceReply(&w, []byte("before"), version, id, testProduceParts)
		body := replyBody(t, out[6:], KeyProduce, version, 77)
		resp := kmsg.NewPtrProduceResponse()
		resp.Version = version
		if err := resp.ReadFrom(body); err != nil {
			t.Fatalf("v%d: %v", version, err)
		}
		if again := resp.AppendTo(nil); !bytes.Equal(again, body) {
			t.Fatalf("v%d: kmsg writes it otherwise:\n%x\n%x", version, body, again)
		}
		if resp.ThrottleMillis != 5 || len(resp.Topics) != 2 || len(resp.Topics[0].Partitions) != 3 {
			t.Fatalf("v%d: %+v", version, resp)
		}
		if version < 13 && resp.Topics[0].Topic != "first" || version >= 13 && resp.Topics[0].TopicID != id {
			t.Fatalf("v%d: topic %+v", version, resp.Topics[0])
		}
		p := resp.Topics[0].Partitions
		if p[0].Partition != 3 || p[0].BaseOffset != 100 || p[1].ErrorCode != 6 || p[2].LogAppendTime != 12 {
			t.Fatalf("v%d: partitions %+v", version, p)
		}
		if version >= 5 && p[0].LogStartOffset != 4 {
			t.Fatalf("v%d: log start %d", version, p[0].LogStartOffset)
		}
		if version >= 8 && (*p[2].ErrorMessage != "bad" || len(p[2].ErrorRecords) != 2 || p[2].ErrorRecords[1].RelativeOffset != 7 ||
			*p[2].ErrorRecords[0].ErrorMessage != "no key" || p[2].ErrorRecords[1].ErrorMessage != nil || p[0].ErrorMessage != nil) {
			t.Fatalf("v%d: record errors %+v", version, p[2])
		}
		if hint := p[1].CurrentLeader; version >= 10 && (hint.LeaderID != 2 || hint.LeaderEpoch != 9 || len(resp.Brokers) != 2 || *resp.Brokers[1].Rack != "r" || resp.Brokers[0].Rack != nil || resp.Brokers[0].Host != "a.example") {
			t.Fatalf("v%d: hints %+v %+v", version, hint, resp.Brokers)
		}
		if version < 10 && len(resp.Brokers) != 0 {
			t.Fatalf("v%d: endpoints too early", version)
		}
	}
}

func TestProduceDoesNotAllocate(t *testing.T) {
	r := seeded(4)
	var v ProduceView
	var w ProduceReply
	buf := make([]byte, 0, 4096)
	for _, version := range []int16{3, 8, 9, 13} {
		_, body := random(r, KeyProduce, version)
		n := testing.AllocsPerRun(100, func() {
			if v.Parse(body, version) != nil {
				t.Fatal("malformed")
			}
			topics := v.Topics()
			var topic ProduceTopic
			for topics.Next(&topic) {
				parts := topic.Partitions()
				var p ProducePartition
				for parts.Next(&p) {
				}
			}
			buf = produceReply(&w, buf[:0], version, UUID{}, testProduceParts)
		})
		if n != 0 {
			t.Errorf("v%d: %v allocations", version, n)
		}
	}
}
