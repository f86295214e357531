package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestJoinEqualsWholeSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 7, 61, 4096, 65000, 1 << 20} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		a := []byte("forty bytes of header that change always")
		if got, want := NewJoiner(n).Join(CRC(a), CRC(b)), CRC(append(a[:len(a):len(a)], b...)); got != want {
			t.Errorf("n=%d: joined %08x, whole %08x", n, got, want)
		}
	}
}

func TestBatchFitsAndDecodes(t *testing.T) {
	for _, c := range []struct{ size, batch int }{{1024, 65536}, {100, 8196}, {100, 1}, {0, 200}} {
		b := NewBodies(3, c.size, c.batch, 9)
		raw := b.Batch(2, 1234)
		if c.batch > 1 && len(raw) > c.batch {
			t.Errorf("%+v: batch has %d bytes", c, len(raw))
		}
		if !ValidCRC(raw) {
			t.Errorf("%+v: checksum", c)
		}
		var rb kmsg.RecordBatch
		if err := rb.ReadFrom(raw); err != nil {
			t.Fatal(err)
		}
		if int(rb.NumRecords) != b.Records || rb.MaxTimestamp != 1234 || rb.LastOffsetDelta != int32(b.Records-1) || rb.ProducerID != -1 {
			t.Errorf("%+v: header %+v", c, rb)
		}
		rest := rb.Records
		for i := range b.Records {
			var r kmsg.Record
			n := 1
			for rest[n-1] >= 0x80 {
				n++
			}
			if err := r.ReadFrom(rest); err != nil {
				t.Fatalf("record %d: %v", i, err)
			}
			if len(r.Value) != c.size || r.Key != nil || r.OffsetDelta != int32(i) {
				t.Fatalf("record %d: %+v", i, r)
			}
			rest = rest[n+int(r.Length):]
		}
		if len(rest) != 0 {
			t.Errorf("%+v: %d bytes behind the records", c, len(rest))
		}
		if bytes.Equal(b.Data[0], b.Data[1]) && c.size > 0 {
			t.Errorf("%+v: bodies are not distinct", c)
		}
	}
	raw := NewBodies(1, 10, 200, 1).Batch(0, 1)
	Spoil(raw)
	if ValidCRC(raw) {
		t.Error("a spoiled batch passes")
	}
}

func TestQuarterOfPayloadIsRandom(t *testing.T) {
	a, b := NewBodies(1, 4000, 5000, 1).Data[0], NewBodies(1, 4000, 5000, 2).Data[0]
	differ := 0
	for i := range a {
		if a[i] != b[i] {
			differ++
		}
	}
	if differ < 900 || differ > 1000 {
		t.Errorf("%d of 4000 bytes differ, want nearly 1000", differ)
	}
}

func TestProduceRequestReadsInKmsg(t *testing.T) {
	for version := int16(ProduceMin); version <= ProduceMax; version++ {
		shape := &ProduceShape{Version: version, ClientID: "rawgen", Topic: "topic", TopicID: [16]byte{1, 2}, Acks: -1, TimeoutMs: 777, Parts: 3, Bodies: NewBodies(4, 100, 1000, 5)}
		slot := shape.NewSlot()
		for round := range 3 {
			slot.SetCorrelation(int32(100 + round))
			for i := range 3 {
				h := slot.SetPart(i, int32(7+i), (round+i)%4)
				SetProducer(h, 55, 2, int32(round))
				shape.Bodies.Stamp(h, (round+i)%4, 42)
			}
			frame := bytes.Join(slot.Segments(), nil)
			if len(frame) != slot.Size() {
				t.Fatalf("v%d: %d bytes, Size says %d", version, len(frame), slot.Size())
			}
			checkProduceFrame(t, frame, version, round)
			checkView(t, frame, version, round)
		}
	}
}

func checkProduceFrame(t *testing.T, frame []byte, version int16, round int) {
	t.Helper()
	req := kmsg.NewProduceRequest()
	req.Version = version
	head := 4 + 8 + 2 + len("rawgen")
	if ProduceFlexible(version) {
		head++
	}
	if err := req.ReadFrom(frame[head:]); err != nil {
		t.Fatalf("v%d: %v", version, err)
	}
	if req.Acks != -1 || req.TimeoutMillis != 777 || len(req.Topics) != 1 || len(req.Topics[0].Partitions) != 3 {
		t.Fatalf("v%d: %+v", version, req)
	}
	if again := req.AppendTo(nil); !bytes.Equal(again, frame[head:]) {
		t.Fatalf("v%d: kmsg encodes the request otherwise", version)
	}
	for i, p := range req.Topics[0].Partitions {
		if p.Partition != int32(7+i) || !ValidCRC(p.Records) {
			t.Errorf("v%d: partition %d, checksum %v", version, p.Partition, ValidCRC(p.Records))
		}
		var rb kmsg.RecordBatch
		if err := rb.ReadFrom(p.Records); err != nil || rb.ProducerID != 55 || rb.ProducerEpoch != 2 || rb.FirstSequence != int32(round) || rb.FirstTimestamp != 42 {
			t.Errorf("v%d: batch %+v, %v", version, rb, err)
		}
	}
}

func checkView(t *testing.T, frame []byte, version int16, round int) {
	t.Helper()
	var v ProduceView
	if !v.Parse(frame[4:]) || v.Head.Version != version || v.Head.Correlation != int32(100+round) || len(v.Parts) != 3 || v.Parts[2].Partition != 9 {
		t.Fatalf("v%d: view %+v", version, v)
	}
	out := v.AppendResponse(nil, []int64{5, 6, 1 << 40})
	corr, got, err := ParseProduceResponse(out[4:], version, nil)
	if err != nil || corr != int32(100+round) || len(got) != 3 || got[2] != (Produced{9, 0, 1 << 40}) {
		t.Fatalf("v%d: answer %d %+v, %v", version, corr, got, err)
	}
	resp := kmsg.NewPtrProduceResponse()
	resp.Version = version
	body := out[8:]
	if ProduceFlexible(version) {
		body = body[1:]
	}
	if err := resp.ReadFrom(body); err != nil || resp.Topics[0].Partitions[1].BaseOffset != 6 {
		t.Fatalf("v%d: kmsg reads %+v, %v", version, resp, err)
	}
}

func TestErrorAnswersParse(t *testing.T) {
	for version := int16(ProduceMin); version <= ProduceMax; version++ {
		resp := kmsg.NewPtrProduceResponse()
		resp.Version = version
		topic, part := kmsg.NewProduceResponseTopic(), kmsg.NewProduceResponseTopicPartition()
		topic.Topic, part.Partition, part.ErrorCode, part.BaseOffset = "t", 3, 2, -1
		message := "Record is corrupt"
		part.ErrorMessage = &message
		e := kmsg.NewProduceResponseTopicPartitionErrorRecord()
		e.RelativeOffset, e.ErrorMessage = 0, &message
		part.ErrorRecords = append(part.ErrorRecords, e)
		part.CurrentLeader.LeaderID = 9
		topic.Partitions = append(topic.Partitions, part)
		resp.Topics = append(resp.Topics, topic)
		frame := []byte{0, 0, 0, 9}
		frame = AppendTags(frame, ProduceFlexible(version))
		frame = resp.AppendTo(frame)
		corr, got, err := ParseProduceResponse(frame, version, nil)
		if err != nil || corr != 9 || len(got) != 1 || got[0] != (Produced{3, 2, -1}) {
			t.Fatalf("v%d: %d %+v %v", version, corr, got, err)
		}
		for cut := range frame {
			if _, _, err := ParseProduceResponse(frame[:cut], version, nil); err == nil {
				t.Fatalf("v%d: cut at %d of %d was accepted", version, cut, len(frame))
			}
		}
	}
}

func TestSendPathDoesNotAllocate(t *testing.T) {
	shape := &ProduceShape{Version: 11, Topic: "t", Acks: 1, Parts: 6, Bodies: NewBodies(8, 100, 8192, 5)}
	slot := shape.NewSlot()
	var view ProduceView
	frame := bytes.Join(slot.Segments(), make([]byte, 0))
	base := make([]int64, 6)
	out := make([]byte, 0, 4096)
	results := make([]Produced, 0, 16)
	view.Parse(frame[4:])
	n := testing.AllocsPerRun(100, func() {
		for i := range 6 {
			shape.Bodies.Stamp(slot.SetPart(i, int32(i), i), i, 1)
		}
		view.Parse(frame[4:])
		out = view.AppendResponse(out[:0], base)
		_, results, _ = ParseProduceResponse(out[4:], 11, results[:0])
	})
	if n != 0 {
		t.Errorf("%v allocations per request", n)
	}
}
