package conn

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kerr"
)

// Error is an error code of a broker with the words it sent. Immutable.
type Error struct {
	Code    int16
	Message string // what the broker wrote, else the usual words
}

func (e *Error) Error() string { return e.Message }

// Unwrap gives the sentinel of package kerr.
func (e *Error) Unwrap() error { return kerr.ErrorForCode(e.Code) }

// Code returns an *Error for a code and an optional message, nil for 0.
func Code(code int16, message *string) error {
	if code == 0 {
		return nil
	}
	e := &Error{Code: code}
	if message != nil && *message != "" {
		e.Message = *message
	} else {
		e.Message = Words(code)
	}
	return e
}

// Words is what Kafka's clients say for an error code.
func Words(code int16) string {
	if w, ok := javaWords[code]; ok {
		return w
	}
	var ke *kerr.Error
	if errors.As(kerr.ErrorForCode(code), &ke) {
		return ke.Description
	}
	return "The server experienced an unexpected error when processing the request."
}

// javaWords holds the texts for which the library's differ from those in Kafka's own output.
var javaWords = map[int16]string{
	-1: "The server experienced an unexpected error when processing the request.",
	1:  "The requested offset is not within the range of offsets maintained by the server.",
	3:  "This server does not host this topic-partition.",
	7:  "The request timed out.",
	10: "The request included a message larger than the max message size the server will accept.",
	14: "The coordinator is loading and hence can't process requests.",
	15: "The coordinator is not available.",
	16: "This is not the correct coordinator.",
	17: "The request attempted to perform an operation on an invalid topic.",
	24: "The group id is invalid.",
	25: "The coordinator is not aware of this member.",
	30: "Group authorization failed.",
	35: "The version of API is not supported.",
	36: "Topic with this name already exists.",
	37: "Number of partitions is below 1.",
	38: "Replication factor is below 1 or larger than the number of available brokers.",
	68: "The group is not empty.",
	69: "The group id does not exist.",
	86: "Deleting offsets of a topic is forbidden while the consumer group is actively subscribed to it.",
}

// Class is the name of the Java exception for an error, for log lines that scripts look at.
func Class(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		switch {
		case errors.Is(err, ErrNoBroker), errors.Is(err, context.DeadlineExceeded):
			return "org.apache.kafka.common.errors.TimeoutException"
		}
		return "java.lang.IllegalArgumentException"
	}
	if n, ok := classes[e.Code]; ok {
		return "org.apache.kafka.common.errors." + n + "Exception"
	}
	return "org.apache.kafka.common.errors.ApiException"
}

var classes = map[int16]string{
	-1: "UnknownServer", 1: "OffsetOutOfRange", 2: "CorruptRecord", 3: "UnknownTopicOrPartition", 5: "LeaderNotAvailable", 6: "NotLeaderOrFollower",
	7: "Timeout", 10: "RecordTooLarge", 12: "OffsetMetadataTooLarge", 14: "CoordinatorLoadInProgress", 15: "CoordinatorNotAvailable",
	16: "NotCoordinator", 17: "InvalidTopic", 18: "RecordBatchTooLarge", 19: "NotEnoughReplicas", 20: "NotEnoughReplicasAfterAppend",
	22: "IllegalGeneration", 24: "InvalidGroupId", 25: "UnknownMemberId", 27: "RebalanceInProgress", 29: "TopicAuthorization",
	30: "GroupAuthorization", 31: "ClusterAuthorization", 35: "UnsupportedVersion", 36: "TopicExists", 37: "InvalidPartitions",
	38: "InvalidReplicationFactor", 39: "InvalidReplicaAssignment", 40: "InvalidConfiguration", 41: "NotController", 42: "InvalidRequest",
	44: "PolicyViolation", 56: "KafkaStorage", 60: "ReassignmentInProgress", 68: "GroupNotEmpty", 69: "GroupIdNotFound", 73: "TopicDeletionDisabled",
	86: "GroupSubscribedToTopic", 89: "ThrottlingQuotaExceeded", 100: "UnknownTopicId",
}
