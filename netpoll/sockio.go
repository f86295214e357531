package netpoll

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"millrace/vfs"
)

// SockIO is the part of a driver that receives and sends at once, by system calls on nonblocking sockets. Drivers for
// real sockets embed it. Owned by its loop.
type SockIO struct {
	iov [gatherMax]unix.Iovec
	msg unix.Msghdr
}

// Recv implements Driver. The call cannot block, so the scheduler is not told.
func (*SockIO) Recv(s *Sock, b []byte) (int, error) {
	if len(b) == 0 {
		return 0, syscall.EINVAL
	}
	for {
		n, _, e := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.Fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
			uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
		runtime.KeepAlive(b)
		if e == 0 {
			return int(n), nil
		}
		if e != syscall.EINTR {
			return 0, errnoErr(e)
		}
	}
}

// Send implements Driver.
func (d *SockIO) Send(s *Sock, bufs [][]byte, more bool) (int, error) {
	flags := uintptr(unix.MSG_DONTWAIT | unix.MSG_NOSIGNAL)
	if more {
		flags |= unix.MSG_MORE
	}
	k := 0
	for _, b := range bufs {
		if len(b) > 0 {
			d.iov[k].Base = unsafe.SliceData(b)
			d.iov[k].SetLen(len(b))
			k++
		}
	}
	d.msg.Iov = &d.iov[0]
	d.msg.SetIovlen(k)
	for {
		var n uintptr
		var e syscall.Errno
		if k == 1 {
			n, _, e = syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(s.Fd), uintptr(unsafe.Pointer(d.iov[0].Base)),
				uintptr(d.iov[0].Len), flags, 0, 0)
		} else {
			n, _, e = syscall.RawSyscall6(unix.SYS_SENDMSG, uintptr(s.Fd), uintptr(unsafe.Pointer(&d.msg)), flags, 0, 0, 0)
		}
		if e == syscall.EINTR {
			continue
		}
		clear(d.iov[:k])
		runtime.KeepAlive(bufs)
		if e != 0 {
			return 0, errnoErr(e)
		}
		return int(n), nil
	}
}

// SendFile implements Driver. The call can wait for the disk when the range is not in the page cache, so the
// scheduler is told.
func (*SockIO) SendFile(s *Sock, f vfs.File, off, n int64) (int64, error) {
	for {
		k, _, e := syscall.Syscall6(unix.SYS_SENDFILE, uintptr(s.Fd), uintptr(f.Fd()),
			uintptr(unsafe.Pointer(&off)), uintptr(n), 0, 0)
		if e == 0 {
			return int64(k), nil
		}
		if e != syscall.EINTR {
			return 0, errnoErr(e)
		}
	}
}

// errnoErr avoids an allocation for the common one.
func errnoErr(e syscall.Errno) error {
	if e == syscall.EAGAIN {
		return errAgain
	}
	return e
}

var errAgain error = syscall.EAGAIN
