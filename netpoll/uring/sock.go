//go:build uring

package uring

import (
	"syscall"
	"unsafe"

	"github.com/pawelgaczynski/giouring"
	"golang.org/x/sys/unix"

	"millrace/netpoll"
)

// Flags of a socket (netpoll.Sock.Flags).
const (
	recving uint32 = 1 << iota // a receive or accept is in flight or to be started again
	waiting                    // a wait for room is in flight
	drained                    // the last receive left the socket empty
	detached
)

// pollFirst is IORING_RECVSEND_POLL_FIRST: do not try before the socket reports data.
const pollFirst = 1

// queue is an intrusive list of sockets.
type queue struct{ first, last *netpoll.Sock }

func (q *queue) push(s *netpoll.Sock) {
	s.Next = nil
	if q.last == nil {
		q.first = s
	} else {
		q.last.Next = s
	}
	q.last = s
}

func (q *queue) take() *netpoll.Sock {
	s := q.first
	q.first, q.last = nil, nil
	return s
}

// Attach implements netpoll.Driver. The ring needs no registration.
func (d *Driver) Attach(s *netpoll.Sock) error {
	s.Flags = 0
	return nil
}

// Detach implements netpoll.Driver. Shutting the socket down ends what is in flight on it; then it is closed.
func (d *Driver) Detach(s *netpoll.Sock) {
	if s.Flags&detached != 0 {
		return
	}
	s.Flags |= detached
	if s.Flags&(recving|waiting) != 0 {
		_ = unix.Shutdown(s.Fd, unix.SHUT_RDWR)
		return
	}
	d.closeSock(s)
}

// closeSock closes a detached socket that nothing is in flight on; tellGone tells later.
func (d *Driver) closeSock(s *netpoll.Sock) {
	_ = unix.Close(s.Fd)
	d.gone.push(s)
}

func (d *Driver) tellGone() (n int) {
	for s := d.gone.take(); s != nil; n++ {
		next := s.Next
		s.Next = nil
		s.Ev.Gone(s)
		s = next
	}
	return n
}

// ended takes back what a completion ends. It reports whether the socket is still wanted.
func (d *Driver) ended(s *netpoll.Sock, what uint32) bool {
	s.Flags &^= what
	if s.Flags&detached == 0 {
		return true
	}
	if s.Flags&(recving|waiting) == 0 {
		d.closeSock(s)
	}
	return false
}

// StartRecv implements netpoll.Driver.
func (d *Driver) StartRecv(s *netpoll.Sock, into []byte, max int) {
	s.Into, s.Max = into, min(max, bufBytes)
	s.Flags |= recving
	d.recv(s)
}

func (d *Driver) recv(s *netpoll.Sock) {
	e := d.ring.sqe()
	e.OpCode = giouring.OpRecv
	e.Fd = int32(s.Fd)
	if s.Flags&drained != 0 {
		e.IoPrio = pollFirst
	}
	kind := slotSelect
	if s.Into != nil {
		kind = slotRecv
		e.Addr = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(s.Into))))
		e.Len = uint32(len(s.Into))
	} else {
		e.Flags = giouring.SqeBufferSelect
		e.BufIG = bufGroup
		e.Len = uint32(s.Max)
	}
	e.UserData = uint64(d.slots.take(kind, s, nil))
}

func (d *Driver) recvDone(s *netpoll.Sock, kind uint8, c *completion) (n int) {
	into := s.Into
	buf := -1
	if c.flags&giouring.CQEFBuffer != 0 {
		buf = int(c.flags >> giouring.CQEBufferShift)
		into = d.bufs[buf*bufBytes : (buf+1)*bufBytes]
	}
	switch {
	case s.Flags&detached == 0 && (c.res == -int32(syscall.ENOBUFS) || c.res == -int32(syscall.EINTR) || c.res == -int32(syscall.EAGAIN)):
		// All buffers were taken in this turn; they are back before the next submit.
		d.retry.push(s)
	case !d.ended(s, recving):
		n = 1
	case c.res < 0:
		s.Into = nil
		s.Ev.RecvDone(s, nil, syscall.Errno(-c.res))
		n = 1
	default:
		s.Into = nil
		if c.flags&giouring.CQEFSockNonempty != 0 {
			s.Flags &^= drained
		} else {
			s.Flags |= drained
		}
		s.Ev.RecvDone(s, into[:c.res], nil)
		n = 1
	}
	if buf >= 0 {
		d.giveBack(buf)
	}
	return n
}

func (d *Driver) startRetries() {
	for s := d.retry.take(); s != nil; {
		next := s.Next
		s.Next = nil
		if s.Flags&detached == 0 {
			s.Flags &^= drained
			d.recv(s)
		} else {
			d.ended(s, recving)
		}
		s = next
	}
}

// StartWritable implements netpoll.Driver.
func (d *Driver) StartWritable(s *netpoll.Sock) {
	s.Flags |= waiting
	e := d.ring.sqe()
	e.PreparePollAdd(s.Fd, unix.POLLOUT)
	e.UserData = uint64(d.slots.take(slotWritable, s, nil))
}

func (d *Driver) writableDone(s *netpoll.Sock) int {
	if d.ended(s, waiting) {
		s.Ev.Writable(s)
	}
	return 1
}

// StartAccept implements netpoll.Driver.
func (d *Driver) StartAccept(s *netpoll.Sock) {
	s.Flags |= recving
	e := d.ring.sqe()
	e.OpCode = giouring.OpAccept
	e.Fd = int32(s.Fd)
	e.OpcodeFlags = unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	e.UserData = uint64(d.slots.take(slotAccept, s, nil))
}

func (d *Driver) acceptDone(s *netpoll.Sock, res int32) int {
	if !d.ended(s, recving) {
		if res >= 0 {
			_ = unix.Close(int(res))
		}
		return 1
	}
	var a netpoll.Accepted
	var err error
	if res < 0 {
		err = syscall.Errno(-res)
	} else {
		a.Fd = int(res)
		a.Remote, a.Local = netpoll.PeerAddrs(a.Fd)
	}
	s.Ev.AcceptDone(s, a, err)
	return 1
}
