package kafka

import (
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/controller"
	"millrace/kafka/wire"
)

// partitionPage is a DescribeTopicPartitions under way: topics by name, until the limit of partitions is reached.
type partitionPage struct {
	f     *Frontend
	image *controller.Image
	resp  *kmsg.DescribeTopicPartitionsResponse
	// left is how many partitions still fit.
	left int
	// from is the first partition of the topic that the cursor names.
	from   int32
	cursor string
}

// describeTopicPartitions answers DescribeTopicPartitions, version 0 (KIP-966): topics by name, page by page.
func (f *Frontend) describeTopicPartitions(_ *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DescribeTopicPartitionsRequest)
	names := make([]string, len(req.Topics))
	for i := range req.Topics {
		names[i] = req.Topics[i].Topic
	}
	slices.Sort(names)
	names = slices.Compact(names)
	limit := max(1, min(req.ResponsePartitionLimit, f.node.Config().MaxRequestPartitions))
	page := &partitionPage{f: f, image: f.node.Image(), resp: kmsg.NewPtrDescribeTopicPartitionsResponse(), left: int(limit)}
	if c := req.Cursor; c != nil {
		if c.Partition < 0 || len(names) > 0 && !slices.Contains(names, c.Topic) {
			return refusedPage(req, wire.InvalidRequest)
		}
		page.cursor, page.from = c.Topic, c.Partition
	}
	if slices.Contains(names, "") && req.Cursor == nil {
		return refusedPage(req, wire.UnknownServerError) // Kafka fails on an empty name, unless a cursor passes it by
	}
	if len(names) == 0 {
		for t := range page.image.TopicsFrom(page.cursor) {
			if !page.known(t) {
				break
			}
		}
		return page.resp
	}
	for _, name := range names {
		if name < page.cursor {
			continue
		}
		if !page.named(name) {
			break
		}
	}
	return page.resp
}

// refusedPage answers a request that cannot be (a cursor outside the list): an error for all topics asked for.
func refusedPage(req *kmsg.DescribeTopicPartitionsRequest, code wire.ErrorCode) kmsg.Response {
	resp := kmsg.NewPtrDescribeTopicPartitionsResponse()
	for i := range req.Topics {
		t := kmsg.NewDescribeTopicPartitionsResponseTopic()
		t.Topic, t.ErrorCode = &req.Topics[i].Topic, int16(code)
		resp.Topics = append(resp.Topics, t)
	}
	return resp
}

// named adds the topic of that name and reports whether to go on.
func (p *partitionPage) named(name string) bool {
	if t := p.image.Topic(name); t != nil {
		return p.known(t)
	}
	if p.full(name) {
		return false
	}
	t := kmsg.NewDescribeTopicPartitionsResponseTopic()
	t.Topic, t.ErrorCode, t.AuthorizedOperations = &name, int16(wire.UnknownTopicOrPartition), topicOperations
	t.IsInternal = controller.InternalTopic(name)
	if controller.CheckTopicName(name) != "" {
		t.ErrorCode = int16(wire.InvalidTopicException)
	}
	p.resp.Topics = append(p.resp.Topics, t)
	return true
}

// full ends the page in front of a topic if nothing fits any more.
func (p *partitionPage) full(name string) bool {
	if p.left > 0 {
		return false
	}
	p.next(name, 0)
	return true
}

func (p *partitionPage) next(topic string, partition int32) {
	c := kmsg.NewDescribeTopicPartitionsResponseNextCursor()
	c.Topic, c.Partition = topic, partition
	p.resp.NextCursor = &c
}

func (p *partitionPage) known(t *controller.Topic) bool {
	if p.full(t.Name) {
		return false
	}
	from := 0
	if t.Name == p.cursor {
		from = min(int(p.from), len(t.Partitions))
	}
	to := min(len(t.Partitions), from+p.left)
	out := kmsg.NewDescribeTopicPartitionsResponseTopic()
	out.Topic, out.TopicID, out.IsInternal, out.AuthorizedOperations = &t.Name, t.ID, t.Internal, topicOperations
	for i := from; i < to; i++ {
		out.Partitions = append(out.Partitions, p.partition(t, int32(i)))
	}
	p.resp.Topics = append(p.resp.Topics, out)
	p.left -= to - from
	if end := p.from + int32(p.left); t.Name == p.cursor && end < 0 { // beyond what a partition can be: Kafka's sum wraps too
		p.next(t.Name, end)
		return false
	}
	if to < len(t.Partitions) {
		p.next(t.Name, int32(to))
		return false
	}
	return true
}

func (p *partitionPage) partition(t *controller.Topic, index int32) kmsg.DescribeTopicPartitionsResponseTopicPartition {
	s := &t.Partitions[index]
	out := kmsg.NewDescribeTopicPartitionsResponseTopicPartition()
	out.Partition, out.LeaderEpoch = index, s.LeaderEpoch
	out.LeaderID, out.Replicas, out.ISR = p.f.leaderOf(t, s, index), s.Replicas, s.ISR
	// Both are nullable in the protocol; Kafka answers lists.
	out.EligibleLeaderReplicas, out.LastKnownELR = append([]int32{}, s.ELR...), append([]int32{}, s.LastKnownELR...)
	return out
}
