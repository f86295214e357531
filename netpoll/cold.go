package netpoll

import (
	"millrace/internal/bufpool"
	"millrace/vfs"
)

const (
	// coldMax bounds the reads ahead that a loop has in flight.
	coldMax = 16
	// coldBytes is how much one of them reads.
	coldBytes = 256 << 10
)

// coldRead brings a part of a file into the page cache before it is sent. Owned by its connection's loop; it outlives the
// connection while its operation is in flight.
type coldRead struct {
	c        *Conn
	op       Op
	iov      [1][]byte
	buf      *bufpool.Buf
	file     vfs.File
	from, to int64 // what is in the page cache, as far as we know
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
	r.op.Off = off
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
		r.to = r.from + op.N
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
