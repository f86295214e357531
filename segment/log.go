package segment

import (
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"syscall"

	"millrace/vfs"
)

// Log is one partition's log. Owned by its loop, but for the methods marked (any goroutine).
type Log struct {
	sh    *shared
	opts  Options
	nowMs int64

	start, synced, recovery int64

	// active takes the appends; unsealed are the segments, oldest first, of which something may not be durable, and
	// always the active one, last.
	active   *Segment
	unsealed []*Segment
	// pub is the state of the active segment as published, st with what is staged.
	pub, st   appendState
	rollMs    int64 // segment.ms less jitter
	createdMs int64

	build, spare, flight *Write
	busy                 bool // a cut, a truncation or a return of blocks is under way: no append, no roll, no checkpoint
	truncating           bool // it is a truncation: no sync and no retention either
	retryCut             bool // a cut that found no space; tried again on Tick

	ahead ahead

	wantRoll  bool
	rollBase  int64
	successor *sharedFile
	succName  string
	succOut   bool
	succSeq   int

	view   atomic.Pointer[View]
	epochs atomic.Pointer[Epochs]
	// epochsSaved is the lineage in the file.
	epochsSaved *Epochs

	jobs     [lanes]jobQueue
	removing []*Segment // out of the view; names or file still to go
	reaped   bool
	sweptMs  int64

	// snaps are the offsets of the snapshot files; snapAt the one that equals the producer state now, -1 for none needed,
	// unknownSnapshot if producers appended since.
	snaps  []int64
	snapAt int64

	flushedIdx, flushedTimes int // entries of the active segment's index files that are right

	set        SyncSet
	marks      []syncMark
	syncOut    bool
	syncErr    error
	checkpoint bool      // a JobCheckpoint is queued or out
	retrySeal  *sealWork // a seal that found no space; tried again on Tick
	closed     bool

	cleaned      int64    // first offset that was never cleaned
	cleaning     bool     // a Cleaning is out
	cutCount     int      // truncations begun; a cleaning from before one is void
	replacing    *Cleaned // its JobReplace is queued or out
	retryReplace *Cleaned // one that found no space; tried again on Tick
}

// unknownSnapshot: no snapshot file is the producer state; recovery must replay.
const unknownSnapshot = -2

// Topic is the topic's name (any goroutine).
func (l *Log) Topic() string { return l.sh.topic }

// Partition is the partition's number (any goroutine).
func (l *Log) Partition() int32 { return l.sh.partition }

// TopicID is the topic's id (any goroutine).
func (l *Log) TopicID() [16]byte { return l.sh.topicID }

// Dir is the partition's directory (any goroutine).
func (l *Log) Dir() string { return l.sh.dir }

// Start is the log start offset.
func (l *Log) Start() int64 { return l.start }

// End is the next offset to stage.
func (l *Log) End() int64 { return l.st.end }

// WrittenEnd is the end of what writes have returned for.
func (l *Log) WrittenEnd() int64 { return l.pub.end }

// SyncedEnd is the end of what is durable.
func (l *Log) SyncedEnd() int64 { return l.synced }

// RecoveryPoint is the end of the last finished checkpoint.
func (l *Log) RecoveryPoint() int64 { return l.recovery }

// UnsyncedBytes are written but not known to be durable.
func (l *Log) UnsyncedBytes() int64 {
	var n int64
	for _, s := range l.unsealed {
		pos, _ := s.bounds()
		n += pos - s.own.syncPos
	}
	return n
}

// UncheckpointedBytes lie above the recovery point, counted by whole segments but for the active one.
func (l *Log) UncheckpointedBytes() int64 {
	if l.recovery >= l.pub.end {
		return 0
	}
	n := l.pub.pos
	if l.recovery >= l.active.base {
		return n - l.active.own.checkPos
	}
	segs := l.view.Load().segs
	for i := len(segs) - 2; i >= 0; i-- {
		pos, end := segs[i].bounds()
		if end <= l.recovery {
			break
		}
		n += pos - segs[i].own.checkPos
	}
	return n
}

// Size is the published bytes of all segments.
func (l *Log) Size() int64 { return l.view.Load().Size() }

// Segments is the number of segments.
func (l *Log) Segments() int { return len(l.view.Load().segs) }

// ActiveBase is the base offset of the active segment.
func (l *Log) ActiveBase() int64 { return l.active.base }

// Options are the settings.
func (l *Log) Options() Options { return l.opts }

// SetOptions changes the settings.
func (l *Log) SetOptions(o Options) {
	o.EnsureDefaults()
	o.WriteBatchesMax, o.AheadMax = l.opts.WriteBatchesMax, l.opts.AheadMax
	l.opts = o
	l.sh.interval.Store(o.IndexIntervalBytes)
	l.drawJitter()
}

func (l *Log) drawJitter() {
	l.rollMs = l.opts.SegmentMs
	if j := min(l.opts.SegmentJitterMs, l.opts.SegmentMs); j > 0 {
		l.rollMs -= rand.Int64N(j)
	}
}

// View is the present view with a reference for the caller, who must Release it (any goroutine).
func (l *Log) View() *View {
	for {
		// A view that lost its last reference between the two steps was replaced already.
		if v := l.view.Load(); v.acquire() {
			return v
		}
	}
}

// Epochs is the present lineage (any goroutine).
func (l *Log) Epochs() *Epochs { return l.epochs.Load() }

// AssignEpoch notes that the leader epoch begins at End(); ignored unless above the last one. Batches staged with a
// higher epoch do the same by themselves when written.
func (l *Log) AssignEpoch(epoch int32) { l.assignEpoch(epoch, l.st.end) }

func (l *Log) assignEpoch(epoch int32, start int64) {
	old := l.epochs.Load()
	if e := old.assign(epoch, start); e != old {
		l.epochs.Store(e)
	}
}

// publish makes segs the view. Owner, or the job that stands for it.
func (l *Log) publish(segs []*Segment) {
	old := l.view.Swap(newView(segs))
	if old != nil {
		old.Release()
	}
}

// requeue queues again what found no space.
func (l *Log) requeue() {
	if l.retryCut {
		l.retryCut = false
		l.queueCut()
	}
	if w := l.retrySeal; w != nil {
		l.retrySeal = nil
		l.queueSeal(w)
	}
	if g := l.retryReplace; g != nil {
		l.retryReplace = nil
		l.queueReplace(g)
	}
}

// Tick drops indexes that nobody used for a while, queues removals that are due, and tries again what found no space.
func (l *Log) Tick(nowMs int64) {
	l.nowMs = nowMs
	l.reaped = l.reaped || len(l.removing) > 0
	l.requeue()
	if l.wantRoll {
		l.prepareSuccessor() // again, if there was no space before
	}
	if nowMs-l.sweptMs < indexIdleMs && nowMs >= l.sweptMs {
		return
	}
	l.sweptMs = nowMs
	for _, s := range l.view.Load().segs {
		if s.frozen.Load() && s.own.sealed && s.index.Load() != nil && !s.used.Swap(false) {
			s.index.Store(nil)
		}
	}
}

// indexIdleMs is how long a sealed segment's index stays in memory unused.
const indexIdleMs = 30_000

// Abandon closes the files without syncing or writing (dead directory, deleted partition). Readers that still hold a
// view keep its files open. It blocks on close only.
func (l *Log) Abandon() {
	if l.closed {
		return
	}
	l.closed = true
	l.sh.closed.Store(true)
	l.publish(nil)
	l.dropDead()
	l.leaveUnlinks()
	if l.successor != nil {
		_ = l.successor.drop()
		l.successor = nil
	}
	if g := l.replacing; g != nil {
		_ = g.fresh.file.drop()
		l.replacing = nil
	}
}

// dropDead closes the files of segments that no view holds.
func (l *Log) dropDead() {
	for _, s := range l.removing {
		if s.own.closing {
			_ = s.file.drop()
		}
	}
	l.removing = nil
	l.sh.drain()
}

// IsNoSpace says whether an error means a lack that passes, and not that the disk is broken: a full disk or quota, no
// file descriptors left (EMFILE, ENFILE).
func IsNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// newLog builds a log around its segments, the last of which is active with state st.
func newLog(fsys vfs.FS, p Params, segs []*Segment, st appendState, epochs *Epochs) *Log {
	l := &Log{sh: segs[0].shared, opts: p.Options, nowMs: p.NowMs, createdMs: p.NowMs, sweptMs: p.NowMs, snapAt: unknownSnapshot}
	l.active = segs[len(segs)-1]
	l.unsealed = []*Segment{l.active}
	l.pub, l.st = st, st
	l.start = max(p.LogStart, segs[0].base)
	l.build, l.spare = newWrite(p.Options.WriteBatchesMax), newWrite(p.Options.WriteBatchesMax)
	l.ahead.roundMin = aheadRoundMin
	l.drawJitter()
	l.publish(segs)
	l.epochs.Store(epochs)
	return l
}
