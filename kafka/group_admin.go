package kafka

import (
	"math"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/group"
	"millrace/kafka/wire"
)

// toGroups sends one request for each of several groups and calls done when all replies are in. Nothing is left to the
// order in which they come.
func (f *Frontend) toGroups(reqs []group.Request, done func(replies []any)) {
	replies := make([]any, len(reqs))
	var left atomic.Int64
	left.Store(int64(len(reqs)) + 1)
	one := func() {
		if left.Add(-1) == 0 {
			done(replies)
		}
	}
	for i := range reqs {
		f.node.Group(reqs[i], func(reply any) {
			replies[i] = reply
			one()
		})
	}
	one()
}

// describeGroups answers DescribeGroups, versions 0 to 6. A group that is none is Dead, from version 6 on with an error
// (KIP-1043).
func (f *Frontend) describeGroups(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DescribeGroupsRequest)
	reqs := make([]group.Request, len(req.Groups))
	for i, id := range req.Groups {
		reqs[i] = &group.DescribeRequest{Header: r.groupHeader(id)}
	}
	version := r.hdr.Version
	f.toGroups(reqs, func(replies []any) {
		resp := kmsg.NewPtrDescribeGroupsResponse()
		for i, id := range req.Groups {
			g := describedGroup(id, replies[i].(*group.DescribeReply), version)
			if req.IncludeAuthorizedOperations && version >= 3 && g.ErrorCode == 0 {
				g.AuthorizedOperations = groupOperations
			}
			resp.Groups = append(resp.Groups, g)
		}
		r.respondLater(resp)
	})
	return nil
}

func describedGroup(id string, d *group.DescribeReply, version int16) kmsg.DescribeGroupsResponseGroup {
	g := kmsg.NewDescribeGroupsResponseGroup()
	g.Group, g.AuthorizedOperations = id, math.MinInt32
	g.ErrorCode, g.State, g.ProtocolType, g.Protocol = int16(d.Code), d.State, d.ProtocolType, d.Protocol
	if d.Code == group.GroupIDNotFound {
		g.State = "Dead"
		if version < 6 {
			g.ErrorCode = 0
			return g
		}
		text := "Group " + id + " not found."
		g.ErrorMessage = &text
	}
	for i := range d.Members {
		m := kmsg.NewDescribeGroupsResponseGroupMember()
		have := &d.Members[i]
		m.MemberID, m.InstanceID, m.ClientID, m.ClientHost = have.MemberID, have.InstanceID, have.ClientID, have.ClientHost
		m.ProtocolMetadata, m.MemberAssignment = have.Metadata, have.Assignment
		g.Members = append(g.Members, m)
	}
	return g
}

// listGroups answers ListGroups, versions 0 to 5: the groups that this node coordinates.
func (f *Frontend) listGroups(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.ListGroupsRequest)
	f.node.ListGroups(req.StatesFilter, req.TypesFilter, func(groups []group.Listed, code group.Code) {
		resp := kmsg.NewPtrListGroupsResponse()
		resp.ErrorCode = int16(code)
		for i := range groups {
			g := kmsg.NewListGroupsResponseGroup()
			g.Group, g.ProtocolType, g.GroupState, g.GroupType = groups[i].Group, groups[i].ProtocolType, groups[i].State, groups[i].Kind
			resp.Groups = append(resp.Groups, g)
		}
		r.respondLater(resp)
	})
	return nil
}

// deleteGroups answers DeleteGroups, versions 0 to 3. A group that is named twice is answered once.
func (f *Frontend) deleteGroups(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.DeleteGroupsRequest)
	var ids []string
	var reqs []group.Request
	seen := map[string]bool{}
	for _, id := range req.Groups {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
			reqs = append(reqs, &group.DeleteRequest{Header: r.groupHeader(id)})
		}
	}
	f.toGroups(reqs, func(replies []any) {
		resp := kmsg.NewPtrDeleteGroupsResponse()
		for i, id := range ids {
			g := kmsg.NewDeleteGroupsResponseGroup()
			g.Group, g.ErrorCode = id, int16(replies[i].(*group.CodeReply).Code)
			resp.Groups = append(resp.Groups, g)
		}
		r.respondLater(resp)
	})
	return nil
}

// offsetDelete answers OffsetDelete, version 0.
func (f *Frontend) offsetDelete(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.OffsetDeleteRequest)
	resp := kmsg.NewPtrOffsetDeleteResponse()
	if req.Group == "" {
		resp.ErrorCode = int16(wire.InvalidGroupId)
		return resp
	}
	image := f.node.Image()
	d := &group.DeleteOffsetsRequest{Header: r.groupHeader(req.Group)}
	where := make([]int, len(req.Topics)) // as in offsetCommit
	var twins []int
	var open []placeOfPartition
	for _, refused := range []bool{true, false} {
		for i := range req.Topics {
			q := &req.Topics[i]
			topic := image.Topic(q.Topic)
			for j := range q.Partitions {
				partition := q.Partitions[j].Partition
				code := checkPartition(topic, wire.UnknownTopicOrPartition, partition)
				if (code != wire.NoError) != refused {
					continue
				}
				if refused && twins == nil {
					twins = twinsOf(len(req.Topics), func(i int) namedOrID { return namedOrID{name: req.Topics[i].Topic} })
				}
				at := &where[twin(twins, i)]
				if *at == 0 {
					resp.Topics = append(resp.Topics, kmsg.OffsetDeleteResponseTopic{Topic: q.Topic})
					*at = len(resp.Topics)
				}
				t := &resp.Topics[*at-1]
				if !refused {
					open = append(open, placeOfPartition{*at - 1, len(t.Partitions)})
					d.Partitions = append(d.Partitions, group.DeleteOffset{Topic: q.Topic, Partition: partition})
				}
				t.Partitions = append(t.Partitions, kmsg.OffsetDeleteResponseTopicPartition{Partition: partition, ErrorCode: int16(code)})
			}
		}
	}
	f.toGroup(r, d, func(reply any) kmsg.Response {
		d := reply.(*group.DeleteOffsetsReply)
		if resp.ErrorCode = int16(d.Code); d.Code != group.None {
			resp.Topics = nil
			return resp
		}
		for i, p := range open {
			resp.Topics[p.topic].Partitions[p.partition].ErrorCode = int16(d.Partitions[i].Code)
		}
		return resp
	})
	return nil
}
