package vfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"millrace/vfs"
)

// TestLockAgainstPOSIX checks both ways against the record lock that Java's FileChannel.tryLock takes.
func TestLockAgainstPOSIX(t *testing.T) {
	name := filepath.Join(t.TempDir(), ".lock")
	java, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	must(t, err)
	defer java.Close()
	lk := unix.Flock_t{Type: unix.F_WRLCK, Len: 1<<63 - 1}
	must(t, unix.FcntlFlock(java.Fd(), unix.F_SETLK, &lk))
	if _, err := (vfs.OS{}).Lock(name); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("ours under theirs: %v", err)
	}
	lk.Type = unix.F_UNLCK
	must(t, unix.FcntlFlock(java.Fd(), unix.F_SETLK, &lk))
	ours, err := vfs.OS{}.Lock(name)
	must(t, err)
	lk.Type = unix.F_WRLCK
	if err := unix.FcntlFlock(java.Fd(), unix.F_SETLK, &lk); !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EACCES) {
		t.Fatalf("theirs under ours: %v", err)
	}
	must(t, ours.Close())
	must(t, unix.FcntlFlock(java.Fd(), unix.F_SETLK, &lk))
}
