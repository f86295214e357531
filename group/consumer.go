package group

import "millrace/group/record"

// ConsumerHeartbeatRequest is ConsumerGroupHeartbeat (KIP-848). Nil fields are unchanged since the last one.
type ConsumerHeartbeatRequest struct {
	Header
	MemberID           string
	MemberEpoch        int32
	InstanceID         *string
	RackID             *string
	RebalanceTimeoutMs int32 // -1: unchanged
	SubscribedTopics   []string
	HasTopics          bool // SubscribedTopics is set, even if empty
	SubscribedRegex    *string
	ServerAssignor     *string
	Owned              []record.TopicPartitions
	HasOwned           bool
}

// ConsumerHeartbeatReply answers ConsumerHeartbeatRequest.
type ConsumerHeartbeatReply struct {
	Code                Code
	Message             string
	MemberID            string
	MemberEpoch         int32
	HeartbeatIntervalMs int32
	HasAssignment       bool
	Assignment          []record.TopicPartitions
}

// ConsumerDescribeRequest is ConsumerGroupDescribe of one group.
type ConsumerDescribeRequest struct{ Header }

// ConsumerDescribeReply answers ConsumerDescribeRequest.
type ConsumerDescribeReply struct {
	Code            Code
	State           string
	Epoch           int32
	AssignmentEpoch int32
	Assignor        string
	Members         []ConsumerMember
}

// ConsumerMember is one member of a described consumer group.
type ConsumerMember struct {
	MemberID         string
	InstanceID       *string
	RackID           *string
	MemberEpoch      int32
	ClientID         string
	ClientHost       string
	SubscribedTopics []string
	SubscribedRegex  *string
	Assignment       []record.TopicPartitions
	Target           []record.TopicPartitions
	Type             int8 // -1 unknown, 0 classic, 1 consumer
}

func refusedConsumerHeartbeat(code Code) *ConsumerHeartbeatReply {
	return &ConsumerHeartbeatReply{Code: code}
}

func refusedConsumerDescribe(code Code) *ConsumerDescribeReply {
	return &ConsumerDescribeReply{Code: code}
}
