package bugs

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// sessionFetch is a fetch inside a session, by topic id (version 15).
func sessionFetch(session, epoch, maxWait int32, ids map[[16]byte][]int32) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 15, maxWait, 1, 1<<20
	req.SessionID, req.SessionEpoch = session, epoch
	for id, parts := range ids {
		rt := kmsg.NewFetchRequestTopic()
		rt.TopicID = id
		for _, p := range parts {
			rp := kmsg.NewFetchRequestTopicPartition()
			rp.Partition, rp.PartitionMaxBytes, rp.CurrentLeaderEpoch, rp.LogStartOffset = p, 1<<20, -1, -1
			rt.Partitions = append(rt.Partitions, rp)
		}
		req.Topics = append(req.Topics, rt)
	}
	return req
}

// topicID asks Metadata for the id of a topic.
func topicID(t testing.TB, c *harness.Conn, name string) [16]byte {
	t.Helper()
	req := kmsg.NewPtrMetadataRequest()
	req.Version = 12
	rt := kmsg.NewMetadataRequestTopic()
	rt.Topic = &name
	req.Topics = append(req.Topics, rt)
	m := do[*kmsg.MetadataResponse](t, c, req).Topics[0]
	if m.ErrorCode != 0 || m.TopicID == [16]byte{} {
		t.Fatalf("metadata of %s: error %d, id %x", name, m.ErrorCode, m.TopicID)
	}
	return m.TopicID
}

// TestSessionWithSilentPartitions (B09): in a session only the partition with news is in the answer, and a fetch without news ends in time.
func TestSessionWithSilentPartitions(t *testing.T) {
	c, writer := dial(t), dial(t)
	name := topic(t, "b09-session", 3)
	id := topicID(t, c, name)
	first := do[*kmsg.FetchResponse](t, c, sessionFetch(0, 0, 100, map[[16]byte][]int32{id: {0, 1, 2}}))
	if first.ErrorCode != 0 || first.SessionID == 0 {
		t.Fatalf("no session: error %d, id %d", first.ErrorCode, first.SessionID)
	}
	begin := time.Now()
	idle := do[*kmsg.FetchResponse](t, c, sessionFetch(first.SessionID, 1, 300, nil))
	if took := time.Since(begin); took < 250*time.Millisecond || took > 2*time.Second || idle.ErrorCode != 0 || len(idle.Topics) != 0 {
		t.Errorf("idle fetch in the session: %v, error %d, %d topics", took, idle.ErrorCode, len(idle.Topics))
	}
	harness.MustProduce(t, writer, name, 1, one(now(), "news"))
	news := do[*kmsg.FetchResponse](t, c, sessionFetch(first.SessionID, 2, 5000, nil))
	if len(news.Topics) != 1 || len(news.Topics[0].Partitions) != 1 || news.Topics[0].Partitions[0].Partition != 1 {
		t.Errorf("news in partition 1: answer %+v", news.Topics)
	}
	if wrong := do[*kmsg.FetchResponse](t, c, sessionFetch(first.SessionID, 9, 100, nil)); wrong.ErrorCode != 71 {
		t.Errorf("wrong session epoch: error %d, want 71", wrong.ErrorCode)
	}
	if wrong := do[*kmsg.FetchResponse](t, c, sessionFetch(first.SessionID^0x5555555, 1, 100, nil)); wrong.ErrorCode != 70 {
		t.Errorf("unknown session: error %d, want 70", wrong.ErrorCode)
	}
}

// TestSessionOverADeletedTopic (B17): the entry of a topic that was deleted and made again answers its error each time, the other topic of
// the session goes on, and Metadata has a new id.
func TestSessionOverADeletedTopic(t *testing.T) {
	c, writer := dial(t), dial(t)
	a, b := harness.Name("b17-a"), topic(t, "b17-b", 1)
	harness.CreateTopic(t, target.Addr, a, 1)
	idA, idB := topicID(t, c, a), topicID(t, c, b)
	harness.MustProduce(t, writer, a, 0, one(now(), "old"))
	first := do[*kmsg.FetchResponse](t, c, sessionFetch(0, 0, 100, map[[16]byte][]int32{idA: {0}, idB: {0}}))
	if first.SessionID == 0 {
		t.Fatalf("no session: error %d", first.ErrorCode)
	}
	harness.DeleteTopic(t, target.Addr, a)
	var err error
	for range 50 { // the name stays taken for a moment
		if err = harness.TryCreateTopic(target.Addr, a, 2); err == nil {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { harness.DeleteTopic(t, target.Addr, a) })
	harness.MustProduce(t, writer, a, 0, one(now(), "new"))
	harness.MustProduce(t, writer, b, 0, one(now(), "b"))
	if id := topicID(t, c, a); id == idA {
		t.Errorf("the new topic has the old id")
	}
	sawB := false
	for epoch := int32(1); epoch <= 3; epoch++ {
		resp := do[*kmsg.FetchResponse](t, c, sessionFetch(first.SessionID, epoch, 200, nil))
		if resp.ErrorCode != 0 {
			t.Fatalf("epoch %d: error %d for the whole session", epoch, resp.ErrorCode)
		}
		sawA := false
		for _, rt := range resp.Topics {
			for _, p := range rt.Partitions {
				switch rt.TopicID {
				case idA:
					sawA = true
					if p.ErrorCode != 100 && p.ErrorCode != 103 || len(p.RecordBatches) > 0 {
						t.Errorf("epoch %d: entry of the deleted topic: error %d, %d bytes", epoch, p.ErrorCode, len(p.RecordBatches))
					}
				case idB:
					sawB = sawB || len(p.RecordBatches) > 0
				}
			}
		}
		if !sawA {
			t.Errorf("epoch %d: nothing said about the deleted topic", epoch)
		}
	}
	if !sawB {
		t.Errorf("the record of the other topic never came")
	}
}
