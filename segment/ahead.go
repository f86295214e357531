package segment

import (
	"io/fs"

	"millrace/vfs"
)

// Blocks are allocated ahead of the appends while a partition takes much (ADR 0017): ext4 holds a lock of the file while a
// sync allocates blocks for what was written, and an append into a place without blocks waits for it. The size of the file
// does not change. What was not used is given back when the segment is sealed, the log closed, or nothing came for a while.

const (
	// aheadShare: a round of syncs that takes less than this part of Options.AheadMax (1 MiB of 64) has nothing allocated
	// ahead; a small append that somebody waits for is synced sooner to blocks that come with it.
	aheadShare = 64
	// aheadRounds is how many rounds of the last one's size the blocks are meant to last.
	aheadRounds = 4
	// aheadIdleMs: after so long without an append the blocks are given back.
	aheadIdleMs = 60_000
	// aheadSlack is what a file system may allocate beyond the end by itself.
	aheadSlack = 64 << 10
)

// ahead is the allocation of blocks behind the end of the active segment. Owned by the log.
type ahead struct {
	want  int64 // how far ahead of the appends there should be blocks; 0: none
	to    int64 // up to this position of the active segment they are there, or asked for
	out   bool  // a JobAhead is queued or out
	dirty bool  // the active segment may have blocks behind its end
}

// aheadOf says how far ahead blocks are wanted after a round of so many bytes.
func (l *Log) aheadOf(round int64) int64 {
	switch {
	case l.opts.Preallocate:
		return l.opts.SegmentBytes
	case round < l.opts.AheadMax/aheadShare:
		return 0
	}
	return min(aheadRounds*round, l.opts.AheadMax)
}

// allocateAhead queues a JobAhead if half of what is wanted has been used.
func (l *Log) allocateAhead() {
	a := &l.ahead
	to := min(l.st.pos+a.want, l.opts.SegmentBytes)
	if a.out || a.to-l.st.pos > a.want/2 || to <= max(a.to, l.st.pos) {
		return
	}
	seg, from := l.active, max(a.to, l.st.pos)
	a.out, a.dirty, a.to = true, true, to
	l.queue(JobAhead, LaneNames, func() error {
		if !seg.frozen.Load() { // a roll may have come first
			_ = seg.file.Allocate(from, to-from) // a lack of blocks is for the write to find
		}
		return nil
	}, func(*Job) { a.out = false })
}

// giveBackIdle queues the return of blocks that nothing was written to for a while. The log takes no append meanwhile.
func (l *Log) giveBackIdle() {
	if !l.ahead.dirty || l.opts.Preallocate || l.busy || l.closed || l.flight != nil || len(l.build.Iov) > 0 ||
		l.nowMs-l.active.own.modMs < aheadIdleMs {
		return
	}
	l.busy = true
	l.ahead = ahead{out: l.ahead.out}
	file, pos := l.active.file, l.pub.pos
	l.queue(JobAhead, LaneNames, func() error {
		size, err := file.Size()
		if err != nil || size != pos {
			return err
		}
		return file.Truncate(pos)
	}, func(j *Job) {
		if j.Err == nil {
			l.busy = false
		}
	})
}

// allocatedBeyond says whether a file has blocks behind its end, as a process that was killed leaves them.
func allocatedBeyond(info fs.FileInfo) bool { return vfs.Allocated(info) > info.Size()+aheadSlack }
