package wire

import (
	"bytes"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// compareFetch checks that the view says what kmsg read.
func compareFetch(t *testing.T, body []byte, want *kmsg.FetchRequest) {
	t.Helper()
	var v FetchView
	if err := v.Parse(body, want.Version); err != nil {
		t.Fatalf("v%d: %v\n%x", want.Version, err, body)
	}
	replica, epoch := want.ReplicaID, int64(-1)
	if want.Version >= 15 {
		replica, epoch = want.ReplicaState.ID, want.ReplicaState.Epoch
	}
	if v.ReplicaID != replica || v.ReplicaEpoch != epoch {
		t.Fatalf("v%d: replica %d epoch %d, want %d %d", want.Version, v.ReplicaID, v.ReplicaEpoch, replica, epoch)
	}
	if v.MaxWaitMs != want.MaxWaitMillis || v.MinBytes != want.MinBytes || v.MaxBytes != want.MaxBytes || v.Isolation != want.IsolationLevel ||
		v.SessionID != want.SessionID || v.SessionEpoch != want.SessionEpoch || string(v.Rack) != want.Rack {
		t.Fatalf("v%d: head differs: %+v", want.Version, v)
	}
	if (v.ClusterID == nil) != (want.ClusterID == nil) || v.ClusterID != nil && string(v.ClusterID) != *want.ClusterID {
		t.Fatalf("v%d: cluster id %q", want.Version, v.ClusterID)
	}
	topics, total := v.Topics(), 0
	var topic FetchTopic
	for _, wt := range want.Topics {
		if !topics.Next(&topic) || string(topic.Name) != wt.Topic || topic.ID != wt.TopicID || topic.PartitionCount != len(wt.Partitions) {
			t.Fatalf("v%d: topic differs", want.Version)
		}
		parts := topic.Partitions()
		var p FetchPartition
		for _, wp := range wt.Partitions {
			total++
			if !parts.Next(&p) || p != (FetchPartition{
				Index: wp.Partition, CurrentLeaderEpoch: wp.CurrentLeaderEpoch, FetchOffset: wp.FetchOffset, LastFetchedEpoch: wp.LastFetchedEpoch,
				LogStartOffset: wp.LogStartOffset, MaxBytes: wp.PartitionMaxBytes, DirectoryID: wp.ReplicaDirectoryID, HighWatermark: wp.HighWatermark,
			}) {
				t.Fatalf("v%d: partition %+v, want %+v", want.Version, p, wp)
			}
		}
		if parts.Next(&p) {
			t.Fatal("too many partitions")
		}
	}
	if topics.Next(&topic) || v.TopicCount != len(want.Topics) || total != v.PartitionCount {
		t.Fatal("wrong counts")
	}
	forgotten := v.Forgotten()
	var f ForgottenTopic
	for _, wf := range want.ForgottenTopics {
		if !forgotten.Next(&f) || string(f.Name) != wf.Topic || f.ID != wf.TopicID || f.PartitionCount != len(wf.Partitions) {
			t.Fatalf("v%d: forgotten topic differs", want.Version)
		}
		for i, p := range wf.Partitions {
			if f.Partition(i) != p {
				t.Fatalf("v%d: forgotten partition differs", want.Version)
			}
		}
	}
	if forgotten.Next(&f) || v.ForgottenCount != len(want.ForgottenTopics) {
		t.Fatal("too many forgotten topics")
	}
}

func TestFetchRequestAgreesWithKmsg(t *testing.T) {
	r := seeded(11)
	for version := int16(4); version <= 18; version++ {
		for i := 0; i < 200; i++ {
			req, body := random(r, KeyFetch, version)
			compareFetch(t, body, req.(*kmsg.FetchRequest))
			compareFetch(t, append(body, 1, 2, 3), req.(*kmsg.FetchRequest))
		}
	}
}

func TestFetchRequestCutAnywhereIsMalformed(t *testing.T) {
	r := seeded(12)
	for version := int16(4); version <= 18; version++ {
		for i := 0; i < 20; i++ {
			_, body := random(r, KeyFetch, version)
			for n := range body {
				var v FetchView
				if err := v.Parse(body[:n:n], version); err != ErrMalformed {
					t.Fatalf("v%d cut at %d of %d: %v", version, n, len(body), err)
				}
			}
		}
	}
}

// fetchWithTags is an empty Fetch request, or one of one partition, with the
// tag section given.
func fetchWithTags(version int16, partition bool, tags ...byte) []byte {
	req := kmsg.NewPtrFetchRequest()
	req.Version = version
	if partition {
		req.Topics = []kmsg.FetchRequestTopic{{Topic: "t", Partitions: []kmsg.FetchRequestTopicPartition{kmsg.NewFetchRequestTopicPartition()}}}
	}
	body := req.AppendTo(nil)
	if !partition {
		return append(body[:len(body)-1], tags...)
	}
	// The partition's tags are the byte in front of: topic tags, forgotten,
	// rack, tags.
	at := len(body) - 5
	return append(append(append([]byte(nil), body[:at]...), tags...), body[at+1:]...)
}

func TestFetchRequestTags(t *testing.T) {
	for _, c := range []struct {
		name      string
		version   int16
		partition bool
		tags      []byte
		good      bool
	}{
		{"none", 12, false, []byte{0}, true},
		{"cluster id", 12, false, []byte{1, 0, 2, 2, 'c'}, true},
		{"cluster id null", 12, false, []byte{1, 0, 1, 0}, true},
		{"cluster id longer than its tag", 12, false, []byte{1, 0, 2, 9, 'c'}, false},
		{"replica state too early", 14, false, append([]byte{1, 1, 13}, make([]byte, 13)...), false},
		{"replica state", 15, false, append([]byte{1, 1, 13}, make([]byte, 13)...), true},
		{"replica state too short", 15, false, append([]byte{1, 1, 12}, make([]byte, 12)...), false},
		{"unknown", 12, false, []byte{1, 50, 1, 7}, true},
		{"announced, not there", 12, false, []byte{1}, false},
		{"huge count", 12, false, []byte{0xff, 0xff, 0xff, 0xff, 0x07, 0, 0}, false},
		{"directory too early", 16, true, append([]byte{1, 0, 16}, make([]byte, 16)...), false},
		{"directory", 17, true, append([]byte{1, 0, 16}, make([]byte, 16)...), true},
		{"high watermark too early", 17, true, append([]byte{1, 1, 8}, make([]byte, 8)...), false},
		{"high watermark", 18, true, append([]byte{1, 1, 8}, make([]byte, 8)...), true},
		{"unknown in a partition", 12, true, []byte{1, 50, 1, 7}, true},
	} {
		var v FetchView
		if err := v.Parse(fetchWithTags(c.version, c.partition, c.tags...), c.version); (err == nil) != c.good {
			t.Errorf("v%d %s: %v", c.version, c.name, err)
		}
	}
}

func FuzzFetchRequest(f *testing.F) {
	r := seeded(13)
	for version := int16(4); version <= 18; version++ {
		_, body := random(r, KeyFetch, version)
		f.Add(body, uint8(version))
	}
	f.Fuzz(func(t *testing.T, body []byte, version uint8) {
		at := 4 + int16(version)%15
		var v FetchView
		if v.Parse(body, at) != nil {
			return
		}
		want := kmsg.NewPtrFetchRequest()
		want.Version = at
		if err := want.ReadFrom(body); err != nil {
			t.Fatalf("v%d: kmsg refuses: %v", at, err)
		}
		compareFetch(t, body, want)
	})
}

// fetchReply writes an answer that has everything in it.
func fetchReply(w *FetchReply, dst []byte, version int16, id UUID, parts []FetchPartitionReply) ([]byte, []Gap) {
	w.Begin(dst, version, 78, 6, NoError, 1234, 2)
	w.Topic([]byte("first"), id, len(parts))
	for i := range parts {
		w.Partition(&parts[i])
	}
	w.EndTopic()
	w.Topic([]byte("second"), UUID{}, 0)
	w.EndTopic()
	return w.End(testEndpoints)
}

func testFetchParts() []FetchPartitionReply {
	data := NewFetchPartitionReply(1, NoError)
	data.HighWatermark, data.LastStableOffset, data.LogStartOffset = 10, 9, 2
	data.RecordBytes = 300
	data.AbortedTxns = []AbortedTxn{{5, 6}, {7, 8}}
	hints := NewFetchPartitionReply(2, FencedLeaderEpoch)
	hints.Diverging, hints.Leader, hints.Snapshot = EpochEnd{3, 44}, LeaderHint{1, 5}, EpochEnd{6, 77}
	hints.PreferredReadReplica = 3
	more := NewFetchPartitionReply(3, NoError)
	more.RecordBytes, more.AbortedTxns = 20, []AbortedTxn{}
	null := NewFetchPartitionReply(4, NoError)
	null.RecordBytes = -1
	return []FetchPartitionReply{data, hints, more, null}
}

// fillGaps joins the reply and its records.
func fillGaps(buf []byte, gaps []Gap) (out []byte) {
	at := 0
	for i, g := range gaps {
		out = append(out, buf[at:g.Position]...)
		out = append(out, bytes.Repeat([]byte{byte('A' + i)}, g.Bytes)...)
		at = g.Position
	}
	return append(out, buf[at:]...)
}

func TestFetchReplyIsWhatKmsgReads(t *testing.T) {
	var w FetchReply
	id := UUID{9, 8}
	for version := int16(4); version <= 18; version++ {
		buf, gaps := fetchReply(&w, []byte("before"), version, id, testFetchParts())
		if len(gaps) != 2 {
			t.Fatalf("v%d: gaps %v", version, gaps)
		}
		out := fillGaps(buf, gaps)
		body := replyBody(t, out[6:], KeyFetch, version, 78)
		resp := kmsg.NewPtrFetchResponse()
		resp.Version = version
		if err := resp.ReadFrom(body); err != nil {
			t.Fatalf("v%d: %v", version, err)
		}
		if again := resp.AppendTo(nil); !bytes.Equal(again, body) {
			t.Fatalf("v%d: kmsg writes it otherwise:\n%x\n%x", version, body, again)
		}
		if resp.ThrottleMillis != 6 || version >= 7 && resp.SessionID != 1234 || len(resp.Topics) != 2 || len(resp.Topics[0].Partitions) != 4 {
			t.Fatalf("v%d: %+v", version, resp)
		}
		if version < 13 && resp.Topics[0].Topic != "first" || version >= 13 && resp.Topics[0].TopicID != id {
			t.Fatalf("v%d: topic %+v", version, resp.Topics[0])
		}
		p := resp.Topics[0].Partitions
		if p[0].HighWatermark != 10 || p[0].LastStableOffset != 9 || len(p[0].AbortedTransactions) != 2 || p[0].AbortedTransactions[1].FirstOffset != 8 ||
			string(p[0].RecordBatches) != string(bytes.Repeat([]byte("A"), 300)) || string(p[2].RecordBatches) != string(bytes.Repeat([]byte("B"), 20)) {
			t.Fatalf("v%d: partition 0 %+v", version, p[0])
		}
		if version >= 5 && p[0].LogStartOffset != 2 {
			t.Fatalf("v%d: log start", version)
		}
		if p[1].ErrorCode != 74 || p[1].AbortedTransactions != nil || p[2].AbortedTransactions == nil || p[1].RecordBatches == nil || p[3].RecordBatches != nil {
			t.Fatalf("v%d: partition 1 %+v", version, p[1])
		}
		if version >= 11 && p[1].PreferredReadReplica != 3 {
			t.Fatalf("v%d: preferred %d", version, p[1].PreferredReadReplica)
		}
		if version >= 12 && (p[1].DivergingEpoch.EndOffset != 44 || p[1].DivergingEpoch.Epoch != 3 || p[1].CurrentLeader.LeaderID != 1 || p[1].CurrentLeader.LeaderEpoch != 5 || p[1].SnapshotID.EndOffset != 77 || p[1].SnapshotID.Epoch != 6) {
			t.Fatalf("v%d: hints %+v", version, p[1])
		}
		if want := map[bool]int{true: 2}[version >= 16]; len(resp.Brokers) != want {
			t.Fatalf("v%d: %d endpoints", version, len(resp.Brokers))
		}
	}
}

func TestFetchDoesNotAllocate(t *testing.T) {
	r := seeded(14)
	var v FetchView
	var w FetchReply
	parts := testFetchParts()
	buf := make([]byte, 0, 4096)
	for _, version := range []int16{4, 11, 12, 18} {
		_, body := random(r, KeyFetch, version)
		n := testing.AllocsPerRun(100, func() {
			if v.Parse(body, version) != nil {
				t.Fatal("malformed")
			}
			topics := v.Topics()
			var topic FetchTopic
			for topics.Next(&topic) {
				it := topic.Partitions()
				var p FetchPartition
				for it.Next(&p) {
				}
			}
			forgotten := v.Forgotten()
			var f ForgottenTopic
			for forgotten.Next(&f) {
			}
			buf, _ = fetchReply(&w, buf[:0], version, UUID{}, parts)
		})
		if n != 0 {
			t.Errorf("v%d: %v allocations", version, n)
		}
	}
}
