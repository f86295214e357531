//go:build uring

package uring

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"

	"github.com/pawelgaczynski/giouring"

	"millrace/netpoll"
)

// Factory is what main hands to the loops.
func Factory() netpoll.DriverFactory {
	return netpoll.DriverFactory{
		Name:  "uring",
		Probe: Probe,
		Open:  func(h *netpoll.Host) (netpoll.Driver, error) { return Open(h) },
	}
}

// Probe says why io_uring cannot be used here, nil when it can: it makes a ring with the flags that the driver needs
// and asks for the operations it submits. About 0.1 ms.
func Probe() error {
	runtime.LockOSThread() // a ring belongs to the thread that made it
	defer runtime.UnlockOSThread()
	r, err := newRing(8)
	if err != nil {
		switch {
		case errors.Is(err, syscall.EPERM):
			return fmt.Errorf("%w (kernel.io_uring_disabled, or a seccomp profile)", err)
		case errors.Is(err, syscall.ENOSYS):
			return fmt.Errorf("%w (a kernel without io_uring, or a seccomp profile)", err)
		case errors.Is(err, syscall.EINVAL):
			return fmt.Errorf("%w (Linux 6.1 or later is needed)", err)
		case errors.Is(err, syscall.ENOMEM):
			return fmt.Errorf("%w (raise the limit of locked memory, ulimit -l)", err)
		}
		return err
	}
	defer r.close()
	p, err := r.GetProbeRing()
	if err != nil {
		return fmt.Errorf("asking for the operations: %w", err)
	}
	for _, op := range []uint8{giouring.OpRecv, giouring.OpAccept, giouring.OpPollAdd, giouring.OpRead, giouring.OpWritev, giouring.OpFsync} {
		if !p.IsSupported(op) {
			return fmt.Errorf("the kernel lacks io_uring operation %d", op)
		}
	}
	return nil
}
