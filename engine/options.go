package engine

import (
	"log/slog"

	"millrace/internal/metric"
	"millrace/netpoll"
	"millrace/vfs"
)

// CommitMode says who moves the committed end.
type CommitMode uint8

const (
	// CommitLocal: this node is the only replica. Committed rises to the written end, but never past the first
	// acks=all batch above the synced end (decisions 2).
	CommitLocal CommitMode = iota
	// CommitExternal: a replication machine on the owner loop calls Partition.SetCommitted.
	CommitExternal
)

// Options are the engine's settings; the zero value of a field means its default.
type Options struct {
	// FS is the file system; nil is the operating system's.
	FS vfs.FS
	// Dirs are the log directories; at least one. A missing one is made.
	Dirs []string
	// ReservedDirs are directory names inside a log directory that are not partitions (the metadata log).
	ReservedDirs []string

	// Loops run the partitions; the caller runs them after Open. Empty: the engine makes and runs LoopCount loops of its
	// own, on the portable driver, until Close.
	Loops     []*netpoll.Loop
	LoopCount int // default 1

	// ClusterID and NodeID are written to meta.properties of a new directory and compared with those of an old one.
	// An empty ClusterID takes what is found, or a fresh random one.
	ClusterID string
	NodeID    int32

	Commit CommitMode
	// Cleaner are the settings of compaction.
	Cleaner CleanerOptions
	// Config is what partitions found by Load have until SetConfig; nil is DefaultConfig.
	Config *PartitionConfig
	// HoldRetention keeps retention away from the partitions that Load found until SetConfig has told each its own
	// settings; for programs that learn those later.
	HoldRetention bool

	// UnsyncedBytesMax is how many bytes per log directory may be written and not synced, and how many recovery may have
	// to read again (decisions 3 and 9). Default 256 MiB.
	UnsyncedBytesMax int64
	// AllocateAheadMax bounds the bytes of blocks that a segment is made with whose predecessor was filled quickly
	// (segment.Options.AheadMax). Default 1 GiB; negative: none.
	AllocateAheadMax int64
	// UnsyncedAgeMaxMs is how long written bytes wait for a background sync. Default 1000.
	UnsyncedAgeMaxMs int64
	// SyncFSAbove: more dirty files than this of one directory are synced by one syncfs. Default 16.
	SyncFSAbove int
	// LoadParallel bounds how many partitions Load opens at a time. Default twice the CPUs.
	LoadParallel int
	// ProducerExpiryMs forgets producers that were idle so long (producer.id.expiration.ms). Default 86,400,000.
	ProducerExpiryMs int64
	// ProducersMax bounds the producers remembered per partition. Default 1,000,000.
	ProducersMax int
	// RetentionCheckMs is the time between two looks at retention (log.retention.check.interval.ms). Default 300,000.
	RetentionCheckMs int64
	// InitialTaskDelayMs is the time from the start to the first look at retention (log.initial.task.delay.ms). 0 means
	// 30,000, or RetentionCheckMs if that is less.
	InitialTaskDelayMs int64
	// ProducerExpiryCheckMs is the time between two looks for producers that expired
	// (producer.id.expiration.check.interval.ms). 0 means RetentionCheckMs.
	ProducerExpiryCheckMs int64
	// SpaceProbeMs is the time between two probes of a full disk. Default 1000.
	SpaceProbeMs int64

	// WallMs is the wall clock in ms since 1970; nil is the machine's. No safety decision uses it.
	WallMs func() int64
	// BootID identifies the running kernel; empty reads it from the system. A different one, or none, after a stop
	// without clean marker means that unsynced pages are gone.
	BootID string
	Log    *slog.Logger // nil: slog.Default
	// Metrics takes the shards' counters; nil: a registry of its own.
	Metrics *metric.Registry

	// DirFailed is told, on an ordinary goroutine, that a log directory died. The process may exit if it must.
	DirFailed func(dir string, err error)
}

// PartitionConfig is the part of a topic's configuration that storage acts on. Immutable once passed in.
type PartitionConfig struct {
	SegmentBytes       int64 // segment.bytes
	SegmentMs          int64 // segment.ms, by record time
	SegmentJitterMs    int64 // segment.jitter.ms
	SegmentIndexBytes  int64 // segment.index.bytes
	IndexIntervalBytes int64 // index.interval.bytes
	RetentionMs        int64 // retention.ms, -1 for ever
	RetentionBytes     int64 // retention.bytes, negative: no limit
	FileDeleteDelayMs  int64 // file.delete.delay.ms
	FlushMessages      int64 // flush.messages
	FlushMs            int64 // flush.ms
	Preallocate        bool  // preallocate
	// Delete: cleanup.policy holds "delete", so that retention applies.
	Delete bool
	// Compact: cleanup.policy holds "compact", so that the cleaner keeps the last record of each key only.
	Compact            bool
	DeleteRetentionMs  int64   // delete.retention.ms
	MinCleanableRatio  float64 // min.cleanable.dirty.ratio
	MinCompactionLagMs int64   // min.compaction.lag.ms
	MaxCompactionLagMs int64   // max.compaction.lag.ms; 0 or the largest number: none
	// WriteCaching: acks=all is acknowledged without waiting for the disk (write.caching).
	WriteCaching bool
	// Internal: every batch counts as acks=all (decisions 2), whatever WriteCaching says.
	Internal bool
}

// DefaultConfig is Kafka 4.4's default of each setting.
func DefaultConfig() *PartitionConfig {
	const day = 24 * 60 * 60 * 1000
	return &PartitionConfig{
		SegmentBytes:       1 << 30,
		SegmentMs:          7 * day,
		SegmentIndexBytes:  10 << 20,
		IndexIntervalBytes: 4096,
		RetentionMs:        7 * day,
		RetentionBytes:     -1,
		FileDeleteDelayMs:  60_000,
		FlushMessages:      1<<63 - 1,
		FlushMs:            1<<63 - 1,
		Delete:             true,
		DeleteRetentionMs:  day,
		MinCleanableRatio:  0.5,
	}
}
