package kafka

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafka/wire"
	"millrace/segment/batch"
)

func listOffset(c *client, topic string, at int64) kmsg.ListOffsetsResponseTopicPartition {
	c.t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	q := kmsg.NewListOffsetsRequestTopic()
	q.Topic = topic
	p := kmsg.NewListOffsetsRequestTopicPartition()
	p.Timestamp, p.CurrentLeaderEpoch = at, -1
	q.Partitions = append(q.Partitions, p)
	req.Topics = append(req.Topics, q)
	return c.ask(req, 8).(*kmsg.ListOffsetsResponse).Topics[0].Partitions[0]
}

func fetchOne(c *client, req *kmsg.FetchRequest) kmsg.FetchResponseTopicPartition {
	c.t.Helper()
	return c.ask(req, 12).(*kmsg.FetchResponse).Topics[0].Partitions[0]
}

func TestRecordsFromProduceToDeletion(t *testing.T) {
	c := newRig(t, 2).dial()
	c.topic("a", 1)
	now := time.Now().UnixMilli()
	sent := records(now, "x", "y", "z")
	if got := c.produce("a", 0, sent); got.ErrorCode != 0 || got.BaseOffset != 0 || got.LogAppendTime != -1 || got.LogStartOffset != 0 {
		t.Fatalf("produce %+v", got)
	}
	c.produce("a", 0, records(now+1000, "u", "v"))
	got := fetchOne(c, fetchRequest("a", 0, 0, 0, 1))
	stored := append([]byte(nil), sent...)
	copy(stored[12:16], []byte{0, 0, 0, 0}) // the broker's leader epoch
	if !bytes.HasPrefix(got.RecordBatches, stored) || got.HighWatermark != 5 || got.LastStableOffset != 5 || len(got.RecordBatches) <= len(stored) {
		t.Errorf("fetch: hw %d, %d bytes", got.HighWatermark, len(got.RecordBatches))
	}
	for _, q := range []struct{ at, offset, time int64 }{{-1, 5, -1}, {-2, 0, -1}, {-3, 4, now + 1001}, {-4, 0, -1}, {now + 1, 1, now + 1}, {now + 500, 3, now + 1000}, {now + 5000, -1, -1}} {
		if got := listOffset(c, "a", q.at); got.ErrorCode != 0 || got.Offset != q.offset || got.Timestamp != q.time {
			t.Errorf("offset at %d: %+v, want %d %d", q.at, got, q.offset, q.time)
		}
	}
	expectCode(t, "offset of no time", listOffset(c, "a", -9).ErrorCode, wire.UnsupportedVersion)
	expectCode(t, "offset of no topic", listOffset(c, "b", -1).ErrorCode, wire.UnknownTopicOrPartition)

	cut := kmsg.NewPtrDeleteRecordsRequest()
	q := kmsg.NewDeleteRecordsRequestTopic()
	q.Topic = "a"
	for _, at := range [][2]int64{{0, 4}, {9, 1}} {
		p := kmsg.NewDeleteRecordsRequestTopicPartition()
		p.Partition, p.Offset = int32(at[0]), at[1]
		q.Partitions = append(q.Partitions, p)
	}
	cut.Topics = append(cut.Topics, q)
	parts := c.ask(cut, 2).(*kmsg.DeleteRecordsResponse).Topics[0].Partitions
	if parts[0].ErrorCode != 0 || parts[0].LowWatermark != 4 {
		t.Errorf("delete records: %+v", parts[0])
	}
	expectCode(t, "delete in no partition", parts[1].ErrorCode, wire.UnknownTopicOrPartition)
	expectCode(t, "fetch below the start", fetchOne(c, fetchRequest("a", 0, 1, 0, 1)).ErrorCode, wire.OffsetOutOfRange)
	if got := listOffset(c, "a", -2); got.Offset != 4 {
		t.Errorf("start %+v", got)
	}

	epochs := kmsg.NewPtrOffsetForLeaderEpochRequest()
	e := kmsg.NewOffsetForLeaderEpochRequestTopic()
	e.Topic = "a"
	for _, epoch := range []int32{0, 7} {
		p := kmsg.NewOffsetForLeaderEpochRequestTopicPartition()
		p.LeaderEpoch, p.CurrentLeaderEpoch = epoch, -1
		e.Partitions = append(e.Partitions, p)
	}
	epochs.Topics = append(epochs.Topics, e)
	ends := c.ask(epochs, 4).(*kmsg.OffsetForLeaderEpochResponse).Topics[0].Partitions
	if ends[0].LeaderEpoch != 0 || ends[0].EndOffset != 5 || ends[1].LeaderEpoch != -1 || ends[1].EndOffset != -1 {
		t.Errorf("ends of epochs: %+v", ends)
	}
}

// TestFetchZeroCopyOrNot: the same bytes whether the socket takes them from the page cache or from memory.
func TestFetchZeroCopyOrNot(t *testing.T) {
	for _, zeroCopy := range []string{"true", "false"} {
		c := newRig(t, 1, "fetch.zero.copy="+zeroCopy).dial()
		c.topic("a", 2)
		rnd := rand.New(rand.NewSource(1))
		var want [2][]byte
		for i, size := range []int{300 << 10, 10, 200 << 10, 5000, 400 << 10} {
			value := make([]byte, size)
			rnd.Read(value)
			p := int32(i % 2)
			b := records(1, string(value))
			got := c.produce("a", p, b)
			expectCode(t, "produce", got.ErrorCode, wire.NoError)
			binary.BigEndian.PutUint64(b, uint64(got.BaseOffset))
			binary.BigEndian.PutUint32(b[12:], 0) // the broker's leader epoch
			want[p] = append(want[p], b...)
		}
		req := fetchRequest("a", 0, 0, 0, 1)
		req.MaxBytes = 8 << 20
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, fetchRequest("a", 1, 0, 0, 1).Topics[0].Partitions...)
		for i, p := range c.ask(req, 12).(*kmsg.FetchResponse).Topics[0].Partitions {
			if !bytes.Equal(p.RecordBatches, want[i]) {
				t.Errorf("fetch.zero.copy=%s: partition %d: %d bytes that are not the %d written ones", zeroCopy, i, len(p.RecordBatches), len(want[i]))
			}
		}
	}
}

func TestFetchWaitsForRecords(t *testing.T) {
	r := newRig(t, 2)
	c, writer := r.dial(), r.dial()
	c.topic("a", 1)
	req := fetchRequest("a", 0, 0, 10_000, 1)
	c.send(c.frame(req, 12))
	time.Sleep(20 * time.Millisecond)
	writer.produce("a", 0, records(1, "x"))
	began := time.Now()
	b, err := c.read()
	if err != nil {
		t.Fatal(err)
	}
	got := c.decode(req, c.corr, b).(*kmsg.FetchResponse).Topics[0].Partitions[0]
	if len(got.RecordBatches) == 0 || got.HighWatermark != 1 || time.Since(began) > 5*time.Second {
		t.Errorf("after %s: %+v", time.Since(began), got)
	}
	// Nothing comes: the wait ends by itself.
	began = time.Now()
	got = fetchOne(c, fetchRequest("a", 0, 1, 50, 1))
	if took := time.Since(began); len(got.RecordBatches) != 0 || got.ErrorCode != 0 || took < 40*time.Millisecond || took > 5*time.Second {
		t.Errorf("an empty wait took %s: %+v", took, got)
	}
}

func TestFetchSessionsTellOnlyWhatIsNew(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("a", 2)
	req := fetchRequest("a", 0, 0, 0, 0)
	second := req.Topics[0].Partitions[0]
	second.Partition = 1
	req.Topics[0].Partitions = append(req.Topics[0].Partitions, second)
	req.SessionEpoch = 0
	full := c.ask(req, 12).(*kmsg.FetchResponse)
	if full.SessionID == 0 || len(full.Topics[0].Partitions) != 2 {
		t.Fatalf("full fetch: %+v", full)
	}
	next := kmsg.NewPtrFetchRequest()
	next.MaxBytes, next.SessionID, next.SessionEpoch = 1<<20, full.SessionID, 1
	if got := c.ask(next, 12).(*kmsg.FetchResponse); len(got.Topics) != 0 || got.ErrorCode != 0 {
		t.Errorf("nothing new: %+v", got)
	}
	c.produce("a", 1, records(1, "x"))
	next.SessionEpoch = 2
	if got := c.ask(next, 12).(*kmsg.FetchResponse); len(got.Topics) != 1 || len(got.Topics[0].Partitions) != 1 || got.Topics[0].Partitions[0].Partition != 1 {
		t.Errorf("one is new: %+v", got)
	}
	next.SessionEpoch = 9
	expectCode(t, "wrong epoch", c.ask(next, 12).(*kmsg.FetchResponse).ErrorCode, wire.InvalidFetchSessionEpoch)
	next.SessionID = 1 << 30
	expectCode(t, "wrong id", c.ask(next, 12).(*kmsg.FetchResponse).ErrorCode, wire.FetchSessionIdNotFound)
}

func TestProducersAndLogDirs(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("a", 1)
	init := kmsg.NewPtrInitProducerIDRequest()
	init.ProducerID, init.ProducerEpoch = -1, -1
	for want := int64(0); want < 3; want++ {
		if got := c.ask(init, 4).(*kmsg.InitProducerIDResponse); got.ErrorCode != 0 || got.ProducerID != want || got.ProducerEpoch != 0 {
			t.Errorf("producer %d: %+v", want, got)
		}
	}
	init.ProducerEpoch = 3
	expectCode(t, "epoch without id", c.ask(init, 4).(*kmsg.InitProducerIDResponse).ErrorCode, wire.InvalidRequest)

	idempotent := func(sequence int32, values ...string) []byte {
		var b batch.Builder
		b.Reset(nil, 0, -1)
		b.SetProducer(1, 0, sequence)
		for _, v := range values {
			b.Add(5, nil, []byte(v))
		}
		return append([]byte(nil), b.Finish()...)
	}
	first := idempotent(0, "x", "y")
	c.produce("a", 0, first)
	if got := c.produce("a", 0, first); got.ErrorCode != 0 || got.BaseOffset != 0 {
		t.Errorf("a resend: %+v", got)
	}
	expectCode(t, "gap", c.produce("a", 0, idempotent(7, "x")).ErrorCode, wire.OutOfOrderSequenceNumber)

	describe := kmsg.NewPtrDescribeProducersRequest()
	q := kmsg.NewDescribeProducersRequestTopic()
	q.Topic, q.Partitions = "a", []int32{0, 4}
	describe.Topics = append(describe.Topics, q)
	parts := c.ask(describe, 0).(*kmsg.DescribeProducersResponse).Topics[0].Partitions
	expectCode(t, "producers of no partition", parts[1].ErrorCode, wire.UnknownTopicOrPartition)
	if len(parts[0].ActiveProducers) != 1 || parts[0].ActiveProducers[0].ProducerID != 1 || parts[0].ActiveProducers[0].LastSequence != 1 ||
		parts[0].ActiveProducers[0].LastTimestamp != 5 || parts[0].ActiveProducers[0].CurrentTxnStartOffset != -1 {
		t.Errorf("producers: %+v", parts[0])
	}
	dirs := c.ask(kmsg.NewPtrDescribeLogDirsRequest(), 4).(*kmsg.DescribeLogDirsResponse).Dirs
	if len(dirs) != 1 || dirs[0].TotalBytes <= 0 || dirs[0].UsableBytes < 0 || len(dirs[0].Topics) != 1 {
		t.Fatalf("dirs: %+v", dirs)
	}
	if p := dirs[0].Topics[0].Partitions[0]; p.Size != int64(len(first)) || p.OffsetLag != 0 || p.IsFuture {
		t.Errorf("partition of %d bytes: %+v", len(first), p)
	}
}

func TestProduceRefusals(t *testing.T) {
	c := newRig(t, 1).dial()
	c.topic("a", 1)
	c.topic("b", 1, "message.timestamp.type", "LogAppendTime")
	damage := func(at int, by byte) []byte {
		b := records(time.Now().UnixMilli(), "x")
		b[at] ^= by
		return b
	}
	for _, q := range []struct {
		name string
		recs []byte
		want wire.ErrorCode
	}{
		{"nothing", []byte{}, wire.InvalidRecord},
		{"checksum", damage(18, 1), wire.CorruptMessage},
		{"base offset", damage(7, 1), wire.InvalidRecord},
		{"magic 0", damage(16, 2), wire.InvalidRecord},
		{"two batches", append(records(1, "x"), records(1, "x")...), wire.InvalidRecord},
	} {
		got := c.produce("a", 0, q.recs)
		expectCode(t, q.name, got.ErrorCode, q.want)
		if got.BaseOffset != -1 {
			t.Errorf("%s: base offset %d", q.name, got.BaseOffset)
		}
	}
	// A batch that cannot be read fails the whole request, and nothing of it is appended.
	req := produceRequest("a", 0, 1, records(1, "x"))
	req.Topics = append(req.Topics, produceRequest("b", 0, 1, damage(16, 1)).Topics[0])
	for _, topic := range c.ask(req, 9).(*kmsg.ProduceResponse).Topics {
		expectCode(t, "beside an unreadable batch", topic.Partitions[0].ErrorCode, wire.CorruptMessage)
	}
	if got := listOffset(c, "a", -1); got.Offset != 0 {
		t.Errorf("something was appended: %+v", got)
	}
	expectCode(t, "acks 2", c.ask(produceRequest("a", 0, 2, records(1, "x")), 9).(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode, wire.InvalidRequiredAcks)
	if got := c.produce("b", 0, records(1, "x")); got.ErrorCode != 0 || got.LogAppendTime < time.Now().Add(-time.Minute).UnixMilli() {
		t.Errorf("broker time: %+v", got)
	}
	if !c.closes(c.frame(produceRequest("unknown", 0, 0, records(1, "x")), 9)) {
		t.Error("a failed produce without acks leaves the connection open")
	}
}
