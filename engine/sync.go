package engine

import (
	"time"

	"millrace/netpoll"
	"millrace/segment"
)

// Group commit (decisions 3): while acks=all batches wait, one round of datasync per partition is under way at a time,
// and it covers all that was written when it began. What nobody waits for is synced in the background: when it is older
// than UnsyncedAgeMaxMs, or when the directory has more than UnsyncedBytesMax unsynced bytes.

// syncRound is the datasync round of one partition. Owned by its loop.
type syncRound struct {
	p       *Partition
	set     *segment.SyncSet
	ops     []netpoll.Op
	left    int
	err     error
	startNs int64
	queued  bool // in the shard's wantSync
	aged    bool // nobody waits for it
	group   bool // carried by a syncfs
}

// considerSync queues a sync if somebody waits for one.
func (p *Partition) considerSync() {
	written := p.pub.written.Load()
	switch {
	case p.strictFrom < written:
	case p.syncTo > p.pub.synced.Load() && p.syncTo <= written:
	case written-p.pub.synced.Load() >= p.flushMessages:
	default:
		return
	}
	p.queueSync(false)
}

func (p *Partition) queueSync(aged bool) {
	r := &p.round
	if r.queued || r.set != nil || p.closed || p.Err() != nil {
		return
	}
	r.queued, r.aged = true, aged
	p.shard.wantSync = append(p.shard.wantSync, p)
}

// startSyncs starts what the turn queued; many at once in one directory become one syncfs.
func (s *Shard) startSyncs() {
	if len(s.wantSync) == 0 {
		return
	}
	if len(s.wantSync) > s.eng.opts.SyncFSAbove {
		for _, d := range s.eng.dirs {
			s.startGroup(d)
		}
	}
	for _, p := range s.wantSync {
		if p.round.queued {
			p.round.queued = false
			p.startSync()
		}
	}
	clear(s.wantSync)
	s.wantSync = s.wantSync[:0]
}

// startSync starts one datasync per dirty file; there is one at least, so that no round ends in here, where its end could
// queue a sync that startSyncs then forgets.
func (p *Partition) startSync() {
	r := &p.round
	if !r.begin() {
		return
	}
	files := r.set.Files
	if cap(r.ops) < len(files) {
		r.ops = make([]netpoll.Op, len(files))
	}
	r.ops = r.ops[:len(files)]
	r.left = len(files)
	for i := range r.ops {
		op := &r.ops[i]
		op.Kind, op.File, op.Done = netpoll.OpDatasync, files[i], r
		p.shard.loop.Submit(op)
	}
	p.shard.st.syncs.Add(int64(len(files)))
}

func (r *syncRound) begin() bool {
	p := r.p
	if p.closed || p.Err() != nil || r.set != nil {
		p.shard.touch(p) // somebody may wait for it to be idle
		return false
	}
	r.set = p.log.BeginSync()
	if r.set == nil {
		return false
	}
	r.err, r.group = nil, false
	r.startNs = p.shard.loop.ClockNs()
	p.shard.syncing++
	return true
}

// OpDone is the end of one file's datasync.
func (r *syncRound) OpDone(op *netpoll.Op) {
	if op.Err != nil && r.err == nil {
		r.err = op.Err
	}
	op.File = nil
	r.left--
	if r.left == 0 {
		r.end()
	}
}

// end takes up the result of the round.
func (r *syncRound) end() {
	p, s := r.p, r.p.shard
	set := r.set
	r.set = nil
	s.syncing--
	s.touch(p)
	tookNs := s.loop.ClockNs() - r.startNs
	s.st.syncNs.Add(tookNs)
	s.st.syncTime.Observe(tookNs)
	if r.err == nil && r.aged && tookNs > p.ageMaxNs() {
		s.slowSync(p, tookNs)
	}
	p.log.SyncDone(set, r.err)
	if r.err != nil {
		s.st.syncErrors.Inc()
		p.dir.fail(r.err)
		p.offline()
		return
	}
	p.unsyncedSince = r.startNs
	p.noteUnsynced()
	p.syncMoved()
}

// syncMoved follows the synced end, after a sync or when the names behind a roll became durable.
func (p *Partition) syncMoved() {
	if p.Err() != nil {
		return
	}
	p.advance()
	p.deletesSynced()
}

// slowSync reports a disk that does not keep up, at most once in ten seconds.
func (s *Shard) slowSync(p *Partition, tookNs int64) {
	s.st.slowSyncs.Inc()
	if now := s.loop.NowNs(); now-s.slowSaidNs > int64(10*time.Second) || s.slowSaidNs == 0 {
		s.slowSaidNs = now
		s.eng.log.Warn("the disk is slower than background syncs want", "partition", p.String(),
			"dir", p.dir.path, "took_ms", tookNs/1e6)
	}
}

// noteUnsynced keeps the sums of unsynced bytes and the list that the background sync walks.
func (p *Partition) noteUnsynced() {
	n, before := p.log.UnsyncedBytes(), p.unsyncedCounted
	total := p.dir.unsynced.Add(n - before)
	p.unsyncedCounted = n
	p.noteUnrecovered()
	s := p.shard
	if n > 0 && before == 0 {
		p.unsyncedSince = s.loop.NowNs()
		if !p.listed {
			p.listed = true
			s.unsynced = append(s.unsynced, p)
		}
		s.armSync(p.unsyncedSince + p.ageMaxNs())
	}
	if total > s.eng.opts.UnsyncedBytesMax && s.syncing == 0 && n > 0 {
		s.relieve(p.dir)
	}
}

// relieve syncs the partition of a directory that has most unsynced bytes here.
func (s *Shard) relieve(d *logDir) {
	var most *Partition
	for _, p := range s.unsynced {
		if p.dir == d && p.round.set == nil && !p.closed &&
			(most == nil || p.unsyncedCounted > most.unsyncedCounted) {
			most = p
		}
	}
	if most != nil && most.unsyncedCounted > 0 {
		most.queueSync(true)
	}
}

// ageMaxNs is how long written bytes may wait for a sync.
func (p *Partition) ageMaxNs() int64 { return min(p.eng.opts.UnsyncedAgeMaxMs, p.flushMs) * 1e6 }

type syncTimer struct{ s *Shard }

// TimerFired looks for bytes that have waited long enough.
func (t syncTimer) TimerFired(_ *netpoll.Timer, nowNs int64) {
	s := t.s
	kept := s.unsynced[:0]
	next := noOffset
	for _, p := range s.unsynced {
		if p.closed || p.Err() != nil || p.log.UnsyncedBytes() == 0 {
			p.listed = false
			continue
		}
		kept = append(kept, p)
		due := p.unsyncedSince + p.ageMaxNs()
		if due <= nowNs {
			p.queueSync(true)
			due = nowNs + p.ageMaxNs()
		}
		next = min(next, due)
	}
	clear(s.unsynced[len(kept):])
	s.unsynced = kept
	if len(kept) > 0 {
		s.armSync(next)
	}
}

// armSync sets the timer if it is not set for an earlier time.
func (s *Shard) armSync(whenNs int64) {
	if !s.syncTimer.Set() || s.syncTimer.When > whenNs {
		s.loop.SetTimer(&s.syncTimer, whenNs)
	}
}

// groupSync is one syncfs on behalf of several partitions. Owned by its loop but for the call itself.
type groupSync struct {
	s     *Shard
	dir   *logDir
	work  netpoll.Work
	parts []*Partition
	err   error
}

// groupBytesMax is how many unsynced bytes a directory may have for a syncfs to be the quicker way: it waits for
// those of others too.
const groupBytesMax = 64 << 20

func (s *Shard) startGroup(d *logDir) {
	n := 0
	for _, p := range s.wantSync {
		if p.dir == d {
			n++
		}
	}
	if n <= s.eng.opts.SyncFSAbove || d.unsynced.Load() > groupBytesMax {
		return
	}
	g := s.takeGroup(d)
	for _, p := range s.wantSync {
		if p.dir != d || !p.round.queued {
			continue
		}
		p.round.queued = false
		if p.round.begin() {
			p.round.group = true
			g.parts = append(g.parts, p)
		}
	}
	if len(g.parts) == 0 {
		s.groups = append(s.groups, g)
		return
	}
	s.st.syncs.Inc()
	s.loop.Start(&g.work, g, g)
}

func (s *Shard) takeGroup(d *logDir) *groupSync {
	if n := len(s.groups); n > 0 {
		g := s.groups[n-1]
		s.groups = s.groups[:n-1]
		g.dir = d
		return g
	}
	return &groupSync{s: s, dir: d}
}

// RunBlocking makes the call.
func (g *groupSync) RunBlocking() { g.err = g.s.eng.fs.SyncFS(g.dir.path) }

// RunTask takes up its result.
func (g *groupSync) RunTask(*netpoll.Task) {
	for i, p := range g.parts {
		p.round.err = g.err
		p.round.end()
		g.parts[i] = nil
	}
	g.parts, g.err = g.parts[:0], nil
	g.s.groups = append(g.s.groups, g)
}
