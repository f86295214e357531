package epoll

import (
	"syscall"

	"golang.org/x/sys/unix"

	"millrace/netpoll"
)

// Flags of a socket (netpoll.Sock.Flags).
const (
	readable   uint32 = 1 << iota // as far as we know a receive gives something
	hungUp                        // the peer has stopped sending, or an error is there: no more edges will come
	wantRecv                      // a receive was started
	wantWrite                     // a wait for room was started
	wantAccept                    // an accept was started
	queued                        // stands in the ready queue
	detached
)

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

// Attach implements netpoll.Driver.
func (d *Driver) Attach(s *netpoll.Sock) error {
	for len(d.socks) <= s.Fd {
		d.socks = append(d.socks, nil)
		d.gens = append(d.gens, 0)
	}
	d.gens[s.Fd]++
	ev := unix.EpollEvent{
		Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET,
		Fd:     int32(s.Fd),
		Pad:    d.gens[s.Fd],
	}
	if err := unix.EpollCtl(d.ep, unix.EPOLL_CTL_ADD, s.Fd, &ev); err != nil {
		return err
	}
	d.socks[s.Fd] = s
	s.Flags = 0
	return nil
}

// Detach implements netpoll.Driver. Nothing of a socket is ever in the kernel's hands, so it closes at once.
func (d *Driver) Detach(s *netpoll.Sock) {
	if s.Flags&detached != 0 {
		return
	}
	if s.Fd < len(d.socks) && d.socks[s.Fd] == s {
		d.socks[s.Fd] = nil
	}
	s.Flags = s.Flags&queued | detached
	s.Into = nil
	_ = unix.Close(s.Fd)
	if s.Flags&queued == 0 {
		d.gone.push(s)
	} // else tryReady moves it over
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

// StartRecv implements netpoll.Driver.
func (d *Driver) StartRecv(s *netpoll.Sock, into []byte, max int) {
	s.Into, s.Max = into, min(max, scratchBytes)
	d.want(s, wantRecv)
}

// StartAccept implements netpoll.Driver.
func (d *Driver) StartAccept(s *netpoll.Sock) { d.want(s, wantAccept) }

func (d *Driver) want(s *netpoll.Sock, flag uint32) {
	s.Flags |= flag
	if s.Flags&(readable|hungUp) != 0 && s.Flags&queued == 0 {
		s.Flags |= queued
		d.ready.push(s)
	}
}

// StartWritable implements netpoll.Driver. It follows an EAGAIN, so the edge is still to come.
func (d *Driver) StartWritable(s *netpoll.Sock) { s.Flags |= wantWrite }

// tryReady carries out what was started on sockets known to be readable.
func (d *Driver) tryReady() (n int) {
	for s := d.ready.take(); s != nil; {
		next := s.Next
		s.Next = nil
		s.Flags &^= queued
		if s.Flags&detached != 0 {
			d.gone.push(s)
		} else {
			n += d.read(s)
		}
		s = next
	}
	return n
}

// event takes one report of the kernel.
func (d *Driver) event(ev *unix.EpollEvent) (n int) {
	fd := int(ev.Fd)
	if fd < 0 || fd >= len(d.socks) || d.socks[fd] == nil || d.gens[fd] != ev.Pad {
		return 0 // a wake-up, or of a socket that is closed
	}
	s := d.socks[fd]
	if ev.Events&unix.EPOLLIN != 0 {
		s.Flags |= readable
	}
	if ev.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		s.Flags |= hungUp
	}
	if s.Flags&wantWrite != 0 && ev.Events&(unix.EPOLLOUT|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
		s.Flags &^= wantWrite
		s.Ev.Writable(s)
		n++
	}
	if s.Flags&queued == 0 && s.Flags&detached == 0 {
		n += d.read(s)
	}
	return n
}

// read carries out a started receive or accept if the socket is readable.
func (d *Driver) read(s *netpoll.Sock) int {
	if s.Flags&(readable|hungUp) == 0 {
		return 0
	}
	switch {
	case s.Flags&wantRecv != 0:
		return d.recv(s)
	case s.Flags&wantAccept != 0:
		return d.accept(s)
	}
	return 0
}

func (d *Driver) recv(s *netpoll.Sock) int {
	b := s.Into
	if b == nil {
		b = d.scratch[:s.Max]
	}
	k, err := d.Recv(s, b)
	if err == syscall.EAGAIN {
		s.Flags &^= readable | hungUp
		return 0
	}
	if k < len(b) {
		s.Flags &^= readable // drained: the next bytes bring an edge, the end has brought hungUp
	}
	s.Flags &^= wantRecv
	s.Into = nil
	if err != nil {
		s.Ev.RecvDone(s, nil, err)
		return 1
	}
	s.Ev.RecvDone(s, b[:k], nil)
	return 1
}

func (d *Driver) accept(s *netpoll.Sock) int {
	fd, _, err := unix.Accept4(s.Fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
	if err == syscall.EAGAIN {
		s.Flags &^= readable | hungUp
		return 0
	}
	s.Flags &^= wantAccept
	a := netpoll.Accepted{Fd: fd}
	if err == nil {
		a.Remote, a.Local = netpoll.PeerAddrs(fd)
	}
	s.Ev.AcceptDone(s, a, err)
	return 1
}
