package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafka/wire"
)

// offsetForLeaderEpoch answers OffsetForLeaderEpoch, versions 2 to 4: where an epoch ends, the present one at the high
// watermark.
func (f *Frontend) offsetForLeaderEpoch(_ *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.OffsetForLeaderEpochRequest)
	resp := kmsg.NewPtrOffsetForLeaderEpochResponse()
	resp.Topics = make([]kmsg.OffsetForLeaderEpochResponseTopic, len(req.Topics))
	for i := range req.Topics {
		q, t := &req.Topics[i], &resp.Topics[i]
		*t = kmsg.NewOffsetForLeaderEpochResponseTopic()
		t.Topic = q.Topic
		t.Partitions = make([]kmsg.OffsetForLeaderEpochResponseTopicPartition, len(q.Partitions))
		for j := range q.Partitions {
			a := &t.Partitions[j]
			*a = kmsg.NewOffsetForLeaderEpochResponseTopicPartition()
			f.epochEnd(q.Topic, &q.Partitions[j], a)
		}
	}
	return resp
}

func (f *Frontend) epochEnd(topic string, p *kmsg.OffsetForLeaderEpochRequestTopicPartition, a *kmsg.OffsetForLeaderEpochResponseTopicPartition) {
	a.Partition = p.Partition
	t := f.node.FindTopic(topic)
	if t == nil {
		a.ErrorCode = int16(wire.UnknownTopicOrPartition)
		return
	}
	part := t.Partition(p.Partition)
	if part == nil {
		a.ErrorCode = int16(f.absent(t, p.Partition))
		return
	}
	b := part.Bounds()
	if code := checkEpoch(p.CurrentLeaderEpoch, b.LeaderEpoch); code != wire.NoError {
		a.ErrorCode = int16(code)
		return
	}
	if p.LeaderEpoch == -1 {
		return
	}
	a.LeaderEpoch, a.EndOffset = part.EpochEnd(p.LeaderEpoch, b.Committed)
}
