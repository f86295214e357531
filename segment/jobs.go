package segment

import (
	"errors"
	"io/fs"
	"path/filepath"

	"millrace/vfs"
)

// jobQueue is one lane: jobs in order, one out at a time. Owned by the log.
type jobQueue struct {
	head, tail *Job
	out        *Job
}

func (q *jobQueue) push(j *Job) {
	if q.tail == nil {
		q.head = j
	} else {
		q.tail.next = j
	}
	q.tail = j
}

func (q *jobQueue) take() *Job {
	j := q.head
	if j == nil || q.out != nil {
		return nil
	}
	q.head, j.next = j.next, nil
	if q.head == nil {
		q.tail = nil
	}
	q.out = j
	return j
}

func (l *Log) queue(kind JobKind, lane Lane, run func() error, done func(*Job)) {
	l.jobs[lane].push(&Job{Kind: kind, Lane: lane, QueuedMs: l.nowMs, run: run, done: done})
}

// queueUnlink queues a JobRemove of large files; leave only closes them.
func (l *Log) queueUnlink(run, leave func() error) {
	l.jobs[LaneRemove].push(&Job{Kind: JobRemove, Lane: LaneRemove, QueuedMs: l.nowMs, run: run, leave: leave})
}

// leaveUnlinks closes what waits for its removal.
func (l *Log) leaveUnlinks() {
	for q := &l.jobs[LaneRemove]; q.head != nil; q.head = q.head.next {
		if q.head.Unlinks() {
			q.head.Leave()
		}
	}
	l.jobs[LaneRemove].tail = nil
}

// TakeJob hands out the next job that may run now; nil when there is none. Call it until nil after every Stage,
// WriteDone, Roll, JobDone, Tick or other change.
func (l *Log) TakeJob() *Job {
	if l.closed {
		return nil
	}
	if l.reaped || l.sh.dead.Load() != nil {
		l.reap()
	}
	for i := range l.jobs {
		if j := l.jobs[i].take(); j != nil {
			return j
		}
	}
	return nil
}

// JobDone ends a job.
func (l *Log) JobDone(j *Job) {
	q := &l.jobs[j.Lane]
	if q.out == j {
		q.out = nil
	}
	if j.done != nil && !l.closed {
		j.done(j)
	}
}

// JobsOut is the number of jobs handed out and not yet done.
func (l *Log) JobsOut() int {
	n := 0
	for i := range l.jobs {
		if l.jobs[i].out != nil {
			n++
		}
	}
	return n
}

// reap queues the closing and removal of segments that no reader holds and whose time has come.
func (l *Log) reap() {
	l.reaped = false
	for s := l.sh.dead.Swap(nil); s != nil; s = s.nextDead {
		s.own.closing = true
	}
	kept := l.removing[:0]
	for _, s := range l.removing {
		if s.own.closing && l.nowMs >= s.own.deleteAt {
			l.queueRemove(s)
		} else {
			kept = append(kept, s)
		}
	}
	clear(l.removing[len(kept):])
	l.removing = kept
}

// queueRemove queues the end of one segment's files: one a job, so that whoever runs them can stop in between.
func (l *Log) queueRemove(s *Segment) {
	names := !s.own.keepNames
	l.queueUnlink(func() error {
		err := s.file.drop()
		if names {
			err = errors.Join(err, removeDeleted(s.shared.fs, s))
		}
		return err
	}, s.file.drop)
}

// queueLeftOver queues the removal of .deleted files that a start found.
func (l *Log) queueLeftOver(names []string) {
	fsys, dir := l.sh.fs, l.sh.dir
	for _, name := range names {
		l.queueUnlink(func() error { return removeIfThere(fsys, filepath.Join(dir, name)) }, func() error { return nil })
	}
}

// removeDeleted removes the .deleted files of a segment.
func removeDeleted(fsys vfs.FS, s *Segment) error {
	for _, suffix := range segmentSuffixes {
		if err := removeIfThere(fsys, s.path(suffix)+suffixDeleted); err != nil {
			return err
		}
	}
	return nil
}

// renameDeleted takes a segment's names away: the log first, so that what stays behind after a crash is without meaning.
func renameDeleted(fsys vfs.FS, s *Segment) error {
	for _, suffix := range segmentSuffixes {
		name := s.path(suffix)
		if suffix == suffixLog && s.own.tmpName != "" {
			name = s.own.tmpName
		}
		err := fsys.Rename(name, s.path(suffix)+suffixDeleted)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func removeIfThere(fsys vfs.FS, name string) error {
	if err := fsys.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// deleteSegments queues the renaming of segments that have left the view.
func (l *Log) deleteSegments(gone []*Segment) {
	for _, s := range gone {
		s.own.deleteAt = maxMs
	}
	l.removing = append(l.removing, gone...)
	fsys, dir := l.sh.fs, l.sh.dir
	l.queue(JobDelete, LaneNames, func() error {
		for _, s := range gone {
			if err := renameDeleted(fsys, s); err != nil {
				return err
			}
		}
		return fsys.SyncDir(dir)
	}, func(j *Job) {
		for _, s := range gone {
			s.own.deleteAt = l.nowMs + l.opts.FileDeleteDelayMs
		}
		l.reaped = true
	})
}

const maxMs = 1<<63 - 1
