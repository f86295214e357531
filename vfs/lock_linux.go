package vfs

import (
	"io"

	"golang.org/x/sys/unix"
)

// lockOFD takes a write lock on the whole file that belongs to the open file description: it conflicts with POSIX
// record locks (Java's FileChannel.tryLock) of any process, and with other descriptions in this one; it does not
// vanish when some other descriptor of the file is closed. It is released by close or by the process's end.
func lockOFD(fd int) error {
	return again(func() error {
		lk := unix.Flock_t{Type: unix.F_WRLCK, Whence: io.SeekStart}
		return unix.FcntlFlock(uintptr(fd), unix.F_OFD_SETLK, &lk)
	})
}
