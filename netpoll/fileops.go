package netpoll

import (
	"io"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// FileOps carries out file operations for drivers: on the loop thread, or on workers. Owned by its loop.
type FileOps struct {
	host *Host
	// ended on the loop thread, not told yet
	first, last *Op
	free        *opJob
	iov         [iovMax]unix.Iovec
}

const iovMax = 1024 // IOV_MAX

// Init binds it to a loop.
func (f *FileOps) Init(h *Host) { f.host = h }

// Done tells an operation's owner that it has ended. From Wait, Deliver or a task, never inside Start.
func (h *Host) Done(op *Op) {
	h.Loop.inFlight--
	op.Done.OpDone(op)
}

// End keeps an operation that has ended until Deliver.
func (f *FileOps) End(op *Op) {
	op.next = nil
	if f.last == nil {
		f.first = op
	} else {
		f.last.next = op
	}
	f.last = op
}

// Pending tells whether Deliver has something to do.
func (f *FileOps) Pending() bool { return f.first != nil }

// Deliver tells the owners of operations that ended before it began.
func (f *FileOps) Deliver() (n int) {
	op := f.first
	f.first, f.last = nil, nil
	for ; op != nil; n++ {
		next := op.next
		op.next = nil
		f.host.Done(op)
		op = next
	}
	return n
}

// Write writes on the loop thread.
func (f *FileOps) Write(op *Op) {
	fd := op.File.Fd()
	if fd < 0 {
		op.N, op.Err = op.File.WritevAt(op.Iov, op.Off)
	} else {
		op.N, op.Err = f.pwritev(fd, op.Iov, op.Off)
	}
	f.End(op)
}

// pwritev writes all buffers, in as many calls as that takes.
func (f *FileOps) pwritev(fd int, bufs [][]byte, off int64) (n int64, err error) {
	skip := 0 // bytes of bufs[0] that are written
	for {
		k := 0
		for i := 0; i < len(bufs) && k < iovMax; i++ {
			b := bufs[i]
			if i == 0 {
				b = b[skip:]
			}
			if len(b) > 0 {
				f.iov[k].Base = unsafe.SliceData(b)
				f.iov[k].SetLen(len(b))
				k++
			}
		}
		if k == 0 {
			clear(f.iov[:min(len(bufs), iovMax)])
			if len(bufs) <= iovMax {
				return n, nil
			}
			bufs = bufs[iovMax:]
			continue
		}
		w, errno := pwritev(fd, &f.iov[0], k, off+n)
		clear(f.iov[:k])
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return n, errno
		}
		if w == 0 {
			return n, io.ErrShortWrite
		}
		n += int64(w)
		w += skip
		for len(bufs) > 0 && w >= len(bufs[0]) {
			w -= len(bufs[0])
			bufs = bufs[1:]
		}
		if skip = w; len(bufs) == 0 {
			return n, nil
		}
	}
}

func pwritev(fd int, iov *unix.Iovec, k int, off int64) (int, syscall.Errno) {
	n, _, e := syscall.Syscall6(unix.SYS_PWRITEV, uintptr(fd), uintptr(unsafe.Pointer(iov)), uintptr(k),
		uintptr(off), uintptr(off>>32), 0)
	return int(n), e
}

// opJob carries one operation to a worker and back. Recycled by its loop.
type opJob struct {
	work Work
	f    *FileOps
	op   *Op
	next *opJob
}

// Async carries an operation out on a worker.
func (f *FileOps) Async(op *Op) {
	j := f.free
	if j == nil {
		j = &opJob{f: f}
	} else {
		f.free = j.next
	}
	j.op = op
	f.host.Loop.Start(&j.work, j, j)
}

// RunBlocking makes the system call.
func (j *opJob) RunBlocking() { RunOp(j.op) }

// RunTask tells the owner, on the loop.
func (j *opJob) RunTask(*Task) {
	op := j.op
	j.op = nil
	j.next, j.f.free = j.f.free, j
	j.f.host.Done(op)
}

// RunOp carries an operation out by the file's own methods, blocking. Any goroutine.
func RunOp(op *Op) {
	switch op.Kind {
	case OpWritev:
		op.N, op.Err = op.File.WritevAt(op.Iov, op.Off)
	case OpDatasync:
		op.N, op.Err = 0, op.File.Datasync()
	case OpRead:
		n, err := op.File.ReadAt(op.Iov[0], op.Off)
		if err == io.EOF {
			err = nil // a short read tells
		}
		op.N, op.Err = int64(n), err
	default:
		op.Err = syscall.EINVAL
	}
}

// ReadNow reads what is in the page cache, without waiting for the disk; it reports whether the operation has ended.
func (f *FileOps) ReadNow(op *Op) bool {
	fd := op.File.Fd()
	if fd < 0 || len(op.Iov[0]) == 0 {
		return false
	}
	n, err := readCached(fd, op.Iov[0], op.Off)
	if err != nil || n != len(op.Iov[0]) {
		return false
	}
	op.N, op.Err = int64(n), nil
	f.End(op)
	return true
}

// MustRead tells whether a write that the driver may place as it likes would first read a page from the disk.
func (f *FileOps) MustRead(op *Op) bool {
	fd := op.File.Fd()
	return op.Rested && f.host.Mode == AppendAuto && fd >= 0 && op.Off%pageBytes != 0 && !probe(fd, op.Off-1)
}

// Begin carries an operation out the way a driver without a ring does: writes on the loop thread, syncs and what must
// wait for the disk on workers.
func (f *FileOps) Begin(op *Op) {
	switch {
	case op.Kind == OpWritev && !f.MustRead(op):
		f.Write(op)
	case op.Kind == OpRead && op.File.Fd() < 0:
		RunOp(op)
		f.End(op)
	case op.Kind == OpRead && !op.Rested && f.ReadNow(op):
	default:
		f.Async(op)
	}
}
