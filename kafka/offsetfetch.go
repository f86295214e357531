package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/group"
	"millrace/kafka/wire"
)

// offsetFetch answers OffsetFetch, versions 1 to 10, of one group up to version 7 and of many from then on. What nobody
// committed has offset -1 and no error.
func (f *Frontend) offsetFetch(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.OffsetFetchRequest)
	version := r.hdr.Version
	if version < 8 {
		old := kmsg.NewOffsetFetchRequestGroup()
		old.Group = req.Group
		for i := range req.Topics {
			t := kmsg.NewOffsetFetchRequestGroupTopic()
			t.Topic, t.Partitions = req.Topics[i].Topic, req.Topics[i].Partitions
			old.Topics = append(old.Topics, t)
		}
		if version < 2 && old.Topics == nil || req.Topics != nil && old.Topics == nil {
			old.Topics = []kmsg.OffsetFetchRequestGroupTopic{}
		}
		req.Groups = []kmsg.OffsetFetchRequestGroup{old}
	}
	reqs := make([]group.Request, len(req.Groups))
	for i := range req.Groups {
		reqs[i] = f.fetchOfGroup(r, &req.Groups[i], req.RequireStable)
	}
	f.toGroups(reqs, func(replies []any) {
		resp := kmsg.NewPtrOffsetFetchResponse()
		for i := range req.Groups {
			g := f.fetchedGroup(&req.Groups[i], replies[i].(*group.FetchReply), version)
			if version < 8 {
				oldFetchAnswer(resp, &g, version)
			} else {
				resp.Groups = append(resp.Groups, g)
			}
		}
		r.respondLater(resp)
	})
	return nil
}

// fetchOfGroup is the question to one group's coordinator. Topics that are unknown by their id are left out.
func (f *Frontend) fetchOfGroup(r *request, g *kmsg.OffsetFetchRequestGroup, stable bool) *group.FetchRequest {
	q := &group.FetchRequest{Header: r.groupHeader(g.Group), Epoch: g.MemberEpoch, All: g.Topics == nil, Stable: stable}
	if r.hdr.Version < 9 {
		q.Epoch = -1
	}
	if g.MemberID != nil {
		q.MemberID, q.HasMember = *g.MemberID, true
	}
	image := f.node.Image()
	for i := range g.Topics {
		t := &g.Topics[i]
		if r.hdr.Version >= 10 {
			topic := image.TopicByID(t.TopicID)
			if topic == nil {
				continue
			}
			t.Topic = topic.Name
		}
		for _, p := range t.Partitions {
			q.Offsets = append(q.Offsets, group.FetchOffset{Topic: t.Topic, Partition: p})
		}
	}
	return q
}

// fetchedGroup is one group's answer, in the order of the question.
func (f *Frontend) fetchedGroup(g *kmsg.OffsetFetchRequestGroup, reply *group.FetchReply, version int16) kmsg.OffsetFetchResponseGroup {
	out := kmsg.NewOffsetFetchResponseGroup()
	out.Group, out.ErrorCode = g.Group, int16(reply.Code)
	if reply.Code != group.None && version >= 2 {
		return out
	}
	if g.Topics == nil {
		out.Topics = f.allFetched(reply.Offsets, version)
		return out
	}
	offsets := reply.Offsets
	for i := range g.Topics {
		t := kmsg.NewOffsetFetchResponseGroupTopic()
		t.Topic, t.TopicID = g.Topics[i].Topic, g.Topics[i].TopicID
		for _, p := range g.Topics[i].Partitions {
			a := group.FetchOffset{Partition: p, Offset: -1, LeaderEpoch: -1, Code: reply.Code}
			switch {
			case version >= 10 && t.Topic == "":
				a.Code = group.Code(wire.UnknownTopicId)
			case reply.Code == group.None:
				a, offsets = offsets[0], offsets[1:]
			}
			t.Partitions = append(t.Partitions, fetchedPartition(&a))
		}
		out.Topics = append(out.Topics, t)
	}
	return out
}

// allFetched groups the offsets, which come in order of topics. Below its id a topic can be named only if it exists.
func (f *Frontend) allFetched(offsets []group.FetchOffset, version int16) []kmsg.OffsetFetchResponseGroupTopic {
	topics := []kmsg.OffsetFetchResponseGroupTopic{}
	image := f.node.Image()
	for i := range offsets {
		o := &offsets[i]
		if i == 0 || offsets[i-1].Topic != o.Topic {
			t := kmsg.NewOffsetFetchResponseGroupTopic()
			t.Topic = o.Topic
			if known := image.Topic(o.Topic); known != nil {
				t.TopicID = known.ID
			}
			topics = append(topics, t)
		}
		t := &topics[len(topics)-1]
		t.Partitions = append(t.Partitions, fetchedPartition(o))
	}
	if version < 10 {
		return topics
	}
	known := topics[:0]
	for _, t := range topics {
		if t.TopicID != [16]byte{} {
			known = append(known, t)
		}
	}
	return known
}

func fetchedPartition(o *group.FetchOffset) kmsg.OffsetFetchResponseGroupTopicPartition {
	p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
	p.Partition, p.Offset, p.LeaderEpoch, p.ErrorCode = o.Partition, o.Offset, o.LeaderEpoch, int16(o.Code)
	p.Metadata = &o.Metadata
	return p
}

// oldFetchAnswer writes the answer of the only group in the form of versions up to 7.
func oldFetchAnswer(resp *kmsg.OffsetFetchResponse, g *kmsg.OffsetFetchResponseGroup, version int16) {
	if version >= 2 {
		resp.ErrorCode = g.ErrorCode
	}
	for i := range g.Topics {
		t := kmsg.NewOffsetFetchResponseTopic()
		t.Topic = g.Topics[i].Topic
		for _, p := range g.Topics[i].Partitions {
			o := kmsg.NewOffsetFetchResponseTopicPartition()
			o.Partition, o.Offset, o.LeaderEpoch, o.Metadata, o.ErrorCode = p.Partition, p.Offset, p.LeaderEpoch, p.Metadata, p.ErrorCode
			t.Partitions = append(t.Partitions, o)
		}
		resp.Topics = append(resp.Topics, t)
	}
}
