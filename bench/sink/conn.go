package sink

import (
	"encoding/binary"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"millrace/bench/wire"
)

const (
	smallRead = 512       // what a receive asks for when a big frame is likely: the head of it
	bigFrame  = 64 << 10  // from here on a frame is received for itself
	maxFrame  = 100 << 20 // as a broker's socket.request.max.bytes
)

// piece is a part of an answer: bytes, or a range of a file.
type piece struct {
	b    []byte
	file *os.File
	pos  int64
	n    int
}

// conn is one connection. Owned by its loop.
type conn struct {
	l      *loop
	fd     int
	buf    []byte
	have   int
	big    bool // the last frame was big
	gone   bool
	broken bool // its data could not be synced
	held   bool // output waits for the turn's writes and sync
	paused bool // received enough for this turn: its frames are needed until the writes
	taken  int  // bytes of buf that are frames already handled
	out    []piece
	outAt  int    // pieces before it are written
	spare  []byte // room for answers, reused when all output is gone
	view   wire.ProduceView
	base   []int64
	park   *parkedFetch
}

func newConn(l *loop, fd int) *conn {
	return &conn{l: l, fd: fd, buf: make([]byte, bigFrame), spare: make([]byte, 0, 16<<10)}
}

// receive takes what has arrived and handles whole frames; false ends the connection.
func (c *conn) receive() bool {
	if c.paused {
		return true // a new event; resume will come
	}
	c.compact()
	for {
		want := c.want()
		n, _, e := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(c.fd), uintptr(unsafe.Pointer(&c.buf[c.have])), uintptr(want), 0, 0, 0)
		switch {
		case e == unix.EAGAIN:
			return true
		case e == unix.EINTR:
			continue
		case e != 0 || n == 0:
			return false
		}
		c.have += int(n)
		if !c.frames() || !c.answer() {
			return false
		}
		if c.l.used > 0 && c.taken > 0 {
			c.paused = true
			c.l.again = append(c.l.again, c)
			return true
		}
		c.compact()
		// A short read has emptied the socket, unless it was cut short by what we asked for.
		if int(n) < want {
			return true
		}
	}
}

// want says how many bytes to ask for and makes room for them.
func (c *conn) want() int {
	if c.have >= 4 {
		if size := 4 + int(binary.BigEndian.Uint32(c.buf)); size > bigFrame {
			if size > len(c.buf) {
				c.buf = append(make([]byte, 0, size), c.buf[:c.have]...)[:size]
			}
			return size - c.have
		}
	} else if c.big {
		return smallRead
	}
	return bigFrame - c.have
}

func (c *conn) frames() bool {
	at := 0
	for c.have-at >= 4 {
		size := int(binary.BigEndian.Uint32(c.buf[at:]))
		if size < 8 || size > maxFrame {
			return false
		}
		if c.have-at-4 < size {
			break
		}
		if !c.handle(c.buf[at+4 : at+4+size]) {
			return false
		}
		c.big = 4+size > bigFrame
		at += 4 + size
	}
	c.taken = at
	return true
}

// compact moves what is left behind the handled frames to the front.
func (c *conn) compact() {
	if c.taken > 0 {
		copy(c.buf, c.buf[c.taken:c.have])
		c.have -= c.taken
		c.taken = 0
	}
}

// answer lets output go, at once or after the turn's sync.
func (c *conn) answer() bool {
	if c.outAt == len(c.out) {
		return true
	}
	if c.l.used == 0 && len(c.l.dirty) == 0 {
		return c.flush()
	}
	if !c.held {
		c.held = true
		c.l.answer = append(c.l.answer, c)
	}
	return true
}

// reply appends bytes to the output, joining them with bytes before.
func (c *conn) reply(b []byte) {
	c.out = append(c.out, piece{b: b})
}

// flush writes output until the socket is full; false ends the connection.
func (c *conn) flush() bool {
	for c.outAt < len(c.out) {
		p := &c.out[c.outAt]
		var n int
		var e error
		if p.file != nil {
			pos := p.pos
			n, e = unix.Sendfile(c.fd, int(p.file.Fd()), &pos, min(p.n, 4<<20))
		} else if len(c.out) > c.outAt+1 {
			n, e = c.gather()
		} else {
			n, e = unix.SendmsgN(c.fd, p.b, nil, nil, unix.MSG_NOSIGNAL)
		}
		switch {
		case e == unix.EAGAIN:
			return true
		case e == unix.EINTR:
			continue
		case e != nil || n <= 0:
			return false
		}
		c.sent(n)
	}
	clear(c.out) // let go of what they point to
	c.out, c.outAt, c.spare = c.out[:0], 0, c.spare[:0]
	return true
}

// gather writes the leading pieces of memory with one call; more follows if a file range comes next.
func (c *conn) gather() (int, error) {
	var bufs [64][]byte
	k, flags := 0, unix.MSG_NOSIGNAL
	left := c.out[c.outAt:]
	for ; k < len(left) && k < len(bufs); k++ {
		if left[k].file != nil {
			break
		}
		bufs[k] = left[k].b
	}
	if k < len(left) {
		flags |= unix.MSG_MORE
	}
	return unix.SendmsgBuffers(c.fd, bufs[:k], nil, nil, flags)
}

func (c *conn) sent(n int) {
	for n > 0 {
		p := &c.out[c.outAt]
		if p.file != nil {
			p.pos, p.n, n = p.pos+int64(n), p.n-n, 0
			if p.n > 0 {
				return
			}
		} else {
			k := min(n, len(p.b))
			p.b, n = p.b[k:], n-k
			if len(p.b) > 0 {
				return
			}
		}
		c.outAt++
	}
}

// parkedFetch waits for data.
type parkedFetch struct {
	frame []byte
	until time.Time
}

func (c *conn) unpark(at time.Time) bool {
	p := c.park
	c.park = nil
	return c.fetch(p.frame, p.until, at) && c.answer()
}
