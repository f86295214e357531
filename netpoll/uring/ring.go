//go:build uring

package uring

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/pawelgaczynski/giouring"
	"golang.org/x/sys/unix"
)

const (
	sqEntries = 512
	cqEntries = 4096
	ringFlags = giouring.SetupCQSize | giouring.SetupClamp | giouring.SetupSubmitAll | giouring.SetupSingleIssuer |
		giouring.SetupDeferTaskrun | giouring.SetupCoopTaskrun | giouring.SetupTaskrunFlag

	sysEnter = 426
)

// ring wraps the ring package: only what was tested to work is used, and what is wrong there is put right here.
type ring struct {
	*giouring.Ring
	page []byte // the argument of a wait: struct io_uring_getevents_arg and its timespec
	cqes [256]*giouring.CompletionQueueEvent
}

// newRing makes a ring on the calling thread, which must be its only user.
func newRing(entries uint32) (*ring, error) {
	r := &ring{Ring: giouring.NewRing()}
	// The fields of Params are private: sq_entries, cq_entries, flags, ...
	p := &giouring.Params{}
	raw := (*[30]uint32)(unsafe.Pointer(p))
	raw[1], raw[2] = cqEntries, ringFlags
	if err := r.QueueInitParams(entries, p); err != nil {
		return nil, fmt.Errorf("io_uring_setup: %w", err)
	}
	var err error
	r.page, err = unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		r.QueueExit()
		return nil, err
	}
	return r, nil
}

func (r *ring) close() error {
	r.QueueExit()
	return unix.Munmap(r.page)
}

// sqe takes a zeroed submission: the package leaves old values in the fields it does not set.
func (r *ring) sqe() *giouring.SubmissionQueueEntry {
	for i := 0; ; i++ {
		if s := r.GetSQE(); s != nil {
			*s = giouring.SubmissionQueueEntry{}
			return s
		}
		// The queue is full: submit early. The kernel may want its completions to be taken first.
		if _, err := r.Submit(); err != nil && i > 1000 {
			panic(fmt.Sprintf("io_uring takes no submissions: %v", err))
		}
	}
}

// submit hands over what was prepared, and takes what has ended meanwhile: asking for it later would be a call of its own.
func (r *ring) submit() error {
	if r.SQReady() == 0 {
		return nil
	}
	if _, err := r.SubmitAndGetEvents(); err != nil && !again(err) {
		return fmt.Errorf("io_uring_enter: %w", err)
	}
	return nil
}

// again tells errors after which the same call may succeed: interrupted, short of memory, or completions to be taken first.
func again(err error) bool {
	return errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EBUSY)
}

// block waits for one completion, at most ns nanoseconds if that is not negative. The scheduler is told.
func (r *ring) block(ns int64) error {
	arg := (*[3]uint64)(unsafe.Pointer(&r.page[0])) // sigmask, its size and padding, address of the timespec
	ts := (*[2]int64)(unsafe.Pointer(&r.page[64]))
	arg[0], arg[1], arg[2] = 0, 8, 0
	if ns >= 0 {
		ts[0], ts[1] = ns/1_000_000_000, ns%1_000_000_000
		arg[2] = uint64(uintptr(unsafe.Pointer(ts)))
	}
	_, _, e := syscall.Syscall6(sysEnter, uintptr(r.RingFd()), 0, 1,
		uintptr(giouring.EnterGetEvents|giouring.EnterExtArg), uintptr(unsafe.Pointer(arg)), 24)
	if e != 0 && e != syscall.ETIME && !again(e) {
		return fmt.Errorf("io_uring_enter: %w", e)
	}
	return nil
}

// peek returns the completions that are there, at most a batch. It enters the kernel only when that has set a flag.
func (r *ring) peek() []*giouring.CompletionQueueEvent {
	n := min(r.CQReady(), uint32(len(r.cqes)))
	n = r.PeekBatchCQE(r.cqes[:max(n, 1)]) // the package touches all it is given
	return r.cqes[:n]
}
