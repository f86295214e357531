package netpoll

import (
	"sync/atomic"

	"millrace/internal/bufpool"
)

// connSet is the connections of one loop and the lists they stand on. Owned by its loop, but for memory.freed.
type connSet struct {
	loop   *Loop
	n      int
	memory memoryQueue

	idleHead, idleTail     *Conn // least recently active first
	dirtyHead, dirtyTail   *Conn
	resumeHead, resumeTail *Conn
	coldHead, coldTail     *Conn
	coldRunning            int
	dying                  *Conn
	socks                  int // descriptors that are not closed yet

	listeners []*listener

	sweep, trim Timer
}

func (s *connSet) init(l *Loop) {
	s.loop = l
	s.memory.set = s
	s.memory.task.Run = &s.memory
	s.sweep.Fire = s
	s.trim.Fire = trimmer{l}
}

// Adopt makes a connected, nonblocking socket a connection of this loop. Loop only.
func (l *Loop) Adopt(a Accepted, listener int, h Handler) *Conn {
	c := newConn(l, a, listener, h, nil)
	l.conns.add(c)
	return c
}

var connIDs atomic.Uint64

func newConn(l *Loop, a Accepted, listener int, h Handler, g *Group) *Conn {
	c := &Conn{loop: l, h: h, grp: g}
	c.info = ConnInfo{ID: connIDs.Add(1), Remote: a.Remote, Local: a.Local, Listener: listener}
	c.sock.Fd = a.Fd
	c.sock.Ev = (*connEvents)(c)
	return c
}

// add begins to serve a connection.
func (s *connSet) add(c *Conn) {
	c.active, c.born = s.loop.nowNs, s.loop.nowNs
	s.n++
	s.socks++
	s.loop.st.conns.Set(int64(s.n))
	s.link(c)
	s.watch(c)
	err := s.loop.drv.Attach(&c.sock)
	if err == nil && s.loop.stopped.Load() {
		err = ErrShutdown
	}
	if err == nil {
		c.opened = true
		err = c.h.Opened(c)
	}
	if err != nil {
		c.Close(err)
		return
	}
	c.armRead()
}

func (s *connSet) link(c *Conn) {
	c.prevIdle, c.nextIdle = s.idleTail, nil
	if s.idleTail == nil {
		s.idleHead = c
	} else {
		s.idleTail.nextIdle = c
	}
	s.idleTail = c
}

func (s *connSet) unlink(c *Conn) {
	if c.prevIdle == nil {
		s.idleHead = c.nextIdle
	} else {
		c.prevIdle.nextIdle = c.nextIdle
	}
	if c.nextIdle == nil {
		s.idleTail = c.prevIdle
	} else {
		c.nextIdle.prevIdle = c.prevIdle
	}
	c.prevIdle, c.nextIdle = nil, nil
}

// toTail makes c the most recently active one.
func (s *connSet) toTail(c *Conn) {
	if s.idleTail == c || c.dead {
		return
	}
	s.unlink(c)
	s.link(c)
}

// reap ends the connections that were closed since the last call.
func (s *connSet) reap() {
	for s.dying != nil {
		c := s.dying
		s.dying, c.nextDead = c.nextDead, nil
		if c.waiting {
			s.memory.forget(c)
			s.memory.freed() // those behind it may be content with less
		}
		s.unlink(c)
		c.dead = true
		if c.stash != nil {
			c.stash.Release()
			c.stash = nil
		}
		c.giveUp(ErrClosed)
		s.n--
		s.loop.st.conns.Set(int64(s.n))
		if c.opened {
			c.h.Closed(c, c.closeErr)
		}
		s.loop.drv.Detach(&c.sock)
	}
}

// gone: the descriptor is closed and nothing is in flight.
func (c *Conn) gone() {
	if c.buf != nil {
		c.buf.Release()
		c.buf = nil
	}
	c.loop.conns.socks--
	if c.grp != nil {
		c.grp.left(c)
	}
}

// flushDirty sends for all who have something new to send. Who still has more stays for the next turn.
func (s *connSet) flushDirty() {
	c := s.dirtyHead
	s.dirtyHead, s.dirtyTail = nil, nil
	for c != nil {
		next := c.nextDirty
		c.nextDirty, c.dirty = nil, false
		c.flush()
		c = next
	}
}

// resumeAll goes on reading for all who asked for it.
func (s *connSet) resumeAll() {
	c := s.resumeHead
	s.resumeHead, s.resumeTail = nil, nil
	for c != nil {
		next := c.nextResume
		c.nextResume, c.resuming = nil, false
		c.resume()
		c = next
	}
}

// closeAll closes every connection that pred, which may be nil, says yes to.
func (s *connSet) closeAll(pred func(*Conn) bool, err error) {
	for c := s.idleHead; c != nil; {
		next := c.nextIdle
		if pred == nil || pred(c) {
			c.Close(err)
		}
		c = next
	}
}

func (s *connSet) outBytesMax(c *Conn) int64 {
	if c.grp == nil {
		return defaultOutBytesMax
	}
	return c.grp.limits.Load().OutBytesMax
}

// memoryQueue is the connections that wait for room in the pool, first come first served: a big request is not
// overtaken for ever by small ones. Owned by its loop, but for freed.
type memoryQueue struct {
	set        *connSet
	head, tail *Conn
	task       Task
	posted     atomic.Bool
	since      int64 // when the first one began to wait
}

// get takes a buffer of n bytes for c, or puts c in the queue and returns nil.
func (q *memoryQueue) get(c *Conn, n int) *bufpool.Buf {
	p := q.set.loop.pool
	if q.head == nil {
		if b := p.Get(n); b != nil {
			return b
		}
		p.WantFree()
		if b := p.Get(n); b != nil { // released in between
			return b
		}
		q.since = q.set.loop.nowNs
	}
	c.need = n
	c.waiting = true
	q.set.loop.st.memoryWaits.Inc()
	c.prevMem, c.nextMem = q.tail, nil
	if q.tail == nil {
		q.head = c
	} else {
		q.tail.nextMem = c
	}
	q.tail = c
	q.set.sweepBy(q.set.loop.nowNs + sweepMinNs)
	return nil
}

// freed is called by the pool on any goroutine after a release that somebody waits for.
func (q *memoryQueue) freed() {
	if q.posted.CompareAndSwap(false, true) {
		q.set.loop.Post(&q.task)
	}
}

// RunTask hands freed memory to those who wait.
func (q *memoryQueue) RunTask(*Task) {
	q.posted.Store(false)
	p := q.set.loop.pool
	for q.head != nil {
		c := q.head
		b := p.Get(c.need)
		if b == nil {
			p.WantFree()
			if b = p.Get(c.need); b == nil {
				return
			}
		}
		q.forget(c)
		c.granted(b)
	}
}

// forget takes c out of the queue.
func (q *memoryQueue) forget(c *Conn) {
	if !c.waiting {
		return
	}
	c.waiting = false
	if c.prevMem == nil {
		q.head = c.nextMem
	} else {
		c.prevMem.nextMem = c.nextMem
	}
	if c.nextMem == nil {
		q.tail = c.prevMem
	} else {
		c.nextMem.prevMem = c.prevMem
	}
	c.prevMem, c.nextMem = nil, nil
	q.since = q.set.loop.nowNs
}
