package kafka

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/controller"
	"millrace/engine"
	"millrace/kafka/wire"
)

// describeProducers answers DescribeProducers, version 0 (KIP-664), when the partitions' owners have told theirs.
func (f *Frontend) describeProducers(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DescribeProducersRequest)
	resp := kmsg.NewPtrDescribeProducersResponse()
	resp.Topics = make([]kmsg.DescribeProducersResponseTopic, len(req.Topics))
	var open atomic.Int32
	open.Store(1)
	finish := func() {
		if open.Add(-1) == 0 {
			r.respondLater(resp)
		}
	}
	for i := range req.Topics {
		q, t := &req.Topics[i], &resp.Topics[i]
		*t = kmsg.NewDescribeProducersResponseTopic()
		t.Topic = q.Topic
		t.Partitions = make([]kmsg.DescribeProducersResponseTopicPartition, len(q.Partitions))
		for j, index := range q.Partitions {
			a := &t.Partitions[j]
			*a = kmsg.NewDescribeProducersResponseTopicPartition()
			a.Partition = index
			open.Add(1)
			f.producersOf(q.Topic, a, finish)
		}
	}
	finish()
	return nil
}

func (f *Frontend) producersOf(topic string, a *kmsg.DescribeProducersResponseTopicPartition, done func()) {
	text := ""
	t := f.node.FindTopic(topic)
	if t == nil {
		a.ErrorCode, a.ErrorMessage, text = int16(wire.UnknownTopicOrPartition), &text, "there is no such topic"
		if why := controller.CheckTopicName(topic); why != "" {
			a.ErrorCode, text = int16(wire.InvalidTopicException), why
		}
		done()
		return
	}
	part := t.Partition(a.Partition)
	if part == nil {
		a.ErrorCode = int16(f.absent(t, a.Partition))
		done()
		return
	}
	part.Producers(func(producers []engine.ProducerInfo, err error) {
		a.ErrorCode = int16(codeOf(err))
		for _, p := range producers {
			out := kmsg.NewDescribeProducersResponseTopicPartitionActiveProducer()
			out.ProducerID, out.ProducerEpoch, out.LastSequence = p.ProducerID, int32(p.Epoch), p.LastSequence
			out.LastTimestamp, out.CoordinatorEpoch, out.CurrentTxnStartOffset = p.LastTimestampMs, p.CoordinatorEpoch, p.TxnFirstOffset
			a.ActiveProducers = append(a.ActiveProducers, out)
		}
		done()
	})
}
