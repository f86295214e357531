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
	image := f.node.Image()
	// As in Kafka, what is refused here stands before the rest of the answer.
	where := make([]int, len(req.Topics)) // a topic's place in the answer, plus one
	var twins []int
	var open []placeOfPartition
	for _, refused := range []bool{true, false} {
		for i := range req.Topics {
			q := &req.Topics[i]
			topic, unknown := namedTopic(image, q.Topic, q.TopicID, r.hdr.Version >= 10)
			for j := range q.Partitions {
				code := checkPartition(topic, unknown, q.Partitions[j].Partition)
				if (code != wire.NoError) != refused {
					continue
				}
				if refused && twins == nil {
					twins = twinsOf(len(req.Topics), func(i int) namedOrID { return namedOrID{req.Topics[i].Topic, req.Topics[i].TopicID} })
				}
				at := &where[twin(twins, i)]
				if *at == 0 {
					t := kmsg.NewOffsetCommitResponseTopic()
					t.Topic, t.TopicID = q.Topic, q.TopicID
					t.Partitions = make([]kmsg.OffsetCommitResponseTopicPartition, 0, len(q.Partitions))
					resp.Topics = append(resp.Topics, t)
					*at = len(resp.Topics)
				}
				t := &resp.Topics[*at-1]
				if !refused {
					open = append(open, placeOfPartition{*at - 1, len(t.Partitions)})
					c.Offsets = append(c.Offsets, offsetToCommit(topic, &q.Partitions[j]))
				}
				t.Partitions = append(t.Partitions, kmsg.OffsetCommitResponseTopicPartition{Partition: q.Partitions[j].Partition, ErrorCode: int16(code)})
			}
		}
	}
	if len(open) == 0 {
		return resp
	}
	f.toGroup(r, c, func(reply any) kmsg.Response {
		done := reply.(*group.CommitReply)
		for i, p := range open {
			resp.Topics[p.topic].Partitions[p.partition].ErrorCode = int16(done.Offsets[i].Code)
		}
		return resp
	})
	return nil
}

// placeOfPartition is where an answer speaks of a partition.
type placeOfPartition struct{ topic, partition int }

// namedOrID is what a request calls a topic.
type namedOrID struct {
	name string
	id   [16]byte
}

// twinsOf tells for each of n topics which is the first that is called the same.
func twinsOf(n int, called func(int) namedOrID) []int {
	first := make(map[namedOrID]int, n)
	twins := make([]int, n)
	for i := range twins {
		name := called(i)
		if _, ok := first[name]; !ok {
			first[name] = i
		}
		twins[i] = first[name]
	}
	return twins
}

// twin is the topic whose place in the answer topic i shares: its own, unless something was refused, for then Kafka
// answers a topic that is named twice once.
func twin(twins []int, i int) int {
	if twins == nil {
		return i
	}
	return twins[i]
}

// checkPartition says whether a topic, nil if it is unknown, has the partition.
func checkPartition(topic *controller.Topic, unknown wire.ErrorCode, partition int32) wire.ErrorCode {
	switch {
	case topic == nil:
		return unknown
	case partition < 0 || int(partition) >= len(topic.Partitions):
		return wire.UnknownTopicOrPartition
	}
	return wire.NoError
}

func offsetToCommit(topic *controller.Topic, p *kmsg.OffsetCommitRequestTopicPartition) group.CommitOffset {
	v := group.CommitOffset{TopicID: topic.ID, Topic: topic.Name, Partition: p.Partition, Offset: p.Offset, LeaderEpoch: p.LeaderEpoch}
	if p.Metadata != nil {
		v.Metadata = *p.Metadata
	}
	return v
}

// namedTopic finds a topic by name, or by id where the version has ids, or says why there is none.
func namedTopic(image *controller.Image, name string, id [16]byte, byID bool) (*controller.Topic, wire.ErrorCode) {
	if byID {
		return image.TopicByID(id), wire.UnknownTopicId
	}
	return image.Topic(name), wire.UnknownTopicOrPartition
}
