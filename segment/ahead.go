package segment

import (
	"errors"
	"io/fs"

	"millrace/vfs"
)

// Blocks are allocated ahead of the appends while a partition takes much (ADR 0017): ext4 holds a lock of the file while a
// sync allocates blocks for what was written, and an append into a place without blocks waits for it. The size of the file
// does not change. What was not used is given back when the segment is sealed, the log closed, or nothing came for a while.

const (
	// aheadRoundMin: where a round of syncs takes fewer bytes, none are allocated ahead; a small append that somebody waits
	// for is synced sooner to blocks that come with it.
	aheadRoundMin = 1 << 20
	// aheadRounds is how many rounds of the last one's size the blocks are meant to last.
	aheadRounds = 4
	// aheadFreeShare: nothing is allocated ahead that takes more than this part of what is free.
	aheadFreeShare = 16
	// aheadIdleMs: after so long without an append, give or take a tick, the blocks are given back.
	aheadIdleMs = 60_000
	// aheadSlack is what is not worth being given back. Some file systems allocate more than it by themselves.
	aheadSlack = 64 << 10
)

// ahead is the allocation of blocks behind the end of the active segment. Owned by the log.
type ahead struct {
	roundMin int64 // aheadRoundMin, less in tests

	want  int64 // how far ahead of the appends there should be blocks; 0: none
	to    int64 // blocks were asked for up to this position of the active segment
	next  int64 // ... of the successor
	out   bool  // an allocation is queued or out
	dirty bool  // the active segment may have blocks behind its end
	off   bool  // the file system cannot do it
}

// wantAhead says how far ahead blocks are wanted, now that a round of so many bytes begins. One small round does not end
// it at once: an append that somebody waits for comes in between.
func (l *Log) wantAhead(round int64) {
	a := &l.ahead
	switch {
	case a.off:
		a.want = 0
	case l.opts.Preallocate:
		a.want = l.opts.SegmentBytes
	default:
		n := max(aheadRounds*round, a.want/2)
		if n < aheadRounds*a.roundMin {
			n = 0
		}
		a.want = min(n, l.opts.AheadMax)
	}
}

// allocateAhead queues a JobAhead if half of what is wanted has been used.
func (l *Log) allocateAhead() {
	a := &l.ahead
	to := min(l.st.pos+a.want, l.opts.SegmentBytes)
	if a.out || a.to-l.st.pos > a.want/2 || to <= max(a.to, l.st.pos) {
		return
	}
	seg, from, share := l.active, max(a.to, l.st.pos), l.aheadShare()
	var err error
	a.out, a.dirty, a.to = true, true, to
	l.queue(JobAhead, LaneNames, func() error {
		if !seg.frozen.Load() { // a roll may have come first
			err = allocate(seg.shared, seg.file.File, from, to-from, share)
		}
		return nil
	}, func(*Job) {
		a.out = false
		l.allocated(err)
	})
}

// aheadShare is how many times as much must be free: preallocate=true was asked for and takes what there is.
func (l *Log) aheadShare() int64 {
	if l.opts.Preallocate {
		return 1
	}
	return aheadFreeShare
}

// allocate gives a file blocks for n bytes from off on, if share times as much is free. A lack of blocks is for the write to
// find, so an error says only whether it is worth trying again.
func allocate(sh *shared, f vfs.File, off, n, share int64) error {
	if _, free, err := sh.fs.Usage(sh.dir); err != nil || free/uint64(share) < uint64(n) {
		return err
	}
	return f.Allocate(off, n)
}

// allocated takes up how an allocation ended.
func (l *Log) allocated(err error) {
	if errors.Is(err, errors.ErrUnsupported) {
		l.ahead.off, l.ahead.want, l.ahead.dirty = true, 0, false
	}
}

// GiveBackIdle queues the return of blocks that nothing was written to for a while; the log is busy until it is done. Call it
// after each Tick.
func (l *Log) GiveBackIdle() {
	a := &l.ahead
	lane := &l.jobs[LaneNames]
	if l.opts.Preallocate || l.closed || l.busy || l.nowMs-l.active.own.modMs < aheadIdleMs || lane.head != nil || lane.out != nil ||
		l.cleaning || l.replacing != nil {
		return
	}
	if a.next > 0 && !l.wantRoll {
		l.dropSuccessor() // made again with the next append
	}
	// A cut to its own size may make the size durable before the bytes are: they come first.
	if !a.dirty || l.flight != nil || len(l.build.Iov) > 0 || l.active.own.syncPos < l.pub.pos {
		return
	}
	l.busy = true
	a.want, a.to, a.dirty = 0, 0, false
	file, pos := l.active.file, l.pub.pos
	l.queue(JobAhead, LaneNames, func() error {
		giveBack(file.File, pos)
		return nil
	}, func(*Job) { l.busy = false })
}

// giveBack frees the blocks behind the end of a file that nobody writes to, if it ends at pos. Nothing depends on it: after an
// error the blocks stay until the file goes.
func giveBack(f vfs.File, pos int64) {
	if size, err := f.Size(); err == nil && size == pos {
		_ = f.Truncate(pos)
	}
}

// allocatedBeyond says whether a file has blocks behind its end, as a process that was killed leaves them.
func allocatedBeyond(info fs.FileInfo) bool { return vfs.Allocated(info) > info.Size()+aheadSlack }
