package kafka

import (
	"math"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/group"
	"millrace/group/record"
	"millrace/kafka/wire"
)

// consumerGroupHeartbeat answers ConsumerGroupHeartbeat, versions 0 to 1 (KIP-848): join, leave and everything between.
func (f *Frontend) consumerGroupHeartbeat(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.ConsumerGroupHeartbeatRequest)
	h := &group.ConsumerHeartbeatRequest{
		Header: r.groupHeader(req.Group), MemberID: req.MemberID, MemberEpoch: req.MemberEpoch, InstanceID: req.InstanceID,
		RackID: req.RackID, RebalanceTimeoutMs: req.RebalanceTimeoutMillis, SubscribedTopics: req.SubscribedTopicNames,
		HasTopics: req.SubscribedTopicNames != nil, ServerAssignor: req.ServerAssignor, HasOwned: req.Topics != nil,
	}
	if r.hdr.Version >= 1 {
		h.SubscribedRegex = req.SubscribedTopicRegex
	}
	if h.MemberID == "" {
		h.NewID = newUUID()
	}
	for i := range req.Topics {
		h.Owned = append(h.Owned, record.TopicPartitions{TopicID: req.Topics[i].TopicID, Partitions: req.Topics[i].Partitions})
	}
	f.toGroup(r, h, encodeConsumerHeartbeat)
	return nil
}

func encodeConsumerHeartbeat(reply any) kmsg.Response {
	h := reply.(*group.ConsumerHeartbeatReply)
	resp := kmsg.NewPtrConsumerGroupHeartbeatResponse()
	if h.Code != group.None {
		text := consumerGroupError(h.Code)
		resp.ErrorCode, resp.ErrorMessage = int16(h.Code), &text
		return resp
	}
	resp.MemberID, resp.MemberEpoch, resp.HeartbeatIntervalMillis = &h.MemberID, h.MemberEpoch, h.HeartbeatIntervalMs
	if h.HasAssignment {
		a := kmsg.NewConsumerGroupHeartbeatResponseAssignment()
		a.Topics = make([]kmsg.ConsumerGroupHeartbeatResponseAssignmentTopic, len(h.Assignment))
		for i := range h.Assignment {
			a.Topics[i] = kmsg.NewConsumerGroupHeartbeatResponseAssignmentTopic()
			a.Topics[i].TopicID, a.Topics[i].Partitions = h.Assignment[i].TopicID, h.Assignment[i].Partitions
		}
		resp.Assignment = &a
	}
	return resp
}

// consumerGroupError says in words what clients show their users.
func consumerGroupError(code group.Code) string {
	switch code {
	case group.InvalidRequest:
		return "A field of the heartbeat is missing, empty or out of range."
	case group.UnknownMemberID:
		return "The group has no such member."
	case group.GroupIDNotFound:
		return "There is no such consumer group."
	case group.FencedMemberEpoch:
		return "The member's epoch is not the one that the coordinator knows. The member has to give up its partitions and join again."
	case group.FencedInstanceID:
		return "Another member has taken over this instance id."
	case group.UnreleasedInstanceID:
		return "Another member still uses this instance id."
	case group.UnsupportedAssignor:
		return "The broker does not have this assignor."
	case group.GroupMaxSizeReached:
		return "The group has as many members as group.consumer.max.size allows."
	case group.InvalidRegularExpression:
		return "The subscription is not a regular expression in RE2 syntax."
	}
	return wire.ErrorCode(code).String()
}

// consumerGroupDescribe answers ConsumerGroupDescribe, versions 0 to 1.
func (f *Frontend) consumerGroupDescribe(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.ConsumerGroupDescribeRequest)
	var reqs []group.Request
	for _, id := range req.Groups {
		if id != "" {
			reqs = append(reqs, &group.ConsumerDescribeRequest{Header: r.groupHeader(id)})
		}
	}
	version := r.hdr.Version
	f.toGroups(reqs, func(replies []any) {
		resp := kmsg.NewPtrConsumerGroupDescribeResponse()
		for _, id := range req.Groups {
			if id == "" {
				g := kmsg.NewConsumerGroupDescribeResponseGroup()
				g.ErrorCode, g.AuthorizedOperations = int16(wire.InvalidGroupId), math.MinInt32
				resp.Groups = append(resp.Groups, g)
				continue
			}
			g := f.describedConsumerGroup(id, replies[0].(*group.ConsumerDescribeReply), version)
			replies = replies[1:]
			if req.IncludeAuthorizedOperations && g.ErrorCode == 0 {
				g.AuthorizedOperations = groupOperations
			}
			resp.Groups = append(resp.Groups, g)
		}
		r.respondLater(resp)
	})
	return nil
}

func (f *Frontend) describedConsumerGroup(id string, d *group.ConsumerDescribeReply, version int16) kmsg.ConsumerGroupDescribeResponseGroup {
	g := kmsg.NewConsumerGroupDescribeResponseGroup()
	g.Group, g.AuthorizedOperations, g.ErrorCode = id, math.MinInt32, int16(d.Code)
	if d.Code != group.None {
		text := consumerGroupError(d.Code)
		g.ErrorMessage = &text
		return g
	}
	g.State, g.Epoch, g.AssignmentEpoch, g.AssignorName = d.State, d.Epoch, d.AssignmentEpoch, d.Assignor
	for i := range d.Members {
		have := &d.Members[i]
		m := kmsg.NewConsumerGroupDescribeResponseGroupMember()
		m.MemberID, m.InstanceID, m.RackID, m.MemberEpoch = have.MemberID, have.InstanceID, have.RackID, have.MemberEpoch
		m.ClientID, m.ClientHost, m.SubscribedTopics = have.ClientID, have.ClientHost, have.SubscribedTopics
		m.SubscribedTopicRegex = have.SubscribedRegex
		m.Assignment, m.TargetAssignment = f.namedAssignment(have.Assignment), f.namedAssignment(have.Target)
		if version >= 1 {
			m.MemberType = have.Type
		}
		g.Members = append(g.Members, m)
	}
	return g
}

// namedAssignment is an assignment with the topics' names; topics that are no more are left out.
func (f *Frontend) namedAssignment(list []record.TopicPartitions) kmsg.Assignment {
	a := kmsg.NewAssignment()
	image := f.node.Image()
	for i := range list {
		topic := image.TopicByID(list[i].TopicID)
		if topic == nil {
			continue
		}
		tp := kmsg.NewAssignmentTopicPartition()
		tp.TopicID, tp.Topic, tp.Partitions = list[i].TopicID, topic.Name, list[i].Partitions
		a.TopicPartitions = append(a.TopicPartitions, tp)
	}
	return a
}
