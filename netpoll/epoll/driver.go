package epoll

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"millrace/netpoll"
)

// Driver is an epoll instance. Owned by its loop's thread.
type Driver struct {
	netpoll.SockIO
	files netpoll.FileOps

	ep, wakeFd int
	noPwait2   bool
	host       *netpoll.Host
	socks      []*netpoll.Sock // by descriptor
	gens       []int32         // by descriptor: tells a stale event from one of the next socket with that number
	events     [256]unix.EpollEvent
	scratch    []byte
	ready      queue // sockets to be tried without waiting for an event
	gone       queue // detached, not told yet
}

const scratchBytes = 64 << 10

// Factory is what main hands to the loops.
func Factory() netpoll.DriverFactory {
	return netpoll.DriverFactory{
		Name:  "epoll",
		Probe: func() error { return nil },
		Open:  func(h *netpoll.Host) (netpoll.Driver, error) { return Open(h) },
	}
}

// Open makes a driver for a loop, on that loop's thread.
func Open(h *netpoll.Host) (*Driver, error) {
	d := &Driver{host: h}
	d.files.Init(h)
	var err error
	if d.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("epoll_create: %w", err)
	}
	if d.wakeFd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		_ = unix.Close(d.ep)
		return nil, fmt.Errorf("eventfd: %w", err)
	}
	// Edge triggered: each write is one event, so the counter never has to be read.
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLET, Fd: -1}
	if err = unix.EpollCtl(d.ep, unix.EPOLL_CTL_ADD, d.wakeFd, &ev); err == nil {
		d.scratch, err = unix.Mmap(-1, 0, scratchBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	}
	if err != nil {
		_ = unix.Close(d.ep)
		_ = unix.Close(d.wakeFd)
		return nil, fmt.Errorf("epoll: %w", err)
	}
	return d, nil
}

// Name implements netpoll.Driver.
func (d *Driver) Name() string { return "epoll" }

// Start implements netpoll.Driver.
func (d *Driver) Start(op *netpoll.Op) { d.files.Begin(op) }

// Wake implements netpoll.Driver. Any goroutine.
func (d *Driver) Wake() {
	one := uint64(1)
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(d.wakeFd), uintptr(unsafe.Pointer(&one)), 8)
}

// Close implements netpoll.Driver.
func (d *Driver) Close() error {
	err := unix.Close(d.ep)
	if e := unix.Close(d.wakeFd); err == nil {
		err = e
	}
	if e := unix.Munmap(d.scratch); err == nil {
		err = e
	}
	return err
}

// Deliver implements netpoll.Driver.
func (d *Driver) Deliver() int { return d.files.Deliver() }

// Wait implements netpoll.Driver.
func (d *Driver) Wait(waitNs int64) (int, error) {
	n := d.files.Deliver()
	n += d.tellGone()
	n += d.tryReady()
	if n > 0 || d.files.Pending() || d.ready.first != nil || d.gone.first != nil {
		waitNs = 0
	}
	k, err := d.poll(waitNs)
	if err != nil {
		return n, err
	}
	if waitNs != 0 {
		d.host.Woke()
	}
	for i := 0; i < k; i++ {
		n += d.event(&d.events[i])
	}
	return n, nil
}

// poll is the one system call that may sleep; it tells the scheduler then.
func (d *Driver) poll(waitNs int64) (int, error) {
	evs := unsafe.Pointer(&d.events[0])
	var n uintptr
	var e syscall.Errno
	switch {
	case waitNs == 0:
		n, _, e = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(d.ep), uintptr(evs), uintptr(len(d.events)), 0, 0, 0)
	case waitNs > 0 && !d.noPwait2:
		ts := unix.NsecToTimespec(waitNs)
		n, _, e = syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(d.ep), uintptr(evs), uintptr(len(d.events)),
			uintptr(unsafe.Pointer(&ts)), 0, 0)
		if e == syscall.ENOSYS || e == syscall.EPERM { // before Linux 5.11, or an old seccomp profile
			d.noPwait2 = true
			return d.poll(waitNs)
		}
	default:
		ms := -1
		if waitNs > 0 {
			ms = int(min((waitNs+999_999)/1_000_000, 1<<30))
		}
		n, _, e = syscall.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(d.ep), uintptr(evs), uintptr(len(d.events)),
			uintptr(ms), 0, 0)
	}
	if e == syscall.EINTR {
		return 0, nil
	}
	if e != 0 {
		return 0, fmt.Errorf("epoll_wait: %w", e)
	}
	return int(n), nil
}
