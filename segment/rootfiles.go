package segment

import "millrace/vfs"

// Names in the root of a log directory.
const (
	MetaFile             = "meta.properties"
	RecoveryPointFile    = "recovery-point-offset-checkpoint"
	LogStartFile         = "log-start-offset-checkpoint"
	ReplicationFile      = "replication-offset-checkpoint"
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

// ReadOffsets reads an offset checkpoint. A missing file gives fs.ErrNotExist; a damaged one ErrFormat together with the
// entries that could be read (none of them to be trusted more than "unknown").
func ReadOffsets(fsys vfs.FS, path string) ([]OffsetEntry, error) { panic("stub") }

// WriteOffsets replaces an offset checkpoint durably.
func WriteOffsets(fsys vfs.FS, path string, entries []OffsetEntry) error { panic("stub") }

// Meta is meta.properties.
type Meta struct {
	ClusterID   string
	NodeID      int32
	DirectoryID string
	// Other keeps keys that we do not know, in file order ("key=value").
	Other []string
}

// ReadMeta reads meta.properties in dir; fs.ErrNotExist or ErrFormat.
func ReadMeta(fsys vfs.FS, dir string) (Meta, error) { panic("stub") }

// WriteMeta replaces meta.properties durably.
func WriteMeta(fsys vfs.FS, dir string, m Meta) error { panic("stub") }

// CleanMark is what a clean stop leaves behind: Kafka's .kafka_cleanshutdown and our side file, which binds it to the
// boot and to the end offset of every log.
type CleanMark struct {
	BrokerEpoch int64
	// BootID is the kernel's; empty in a mark that a Kafka broker left.
	BootID string
	// Ends are the end offsets of all logs; nil in a mark that a Kafka broker left.
	Ends []OffsetEntry
}

// ReadCleanMark reads the mark in dir; ok is false when there is none (unclean stop).
func ReadCleanMark(fsys vfs.FS, dir string) (m CleanMark, ok bool, err error) { panic("stub") }

// WriteCleanMark writes the mark durably, as the last act of a clean stop.
func WriteCleanMark(fsys vfs.FS, dir string, m CleanMark) error { panic("stub") }

// RemoveCleanMark removes the mark durably, before the first write after a start.
func RemoveCleanMark(fsys vfs.FS, dir string) error { panic("stub") }

// BootID is the kernel's boot id, "" if it cannot be read.
func BootID() string { panic("stub") }

// DirName is the directory name of a partition.
func DirName(topic string, partition int32) string { panic("stub") }

// ParseDirName splits a directory name; ok is false if it is no live partition directory (also for -delete, -future
// and -stray ones).
func ParseDirName(name string) (topic string, partition int32, ok bool) { panic("stub") }

// DeletedName is the name a partition directory gets when it is deleted; unique is a random hex string.
func DeletedName(topic string, partition int32, unique string) string { panic("stub") }

// IsDeletedName says whether name is that of a deleted partition's directory.
func IsDeletedName(name string) bool { panic("stub") }

// ReadTopicID reads partition.metadata in dir.
func ReadTopicID(fsys vfs.FS, dir string) ([16]byte, error) { panic("stub") }

// WriteTopicID replaces partition.metadata durably.
func WriteTopicID(fsys vfs.FS, dir string, id [16]byte) error { panic("stub") }

// FormatID writes an id as Kafka does: base64url, 22 characters.
func FormatID(id [16]byte) string { panic("stub") }

// ParseID reads what FormatID writes.
func ParseID(s string) ([16]byte, error) { panic("stub") }
