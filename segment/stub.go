package segment

import (
	"time"

	"millrace/segment/batch"
	"millrace/vfs"
)

// Log is one partition's log. Owned by its loop, but for the methods marked (any goroutine).
type Log struct{}

// Create makes the directory, partition.metadata and the first segment, all durable, and opens the log. It blocks.
func Create(fsys vfs.FS, p Params) (*Log, error) { panic("stub") }

// Open opens an existing directory, recovering what an unclean stop left. It blocks. A log with damage below the
// recovery point opens; the report says so.
func Open(fsys vfs.FS, p Params) (*Log, Report, error) { panic("stub") }

// Topic, Partition, TopicID and Dir say which log this is (any goroutine).
func (l *Log) Topic() string     { panic("stub") }
func (l *Log) Partition() int32  { panic("stub") }
func (l *Log) TopicID() [16]byte { panic("stub") }
func (l *Log) Dir() string       { panic("stub") }

// Start is the log start offset; End the next offset to stage; WrittenEnd the end of what writes have returned for;
// SyncedEnd the end of what is durable; RecoveryPoint the end of the last finished checkpoint.
func (l *Log) Start() int64         { panic("stub") }
func (l *Log) End() int64           { panic("stub") }
func (l *Log) WrittenEnd() int64    { panic("stub") }
func (l *Log) SyncedEnd() int64     { panic("stub") }
func (l *Log) RecoveryPoint() int64 { panic("stub") }

// UnsyncedBytes are written but not synced; UncheckpointedBytes lie above the recovery point; Size is the bytes of
// all segments; Segments their number.
func (l *Log) UnsyncedBytes() int64       { panic("stub") }
func (l *Log) UncheckpointedBytes() int64 { panic("stub") }
func (l *Log) Size() int64                { panic("stub") }
func (l *Log) Segments() int              { panic("stub") }

// SetOptions changes the settings.
func (l *Log) SetOptions(o Options) { panic("stub") }

// Options are the settings.
func (l *Log) Options() Options { panic("stub") }

// StageResult says what became of Stage.
type StageResult uint8

const (
	// Staged: the batch is part of the next write. Its bytes must stay until WriteDone.
	Staged StageResult = iota
	// StageFull: the next write has as many batches as one may; TakeWrite first.
	StageFull
	// StageRoll: a new segment must come first. Write what is staged, wait for CanRoll, Roll, stage again.
	StageRoll
	// StageBusy: a cut or truncation is under way; wait for its JobDone.
	StageBusy
)

// Stage appends one batch to the write being built. Offset and leader epoch are stamped already: the base offset is
// End() (or above it, in a follower of a compacted log). No allocation in steady state.
func (l *Log) Stage(v batch.View) StageResult { panic("stub") }

// Write is one vectored write of staged batches. Owned by the log; lent from TakeWrite to WriteDone.
type Write struct {
	File vfs.File
	// Off is where in the file, Bytes the sum of Iov.
	Off   int64
	Bytes int64
	Iov   [][]byte
	// FirstOffset and EndOffset (exclusive) are the offsets it holds, Batches how many batches.
	FirstOffset int64
	EndOffset   int64
	Batches     int
}

// TakeWrite hands out the write built so far; nil when nothing is staged, one is in flight, or a cut is under way.
func (l *Log) TakeWrite() *Write { panic("stub") }

// WriteDone publishes the write: readers see it, WrittenEnd has moved. ok is false when it failed (err != nil or
// n < w.Bytes): then all staged batches, those behind it too, are forgotten, End is back at WrittenEnd, and a JobCut
// stands in the queue; Stage says StageBusy until it is done.
func (l *Log) WriteDone(w *Write, n int64, err error) (ok bool) { panic("stub") }

// WantRoll says that a Stage was refused with StageRoll or RequestRoll was called, and no Roll has come since.
func (l *Log) WantRoll() bool { panic("stub") }

// RequestRoll asks for a new segment though no batch needs one (retention of the active one). An empty active segment
// stays.
func (l *Log) RequestRoll() { panic("stub") }

// CanRoll says that the successor is there, nothing is staged or in flight, and the last roll was sealed far enough.
// The successor is made by a JobSuccessor, queued at 90 % of the segment or when a roll is wanted.
func (l *Log) CanRoll() bool { panic("stub") }

// Roll makes the successor the active segment; CanRoll must hold. producers is the producer state at WrittenEnd for
// the snapshot; it belongs to the log from now on. Queues a JobSeal.
func (l *Log) Roll(producers []ProducerEntry) { panic("stub") }

// SyncSet is one round of datasync. Owned by the log; lent from BeginSync to SyncDone.
type SyncSet struct {
	// Files are to be synced, all of them; mostly one.
	Files []vfs.File
	// End is what SyncedEnd may become.
	End   int64
	Bytes int64
}

// BeginSync collects the files with unsynced bytes as written now; nil when there are none or a round is under way.
func (l *Log) BeginSync() *SyncSet { panic("stub") }

// SyncDone ends the round. On success SyncedEnd rises, up to a roll whose names are not yet durable (the JobSeal). An
// error is remembered: SyncedEnd never moves again.
func (l *Log) SyncDone(s *SyncSet, err error) { panic("stub") }

// Checkpoint queues a JobCheckpoint: datasync, indexes, snapshot (producers nil: none is written because no producer
// changed since the last), epochs, checksum side file. producers is the state at WrittenEnd now. When it is done
// SyncedEnd and RecoveryPoint are at least the present WrittenEnd; the caller then writes the recovery-point file. False
// when one is queued or out.
func (l *Log) Checkpoint(producers []ProducerEntry) bool { panic("stub") }

// TakeJob hands out the next job that may run now; nil when there is none. Call it until nil after every Stage,
// WriteDone, Roll, JobDone, Tick or other change.
func (l *Log) TakeJob() *Job { panic("stub") }

// JobDone ends a job.
func (l *Log) JobDone(j *Job) { panic("stub") }

// Tick queues removals that are due.
func (l *Log) Tick(nowMs int64) { panic("stub") }

// SetStart raises the log start (DeleteRecords); the caller has synced the log up to it and the log-start checkpoint.
// False if it is not above Start or above WrittenEnd. The files go with the next Retention.
func (l *Log) SetStart(offset int64) bool { panic("stub") }

// Retained is what one Retention pass did.
type Retained struct {
	ByStart, ByTime, BySize int
	Bytes                   int64
	// Roll: the active segment is due too; RequestRoll was called, and the next pass after the roll takes it.
	Roll bool
}

// Retention takes segments out of the log: first those below the log start, then by time, then by size, none that holds
// offsets at or above committed. They vanish from View at once; a JobDelete renames them. Start may have risen.
func (l *Log) Retention(nowMs, committed int64) Retained { panic("stub") }

// Truncate cuts the log to end at offset (start of the batch that holds it): a JobTruncate is queued, and Stage says
// StageBusy until it is done. Nothing may be staged or in flight. The caller has lowered and synced the recovery-point file.
// View and WrittenEnd show the cut when the job is done.
func (l *Log) Truncate(offset int64) { panic("stub") }

// Reset empties the log and lets it go on at offset (a follower out of range); otherwise as Truncate.
func (l *Log) Reset(offset int64) { panic("stub") }

// AssignEpoch notes that the leader epoch begins at End(); ignored unless above the last one. Batches staged with a
// higher epoch do the same by themselves when written.
func (l *Log) AssignEpoch(epoch int32) { panic("stub") }

// Epochs is the present lineage (any goroutine).
func (l *Log) Epochs() *Epochs { panic("stub") }

// View is the present view with a reference for the caller, who must Release it (any goroutine).
func (l *Log) View() *View { panic("stub") }

// Close syncs and writes everything so that the next start need not scan, and closes the files once their readers are
// gone. Nothing may be staged or in flight and no job out. It blocks: call it off the loop, the loop not using the log.
func (l *Log) Close(producers []ProducerEntry) error { panic("stub") }

// Abandon closes the files without syncing or writing (dead directory, deleted partition). It blocks on close only.
func (l *Log) Abandon() { panic("stub") }

// Report says what Open found and did.
type Report struct {
	Dir      string
	Segments int
	Bytes    int64
	// ScannedBytes and ScannedBatches were read and checked.
	ScannedBytes   int64
	ScannedBatches int64
	// CutBytes were dropped above the recovery point; CutFile keeps them if valid batches followed the bad one.
	CutBytes  int64
	CutOffset int64
	CutFile   string
	// Damage lists what is wrong below the recovery point; it was left as it is.
	Damage []Damage
	// RebuiltIndexes are the base offsets of segments whose indexes were rebuilt.
	RebuiltIndexes []int64
	// Removed are files that were dropped (left-overs, bad snapshots); Notes tells what else was repaired.
	Removed []string
	Notes   []string
	// SnapshotOffset is where producer state was loaded from, -1 without one.
	SnapshotOffset int64
	Duration       time.Duration
}

// Damage is a bad range below the recovery point.
type Damage struct {
	File       string
	Pos, Len   int64
	FromOffset int64
	Err        error
}

// EpochEntry says where a leader epoch begins.
type EpochEntry struct {
	Epoch int32
	Start int64
}

// Epochs is a lineage of leader epochs, immutable once published.
type Epochs struct{ entries []EpochEntry }

// Entries are the entries, growing in both fields. Not to be changed.
func (e *Epochs) Entries() []EpochEntry { return e.entries }

// Last is the latest epoch, -1 if there is none.
func (e *Epochs) Last() int32 { panic("stub") }

// EndOffset is what OffsetForLeaderEpoch answers: the largest epoch <= asked and the end of it. logEnd is the end
// of the latest epoch. Unknown: (-1, -1).
func (e *Epochs) EndOffset(asked int32, logEnd int64) (epoch int32, end int64) { panic("stub") }

// EpochOf is the epoch that offset was written in, -1 if unknown.
func (e *Epochs) EpochOf(offset int64) int32 { panic("stub") }

// View is an immutable list of segments, the last of which still grows. Any goroutine, between View and Release.
type View struct{}

// Retain takes one more reference; Release gives one up (any goroutine; neither blocks).
func (v *View) Retain()  { panic("stub") }
func (v *View) Release() { panic("stub") }

// Start is the first offset that the segments hold (the log start may be higher), End the published end.
func (v *View) Start() int64 { panic("stub") }
func (v *View) End() int64   { panic("stub") }

// Position is where a batch starts.
type Position struct {
	seg *Segment
	// Pos is the position in the file, Offset the base offset of the batch, Size its bytes at most (0 at the end).
	Pos    int64
	Offset int64
	Size   int64
}

// Segment is one segment as readers see it.
type Segment struct{}

// Find is the first batch whose last offset is >= offset; at the published end an empty position. No blocking: ErrCold
// when it would take a read that may block. ErrOutOfRange below the first segment or above the end.
func (v *View) Find(offset int64) (Position, error) { panic("stub") }

// FindBlocking is Find, reading what it needs.
func (v *View) FindBlocking(offset int64) (Position, error) { panic("stub") }

// Range is a part of a file.
type Range struct {
	File vfs.File
	Off  int64
	Len  int64
	// Cold: not in the active segment, so perhaps not in the page cache.
	Cold bool
}

// Slice is what a fetch from p may send: up to maxBytes, whole batches where the end is known, nothing at or above
// bound, never past the segment; with wholeFirst at least the first batch. Non-blocking: ErrCold as for Find. Len 0 when
// p is at or above bound.
func (v *View) Slice(p Position, maxBytes, bound int64, wholeFirst bool) (Range, error) {
	panic("stub")
}

// SliceBlocking is Slice, reading what it needs.
func (v *View) SliceBlocking(p Position, maxBytes, bound int64, wholeFirst bool) (Range, error) {
	panic("stub")
}

// Record names one record in answers to lookups by time.
type Record struct {
	Offset      int64
	Timestamp   int64
	LeaderEpoch int32
}

// OffsetForTime is the first record at or above start and below bound whose timestamp is >= ts; ok is false if there is
// none. Exact inside compressed batches. It blocks.
func (v *View) OffsetForTime(ts, start, bound int64) (r Record, ok bool, err error) { panic("stub") }

// MaxTimestamp is the first record with the largest timestamp in [start, bound); ok false if there is none. It blocks.
func (v *View) MaxTimestamp(start, bound int64) (r Record, ok bool, err error) { panic("stub") }

// BytesBefore is the number of bytes in the view below offset, as far as it can be told from memory; for sizes
// and lag, not for exact answers.
func (v *View) Size() int64 { panic("stub") }
