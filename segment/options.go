package segment

import (
	"millrace/segment/batch"
)

// Options are the settings of one log. All but those marked fixed may change while it is open (Log.SetOptions).
type Options struct {
	// SegmentBytes is segment.bytes: a segment is rolled before it would grow past this. Default 1 GiB.
	SegmentBytes int64
	// SegmentMs is segment.ms: a segment is rolled when a batch's time is more than this away from the time of the
	// segment's first batch. Default 7 days.
	SegmentMs int64
	// SegmentJitterMs is segment.jitter.ms, the upper bound of what is taken off SegmentMs at random per segment.
	SegmentJitterMs int64
	// IndexBytes is segment.index.bytes; a full index makes the segment roll. Default 10 MiB.
	IndexBytes int64
	// IndexIntervalBytes is index.interval.bytes: bytes between index entries. Default 4096.
	IndexIntervalBytes int64
	// RetentionMs is retention.ms, -1 for no limit. Default 7 days.
	RetentionMs int64
	// RetentionBytes is retention.bytes, -1 for no limit. Default -1.
	RetentionBytes int64
	// DeleteByRetention says whether cleanup.policy contains delete; without it only DeleteRecords removes.
	DeleteByRetention bool
	// FileDeleteDelayMs is file.delete.delay.ms: renamed files stay this long. Default 60 s.
	FileDeleteDelayMs int64
	// Preallocate allocates blocks for a whole segment when it is made (size unchanged), if twice as much is free. Default
	// false.
	Preallocate bool
	// AheadMax bounds the bytes of blocks that a segment is made with whose predecessor was filled quickly. Fixed. 0, the
	// default: none.
	AheadMax int64
	// WriteBatchesMax bounds the batches of one vectored write. Fixed. Default 1024 (IOV_MAX).
	WriteBatchesMax int
}

// DefaultOptions are Kafka's defaults.
func DefaultOptions() Options {
	return Options{
		SegmentBytes:       1 << 30,
		SegmentMs:          7 * 24 * 3600 * 1000,
		IndexBytes:         10 << 20,
		IndexIntervalBytes: 4096,
		RetentionMs:        7 * 24 * 3600 * 1000,
		RetentionBytes:     -1,
		DeleteByRetention:  true,
		FileDeleteDelayMs:  60_000,
		WriteBatchesMax:    1024,
	}
}

// EnsureDefaults fills in what is zero and cannot be.
func (o *Options) EnsureDefaults() {
	d := DefaultOptions()
	if o.SegmentBytes <= 0 {
		o.SegmentBytes = d.SegmentBytes
	}
	o.SegmentBytes = min(o.SegmentBytes, 1<<31-1)
	if o.SegmentMs <= 0 {
		o.SegmentMs = d.SegmentMs
	}
	if o.IndexBytes <= 0 {
		o.IndexBytes = d.IndexBytes
	}
	if o.IndexIntervalBytes < 0 {
		o.IndexIntervalBytes = d.IndexIntervalBytes
	}
	if o.FileDeleteDelayMs < 0 {
		o.FileDeleteDelayMs = d.FileDeleteDelayMs
	}
	if o.WriteBatchesMax <= 0 {
		o.WriteBatchesMax = d.WriteBatchesMax
	}
}

// Params say which log to make or open, and what is known about it from the files in the log directory's root.
type Params struct {
	// Dir is the partition's directory, <log.dir>/<topic>-<partition>.
	Dir       string
	Topic     string
	Partition int32
	// TopicID is checked against partition.metadata; zero takes whatever is there.
	TopicID [16]byte
	Options Options

	// RecoveryPoint is the checkpointed offset below which everything was synced; 0 when unknown. One beyond the
	// log's end is distrusted and counts as 0.
	RecoveryPoint int64
	// LogStart is the checkpointed log start offset; the log starts at the larger of it and the first segment.
	LogStart int64
	// StartOffset is the first offset of a log made by Create. Open ignores it.
	StartOffset int64
	// Clean says that the last stop was clean and that the log ends where the clean mark says; then nothing is scanned.
	Clean bool
	// CleanEnd is the end offset in the clean mark, -1 when unknown; a log that ends elsewhere is treated as unclean.
	CleanEnd int64
	// Direct reads past the page cache above the recovery point and rewrites what is kept to new files: set after
	// a failed sync (decisions on write errors).
	Direct bool
	// NowMs is the wall clock in ms, for segments without timestamps and for delayed removal.
	NowMs int64
	// Producers is told the producer state that the log holds; nil if nobody needs it.
	Producers ProducerLoader
}

// ProducerLoader receives producer state while a log is opened, on the goroutine that opens it: first at most one
// Load, then Replay for every batch above it, in order.
type ProducerLoader interface {
	// Load replaces the whole state by that of a snapshot which covers all offsets below offset. entries and their
	// contents belong to the receiver.
	Load(entries []ProducerEntry, offset int64)
	// Replay tells of a stored batch that has a producer id. v is valid only during the call.
	Replay(v batch.View)
}
