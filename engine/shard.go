package engine

import (
	"sync/atomic"

	"millrace/netpoll"
)

// Shard is the part of the engine that runs on one loop. Owned by its loop, but for the ready list and the flag beside
// it, which any goroutine uses.
//
// At the end of each turn it drains the queues that something was pushed to, stages what can be staged, submits one
// vectored write per partition, and starts the datasyncs that acks=all appends wait for. What a turn's completions
// cause in the partitions (a write returned, a sync returned) is taken up by the same turn's end.
type Shard struct {
	eng  *Engine
	loop *netpoll.Loop

	ready  atomic.Pointer[Partition]
	posted atomic.Bool
	task   netpoll.Task

	parts       map[*Partition]struct{}
	touched     []*Partition
	wantSync    []*Partition
	unsynced    []*Partition // partitions with written bytes that are not synced
	syncTimer   netpoll.Timer
	tickTimer   netpoll.Timer
	probeTimer  netpoll.Timer
	parkedCount int64
	syncing     int // rounds in flight
	slowSaidNs  int64
	startNs     int64
	retainedNs  int64
	expiredNs   int64
	tickWallMs  int64
	tickNowNs   int64
	closed      bool
	groups      []*groupSync // free ones

	st shardStats
}

func newShard(e *Engine, l *netpoll.Loop) *Shard {
	s := &Shard{eng: e, loop: l, parts: map[*Partition]struct{}{}}
	s.task.Run = s
	s.syncTimer.Fire = syncTimer{s}
	s.tickTimer.Fire = tickTimer{s}
	s.probeTimer.Fire = probeTimer{s}
	s.st.register(e.opts.Metrics)
	l.PostFunc(func() {
		l.OnTurnEnd(s)
		s.armTick()
	})
	return s
}

// RunTask is the wake-up by a pusher: the work is done at the end of this turn.
func (s *Shard) RunTask(*netpoll.Task) { s.posted.Store(false) }

// TurnEnd implements netpoll.TurnHook.
func (s *Shard) TurnEnd() (again bool) {
	for p := s.takeReady(); p != nil; {
		next := p.readyNext
		p.readyNext = nil
		p.scheduled.Store(false)
		p.drain()
		p = next
	}
	for i := 0; i < len(s.touched); i++ {
		p := s.touched[i]
		p.touched = false
		p.flush()
	}
	clear(s.touched)
	s.touched = s.touched[:0]
	s.startSyncs()
	s.publishStats()
	return s.ready.Load() != nil || len(s.touched) > 0
}

// touch makes this turn's end look at p. Owner only.
func (s *Shard) touch(p *Partition) {
	if !p.touched {
		p.touched = true
		s.touched = append(s.touched, p)
	}
}

// attach takes a partition in. Owner only.
func (s *Shard) attach(p *Partition) {
	s.parts[p] = struct{}{}
	s.st.partitions.Set(int64(len(s.parts)))
	s.touch(p)
}

// detach lets it go. Owner only.
func (s *Shard) detach(p *Partition) {
	delete(s.parts, p)
	s.st.partitions.Set(int64(len(s.parts)))
}
