//go:build uring

package uring

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/pawelgaczynski/giouring"
	"golang.org/x/sys/unix"

	"millrace/netpoll"
)

const (
	// The kernel hands over some 20 completions per call, and buffers are given back between calls.
	bufCount = 128
	bufBytes = 32 << 10
	bufGroup = 1
	// retryNs is when submissions that the kernel refused for now are tried again.
	retryNs = 1_000_000
	// arenaBytes holds the iovecs of what is submitted together; the kernel has copied them when a submit returns.
	arenaBytes = 128 << 10
)

// Driver is a ring and what belongs to it. Owned by its loop's thread.
type Driver struct {
	netpoll.SockIO
	files netpoll.FileOps
	host  *netpoll.Host

	ring  *ring
	slots slots

	bufs    []byte // provided buffers
	bufMem  []byte // their ring
	bufRing *giouring.BufAndRing
	given   int // returned to the ring, not yet published

	arena    []byte
	arenaOff int

	fileOps   int // in flight
	held      opQueue
	retry     queue // receives to be started again
	gone      queue // detached and closed, not told yet
	batch     [256]completion
	wakeFd    int
	wakeArmed bool
}

// completion is a copy of one CQE.
type completion struct {
	data  uint64
	res   int32
	flags uint32
}

// Open makes a driver for a loop, on that loop's thread.
func Open(h *netpoll.Host) (*Driver, error) {
	d := &Driver{host: h, wakeFd: -1}
	d.files.Init(h)
	var err error
	if d.ring, err = newRing(sqEntries); err != nil {
		return nil, err
	}
	if err = d.setup(); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Driver) setup() (err error) {
	if d.wakeFd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	mmap := func(n int) (b []byte) {
		if err == nil {
			b, err = unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		}
		return b
	}
	d.bufs, d.bufMem, d.arena = mmap(bufCount*bufBytes), mmap(bufCount*16), mmap(arenaBytes)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	reg := &giouring.BufReg{RingAddr: uint64(uintptr(unsafe.Pointer(&d.bufMem[0]))), RingEntries: bufCount, Bgid: bufGroup}
	if _, err = d.ring.RegisterBufferRing(reg, 0); err != nil {
		return fmt.Errorf("provided buffers: %w", err)
	}
	d.bufRing = (*giouring.BufAndRing)(unsafe.Pointer(&d.bufMem[0]))
	d.bufRing.BufRingInit()
	for i := range bufCount {
		d.giveBack(i)
	}
	d.publish()
	return nil
}

// giveBack returns a provided buffer; publish lets the kernel see it.
func (d *Driver) giveBack(i int) {
	addr := uintptr(unsafe.Pointer(&d.bufs[i*bufBytes]))
	d.bufRing.BufRingAdd(addr, bufBytes, uint16(i), giouring.BufRingMask(bufCount), d.given)
	d.given++
}

func (d *Driver) publish() {
	if d.given > 0 {
		d.bufRing.BufRingAdvance(d.given)
		d.given = 0
	}
}

// Name implements netpoll.Driver.
func (d *Driver) Name() string { return "uring" }

// Wake implements netpoll.Driver. Any goroutine.
func (d *Driver) Wake() {
	one := uint64(1)
	_, _, _ = syscall.RawSyscall(unix.SYS_WRITE, uintptr(d.wakeFd), uintptr(unsafe.Pointer(&one)), 8)
}

// Close implements netpoll.Driver. Nothing is in flight.
func (d *Driver) Close() error {
	err := d.ring.close()
	if d.wakeFd >= 0 {
		_ = unix.Close(d.wakeFd)
	}
	for _, b := range [][]byte{d.bufs, d.bufMem, d.arena} {
		if b != nil {
			_ = unix.Munmap(b)
		}
	}
	return err
}

// Deliver implements netpoll.Driver.
func (d *Driver) Deliver() int { return d.files.Deliver() }

// Wait implements netpoll.Driver.
func (d *Driver) Wait(waitNs int64) (int, error) {
	n := d.files.Deliver()
	n += d.tellGone()
	d.startRetries()
	d.startHeld()
	if !d.wakeArmed {
		d.armWake()
	}
	if err := d.ring.submit(); err != nil {
		return n, err
	}
	if d.ring.SQReady() == 0 {
		d.arenaOff = 0
	} else if waitNs < 0 || waitNs > retryNs {
		// What the kernel did not take yet still points into the arena. It is short of memory, and no completion may be due: ask again soon.
		waitNs = retryNs
	}
	if waitNs != 0 && n == 0 && !d.files.Pending() && d.gone.first == nil && d.ring.CQReady() == 0 {
		if err := d.ring.block(waitNs); err != nil {
			return n, err
		}
		d.host.Woke()
	}
	return n + d.reap(), nil
}

// armWake polls the eventfd for good: each write is one completion, so the counter never has to be read.
func (d *Driver) armWake() {
	s := d.ring.sqe()
	s.PreparePollMultishot(d.wakeFd, unix.POLLIN)
	s.UserData = wakeData
	d.wakeArmed = true
}

// reap runs completions: those that were there when it began, in batches, so that it ends.
func (d *Driver) reap() (n int) {
	for range cqEntries / len(d.batch) {
		cqes := d.ring.peek()
		if len(cqes) == 0 {
			break
		}
		for i, c := range cqes {
			d.batch[i] = completion{c.UserData, c.Res, c.Flags}
		}
		k := len(cqes)
		d.ring.CQAdvance(uint32(k)) // before the completers: they may submit
		for i := range k {
			n += d.complete(&d.batch[i])
		}
		d.publish()
		if k < len(d.batch) {
			break
		}
	}
	return n
}

// complete runs one completion and reports whether it counts as an event.
func (d *Driver) complete(c *completion) int {
	if c.data == wakeData {
		if c.flags&giouring.CQEFMore == 0 {
			d.wakeArmed = false
		}
		return 0
	}
	n := int32(c.data)
	s := d.slots.put(n)
	switch s.kind {
	case slotFile:
		return d.fileDone(s.op, c.res)
	case slotRecv, slotSelect:
		return d.recvDone(s.sock, s.kind, c)
	case slotAccept:
		return d.acceptDone(s.sock, c.res)
	case slotWritable:
		return d.writableDone(s.sock)
	}
	panic(fmt.Sprintf("invariant broken: a completion for slot %d, which is free", n))
}
