package segment

// Names in the root of a log directory.
const (
	MetaFile             = "meta.properties"
	RecoveryPointFile    = "recovery-point-offset-checkpoint"
	LogStartFile         = "log-start-offset-checkpoint"
	ReplicationFile      = "replication-offset-checkpoint"
	CleanerFile          = "cleaner-offset-checkpoint"
	CleanShutdownFile    = ".kafka_cleanshutdown"
	CleanMarkFile        = ".millrace_clean"
	LockFile             = ".lock"
	MetadataDirectory    = "__millrace_metadata-0"
	DeletedDirSuffix     = "-delete"
	FutureDirSuffix      = "-future"
	StrayDirSuffix       = "-stray"
	PartitionMetaFile    = "partition.metadata"
	LeaderEpochFile      = "leader-epoch-checkpoint"
	checkpointVersion    = 0
	cleanShutdownVersion = 0
)

// OffsetEntry is one line of an offset checkpoint file.
type OffsetEntry struct {
	Topic     string
	Partition int32
	Offset    int64
}

// Meta is meta.properties.
type Meta struct {
	ClusterID   string
	NodeID      int32
	DirectoryID string
	// Other keeps keys that we do not know, in file order ("key=value").
	Other []string
}

// CleanMark is what a clean stop leaves behind: Kafka's .kafka_cleanshutdown and our side file, which binds it to the
// boot and to the end offset of every log.
type CleanMark struct {
	BrokerEpoch int64
	// BootID is the kernel's; empty in a mark that a Kafka broker left.
	BootID string
	// Ends are the end offsets of all logs; nil in a mark that a Kafka broker left.
	Ends []OffsetEntry
}
