package kafka

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/kafka/wire"
)

// deleteRecords answers DeleteRecords, versions 0 to 2, when the new log starts are durable.
func (f *Frontend) deleteRecords(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DeleteRecordsRequest)
	resp := kmsg.NewPtrDeleteRecordsResponse()
	asked := lastAsked(req)
	var open atomic.Int32
	open.Store(1)
	finish := func() {
		if open.Add(-1) == 0 {
			r.respondLater(resp)
		}
	}
	resp.Topics = listedOnce(req)
	for i := range resp.Topics {
		t := &resp.Topics[i]
		for j := range t.Partitions {
			open.Add(1)
			f.deleteRecordsOf(t.Topic, &t.Partitions[j], asked[topicPartition{t.Topic, t.Partitions[j].Partition}], finish)
		}
	}
	finish()
	return nil
}

// listedOnce is the frame of the answer: each topic and each of its partitions once.
func listedOnce(req *kmsg.DeleteRecordsRequest) []kmsg.DeleteRecordsResponseTopic {
	var topics []kmsg.DeleteRecordsResponseTopic
	places := map[string]int{}
	listed := map[topicPartition]bool{}
	for i := range req.Topics {
		q := &req.Topics[i]
		for j := range q.Partitions {
			key := topicPartition{q.Topic, q.Partitions[j].Partition}
			if listed[key] {
				continue
			}
			listed[key] = true
			at, ok := places[q.Topic]
			if !ok {
				at = len(topics)
				places[q.Topic] = at
				t := kmsg.NewDeleteRecordsResponseTopic()
				t.Topic = q.Topic
				topics = append(topics, t)
			}
			a := kmsg.NewDeleteRecordsResponseTopicPartition()
			a.Partition, a.LowWatermark = key.index, -1
			topics[at].Partitions = append(topics[at].Partitions, a)
		}
	}
	return topics
}

// lastAsked is the offset that counts for each partition: its last entry, as in Kafka.
func lastAsked(req *kmsg.DeleteRecordsRequest) map[topicPartition]int64 {
	m := map[topicPartition]int64{}
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			m[topicPartition{req.Topics[i].Topic, req.Topics[i].Partitions[j].Partition}] = req.Topics[i].Partitions[j].Offset
		}
	}
	return m
}

func (f *Frontend) deleteRecordsOf(topic string, a *kmsg.DeleteRecordsResponseTopicPartition, offset int64, done func()) {
	t := f.node.FindTopic(topic)
	if t == nil {
		a.ErrorCode = int16(wire.UnknownTopicOrPartition)
		done()
		return
	}
	part := t.Partition(a.Partition)
	switch {
	case part == nil:
		a.ErrorCode = int16(f.absent(t, a.Partition))
	case t.Internal:
		a.ErrorCode = int16(wire.InvalidTopicException)
	case t.Config().Compact && !t.Config().Delete:
		a.ErrorCode = int16(wire.PolicyViolation)
	case offset < -1:
		a.ErrorCode = int16(wire.OffsetOutOfRange)
	default:
		part.DeleteRecords(offset, func(logStart int64, err error) {
			if err != nil {
				a.ErrorCode = int16(codeOf(err))
			} else {
				a.LowWatermark = logStart
			}
			done()
		})
		return
	}
	done()
}
