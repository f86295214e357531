package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/controller"
	"millrace/group"
	"millrace/kafka/wire"
)

// offsetCommit answers OffsetCommit, versions 2 to 10. Partitions that do not exist are refused one by one, whoever asks;
// the others go to the group's coordinator.
func (f *Frontend) offsetCommit(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.OffsetCommitRequest)
	resp := kmsg.NewPtrOffsetCommitResponse()
	c := &group.CommitRequest{
		Header: r.groupHeader(req.Group), Generation: req.Generation, MemberID: req.MemberID, InstanceID: req.InstanceID, RetentionMs: -1,
	}
	if r.hdr.Version <= 4 {
		c.RetentionMs = req.RetentionTimeMillis
	}
	var open []*kmsg.OffsetCommitResponseTopicPartition
	image := f.node.Image()
	resp.Topics = make([]kmsg.OffsetCommitResponseTopic, 0, len(req.Topics))
	for i := range req.Topics {
		q := &req.Topics[i]
		if len(q.Partitions) == 0 {
			continue
		}
		resp.Topics = append(resp.Topics, kmsg.NewOffsetCommitResponseTopic())
		t := &resp.Topics[len(resp.Topics)-1]
		t.Topic, t.TopicID = q.Topic, q.TopicID
		topic, unknown := namedTopic(image, q.Topic, q.TopicID, r.hdr.Version >= 10)
		t.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, len(q.Partitions))
		for j := range q.Partitions {
			p, o := &t.Partitions[j], &q.Partitions[j]
			p.Partition = o.Partition
			switch {
			case topic == nil:
				p.ErrorCode = int16(unknown)
			case o.Partition < 0 || int(o.Partition) >= len(topic.Partitions):
				p.ErrorCode = int16(wire.UnknownTopicOrPartition)
			default:
				open = append(open, p)
				v := group.CommitOffset{TopicID: topic.ID, Topic: topic.Name, Partition: o.Partition, Offset: o.Offset, LeaderEpoch: o.LeaderEpoch}
				if o.Metadata != nil {
					v.Metadata = *o.Metadata
				}
				c.Offsets = append(c.Offsets, v)
			}
		}
	}
	if len(open) == 0 {
		return resp
	}
	f.toGroup(r, c, func(reply any) kmsg.Response {
		done := reply.(*group.CommitReply)
		for i, p := range open {
			p.ErrorCode = int16(done.Offsets[i].Code)
		}
		return resp
	})
	return nil
}

// namedTopic finds a topic by name, or by id where the version has ids, or says why there is none.
func namedTopic(image *controller.Image, name string, id [16]byte, byID bool) (*controller.Topic, wire.ErrorCode) {
	if byID {
		return image.TopicByID(id), wire.UnknownTopicId
	}
	return image.Topic(name), wire.UnknownTopicOrPartition
}
