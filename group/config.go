package group

// Config are the settings that coordinators act on. Immutable once passed in.
type Config struct {
	InitialRebalanceDelayMs int32 // group.initial.rebalance.delay.ms
	MinSessionTimeoutMs     int32 // group.min.session.timeout.ms
	MaxSessionTimeoutMs     int32 // group.max.session.timeout.ms
	MaxSize                 int32 // group.max.size

	OffsetMetadataMax       int32 // offset.metadata.max.bytes, counted in UTF-16 units as Kafka does
	OffsetsRetentionMs      int64 // offsets.retention.minutes
	OffsetsRetentionCheckMs int64 // offsets.retention.check.interval.ms

	// ConsumerOff switches the consumer protocol off (group.coordinator.rebalance.protocols).
	ConsumerOff       bool
	ConsumerMaxSize   int32    // group.consumer.max.size
	ConsumerAssignors []string // group.consumer.assignors, the first is the default
	// MigrateUp lets a classic group become a consumer group while it has members, MigrateDown the opposite
	// (group.consumer.migration.policy).
	MigrateUp, MigrateDown bool
	// Consumer are the settings of one group of the consumer protocol.
	Consumer func(group string) ConsumerConfig
}

// ConsumerConfig are the settings of one group of the consumer protocol, ms.
type ConsumerConfig struct {
	SessionTimeoutMs, HeartbeatIntervalMs, AssignmentIntervalMs int32
}

// Topics is a snapshot of the cluster's topics. Immutable.
type Topics interface {
	// Topic finds a topic by name.
	Topic(name string) (Topic, bool)
	// TopicByID finds a topic by id.
	TopicByID(id [16]byte) (Topic, bool)
	// Each calls fn with every topic, in no order, until it returns false.
	Each(fn func(Topic) bool)
	// Version grows with every change of a topic.
	Version() int64
}

// Topic is one topic.
type Topic struct {
	ID         [16]byte
	Name       string
	Partitions int32
}
