package netpoll

import (
	"syscall"

	"millrace/vfs"
)

const (
	// sendFileMin: smaller file ranges are read into memory and sent with their neighbours.
	sendFileMin = 16 << 10
	// sendFileMax bounds one sendfile call, so that one connection does not hold up the others.
	sendFileMax = 1 << 20
	// flushMax is what one connection may send per turn.
	flushMax = 4 << 20
	// gatherMax bounds the buffers of one gathering send.
	gatherMax = 64
	// scratchBytes is what file ranges that are copied are read into: small ones, those of files without a descriptor, and all
	// of them with LoopOptions.CopyFiles.
	scratchBytes = 64 << 10
)

// outPool recycles messages. Owned by its loop.
type outPool struct {
	free    *Out
	gather  [gatherMax][]byte
	scratch []byte
	filled  int  // bytes of scratch that the last gather read
	copies  bool // LoopOptions.CopyFiles
	warm    warmRange
}

// direct tells whether n bytes of a file go from the page cache to the socket without passing through memory of ours.
func (p *outPool) direct(f vfs.File, n int64) bool {
	return n >= sendFileMin && !p.copies && f.Fd() >= 0
}

// NewOut takes an empty message from the loop's free list. Its Segs are appended to by the caller. Loop only.
func (l *Loop) NewOut() *Out {
	o := l.outs.free
	if o == nil {
		return &Out{Segs: make([]Seg, 0, 8)}
	}
	l.outs.free = o.next
	o.next = nil
	return o
}

// AddMem appends bytes; ref, which may be nil, is released when they were sent or given up.
func (o *Out) AddMem(b []byte, ref Releaser) { o.Segs = append(o.Segs, Seg{Mem: b, Ref: ref}) }

// AddFile appends a range of a file.
func (o *Out) AddFile(f vfs.File, off, n int64, ref Releaser) {
	o.Segs = append(o.Segs, Seg{File: f, Off: off, Len: n, Ref: ref})
}

func (s *Seg) len() int64 {
	if s.File != nil {
		return s.Len
	}
	return int64(len(s.Mem))
}

// Send queues a message. It is sent at the end of the turn, after what was queued before; the loop owns it from now
// on. On a closed connection it is given up, with ErrClosed, later in this turn.
func (c *Conn) Send(o *Out) {
	o.next, o.seg, o.off, o.size = nil, 0, 0, 0
	for i := range o.Segs {
		o.size += o.Segs[i].len()
	}
	if c.outTail == nil {
		c.outHead = o
	} else {
		c.outTail.next = o
	}
	c.outTail = o
	c.queued += o.size
	c.markDirty()
}

// markDirty puts the connection on the list of those to be flushed at the end of the turn.
func (c *Conn) markDirty() {
	if c.dirty {
		return
	}
	c.dirty = true
	l := c.loop
	if l.conns.dirtyTail == nil {
		l.conns.dirtyHead = c
	} else {
		l.conns.dirtyTail.nextDirty = c
	}
	l.conns.dirtyTail = c
}

// flush sends what the socket takes, at most flushMax bytes.
func (c *Conn) flush() {
	if c.closed {
		if c.dead {
			c.giveUp(ErrClosed)
		}
		return
	}
	blocked := c.queued > c.loop.conns.outBytesMax(c)
	for sent := int64(0); c.outHead != nil && !c.writing && !c.chilled && !c.closed; {
		if sent >= flushMax {
			c.markDirty()
			break
		}
		n, err := c.sendSome()
		if n > 0 {
			sent += n
			c.touch()
			c.loop.st.bytesOut.Add(n)
			c.advance(n)
		}
		switch {
		case err == syscall.EAGAIN:
			if !c.writing {
				c.writing = true
				c.loop.drv.StartWritable(&c.sock)
			}
		case err != nil:
			c.Close(err)
		}
	}
	if c.closed {
		return
	}
	if blocked && c.mayRead() {
		c.resumeLater()
	}
	c.endIfDone()
}

// skipEmpty steps over segments without bytes and messages without segments.
func (c *Conn) skipEmpty() {
	for o := c.outHead; o != nil; o = c.outHead {
		for o.seg < len(o.Segs) && o.off >= o.Segs[o.seg].len() {
			o.release(o.seg)
			o.seg++
			o.off = 0
		}
		if o.seg < len(o.Segs) {
			return
		}
		c.finish(o, nil)
	}
}

// sendSome makes one system call that sends from the front of the queue.
func (c *Conn) sendSome() (int64, error) {
	c.skipEmpty()
	o := c.outHead
	if o == nil {
		return 0, nil
	}
	s := &o.Segs[o.seg]
	if s.File == nil || !c.loop.outs.direct(s.File, s.Len-o.off) {
		return c.sendGathered()
	}
	n := c.warm(s.File, s.Off+o.off, min(s.Len-o.off, sendFileMax))
	if n == 0 {
		return 0, nil
	}
	sent, err := c.loop.drv.SendFile(&c.sock, s.File, s.Off+o.off, n)
	if sent == 0 && err == nil {
		return 0, ErrShortFile
	}
	if err == nil && sent < n {
		// The socket is full, or will take more: the next call tells.
		return sent, nil
	}
	return sent, err
}

// sendGathered sends memory and file ranges that are copied, up to the first that is not, by one gathering send. The scratch
// belongs to the loop, so that slow readers hold none: what was read and not taken by the socket is read again later.
func (c *Conn) sendGathered() (int64, error) {
	p := &c.loop.outs
	bufs, more, err := c.gather(p)
	if err != nil || len(bufs) == 0 {
		return 0, err
	}
	n, err := c.loop.drv.Send(&c.sock, bufs, more)
	if err == nil && p.filled > 0 && n < size(bufs) {
		err = errAgain // the socket is full; asking it would mean to read again
	}
	clear(bufs)
	return int64(n), err
}

func size(bufs [][]byte) (n int) {
	for _, b := range bufs {
		n += len(b)
	}
	return n
}

// gather collects buffers from the front of the queue; more tells that something follows at once.
func (c *Conn) gather(p *outPool) (bufs [][]byte, more bool, err error) {
	bufs = p.gather[:0]
	p.filled = 0
	for o := c.outHead; o != nil; o = o.next {
		off := o.off
		for i := o.seg; i < len(o.Segs); i++ {
			s := &o.Segs[i]
			if len(bufs) == gatherMax {
				return bufs, true, nil
			}
			if s.File == nil {
				if int64(len(s.Mem)) > off {
					bufs = append(bufs, s.Mem[off:])
				}
				off = 0
				continue
			}
			rest := s.Len - off
			if len(bufs) > 0 && p.direct(s.File, rest) {
				return bufs, true, nil
			}
			n := int(min(rest, int64(scratchBytes-p.filled)))
			if n == 0 && rest > 0 {
				return bufs, true, nil
			}
			if p.scratch == nil {
				p.scratch = make([]byte, scratchBytes)
			}
			if n > 0 {
				b := p.scratch[p.filled : p.filled+n]
				if n, err = c.readWarm(s.File, b, s.Off+off, rest); err != nil {
					return nil, false, err
				}
				if n == 0 {
					return bufs, len(bufs) > 0, nil
				}
				p.filled += n
				bufs = append(bufs, b[:n])
			}
			if int64(n) < rest {
				return bufs, true, nil
			}
			off = 0
		}
	}
	return bufs, false, nil
}

// advance takes n sent bytes off the front of the queue.
func (c *Conn) advance(n int64) {
	c.queued -= n
	for n > 0 {
		o := c.outHead
		k := min(n, o.Segs[o.seg].len()-o.off)
		o.off += k
		n -= k
		c.skipEmpty()
	}
}

// finish ends the first message of the queue and recycles it.
func (c *Conn) finish(o *Out, err error) {
	c.outHead = o.next
	if c.outHead == nil {
		c.outTail = nil
	}
	for ; o.seg < len(o.Segs); o.seg++ {
		o.release(o.seg)
	}
	done := o.Done
	if done != nil {
		done.OutDone(o, err)
	}
	clear(o.Segs)
	if cap(o.Segs) > 256 {
		o.Segs = nil // one very wide answer must not stay in memory for good
	}
	o.Segs = o.Segs[:0]
	o.Done, o.Tag = nil, 0
	o.next = c.loop.outs.free
	c.loop.outs.free = o
}

func (o *Out) release(i int) {
	s := &o.Segs[i]
	if s.Ref != nil {
		s.Ref.Release()
		s.Ref = nil
	}
}

// giveUp ends all queued messages, once no read ahead works on a file that they keep open: it goes by the number of the
// descriptor, which may be somebody else's after a close.
func (c *Conn) giveUp(err error) {
	if c.cold != nil && c.cold.buf != nil {
		return // coldRead.OpDone does it
	}
	for c.outHead != nil {
		c.finish(c.outHead, err)
	}
	c.queued = 0
}
