//go:build uring

package uring

import (
	"io"
	"syscall"
	"unsafe"

	"github.com/pawelgaczynski/giouring"

	"millrace/netpoll"
)

// fileOpsMax caps the file operations in flight, so that their completions always have room.
const fileOpsMax = 2048

// iovMax is IOV_MAX: what one WRITEV takes.
const iovMax = 1024

const iovBytes = 16 // struct iovec

// opQueue is an intrusive list of operations.
type opQueue struct{ first, last *netpoll.Op }

func (q *opQueue) push(op *netpoll.Op) {
	op.Driver.Next = nil
	if q.last == nil {
		q.first = op
	} else {
		q.last.Driver.Next = op
	}
	q.last = op
}

func (q *opQueue) pop() *netpoll.Op {
	op := q.first
	q.first, op.Driver.Next = op.Driver.Next, nil
	if q.first == nil {
		q.last = nil
	}
	return op
}

// Start implements netpoll.Driver.
func (d *Driver) Start(op *netpoll.Op) {
	if op.File.Fd() < 0 { // there is nothing to submit
		d.files.Begin(op)
		return
	}
	if op.Kind == netpoll.OpWritev && d.host.Mode != netpoll.AppendRing && !d.files.MustRead(op) {
		// Writes on the loop thread were measured to be faster and cheaper than ring writes, which ext4 hands to a worker
		// thread each time. That thread is where a write belongs that must read a page first.
		d.files.Write(op)
		return
	}
	if d.fileOps >= fileOpsMax {
		d.held.push(op)
		return
	}
	d.fileOps++
	d.issue(op)
}

// startHeld submits what had to wait for others to end.
func (d *Driver) startHeld() {
	for d.held.first != nil && d.fileOps < fileOpsMax {
		op := d.held.pop()
		d.fileOps++
		d.issue(op)
	}
}

// issue submits an operation, or what is left of it behind op.N bytes.
func (d *Driver) issue(op *netpoll.Op) {
	var iov uintptr
	var k int
	if op.Kind == netpoll.OpWritev {
		if iov, k = d.iovecs(op); k == 0 {
			d.fileOps--
			d.files.End(op) // nothing to write; told by the next Deliver
			return
		}
	}
	e := d.ring.sqe()
	e.Fd = int32(op.File.Fd())
	e.UserData = uint64(d.slots.take(slotFile, nil, op))
	switch op.Kind {
	case netpoll.OpWritev:
		e.OpCode = giouring.OpWritev
		e.Addr, e.Len, e.Off = uint64(iov), uint32(k), uint64(op.Off+op.N)
	case netpoll.OpRead:
		b := op.Iov[0][op.N:]
		e.OpCode = giouring.OpRead
		e.Addr, e.Len, e.Off = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint32(len(b)), uint64(op.Off+op.N)
	case netpoll.OpDatasync:
		e.OpCode = giouring.OpFsync
		e.OpcodeFlags = giouring.FsyncDatasync
	}
}

// iovecs writes what is left of a write's buffers to the arena, at most iovMax of them.
func (d *Driver) iovecs(op *netpoll.Op) (addr uintptr, k int) {
	need := min(len(op.Iov), iovMax) * iovBytes
	if d.arenaOff+need > len(d.arena) {
		// Full: the kernel copies them at submit.
		for d.ring.SQReady() > 0 {
			if err := d.ring.submit(); err != nil {
				panic(err) // the ring is broken; nothing in flight can be told
			}
		}
		d.arenaOff = 0
	}
	base := unsafe.Pointer(&d.arena[d.arenaOff])
	skip := op.N
	for _, b := range op.Iov {
		if skip >= int64(len(b)) {
			skip -= int64(len(b))
			continue
		}
		b = b[skip:]
		skip = 0
		v := (*[2]uint64)(unsafe.Add(base, k*iovBytes))
		v[0], v[1] = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))), uint64(len(b))
		if k++; k == iovMax {
			break
		}
	}
	d.arenaOff += k * iovBytes
	return uintptr(base), k
}

// fileDone takes the result of an operation and goes on with it if it is not whole yet.
func (d *Driver) fileDone(op *netpoll.Op, res int32) int {
	if res >= 0 && op.Kind != netpoll.OpDatasync {
		op.N += int64(res)
	}
	switch {
	case res == -int32(syscall.EINTR) || res == -int32(syscall.EAGAIN):
		d.issue(op)
		return 0
	case res < 0:
		op.Err = syscall.Errno(-res)
	case op.Kind == netpoll.OpDatasync || op.N == total(op):
	case res > 0:
		d.issue(op) // short: the rest
		return 0
	case op.Kind == netpoll.OpWritev:
		op.Err = io.ErrShortWrite
	}
	d.fileOps--
	d.host.Done(op)
	return 1
}

func total(op *netpoll.Op) (n int64) {
	if op.Kind == netpoll.OpRead {
		return int64(len(op.Iov[0]))
	}
	for _, b := range op.Iov {
		n += int64(len(b))
	}
	return n
}
