package segment

import (
	"errors"
	"io/fs"
	"syscall"

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
	var refused error
	a.out, a.dirty, a.to = true, true, to
	l.queue(JobAhead, LaneNames, func() (err error) {
		if !seg.frozen.Load() { // a roll may have come first
			refused, err = allocate(seg.shared, seg.file.File, from, to-from, share)
		}
		return err
	}, func(*Job) {
		a.out = false
		l.allocated(refused)
	})
}

// aheadShare is how many times as much must be free. preallocate=true was asked for and takes half.
func (l *Log) aheadShare() int64 {
	if l.opts.Preallocate {
		return 2
	}
	return aheadFreeShare
}

// allocate gives a file blocks for n bytes from off on, if share times as much is free. Where it cannot, for want of blocks or
// because the file system does not do it, the write gets its own, or finds that there are none; err says that the disk is in
// doubt, without that it was only refused.
func allocate(sh *shared, f vfs.File, off, n, share int64) (refused, err error) {
	_, free, err := sh.fs.Usage(sh.dir)
	if err != nil || free/uint64(share) < uint64(n) {
		return nil, err
	}
	err = f.Allocate(off, n)
	if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS) {
		return nil, err
	}
	return err, nil
}

// allocated takes up that an allocation was refused (nil: it was not).
func (l *Log) allocated(refused error) {
	if errors.Is(refused, errors.ErrUnsupported) {
		l.ahead.off, l.ahead.want, l.ahead.dirty = true, 0, false
	}
}

// GiveBackIdle queues the return of blocks that are not wanted any more, or that nothing was written to for a while; the log
// takes no append until it is done. Call it before each Tick, which fills the lane again with what found no space.
func (l *Log) GiveBackIdle() {
	a := &l.ahead
	lane := &l.jobs[LaneNames]
	idle := l.nowMs-l.active.own.modMs >= aheadIdleMs || a.want == 0
	if !idle || l.opts.Preallocate || l.closed || l.busy || lane.head != nil || lane.out != nil || l.cleaning || l.replacing != nil {
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
	var err error
	l.queue(JobAhead, LaneNames, func() error {
		if err = giveBack(file.File, pos); IsNoSpace(err) {
			return nil
		}
		return err
	}, func(*Job) {
		l.busy = false
		a.dirty = err != nil // again with the next tick
	})
}

// HasAhead says that the active segment may have blocks behind its end, which Close gives back and Abandon does not.
func (l *Log) HasAhead() bool { return l.ahead.dirty }

// giveBack frees the blocks behind the end of a file that nobody writes to, if it ends at pos.
func giveBack(f vfs.File, pos int64) error {
	size, err := f.Size()
	if err != nil || size != pos {
		return err
	}
	return f.Truncate(pos)
}

// giveBackOrLeave is giveBack where a lack of space to do it leaves the blocks until the file goes.
func giveBackOrLeave(f vfs.File, pos int64) error {
	if err := giveBack(f, pos); !IsNoSpace(err) {
		return err
	}
	return nil
}

// allocatedBeyond says whether a file has blocks behind its end, as a process that was killed leaves them.
func allocatedBeyond(info fs.FileInfo) bool { return vfs.Allocated(info) > info.Size()+aheadSlack }
