package netpoll

import (
	"net/netip"

	"millrace/vfs"
)

// Driver carries out the I/O of one loop. Owned by its loop's thread: every method but Wake is called there, and
// events are delivered from inside Wait and Deliver only.
//
// Sockets are completion based: at most one receive and one wait for room are in flight per socket.
type Driver interface {
	// Name is "uring", "epoll", ...
	Name() string

	// Start begins a file operation. op.Done is called from a later Wait or Deliver, never here. A write ends with N equal
	// to the sum of its buffers or with an error; N then says what was written before it.
	Start(op *Op)

	// Attach begins to track a connected socket or a listener.
	Attach(s *Sock) error
	// Detach cancels what is in flight; Ev.Gone follows from a later Wait, after the descriptor was closed.
	Detach(s *Sock)

	// StartRecv asks for one receive. With into it ends with bytes in into, which must be off the Go heap; with
	// nil it ends with at most max bytes in a buffer of the driver's, valid only during Ev.RecvDone.
	StartRecv(s *Sock, into []byte, max int)
	// StartWritable asks to be told once when the socket takes bytes again.
	StartWritable(s *Sock)
	// StartAccept asks for one connection.
	StartAccept(s *Sock)

	// Recv receives at once: EAGAIN when there is nothing, 0 and nil at the end of the stream.
	Recv(s *Sock, b []byte) (int, error)
	// Send sends what the socket takes at once of the buffers, as one gather; more tells that other bytes follow.
	// EAGAIN when it takes nothing.
	Send(s *Sock, bufs [][]byte, more bool) (int, error)
	// SendFile sends what the socket takes at once of [off, off+n) of a file that has a descriptor.
	SendFile(s *Sock, f vfs.File, off, n int64) (int64, error)

	// Wait submits what was started and delivers events. It sleeps until there is one, at most waitNs: 0 does not sleep, a negative value
	// means without limit. It returns how many events it delivered.
	Wait(waitNs int64) (events int, err error)
	// Deliver tells the owners of operations that have ended already on the loop's thread, such as writes, without a system call.
	// It returns how many.
	Deliver() int
	// Wake ends a Wait that sleeps, or the next one. Any goroutine.
	Wake()

	Close() error
}

// Sock is a socket as a driver sees it. Owned by its loop.
type Sock struct {
	Fd int
	Ev SockEvents

	// Driver's own.
	RecvSlot  int32
	WriteSlot int32
	Flags     uint32
	Into      []byte
	Max       int
	Next      *Sock
}

// SockEvents hears of a socket's completions, on its loop, from inside Driver.Wait.
type SockEvents interface {
	// RecvDone ends a StartRecv: bytes, or none and nil at the end of the stream, or an error.
	RecvDone(s *Sock, b []byte, err error)
	// Writable ends a StartWritable.
	Writable(s *Sock)
	// AcceptDone ends a StartAccept.
	AcceptDone(s *Sock, a Accepted, err error)
	// Gone ends a Detach: the descriptor is closed and no other event follows.
	Gone(s *Sock)
}

// Accepted is a connection that a listener received.
type Accepted struct {
	Fd            int
	Remote, Local netip.AddrPort
}

// Host is what a loop offers to its driver. Immutable after the driver was opened.
type Host struct {
	// Loop is the loop that the driver serves.
	Loop *Loop
	// Mode says how appends are to be carried out.
	Mode AppendMode
}

// Woke has the loop read its clock. A driver calls it when it has slept, before it delivers what came meanwhile: a deadline that
// a handler computes would else be too early by the length of the sleep.
func (h *Host) Woke() { h.Loop.tick() }

// DriverFactory is a driver that main hands in.
type DriverFactory struct {
	Name string
	// Probe says why the driver cannot be used here, nil when it can.
	Probe func() error
	// Open makes a driver; it is called on the loop's thread.
	Open func(h *Host) (Driver, error)
}

// AppendMode says how OpWritev is carried out (log.append.mode).
type AppendMode uint8

// The append modes.
const (
	// AppendAuto lets the driver choose per write.
	AppendAuto AppendMode = iota
	// AppendInline writes on the loop thread.
	AppendInline
	// AppendRing writes by a ring operation where the driver has a ring.
	AppendRing
)

// ParseAppendMode reads auto, inline or ring.
func ParseAppendMode(s string) (AppendMode, bool) {
	switch s {
	case "auto":
		return AppendAuto, true
	case "inline":
		return AppendInline, true
	case "ring":
		return AppendRing, true
	}
	return 0, false
}
