package engine

import "millrace/internal/metric"

// Stats are counters since Open and levels now, summed over all loops.
type Stats struct {
	Partitions int64 // open partitions
	Offline    int64 // of those, in dead directories

	Appends      int64 // batches appended
	AppendBytes  int64
	Duplicates   int64 // batches answered from the producer window
	Refused      int64 // batches refused for whatever reason
	Writes       int64 // vectored writes
	WriteErrors  int64
	Syncs        int64 // datasync calls and syncfs calls
	SyncErrors   int64
	SyncNs       int64 // sum of their durations
	Rolls        int64
	Checkpoints  int64 // recovery points written
	Deleted      int64 // segments given up by retention and DeleteRecords
	DeletedBytes int64

	UnsyncedBytes    int64 // written, not synced
	UnrecoveredBytes int64 // above the recovery points on disk
	Waiters          int64 // parked long polls
	StorageFull      int64 // partitions that refuse appends for lack of space
	SlowSyncs        int64 // background syncs that took longer than the age they shall keep
}

// LoadReport says what Load found.
type LoadReport struct {
	Dirs       int
	Partitions int
	// Unclean counts partitions that were scanned above their recovery point.
	Unclean      int
	ScannedBytes int64
	// CutBytes were dropped above recovery points; CutFiles keep those behind which valid batches stood.
	CutBytes int64
	CutFiles []string
	// Damage and Notes are lines for the operator.
	Damage []string
	Notes  []string
	// Failed are directories of partitions that could not be opened; they were left alone.
	Failed []string
	// Unopened are their names (topic-index), Gone the names of partitions that the last clean stop left and that are no
	// longer there.
	Unopened, Gone []string
	DurationMs     int64
}

// DirInfo describes one log directory.
type DirInfo struct {
	Path        string
	DirectoryID string
	Partitions  int
	// TotalBytes and FreeBytes are of the file system; 0 when unknown.
	TotalBytes, FreeBytes uint64
	// Err is why the directory is dead, nil while it lives.
	Err error
}

// ProducerInfo is one producer as DescribeProducers shows it.
type ProducerInfo struct {
	ProducerID       int64
	Epoch            int16
	LastSequence     int32 // -1 when only a marker was seen
	LastTimestampMs  int64
	CoordinatorEpoch int32 // -1 for none
	TxnFirstOffset   int64 // -1 without an open transaction
}

// shardStats are one loop's cells. Owned by the loop, read by any goroutine.
type shardStats struct {
	partitions, offline, full, waiters                   *metric.Gauge
	appends, bytes, duplicates, refused                  *metric.Counter
	writes, writeErrors, syncs, syncErrors, syncNs       *metric.Counter
	rolls, checkpoints, deleted, deletedBytes, slowSyncs *metric.Counter
	syncTime                                             *metric.Histogram
}

func (t *shardStats) register(r *metric.Registry) {
	c := func(name, help string) *metric.Counter { return r.Counter("millrace_engine_"+name, help) }
	g := func(name, help string) *metric.Gauge { return r.Gauge("millrace_engine_"+name, help) }
	t.partitions = g("partitions", "Open partitions.")
	t.offline = g("partitions_offline", "Partitions in failed log directories.")
	t.full = g("partitions_storage_full", "Partitions that refuse appends for lack of space.")
	t.waiters = g("fetch_waiters", "Parked long polls.")
	t.appends = c("append_batches_total", "Batches appended.")
	t.bytes = c("append_bytes_total", "Bytes of batches appended.")
	t.duplicates = c("append_duplicates_total", "Batches answered from a producer's window.")
	t.refused = c("append_refused_total", "Batches refused.")
	t.writes = c("writes_total", "Vectored writes to segments.")
	t.writeErrors = c("write_errors_total", "Vectored writes that failed.")
	t.syncs = c("syncs_total", "Calls of datasync and syncfs for appends.")
	t.syncErrors = c("sync_errors_total", "Sync rounds that failed.")
	t.syncNs = c("sync_nanoseconds_total", "Time from start to end of sync rounds, summed.")
	t.rolls = c("rolls_total", "New segments.")
	t.checkpoints = c("checkpoints_total", "Partition checkpoints.")
	t.deleted = c("segments_deleted_total", "Segments given up by retention or DeleteRecords.")
	t.deletedBytes = c("segments_deleted_bytes_total", "Bytes of those.")
	t.slowSyncs = c("slow_syncs_total", "Background syncs slower than the age they shall keep.")
	t.syncTime = r.Histogram("millrace_engine_sync_seconds", "Duration of sync rounds.", 1e-9,
		[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10})
}

func (s *Shard) publishStats() { s.st.waiters.Set(s.parkedCount) }

// Stats sums the counters of all loops. Any goroutine.
func (e *Engine) Stats() Stats {
	var t Stats
	for _, s := range e.shards {
		c := &s.st
		t.Partitions += c.partitions.Load()
		t.Offline += c.offline.Load()
		t.StorageFull += c.full.Load()
		t.Waiters += c.waiters.Load()
		t.Appends += c.appends.Load()
		t.AppendBytes += c.bytes.Load()
		t.Duplicates += c.duplicates.Load()
		t.Refused += c.refused.Load()
		t.Writes += c.writes.Load()
		t.WriteErrors += c.writeErrors.Load()
		t.Syncs += c.syncs.Load()
		t.SyncErrors += c.syncErrors.Load()
		t.SyncNs += c.syncNs.Load()
		t.Rolls += c.rolls.Load()
		t.Checkpoints += c.checkpoints.Load()
		t.Deleted += c.deleted.Load()
		t.DeletedBytes += c.deletedBytes.Load()
		t.SlowSyncs += c.slowSyncs.Load()
	}
	for _, d := range e.dirs {
		t.UnsyncedBytes += d.unsynced.Load()
		t.UnrecoveredBytes += d.unrecoveredOnDisk()
	}
	return t
}

// Dirs describes the log directories. It asks the file system: not for loops.
func (e *Engine) Dirs() []DirInfo {
	out := make([]DirInfo, 0, len(e.dirs))
	for _, d := range e.dirs {
		i := DirInfo{Path: d.path, DirectoryID: d.meta.DirectoryID, Partitions: len(d.partitions())}
		i.TotalBytes, i.FreeBytes, _ = e.fs.Usage(d.path)
		if f := d.dead.Load(); f != nil {
			i.Err = f.err
		}
		out = append(out, i)
	}
	return out
}
