package netpoll

import (
	"io"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"millrace/internal/bufpool"
	"millrace/vfs"
)

const (
	// coldMax bounds the reads ahead that a loop has in flight.
	coldMax = 16
	// coldBytes is how much one of them reads.
	coldBytes = 256 << 10
	// probeBytes is how far apart the bytes lie that tell of pages in the cache whether their read is over: where the kernel reads
	// ahead by less, a loop may wait for one small read that it missed.
	probeBytes = 256 << 10
	// warmNs is how long pages are trusted to stay that were read off the loop to be sent.
	warmNs = 1e9
)

// pageBytes is what cachestat counts in.
var pageBytes = int64(os.Getpagesize())

// warmRange is a part of a file that was asked for in this turn and found in the page cache, so that neither the rest of a send
// that the socket cut short nor the next consumer of the same bytes asks again. Owned by its loop.
type warmRange struct {
	file     vfs.File
	from, to int64
	at       int64 // the turn, by the loop's clock
}

// coldRead brings a part of a file into the page cache before it is sent. Owned by its connection's loop; it outlives the
// connection while its operation is in flight.
type coldRead struct {
	c        *Conn
	op       Op
	iov      [1][]byte
	buf      *bufpool.Buf
	file     vfs.File
	from, to int64 // what is in the page cache, as far as we know
	at       int64 // when it was read
	want     int64
}

// startCold reads the first part of a range off the loop; the connection is flushed again afterwards.
func (s *connSet) startCold(c *Conn, f vfs.File, off, n int64) {
	r := c.cold
	if r == nil {
		r = &coldRead{c: c}
		r.op.Done = r
		c.cold = r
	}
	r.file, r.from, r.to = f, off, off
	r.op.Off, r.op.Rested = off, true
	c.chilled = true
	if n > coldBytes {
		n = coldBytes
	}
	r.want = n
	if s.coldRunning >= coldMax {
		if s.coldTail == nil {
			s.coldHead = c
		} else {
			s.coldTail.nextCold = c
		}
		s.coldTail = c
		return
	}
	s.runCold(r)
}

func (s *connSet) runCold(r *coldRead) {
	s.coldRunning++
	r.buf = s.loop.pool.GetForce(int(r.want))
	r.iov[0] = r.buf.B
	r.op.Kind, r.op.File, r.op.Iov = OpRead, r.file, r.iov[:]
	s.loop.st.coldReads.Inc()
	s.loop.Submit(&r.op)
}

// OpDone lets the connection go on; the bytes are in the page cache now and are sent from there.
func (r *coldRead) OpDone(op *Op) {
	s := &r.c.loop.conns
	s.coldRunning--
	r.buf.Release()
	r.buf, r.iov[0], r.op.File = nil, nil, nil
	c := r.c
	c.chilled = false
	switch {
	case c.dead:
		c.giveUp(ErrClosed)
	case c.closed:
	case op.Err != nil:
		c.Close(op.Err)
	case op.N == 0:
		c.Close(ErrShortFile)
	default:
		r.to, r.at = r.from+op.N, c.loop.nowNs
		c.markDirty()
	}
	for s.coldHead != nil && s.coldRunning < coldMax {
		n := s.coldHead
		s.coldHead, n.nextCold = n.nextCold, nil
		if s.coldHead == nil {
			s.coldTail = nil
		}
		if n.closed {
			n.chilled = false
			continue
		}
		s.runCold(n.cold)
	}
}

// inside tells how much from off on is known to be in the page cache: read off the loop lately, or found there in this turn.
func (c *Conn) inside(f vfs.File, off int64) int64 {
	now := c.loop.nowNs
	if r := c.cold; r != nil && r.file == f && off >= r.from && off < r.to && now-r.at < warmNs {
		return r.to - off
	}
	if w := &c.loop.outs.warm; w.file == f && off >= w.from && off < w.to && w.at == now {
		return w.to - off
	}
	return 0
}

// warm tells how much of a range can be sent without waiting for the disk. When that is nothing it has the first part
// read off the loop, and the flush goes on when that is done. What was appended a moment ago is asked for like all else:
// an idle log's end may have left the page cache too, and asking costs little beside a send.
func (c *Conn) warm(f vfs.File, off, n int64) int64 {
	if k := c.inside(f, off); k > 0 {
		return min(n, k)
	}
	if resident(f.Fd(), off, n) {
		c.loop.outs.warm = warmRange{f, off, off + n, c.loop.nowNs}
		return n
	}
	c.loop.conns.startCold(c, f, off, n)
	return 0
}

// readWarm reads into b what can be read without waiting for the disk. When not all of it can, it returns 0 and has the
// first part of the rest bytes behind off read off the loop, as far as it would be for sendfile.
func (c *Conn) readWarm(f vfs.File, b []byte, off, rest int64) (int, error) {
	if k := c.inside(f, off); k > 0 {
		b = b[:min(int64(len(b)), k)]
	} else if fd := f.Fd(); fd >= 0 {
		n, err := readCached(fd, b, off)
		if n == len(b) {
			return n, nil
		}
		if !cannotTell(err) {
			c.loop.conns.startCold(c, f, off, min(rest, sendFileMax))
			return 0, nil
		}
	}
	n, err := f.ReadAt(b, off)
	switch {
	case n == len(b):
		return n, nil
	case err == nil, err == io.EOF:
		return 0, ErrShortFile
	}
	return 0, err
}

// readCached reads from the page cache without waiting for the disk: EAGAIN, or less than asked for, where it lacks something.
// The kernel may begin to read ahead then, which can sleep for memory, so this is no raw system call.
func readCached(fd int, b []byte, off int64) (int, error) {
	iov := unix.Iovec{Base: &b[0]}
	iov.SetLen(len(b))
	n, _, e := syscall.Syscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&iov)), 1, uintptr(off), uintptr(off>>32), unix.RWF_NOWAIT)
	if e != 0 {
		return 0, e
	}
	return int(n), nil
}

// cannotTell: the file system, the kernel, or whoever filters its calls does not know reads that do not wait.
func cannotTell(err error) bool {
	return err == unix.EOPNOTSUPP || err == unix.ENOSYS || err == unix.EPERM
}

// resident asks whether [off, off+n) of a file can be sent from the page cache without waiting; yes, where that cannot be told.
func resident(fd int, off, n int64) bool {
	if n <= 0 {
		return true
	}
	first := off &^ (pageBytes - 1)
	var cs unix.Cachestat_t
	cr := unix.CachestatRange{Off: uint64(first), Len: uint64(off + n - first)}
	if _, _, e := syscall.RawSyscall6(unix.SYS_CACHESTAT, uintptr(fd), uintptr(unsafe.Pointer(&cr)), uintptr(unsafe.Pointer(&cs)), 0, 0, 0); e == 0 {
		if want := uint64((off + n - first + pageBytes - 1) / pageBytes); cs.Cache < want {
			// Overlay file systems have their pages elsewhere and seem to have none. They do not know reads that do not wait
			// either: asked far behind the file's end, so that nothing is read.
			return cs.Cache == 0 && !tells(fd)
		}
	}
	// Pages that are still being read, by a read ahead of the kernel's own, count as cached. Such a read is done in large
	// parts, so a few bytes tell.
	for at := off; at < off+n-1; at += probeBytes {
		if !probe(fd, at) {
			return false
		}
	}
	return probe(fd, off+n-1)
}

// tells whether reads of this file say what is not in the page cache.
func tells(fd int) bool {
	var b [1]byte
	_, err := readCached(fd, b[:], 1<<60)
	return !cannotTell(err)
}

// probe tells whether one byte of a file is in the page cache; yes, where that cannot be told.
func probe(fd int, off int64) bool {
	var b [1]byte
	n, err := readCached(fd, b[:], off)
	return err == nil && n > 0 || cannotTell(err)
}
