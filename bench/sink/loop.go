package sink

import (
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// loop serves its connections on one locked thread. Owned by that thread, but for add and wake.
type loop struct {
	srv        *Server
	ep         int
	event      int // wakes the loop
	mu         sync.Mutex
	conns      map[int]*conn
	dirty      []*os.File // appended to in this turn and not synced
	turn       []*gather  // appends of this turn, written at its end; reused
	used       int        // of turn
	spareAgain []*conn
	again      []*conn // may have more to receive, but their buffer was needed until the turn's writes
	answer     []*conn // with output held back until the turn's sync
	parked     []*conn // waiting for data
}

func newLoop(s *Server) (*loop, error) {
	ep, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	event, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	l := &loop{srv: s, ep: ep, event: event, conns: map[int]*conn{}}
	return l, unix.EpollCtl(ep, unix.EPOLL_CTL_ADD, event, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(event)})
}

func (l *loop) wake() {
	_, _ = unix.Write(l.event, []byte{1, 0, 0, 0, 0, 0, 0, 0})
}

// add takes over a connection. Any goroutine.
func (l *loop) add(fd int) {
	l.mu.Lock()
	l.conns[fd] = newConn(l, fd)
	l.mu.Unlock()
	if err := unix.EpollCtl(l.ep, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff, Fd: int32(fd),
	}); err != nil {
		l.mu.Lock()
		delete(l.conns, fd)
		l.mu.Unlock()
		unix.Close(fd)
	}
}

func (l *loop) find(fd int) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conns[fd]
}

func (l *loop) drop(c *conn) {
	l.mu.Lock()
	delete(l.conns, c.fd)
	l.mu.Unlock()
	c.gone = true
	unix.Close(c.fd)
}

func (l *loop) run() {
	runtime.LockOSThread()
	defer l.closeAll()
	events := make([]unix.EpollEvent, 256)
	for !l.srv.closing.Load() {
		wait := -1
		switch {
		case len(l.again) > 0:
			wait = 0
		case len(l.parked) > 0:
			wait = 1
		}
		n, e := epollWait(l.ep, events, wait)
		if e != 0 && e != unix.EINTR {
			return
		}
		l.resume()
		for _, ev := range events[:max(n, 0)] {
			c := l.find(int(ev.Fd))
			if c == nil {
				continue
			}
			if ev.Events&unix.EPOLLOUT != 0 && c.outAt < len(c.out) && !c.held && !c.flush() {
				l.drop(c)
				continue
			}
			if ev.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 && !c.receive() {
				l.drop(c)
			}
		}
		l.endTurn()
	}
}

// resume goes on with connections that stopped receiving at the end of the last turn: the socket will not tell of them again.
func (l *loop) resume() {
	again := l.again
	l.again = l.spareAgain[:0]
	for _, c := range again {
		if !c.gone && c.paused {
			c.paused = false
			if !c.receive() {
				l.drop(c)
			}
		}
	}
	l.spareAgain = again
}

// endTurn writes, syncs, lets the answers go that waited for it, and looks after parked fetches.
func (l *loop) endTurn() {
	failed := false
	for _, g := range l.turn[:l.used] {
		failed = g.write(l.srv) != nil || failed
	}
	l.used = 0
	if len(l.dirty) > 0 {
		if syncAll(l.dirty) != nil {
			for _, c := range l.answer {
				c.broken = true
			}
		}
		l.dirty = l.dirty[:0]
	}
	for _, c := range l.answer {
		c.broken = c.broken || failed
		c.held = false
		if !c.gone && (c.broken || !c.flush()) {
			l.drop(c)
		}
	}
	l.answer = l.answer[:0]
	if len(l.parked) == 0 {
		return
	}
	parked := l.parked
	l.parked = nil
	at := time.Now()
	for _, c := range parked {
		if !c.gone && !c.unpark(at) {
			l.drop(c)
		}
	}
}

func (l *loop) touched(f *os.File) {
	for _, d := range l.dirty {
		if d == f {
			return
		}
	}
	l.dirty = append(l.dirty, f)
}

func (l *loop) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for fd := range l.conns {
		unix.Close(fd)
	}
	unix.Close(l.ep)
	unix.Close(l.event)
}

func epollWait(ep int, events []unix.EpollEvent, ms int) (int, unix.Errno) {
	n, _, e := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(ms), 0, 0)
	return int(n), e
}
