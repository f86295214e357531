package controller

// UUID is a Kafka uuid: topic ids, incarnations. The zero value means none.
type UUID = [16]byte

// Topic is one topic; immutable once published.
type Topic struct {
	Name string
	ID   UUID
	// Partitions has the partition with index i at place i.
	Partitions []Partition
	// Configs are the values set for this topic, never defaults; nil if none. Read only.
	Configs map[string]string
	// ConfigVersion changes with Configs and guards AlterConfigs.
	ConfigVersion int64
	// Internal tells Kafka's own topics (__consumer_offsets, __transaction_state).
	Internal bool
}

// NoLeader is the leader of a partition that has none.
const NoLeader int32 = -1

// Partition is the state of one partition that the controller decides; immutable once published.
type Partition struct {
	// Leader is a broker id or NoLeader.
	Leader int32
	// LeaderEpoch rises with every change of leader and with every new incarnation of the leading broker. A new
	// partition has 0.
	LeaderEpoch int32
	// PartitionEpoch rises with every change of anything here and guards ISR changes.
	PartitionEpoch int32
	// Replicas in order of preference.
	Replicas []int32
	// ISR are the replicas in sync (KIP-497).
	ISR []int32
	// ELR and LastKnownELR are the eligible leader replicas outside the ISR (KIP-966).
	ELR, LastKnownELR []int32
	// Adding and Removing are those of a reassignment under way (KIP-455).
	Adding, Removing []int32
}
