package segment

// JobKind says what a Job does; for logs and metrics.
type JobKind uint8

// The kinds of jobs.
const (
	// JobSuccessor makes the next segment's file under a temporary name.
	JobSuccessor JobKind = iota + 1
	// JobSeal gives the new segment its name and finishes the one before it: datasync, indexes, snapshot, checksum.
	JobSeal
	// JobGiveBack gives back blocks behind the end of the active segment.
	JobGiveBack
	// JobCheckpoint syncs the log and writes what recovery starts from; then RecoveryPoint has moved.
	JobCheckpoint
	// JobCut cuts the unpublished bytes of a failed write off the active file.
	JobCut
	// JobTruncate cuts the log back to an offset and starts a new file.
	JobTruncate
	// JobDelete renames segments that retention or DeleteRecords gave up to .deleted.
	JobDelete
	// JobRemove closes and removes the files of one segment whose last reader has gone and whose delay has passed.
	JobRemove
	// JobReplace puts a cleaned segment in the place of those that it was made from.
	JobReplace
	// JobDamage writes down damage that was found while the log was in use.
	JobDamage
)

// Lane is what a Job must not overlap with: at most one job of a lane is out at a time (TakeJob sees to it).
type Lane uint8

// The lanes.
const (
	// LaneSuccessor makes files ahead of need.
	LaneSuccessor Lane = iota
	// LaneNames renames, seals, checkpoints and cuts.
	LaneNames
	// LaneRemove closes and removes. Nothing waits for it.
	LaneRemove

	lanes
)

// Job is work of a log that may block. Its owner takes it with TakeJob, runs Run on any ordinary goroutine, and hands
// it back with JobDone on the loop. Owned by whoever holds it.
type Job struct {
	Kind JobKind
	Lane Lane
	// Err is how Run ended. Any error but one of JobSuccessor with no space left means that the directory is in
	// doubt: decisions on write errors apply.
	Err error
	// QueuedMs is the log's clock when the job was queued.
	QueuedMs int64

	run   func() error // off the loop
	leave func() error // the same without the removal; nil: run is quick
	done  func(*Job)   // on the loop, from JobDone
	next  *Job
}

// Run does the work and sets Err. It blocks.
func (j *Job) Run() { j.Err = j.run() }

// Unlinks says that the job removes large files: slow, and for nobody's benefit. Only such a job has something to Leave.
func (j *Job) Unlinks() bool { return j.leave != nil }

// Leave is Run for whoever does not wait for large files to be unlinked: they are closed, and the next start removes them.
func (j *Job) Leave() {
	if j.leave == nil {
		j.Run()
		return
	}
	j.Err = j.leave()
}
