package controller

// Kind is the number of a command's body in its bytes.
type Kind uint8

// The commands. Numbers are on disk: never reused.
const (
	KindRegisterBroker      Kind = 1
	KindTakeLeadership      Kind = 2
	KindCreateTopics        Kind = 3
	KindDeleteTopics        Kind = 4
	KindCreatePartitions    Kind = 5
	KindAlterConfigs        Kind = 6
	KindAllocateProducerIDs Kind = 7
)

// Command is a body with the identity that makes it apply once.
type Command struct {
	// Node and Incarnation name the session; a session begins with RegisterBroker.
	Node        int32
	Incarnation UUID
	// Counter is one more than that of the session's command before; RegisterBroker begins a session with any.
	Counter uint64
	Body    Body
}

// Body is one of *RegisterBroker, *TakeLeadership, *CreateTopics, *DeleteTopics, *CreatePartitions,
// *AlterConfigs, *AllocateProducerIDs. A body is read only once it is proposed.
type Body interface {
	Kind() Kind
	appendTo(dst []byte) []byte
	apply(b *Builder, index uint64) Result
}

// RegisterBroker makes the sending node's incarnation the registered one. It is the first command of a session
// and ends the node's earlier one.
type RegisterBroker struct {
	Rack      string
	Endpoints []Endpoint
}

// TakeLeadership raises the leader epoch of every partition that the sending node leads, and makes it leader of
// those without leader whose ISR names it. A new incarnation sends it before its first append.
type TakeLeadership struct{}

// CreateTopics creates topics. Make it with NewCreateTopics, which resolves defaults and asks the configuration
// table.
type CreateTopics struct {
	Topics []NewTopic
}

// NewTopic is one topic of CreateTopics.
type NewTopic struct {
	Name string
	// ID is drawn by the proposer; never zero.
	ID UUID
	// Partitions and ReplicationFactor are counts, -1 only with Assignment.
	Partitions        int32
	ReplicationFactor int16
	// Manual says that Assignment names the replicas (even if it is empty).
	Manual     bool
	Assignment []Assignment
	Configs    map[string]string
	// ConfigError is the verdict of the proposer's configuration table on Configs; "" is good. It travels with
	// the command because nodes of different versions must apply alike.
	ConfigError string
}

// Assignment is the replica list of one partition.
type Assignment struct {
	Partition int32
	Replicas  []int32
}

// DeleteTopics deletes topics.
type DeleteTopics struct {
	Topics []TopicRef
}

// TopicRef names a topic by name or by id. A nil Name pointer is "no name".
type TopicRef struct {
	Name *string
	ID   UUID
}

// CreatePartitions raises partition counts.
type CreatePartitions struct {
	Topics []MorePartitions
}

// MorePartitions is one topic of CreatePartitions.
type MorePartitions struct {
	Name string
	// Count is the new total.
	Count int32
	// Manual says that Assignment names the replicas of each new partition.
	Manual     bool
	Assignment [][]int32
}

// AlterConfigs replaces the values set for resources. Each is applied or refused by itself.
type AlterConfigs struct {
	Sets []ConfigSet
}

// ConfigSet is the complete new set of values of one resource; the frontend has computed it (incremental
// operations included) and checked it against the configuration table.
type ConfigSet struct {
	Resource Resource
	// Version is Image.ConfigVersion of the resource when Configs was computed.
	Version int64
	Configs map[string]string
}

// AllocateProducerIDs takes a block of Count producer ids.
type AllocateProducerIDs struct {
	Count int32
}
