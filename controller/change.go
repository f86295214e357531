package controller

// ChangeKind says what a Change is about.
type ChangeKind uint8

// The kinds of changes.
const (
	// TopicCreated: Topic is the new one, all its partitions are new.
	TopicCreated ChangeKind = iota + 1
	// TopicDeleted: Topic is what it was.
	TopicDeleted
	// PartitionsAdded: Topic is the new state; the partitions from Partition on are new.
	PartitionsAdded
	// PartitionChanged: Topic is the new state; Partition is the index of what changed (leader, epoch, ISR ...).
	PartitionChanged
	// ConfigChanged: Resource has another set of values; for a topic, Topic is the new state.
	ConfigChanged
	// BrokerChanged: Broker registered anew, or was fenced or unfenced.
	BrokerChanged
)

// Change is one thing in which two images differ. Changes come in the order in which they were made.
type Change struct {
	Kind      ChangeKind
	Topic     *Topic
	Partition int32
	Resource  Resource
	Broker    int32
}
