package netpoll

import (
	"errors"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// listener accepts on the first loop of its group. Owned by that loop.
type listener struct {
	grp   *Group
	loop  *Loop
	sock  Sock
	index int
	h     Handler

	attached, accepting, closed bool
	backoff                     time.Duration
	warned                      int64
	retry                       Timer
}

func (ln *listener) start() {
	if ln.closed {
		return
	}
	if ln.loop.stopped.Load() {
		ln.close()
		return
	}
	if err := ln.loop.drv.Attach(&ln.sock); err != nil {
		ln.grp.log.Error("cannot accept connections", "err", err)
		_ = unix.Close(ln.sock.Fd)
		ln.closed = true
		return
	}
	ln.attached = true
	ln.loop.conns.socks++
	ln.loop.conns.listeners = append(ln.loop.conns.listeners, ln)
	ln.accept()
}

// accept asks for the next connection, unless there must be no more.
func (ln *listener) accept() {
	if ln.closed || ln.accepting || ln.retry.Set() || ln.grp.park(ln) {
		return
	}
	ln.accepting = true
	ln.loop.drv.StartAccept(&ln.sock)
}

func (ln *listener) close() {
	if ln.closed {
		return
	}
	ln.closed = true
	ln.loop.StopTimer(&ln.retry)
	if ln.attached {
		ln.loop.drv.Detach(&ln.sock)
	} else {
		_ = unix.Close(ln.sock.Fd)
	}
}

// AcceptDone deals a new connection to the loop whose turn it is.
func (ln *listener) AcceptDone(_ *Sock, a Accepted, err error) {
	ln.accepting = false
	if err != nil {
		ln.failed(err)
		return
	}
	if ln.closed {
		_ = unix.Close(a.Fd)
		return
	}
	if a.Fd >= ln.grp.fdMax {
		_ = unix.Close(a.Fd)
		ln.failed(syscall.EMFILE)
		return
	}
	ln.backoff = 0
	if ln.grp.admit(a.Remote.Addr()) {
		_ = unix.Close(a.Fd)
		ln.loop.st.refused.Inc()
	} else {
		ln.deal(a)
	}
	ln.accept()
}

func (ln *listener) deal(a Accepted) {
	g := ln.grp
	l := g.opts.Loops[g.next%len(g.opts.Loops)]
	g.next++
	if g.opts.Congestion == "" && g.opts.LoopbackCongestion != "" && a.Remote.Addr().Unmap().IsLoopback() {
		// A kernel without it keeps its own, which is as good as can be had.
		_ = unix.SetsockoptString(a.Fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, g.opts.LoopbackCongestion)
	}
	c := newConn(l, a, ln.index, ln.h, g)
	ln.loop.st.accepted.Inc()
	if l == ln.loop {
		l.conns.add(c)
		return
	}
	c.adopt.Run = (*adoption)(c)
	l.Post(&c.adopt)
}

// adoption is a connection on its way to its loop.
type adoption Conn

// RunTask begins to serve the connection.
func (a *adoption) RunTask(*Task) {
	c := (*Conn)(a)
	c.loop.conns.add(c)
}

// failed goes on at once after an error of the one connection; when the system has no room it waits, longer each time,
// so that it neither spins nor gives up.
func (ln *listener) failed(err error) {
	if ln.closed {
		return
	}
	switch {
	case errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EINTR), errors.Is(err, syscall.EPROTO),
		errors.Is(err, syscall.ENETDOWN), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		ln.accept()
		return
	}
	ln.backoff = min(max(2*ln.backoff, 50*time.Millisecond), time.Second)
	now := ln.loop.nowNs
	if ln.warned == 0 || now-ln.warned > int64(10*time.Second) {
		ln.warned = now
		ln.grp.log.Warn("cannot accept connections for now; those that are open are served on", "err", err, "open", ln.grp.Conns())
	}
	ln.loop.st.acceptErrors.Inc()
	ln.loop.SetTimer(&ln.retry, now+int64(ln.backoff))
}

// TimerFired tries again.
func (ln *listener) TimerFired(*Timer, int64) { ln.accept() }

// RecvDone does not happen on a listener.
func (ln *listener) RecvDone(*Sock, []byte, error) {}

// Writable does not happen on a listener.
func (ln *listener) Writable(*Sock) {}

// Gone: the port is free.
func (ln *listener) Gone(*Sock) { ln.loop.conns.socks-- }

// PeerAddrs fills in the addresses of an accepted socket. For drivers.
func PeerAddrs(fd int) (remote, local netip.AddrPort) {
	if sa, err := unix.Getpeername(fd); err == nil {
		remote = addrPort(sa)
	}
	if sa, err := unix.Getsockname(fd); err == nil {
		local = addrPort(sa)
	}
	return remote, local
}
