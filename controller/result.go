package controller

// Result is the outcome of one command.
type Result struct {
	// Code and Text are the error of the whole command; CodeNone if it was applied, even if all its entries
	// were refused.
	Code Code
	Text string
	// Index is the log index at which the command was applied.
	Index uint64
	// Topics are the outcomes of CreateTopics, DeleteTopics and CreatePartitions.
	Topics []TopicResult
	// Configs are the outcomes of AlterConfigs, one for each of its sets, in order.
	Configs []ConfigResult
	// FirstProducerID is the first of the block that AllocateProducerIDs got.
	FirstProducerID int64
	// BrokerEpoch is the epoch that RegisterBroker got.
	BrokerEpoch int64
}

// TopicResult is the outcome for one topic of a command.
type TopicResult struct {
	// Name is "" with NoName set if the topic was named by an unknown id or not at all.
	Name   string
	NoName bool
	ID     UUID
	Code   Code
	// Text explains Code; "" stands for Kafka's null message.
	Text string
	// Partitions and ReplicationFactor are those of a topic that was created (or would be).
	Partitions        int32
	ReplicationFactor int16
}

// ConfigResult is the outcome for one resource of AlterConfigs.
type ConfigResult struct {
	Resource Resource
	Code     Code
	Text     string
	// Conflict: the resource changed since the version the command was computed from. Compute and propose again;
	// Code is CodeUnknownServerError.
	Conflict bool
}
