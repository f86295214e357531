package segment

import (
	"errors"
	"io/fs"
	"sync"
	"syscall"

	"millrace/vfs"
)

// Where a segment was filled quickly the next one has its blocks allocated before it becomes the active one (ADR 0017): ext4
// holds a lock of the file while a sync allocates blocks for what was written, and an append into a place without blocks waits
// for it. Never on the active segment itself: that call and an append exclude each other too. The size of the file does not
// change. What was not used is given back when the segment is sealed, the log closed, or nothing came for a while.

const (
	// aheadFillMs: a segment that took longer to fill has a successor without blocks.
	aheadFillMs = 10 * 60_000
	// aheadRoundMin: nor has one of which less was synced at a time. An append that somebody waits for is synced sooner to
	// blocks that come with it.
	aheadRoundMin = 1 << 20
	// aheadFreeShare: nothing is allocated ahead that takes more than this part of what is free.
	aheadFreeShare = 16
	// aheadIdleMs: after so long without an append, give or take a tick, the blocks are given back.
	aheadIdleMs = 60_000
	// aheadSlack is what is not worth being given back. Some file systems allocate more than it by themselves.
	aheadSlack = 64 << 10
)

// ahead is the allocation of blocks behind the end of a segment. Owned by the log.
type ahead struct {
	next     bool  // the successor has blocks
	dirty    bool  // the active segment may have blocks behind its end
	off      bool  // the file system cannot do it
	partial  bool  // the active segment was opened with bytes in it: nobody knows how fast they came
	rounds   int64 // of syncs since the active segment is the active one
	roundMin int64 // aheadRoundMin; less in tests
}

// aheadBytes is how many bytes of blocks the next segment is to have.
func (l *Log) aheadBytes() int64 {
	switch {
	case l.ahead.off:
		return 0
	case l.opts.Preallocate:
		return l.opts.SegmentBytes
	case l.ahead.partial || l.st.pos < l.opts.SegmentBytes/10*9 || l.nowMs-l.createdMs > aheadFillMs || l.st.pos/max(l.ahead.rounds, 1) < l.ahead.roundMin:
		return 0
	}
	return min(l.opts.AheadMax, l.opts.SegmentBytes)
}

// aheadShare is how many times as much must be free. preallocate=true was asked for and takes half.
func (o *Options) aheadShare() int64 {
	if o.Preallocate {
		return 2
	}
	return aheadFreeShare
}

// allocating is held so that no two allocations count the same free space.
var allocating sync.Mutex

// allocate gives a new file blocks for n bytes, if share times as much is free. Where it cannot, for want of blocks or because
// the file system does not do it, the write gets its own, or finds that there are none; err says that the disk is in doubt,
// without that it was only refused.
func allocate(sh *shared, f vfs.File, n, share int64) (refused, err error) {
	allocating.Lock()
	defer allocating.Unlock()
	_, free, err := sh.fs.Usage(sh.dir)
	if err != nil || free/uint64(share) < uint64(n) {
		return err, nil
	}
	err = f.Allocate(0, n)
	if errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS) {
		return nil, err
	}
	return err, nil
}

// allocated takes up that an allocation was refused (nil: it was not).
func (l *Log) allocated(refused error) {
	if errors.Is(refused, errors.ErrUnsupported) {
		l.ahead.off, l.ahead.next, l.ahead.dirty = true, false, false
	}
}

// GiveBackIdle queues the return of blocks that nothing was written to for a while, or not as fast as was thought; the log takes
// no append until it is done. Call it before each Tick, which fills the lane again with what found no space.
func (l *Log) GiveBackIdle() {
	a := &l.ahead
	lane := &l.jobs[LaneNames]
	idle := l.nowMs-l.active.own.modMs >= aheadIdleMs || l.nowMs-l.createdMs >= 2*aheadFillMs
	if !idle || l.opts.Preallocate || l.closed || l.busy || lane.head != nil || lane.out != nil || l.cleaning || l.replacing != nil {
		return
	}
	if a.next && !l.wantRoll {
		l.dropSuccessor() // made again with the next append
	}
	if !a.dirty || l.flight != nil || len(l.build.Iov) > 0 {
		return
	}
	l.busy = true
	a.dirty = false
	file, pos := l.active.file, l.pub.pos
	var refused error
	l.queue(JobGiveBack, LaneNames, func() error {
		// A cut to its own size may make the size durable before the bytes are: they come first.
		if err := mustSync(file.File); err != nil {
			return err
		}
		if refused = giveBack(file.File, pos); IsNoSpace(refused) {
			return nil
		}
		return refused
	}, func(*Job) {
		l.busy = false
		a.dirty = refused != nil // again with the next tick
	})
}

// HasAhead says that the active segment may have blocks behind its end, or that there is a successor: Close gives back what
// Abandon leaves.
func (l *Log) HasAhead() bool { return l.ahead.dirty || l.successor != nil }

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
