package group

// Request is one of the request types of this package.
type Request interface{ Head() *Header }

// Header is what every request carries.
type Header struct {
	// Handle is the caller's; it stands in the Reply.
	Handle any
	Group  string
	// Version is the request's version at the wire; some answers depend on it.
	Version int16
	// ClientID and ClientHost describe who asks. The host is an address with a slash before it.
	ClientID, ClientHost string
	// NewID is a fresh random id (a UUID), for a member that has none.
	NewID string
}

// Head implements Request.
func (h *Header) Head() *Header { return h }

// JoinRequest is JoinGroup.
type JoinRequest struct {
	Header
	MemberID           string
	InstanceID         *string
	SessionTimeoutMs   int32
	RebalanceTimeoutMs int32 // version 0 has none: the session timeout
	ProtocolType       string
	Protocols          []Protocol
}

// Protocol is what a member offers under one name.
type Protocol struct {
	Name     string
	Metadata []byte
}

// JoinReply answers JoinRequest.
type JoinReply struct {
	Code           Code
	Generation     int32 // -1 on error
	ProtocolType   *string
	Protocol       *string
	Leader         string
	SkipAssignment bool
	MemberID       string
	Members        []JoinMember // the leader only
}

// JoinMember is a member as the leader sees it.
type JoinMember struct {
	MemberID   string
	InstanceID *string
	Metadata   []byte
}

// SyncRequest is SyncGroup.
type SyncRequest struct {
	Header
	Generation   int32
	MemberID     string
	InstanceID   *string
	ProtocolType *string
	Protocol     *string
	Assignments  []Assignment
}

// Assignment is what the leader gives a member.
type Assignment struct {
	MemberID string
	Bytes    []byte
}

// SyncReply answers SyncRequest.
type SyncReply struct {
	Code         Code
	ProtocolType *string
	Protocol     *string
	Assignment   []byte
}

// HeartbeatRequest is Heartbeat.
type HeartbeatRequest struct {
	Header
	Generation int32
	MemberID   string
	InstanceID *string
}

// CodeReply answers HeartbeatRequest and DeleteRequest.
type CodeReply struct{ Code Code }

// LeaveRequest is LeaveGroup; below version 3 Members has one entry without instance id.
type LeaveRequest struct {
	Header
	Members []LeaveMember
}

// LeaveMember is one member that leaves, or in the answer how that went.
type LeaveMember struct {
	MemberID   string
	InstanceID *string
	Code       Code
}

// LeaveReply answers LeaveRequest.
type LeaveReply struct {
	Code    Code
	Members []LeaveMember
}

// CommitRequest is OffsetCommit. Partitions that do not exist have been answered already and are not in it.
type CommitRequest struct {
	Header
	Generation int32 // or member epoch
	MemberID   string
	InstanceID *string
	// RetentionMs is the retention time of versions 2 to 4, -1 for the broker's; any other number counts, negative ones too.
	RetentionMs int64
	Offsets     []CommitOffset
}

// CommitOffset is one partition of a CommitRequest, and how it went.
type CommitOffset struct {
	TopicID     [16]byte // zero if unknown
	Topic       string
	Partition   int32
	Offset      int64
	LeaderEpoch int32
	Metadata    string
	Code        Code
}

// CommitReply answers CommitRequest: its Offsets with their codes.
type CommitReply struct{ Offsets []CommitOffset }

// FetchRequest is OffsetFetch of one group.
type FetchRequest struct {
	Header
	MemberID string
	Epoch    int32
	// HasMember tells that MemberID is set, even if empty; without it and with a negative epoch it is nobody in particular.
	HasMember bool
	// All asks for every offset of the group; then Offsets is empty.
	All bool
	// Stable asks for offsets that no open transaction may still change.
	Stable  bool
	Offsets []FetchOffset
}

// FetchOffset is one partition of a FetchRequest, and what is known of it.
type FetchOffset struct {
	Topic       string
	TopicID     [16]byte // as committed; zero if unknown
	Partition   int32
	Offset      int64 // -1 if there is none
	LeaderEpoch int32
	Metadata    string
	Code        Code
}

// FetchReply answers FetchRequest.
type FetchReply struct {
	Code    Code
	Offsets []FetchOffset
}

// DeleteOffsetsRequest is OffsetDelete. Partitions that do not exist have been answered already.
type DeleteOffsetsRequest struct {
	Header
	Partitions []DeleteOffset
}

// DeleteOffset is one partition of a DeleteOffsetsRequest, and how it went.
type DeleteOffset struct {
	Topic     string
	Partition int32
	Code      Code
}

// DeleteOffsetsReply answers DeleteOffsetsRequest.
type DeleteOffsetsReply struct {
	Code       Code
	Partitions []DeleteOffset
}

// DeleteRequest is DeleteGroups of one group.
type DeleteRequest struct{ Header }

// DescribeRequest is DescribeGroups of one group.
type DescribeRequest struct{ Header }

// DescribeReply answers DescribeRequest. Code is GroupIDNotFound for a group that is none or no classic one.
type DescribeReply struct {
	Code         Code
	State        string
	ProtocolType string
	Protocol     string
	Members      []DescribedMember
}

// DescribedMember is one member of a described group.
type DescribedMember struct {
	MemberID   string
	InstanceID *string
	ClientID   string
	ClientHost string
	Metadata   []byte
	Assignment []byte
}

// Listed is one group of Coordinator.List.
type Listed struct {
	Group        string
	ProtocolType string
	State        string
	Kind         string // "classic" or "consumer"
}

// Reply goes to whoever sent the request with that handle.
type Reply struct {
	Handle any
	Body   any
}
