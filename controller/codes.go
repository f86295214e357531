package controller

// Code is a Kafka protocol error code.
type Code int16

// The codes that Apply and the Validate functions answer with.
const (
	CodeUnknownServerError       Code = -1
	CodeNone                     Code = 0
	CodeUnknownTopicOrPartition  Code = 3
	CodeRequestTimedOut          Code = 7
	CodeInvalidTopic             Code = 17
	CodeTopicExists              Code = 36
	CodeInvalidPartitions        Code = 37
	CodeInvalidReplicationFactor Code = 38
	CodeInvalidReplicaAssignment Code = 39
	CodeInvalidConfig            Code = 40
	CodeInvalidRequest           Code = 42
	CodePolicyViolation          Code = 44
	CodeStaleBrokerEpoch         Code = 77
	CodeUnknownTopicID           Code = 100
)
