package wire

import "strconv"

// ErrorCode is an error of the Kafka protocol.
type ErrorCode int16

// The error codes, by Kafka's names.
const (
	NoError                                ErrorCode = 0
	UnknownServerError                     ErrorCode = -1
	OffsetOutOfRange                       ErrorCode = 1
	CorruptMessage                         ErrorCode = 2
	UnknownTopicOrPartition                ErrorCode = 3
	InvalidFetchSize                       ErrorCode = 4
	LeaderNotAvailable                     ErrorCode = 5
	NotLeaderOrFollower                    ErrorCode = 6
	RequestTimedOut                        ErrorCode = 7
	BrokerNotAvailable                     ErrorCode = 8
	ReplicaNotAvailable                    ErrorCode = 9
	MessageTooLarge                        ErrorCode = 10
	StaleControllerEpoch                   ErrorCode = 11
	OffsetMetadataTooLarge                 ErrorCode = 12
	NetworkException                       ErrorCode = 13
	CoordinatorLoadInProgress              ErrorCode = 14
	CoordinatorNotAvailable                ErrorCode = 15
	NotCoordinator                         ErrorCode = 16
	InvalidTopicException                  ErrorCode = 17
	RecordListTooLarge                     ErrorCode = 18
	NotEnoughReplicas                      ErrorCode = 19
	NotEnoughReplicasAfterAppend           ErrorCode = 20
	InvalidRequiredAcks                    ErrorCode = 21
	IllegalGeneration                      ErrorCode = 22
	InconsistentGroupProtocol              ErrorCode = 23
	InvalidGroupId                         ErrorCode = 24
	UnknownMemberId                        ErrorCode = 25
	InvalidSessionTimeout                  ErrorCode = 26
	RebalanceInProgress                    ErrorCode = 27
	InvalidCommitOffsetSize                ErrorCode = 28
	TopicAuthorizationFailed               ErrorCode = 29
	GroupAuthorizationFailed               ErrorCode = 30
	ClusterAuthorizationFailed             ErrorCode = 31
	InvalidTimestamp                       ErrorCode = 32
	UnsupportedSaslMechanism               ErrorCode = 33
	IllegalSaslState                       ErrorCode = 34
	UnsupportedVersion                     ErrorCode = 35
	TopicAlreadyExists                     ErrorCode = 36
	InvalidPartitions                      ErrorCode = 37
	InvalidReplicationFactor               ErrorCode = 38
	InvalidReplicaAssignment               ErrorCode = 39
	InvalidConfig                          ErrorCode = 40
	NotController                          ErrorCode = 41
	InvalidRequest                         ErrorCode = 42
	UnsupportedForMessageFormat            ErrorCode = 43
	PolicyViolation                        ErrorCode = 44
	OutOfOrderSequenceNumber               ErrorCode = 45
	DuplicateSequenceNumber                ErrorCode = 46
	InvalidProducerEpoch                   ErrorCode = 47
	InvalidTxnState                        ErrorCode = 48
	InvalidProducerIdMapping               ErrorCode = 49
	InvalidTransactionTimeout              ErrorCode = 50
	ConcurrentTransactions                 ErrorCode = 51
	TransactionCoordinatorFenced           ErrorCode = 52
	TransactionalIdAuthorizationFailed     ErrorCode = 53
	SecurityDisabled                       ErrorCode = 54
	OperationNotAttempted                  ErrorCode = 55
	KafkaStorageError                      ErrorCode = 56
	LogDirNotFound                         ErrorCode = 57
	SaslAuthenticationFailed               ErrorCode = 58
	UnknownProducerId                      ErrorCode = 59
	ReassignmentInProgress                 ErrorCode = 60
	DelegationTokenAuthDisabled            ErrorCode = 61
	DelegationTokenNotFound                ErrorCode = 62
	DelegationTokenOwnerMismatch           ErrorCode = 63
	DelegationTokenRequestNotAllowed       ErrorCode = 64
	DelegationTokenAuthorizationFailed     ErrorCode = 65
	DelegationTokenExpired                 ErrorCode = 66
	InvalidPrincipalType                   ErrorCode = 67
	NonEmptyGroup                          ErrorCode = 68
	GroupIdNotFound                        ErrorCode = 69
	FetchSessionIdNotFound                 ErrorCode = 70
	InvalidFetchSessionEpoch               ErrorCode = 71
	ListenerNotFound                       ErrorCode = 72
	TopicDeletionDisabled                  ErrorCode = 73
	FencedLeaderEpoch                      ErrorCode = 74
	UnknownLeaderEpoch                     ErrorCode = 75
	UnsupportedCompressionType             ErrorCode = 76
	StaleBrokerEpoch                       ErrorCode = 77
	OffsetNotAvailable                     ErrorCode = 78
	MemberIdRequired                       ErrorCode = 79
	PreferredLeaderNotAvailable            ErrorCode = 80
	GroupMaxSizeReached                    ErrorCode = 81
	FencedInstanceId                       ErrorCode = 82
	EligibleLeadersNotAvailable            ErrorCode = 83
	ElectionNotNeeded                      ErrorCode = 84
	NoReassignmentInProgress               ErrorCode = 85
	GroupSubscribedToTopic                 ErrorCode = 86
	InvalidRecord                          ErrorCode = 87
	UnstableOffsetCommit                   ErrorCode = 88
	ThrottlingQuotaExceeded                ErrorCode = 89
	ProducerFenced                         ErrorCode = 90
	ResourceNotFound                       ErrorCode = 91
	DuplicateResource                      ErrorCode = 92
	UnacceptableCredential                 ErrorCode = 93
	InconsistentVoterSet                   ErrorCode = 94
	InvalidUpdateVersion                   ErrorCode = 95
	FeatureUpdateFailed                    ErrorCode = 96
	PrincipalDeserializationFailure        ErrorCode = 97
	SnapshotNotFound                       ErrorCode = 98
	PositionOutOfRange                     ErrorCode = 99
	UnknownTopicId                         ErrorCode = 100
	DuplicateBrokerRegistration            ErrorCode = 101
	BrokerIdNotRegistered                  ErrorCode = 102
	InconsistentTopicId                    ErrorCode = 103
	InconsistentClusterId                  ErrorCode = 104
	TransactionalIdNotFound                ErrorCode = 105
	FetchSessionTopicIdError               ErrorCode = 106
	IneligibleReplica                      ErrorCode = 107
	NewLeaderElected                       ErrorCode = 108
	OffsetMovedToTieredStorage             ErrorCode = 109
	FencedMemberEpoch                      ErrorCode = 110
	UnreleasedInstanceId                   ErrorCode = 111
	UnsupportedAssignor                    ErrorCode = 112
	StaleMemberEpoch                       ErrorCode = 113
	MismatchedEndpointType                 ErrorCode = 114
	UnsupportedEndpointType                ErrorCode = 115
	UnknownControllerId                    ErrorCode = 116
	UnknownSubscriptionId                  ErrorCode = 117
	TelemetryTooLarge                      ErrorCode = 118
	InvalidRegistration                    ErrorCode = 119
	TransactionAbortable                   ErrorCode = 120
	InvalidRecordState                     ErrorCode = 121
	ShareSessionNotFound                   ErrorCode = 122
	InvalidShareSessionEpoch               ErrorCode = 123
	FencedStateEpoch                       ErrorCode = 124
	InvalidVoterKey                        ErrorCode = 125
	DuplicateVoter                         ErrorCode = 126
	VoterNotFound                          ErrorCode = 127
	InvalidRegularExpression               ErrorCode = 128
	RebootstrapRequired                    ErrorCode = 129
	StreamsInvalidTopology                 ErrorCode = 130
	StreamsInvalidTopologyEpoch            ErrorCode = 131
	StreamsTopologyFenced                  ErrorCode = 132
	ShareSessionLimitReached               ErrorCode = 133
	GroupDeletionFailed                    ErrorCode = 134
	StreamsTopologyDescriptionUpdateFailed ErrorCode = 135
	ControllerIdNotRegistered              ErrorCode = 136
)

type errorInfo struct {
	name      string
	message   string
	retriable bool
}

// info finds the table's entry, nil for a code that Kafka does not have.
func (e ErrorCode) info() *errorInfo {
	i := int(e) + 1
	if i < 0 || i >= len(errorTable) || errorTable[i].name == "" {
		return nil
	}
	return &errorTable[i]
}

// Name is Kafka's name, such as OFFSET_OUT_OF_RANGE.
func (e ErrorCode) Name() string {
	if i := e.info(); i != nil {
		return i.name
	}
	return "ERROR_" + strconv.Itoa(int(e))
}

// Message says in a few words what is wrong; "" for NoError.
func (e ErrorCode) Message() string {
	if i := e.info(); i != nil {
		return i.message
	}
	return e.Name()
}

// Retriable says whether clients may try the same request again.
func (e ErrorCode) Retriable() bool {
	i := e.info()
	return i != nil && i.retriable
}

// Error makes an ErrorCode an error; NoError should not be used as one.
func (e ErrorCode) Error() string { return e.Name() }

// String is Name.
func (e ErrorCode) String() string { return e.Name() }

// errorTable is indexed by code+1.
var errorTable = [...]errorInfo{
	1:   {"NONE", "", false},
	0:   {"UNKNOWN_SERVER_ERROR", "the broker met an error it did not expect", false},
	2:   {"OFFSET_OUT_OF_RANGE", "the offset is outside of the log", false},
	3:   {"CORRUPT_MESSAGE", "the checksum does not fit or the records are damaged", true},
	4:   {"UNKNOWN_TOPIC_OR_PARTITION", "no such topic or partition here", true},
	5:   {"INVALID_FETCH_SIZE", "invalid fetch size", false},
	6:   {"LEADER_NOT_AVAILABLE", "leader not available", true},
	7:   {"NOT_LEADER_OR_FOLLOWER", "this broker neither leads nor follows the partition", true},
	8:   {"REQUEST_TIMED_OUT", "request timed out", true},
	9:   {"BROKER_NOT_AVAILABLE", "broker not available", true},
	10:  {"REPLICA_NOT_AVAILABLE", "replica not available", true},
	11:  {"MESSAGE_TOO_LARGE", "the batch is larger than max.message.bytes allows", false},
	12:  {"STALE_CONTROLLER_EPOCH", "stale controller epoch", false},
	13:  {"OFFSET_METADATA_TOO_LARGE", "offset metadata too large", false},
	14:  {"NETWORK_EXCEPTION", "network exception", true},
	15:  {"COORDINATOR_LOAD_IN_PROGRESS", "coordinator load in progress", true},
	16:  {"COORDINATOR_NOT_AVAILABLE", "coordinator not available", true},
	17:  {"NOT_COORDINATOR", "not coordinator", true},
	18:  {"INVALID_TOPIC_EXCEPTION", "the topic name or its use is not allowed", false},
	19:  {"RECORD_LIST_TOO_LARGE", "the batch is larger than a segment", false},
	20:  {"NOT_ENOUGH_REPLICAS", "fewer replicas are in sync than min.insync.replicas asks for", true},
	21:  {"NOT_ENOUGH_REPLICAS_AFTER_APPEND", "not enough replicas after append", true},
	22:  {"INVALID_REQUIRED_ACKS", "acks must be -1, 0 or 1", false},
	23:  {"ILLEGAL_GENERATION", "illegal generation", false},
	24:  {"INCONSISTENT_GROUP_PROTOCOL", "inconsistent group protocol", false},
	25:  {"INVALID_GROUP_ID", "invalid group id", false},
	26:  {"UNKNOWN_MEMBER_ID", "unknown member id", false},
	27:  {"INVALID_SESSION_TIMEOUT", "invalid session timeout", false},
	28:  {"REBALANCE_IN_PROGRESS", "rebalance in progress", false},
	29:  {"INVALID_COMMIT_OFFSET_SIZE", "invalid commit offset size", false},
	30:  {"TOPIC_AUTHORIZATION_FAILED", "topic authorization failed", false},
	31:  {"GROUP_AUTHORIZATION_FAILED", "group authorization failed", false},
	32:  {"CLUSTER_AUTHORIZATION_FAILED", "cluster authorization failed", false},
	33:  {"INVALID_TIMESTAMP", "a timestamp is outside of what the topic accepts", false},
	34:  {"UNSUPPORTED_SASL_MECHANISM", "unsupported sasl mechanism", false},
	35:  {"ILLEGAL_SASL_STATE", "illegal sasl state", false},
	36:  {"UNSUPPORTED_VERSION", "this version or option is not supported", false},
	37:  {"TOPIC_ALREADY_EXISTS", "topic already exists", false},
	38:  {"INVALID_PARTITIONS", "invalid partitions", false},
	39:  {"INVALID_REPLICATION_FACTOR", "invalid replication factor", false},
	40:  {"INVALID_REPLICA_ASSIGNMENT", "invalid replica assignment", false},
	41:  {"INVALID_CONFIG", "invalid config", false},
	42:  {"NOT_CONTROLLER", "not controller", true},
	43:  {"INVALID_REQUEST", "invalid request", false},
	44:  {"UNSUPPORTED_FOR_MESSAGE_FORMAT", "unsupported for message format", false},
	45:  {"POLICY_VIOLATION", "policy violation", false},
	46:  {"OUT_OF_ORDER_SEQUENCE_NUMBER", "out of order sequence number", false},
	47:  {"DUPLICATE_SEQUENCE_NUMBER", "duplicate sequence number", false},
	48:  {"INVALID_PRODUCER_EPOCH", "invalid producer epoch", false},
	49:  {"INVALID_TXN_STATE", "invalid txn state", false},
	50:  {"INVALID_PRODUCER_ID_MAPPING", "invalid producer id mapping", false},
	51:  {"INVALID_TRANSACTION_TIMEOUT", "invalid transaction timeout", false},
	52:  {"CONCURRENT_TRANSACTIONS", "concurrent transactions", false},
	53:  {"TRANSACTION_COORDINATOR_FENCED", "transaction coordinator fenced", false},
	54:  {"TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "transactional id authorization failed", false},
	55:  {"SECURITY_DISABLED", "security disabled", false},
	56:  {"OPERATION_NOT_ATTEMPTED", "operation not attempted", false},
	57:  {"KAFKA_STORAGE_ERROR", "the log directory cannot be read or written", true},
	58:  {"LOG_DIR_NOT_FOUND", "log dir not found", false},
	59:  {"SASL_AUTHENTICATION_FAILED", "sasl authentication failed", false},
	60:  {"UNKNOWN_PRODUCER_ID", "unknown producer id", false},
	61:  {"REASSIGNMENT_IN_PROGRESS", "reassignment in progress", false},
	62:  {"DELEGATION_TOKEN_AUTH_DISABLED", "delegation token auth disabled", false},
	63:  {"DELEGATION_TOKEN_NOT_FOUND", "delegation token not found", false},
	64:  {"DELEGATION_TOKEN_OWNER_MISMATCH", "delegation token owner mismatch", false},
	65:  {"DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", "delegation token request not allowed", false},
	66:  {"DELEGATION_TOKEN_AUTHORIZATION_FAILED", "delegation token authorization failed", false},
	67:  {"DELEGATION_TOKEN_EXPIRED", "delegation token expired", false},
	68:  {"INVALID_PRINCIPAL_TYPE", "invalid principal type", false},
	69:  {"NON_EMPTY_GROUP", "non empty group", false},
	70:  {"GROUP_ID_NOT_FOUND", "group id not found", false},
	71:  {"FETCH_SESSION_ID_NOT_FOUND", "fetch session id not found", true},
	72:  {"INVALID_FETCH_SESSION_EPOCH", "invalid fetch session epoch", true},
	73:  {"LISTENER_NOT_FOUND", "listener not found", true},
	74:  {"TOPIC_DELETION_DISABLED", "topic deletion disabled", false},
	75:  {"FENCED_LEADER_EPOCH", "fenced leader epoch", true},
	76:  {"UNKNOWN_LEADER_EPOCH", "unknown leader epoch", true},
	77:  {"UNSUPPORTED_COMPRESSION_TYPE", "unsupported compression type", false},
	78:  {"STALE_BROKER_EPOCH", "stale broker epoch", false},
	79:  {"OFFSET_NOT_AVAILABLE", "offset not available", true},
	80:  {"MEMBER_ID_REQUIRED", "member id required", false},
	81:  {"PREFERRED_LEADER_NOT_AVAILABLE", "preferred leader not available", true},
	82:  {"GROUP_MAX_SIZE_REACHED", "group max size reached", false},
	83:  {"FENCED_INSTANCE_ID", "fenced instance id", false},
	84:  {"ELIGIBLE_LEADERS_NOT_AVAILABLE", "eligible leaders not available", true},
	85:  {"ELECTION_NOT_NEEDED", "election not needed", true},
	86:  {"NO_REASSIGNMENT_IN_PROGRESS", "no reassignment in progress", false},
	87:  {"GROUP_SUBSCRIBED_TO_TOPIC", "group subscribed to topic", false},
	88:  {"INVALID_RECORD", "a record breaks a rule of the topic or of the format", false},
	89:  {"UNSTABLE_OFFSET_COMMIT", "unstable offset commit", true},
	90:  {"THROTTLING_QUOTA_EXCEEDED", "throttling quota exceeded", true},
	91:  {"PRODUCER_FENCED", "producer fenced", false},
	92:  {"RESOURCE_NOT_FOUND", "resource not found", false},
	93:  {"DUPLICATE_RESOURCE", "duplicate resource", false},
	94:  {"UNACCEPTABLE_CREDENTIAL", "unacceptable credential", false},
	95:  {"INCONSISTENT_VOTER_SET", "inconsistent voter set", false},
	96:  {"INVALID_UPDATE_VERSION", "invalid update version", false},
	97:  {"FEATURE_UPDATE_FAILED", "feature update failed", false},
	98:  {"PRINCIPAL_DESERIALIZATION_FAILURE", "principal deserialization failure", false},
	99:  {"SNAPSHOT_NOT_FOUND", "snapshot not found", false},
	100: {"POSITION_OUT_OF_RANGE", "position out of range", false},
	101: {"UNKNOWN_TOPIC_ID", "unknown topic id", true},
	102: {"DUPLICATE_BROKER_REGISTRATION", "duplicate broker registration", false},
	103: {"BROKER_ID_NOT_REGISTERED", "broker id not registered", false},
	104: {"INCONSISTENT_TOPIC_ID", "inconsistent topic id", true},
	105: {"INCONSISTENT_CLUSTER_ID", "inconsistent cluster id", false},
	106: {"TRANSACTIONAL_ID_NOT_FOUND", "transactional id not found", false},
	107: {"FETCH_SESSION_TOPIC_ID_ERROR", "fetch session topic id error", true},
	108: {"INELIGIBLE_REPLICA", "ineligible replica", false},
	109: {"NEW_LEADER_ELECTED", "new leader elected", false},
	110: {"OFFSET_MOVED_TO_TIERED_STORAGE", "offset moved to tiered storage", false},
	111: {"FENCED_MEMBER_EPOCH", "fenced member epoch", false},
	112: {"UNRELEASED_INSTANCE_ID", "unreleased instance id", false},
	113: {"UNSUPPORTED_ASSIGNOR", "unsupported assignor", false},
	114: {"STALE_MEMBER_EPOCH", "stale member epoch", false},
	115: {"MISMATCHED_ENDPOINT_TYPE", "mismatched endpoint type", false},
	116: {"UNSUPPORTED_ENDPOINT_TYPE", "unsupported endpoint type", false},
	117: {"UNKNOWN_CONTROLLER_ID", "unknown controller id", false},
	118: {"UNKNOWN_SUBSCRIPTION_ID", "unknown subscription id", false},
	119: {"TELEMETRY_TOO_LARGE", "telemetry too large", false},
	120: {"INVALID_REGISTRATION", "invalid registration", false},
	121: {"TRANSACTION_ABORTABLE", "transaction abortable", false},
	122: {"INVALID_RECORD_STATE", "invalid record state", false},
	123: {"SHARE_SESSION_NOT_FOUND", "share session not found", false},
	124: {"INVALID_SHARE_SESSION_EPOCH", "invalid share session epoch", false},
	125: {"FENCED_STATE_EPOCH", "fenced state epoch", false},
	126: {"INVALID_VOTER_KEY", "invalid voter key", false},
	127: {"DUPLICATE_VOTER", "duplicate voter", false},
	128: {"VOTER_NOT_FOUND", "voter not found", false},
	129: {"INVALID_REGULAR_EXPRESSION", "invalid regular expression", false},
	130: {"REBOOTSTRAP_REQUIRED", "rebootstrap required", false},
	131: {"STREAMS_INVALID_TOPOLOGY", "streams invalid topology", false},
	132: {"STREAMS_INVALID_TOPOLOGY_EPOCH", "streams invalid topology epoch", false},
	133: {"STREAMS_TOPOLOGY_FENCED", "streams topology fenced", false},
	134: {"SHARE_SESSION_LIMIT_REACHED", "share session limit reached", true},
	135: {"GROUP_DELETION_FAILED", "group deletion failed", false},
	136: {"STREAMS_TOPOLOGY_DESCRIPTION_UPDATE_FAILED", "streams topology description update failed", false},
	137: {"CONTROLLER_ID_NOT_REGISTERED", "controller id not registered", false},
}
