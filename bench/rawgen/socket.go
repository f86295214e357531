package rawgen

import (
	"fmt"
	"net"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Dial connects a raw TCP socket without Nagle's delay and with cubic as congestion control: bbr, the default of some virtual
// machines, paces loopback down to a third. A kernel without cubic keeps its default.
func Dial(addr string, blocking bool) (int, error) {
	tcp, err := net.ResolveTCPAddr("tcp4", addr)
	if err != nil {
		return -1, err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	_ = unix.SetsockoptString(fd, unix.IPPROTO_TCP, unix.TCP_CONGESTION, "cubic")
	_ = unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	to := &unix.SockaddrInet4{Port: tcp.Port}
	copy(to.Addr[:], tcp.IP.To4())
	for {
		err = unix.Connect(fd, to)
		if err != unix.EINTR {
			break
		}
	}
	if err == nil && !blocking {
		err = unix.SetNonblock(fd, true)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("connect %s: %w", addr, err)
	}
	return fd, nil
}

// setTimeout bounds blocking receives.
func setTimeout(fd int, d time.Duration) error {
	tv := unix.NsecToTimeval(d.Nanoseconds())
	return unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
}

// Writev on a nonblocking socket cannot block, so the scheduler need not hear of it.
func Writev(fd int, iov []unix.Iovec) (int, unix.Errno) {
	n, _, e := unix.RawSyscall(unix.SYS_WRITEV, uintptr(fd), uintptr(unsafe.Pointer(&iov[0])), uintptr(len(iov)))
	return int(n), e
}

// RecvNow receives from a nonblocking socket.
func RecvNow(fd int, b []byte) (int, unix.Errno) {
	n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
	return int(n), e
}

// recv receives from a blocking socket.
func recv(fd int, b []byte) (int, unix.Errno) {
	for {
		n, _, e := unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), 0, 0, 0)
		if e != unix.EINTR {
			return int(n), e
		}
	}
}

// discard throws away up to n bytes of a blocking socket inside the kernel: with MSG_TRUNC a TCP receive copies nothing, so
// the buffer named here is never written.
func discard(fd int, scratch []byte, n int) (int, unix.Errno) {
	for {
		got, _, e := unix.Syscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(&scratch[0])), uintptr(n), unix.MSG_TRUNC, 0, 0)
		if e != unix.EINTR {
			return int(got), e
		}
	}
}

// EpollWait waits for at most wait (negative: without end; 0: not at all), to the nanosecond.
func EpollWait(ep int, events []unix.EpollEvent, wait time.Duration) (int, unix.Errno) {
	if wait == 0 {
		n, _, e := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), 0, 0, 0)
		return int(n), e
	}
	var ts unix.Timespec
	var p unsafe.Pointer
	if wait > 0 {
		ts = unix.NsecToTimespec(wait.Nanoseconds())
		p = unsafe.Pointer(&ts)
	}
	n, _, e := unix.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(ep), uintptr(unsafe.Pointer(&events[0])), uintptr(len(events)), uintptr(p), 0, 0)
	return int(n), e
}

// Now is the monotonic clock in nanoseconds.
func Now() int64 {
	return int64(time.Since(epoch))
}

var epoch = time.Now()
