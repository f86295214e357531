package group

// Code is an error code of Kafka's protocol.
type Code int16

// The codes that coordinators answer, by Kafka's names.
const (
	None                     Code = 0
	UnknownServerError       Code = -1
	UnknownTopicOrPartition  Code = 3
	RequestTimedOut          Code = 7
	OffsetMetadataTooLarge   Code = 12
	CoordinatorLoad          Code = 14
	CoordinatorNotAvailable  Code = 15
	NotCoordinator           Code = 16
	IllegalGeneration        Code = 22
	InconsistentProtocol     Code = 23
	InvalidGroupID           Code = 24
	UnknownMemberID          Code = 25
	InvalidSessionTimeout    Code = 26
	RebalanceInProgress      Code = 27
	UnsupportedVersion       Code = 35
	InvalidRequest           Code = 42
	NonEmptyGroup            Code = 68
	GroupIDNotFound          Code = 69
	MemberIDRequired         Code = 79
	GroupMaxSizeReached      Code = 81
	FencedInstanceID         Code = 82
	GroupSubscribedToTopic   Code = 86
	UnstableOffsetCommit     Code = 88
	FencedMemberEpoch        Code = 110
	UnreleasedInstanceID     Code = 111
	UnsupportedAssignor      Code = 112
	StaleMemberEpoch         Code = 113
	InvalidRegularExpression Code = 128
)
