package netpoll

import (
	"errors"

	"millrace/internal/bufpool"
)

// Errors that end connections.
var (
	// ErrClosed is what queued messages end with when their connection is closed.
	ErrClosed = errors.New("netpoll: connection closed")
	// ErrIdle ends a connection on which nothing moved for the idle timeout.
	ErrIdle = errors.New("netpoll: connection idle for too long")
	// ErrNoRequest ends a connection that sent no whole request in the time given for the first one.
	ErrNoRequest = errors.New("netpoll: no request in time")
	// ErrSlowFrame ends a connection that holds memory for a frame which hardly grows while others wait for memory.
	ErrSlowFrame = errors.New("netpoll: request arrives too slowly while memory is short")
	// ErrPartialFrame ends a connection whose peer stopped in the middle of a frame.
	ErrPartialFrame = errors.New("netpoll: connection ended inside a request")
	// ErrFrameHead says that a handler could not tell a frame's length from 64 bytes.
	ErrFrameHead = errors.New("netpoll: frame header too long")
	// ErrShortFile says that a file range ended before its promised length.
	ErrShortFile = errors.New("netpoll: file shorter than the range to be sent")
	// ErrShutdown ends the connections of a loop that stops.
	ErrShutdown = errors.New("netpoll: loop stopped")
)

// Conn is one connection. Owned by its loop: all methods but Loop and Info are called there.
type Conn struct {
	// Context is the handler's own.
	Context any

	loop *Loop
	sock Sock
	info ConnInfo
	h    Handler
	grp  *Group

	// Receiving (recv.go).
	buf      *bufpool.Buf // the frame being received; while frameLen > len(buf.B) only its beginning
	have     int
	frameLen int
	started  int64 // when the frame's first byte came
	head     [headMax]byte
	headLen  int
	need     int // length of the frame that waits for memory
	stash    *bufpool.Buf
	stashOff int
	asked    int
	trusted  bool // has sent a whole big frame before
	lastBig  bool // the last frame was big: the next receive asks for the header alone
	first    bool // a whole frame has come

	// Sending (send.go).
	outHead *Out
	outTail *Out
	queued  int64
	cold    *coldRead

	// What is going on.
	recving, writing, chilled            bool // operations in flight
	paused, waiting, eof, ending, closed bool
	refused                              bool // ending for what the peer sent: what is owed for earlier frames comes first
	busy, dirty, resuming, dead, opened  bool
	closeErr                             error

	active             int64 // when bytes last moved
	born               int64
	prevIdle, nextIdle *Conn
	nextDirty          *Conn
	nextResume         *Conn
	nextDead           *Conn
	prevMem, nextMem   *Conn
	nextCold           *Conn
	adopt              Task
}

// Info is what is known of the connection. Any goroutine.
func (c *Conn) Info() ConnInfo { return c.info }

// Loop is the loop that the connection lives on. Any goroutine.
func (c *Conn) Loop() *Loop { return c.loop }

// QueuedBytes is how many bytes of messages were not handed to the kernel yet.
func (c *Conn) QueuedBytes() int64 { return c.queued }

// Closed tells that the connection is closed or about to be: nothing that is sent arrives.
func (c *Conn) Closed() bool { return c.closed }

// SetBusy tells that the handler still owes something: a busy connection is not idle, and when its peer has stopped
// sending it stays open until it is no longer busy and its output is flushed.
func (c *Conn) SetBusy(busy bool) {
	if c.busy == busy {
		return
	}
	c.busy = busy
	if !busy {
		c.touch()
		c.endIfDone()
	}
}

// PauseRead stops delivery of frames, also of those received already, until ResumeRead.
func (c *Conn) PauseRead() { c.paused = true }

// ResumeRead ends PauseRead. Frames come later, never from inside this call.
func (c *Conn) ResumeRead() {
	if !c.paused {
		return
	}
	c.paused = false
	c.resumeLater()
}

// Close ends the connection: with nil after what is queued was sent, reading stops at once; with an error at once.
// Handler.Closed is called later, never from inside this call.
func (c *Conn) Close(err error) {
	if c.closed {
		return
	}
	if err == nil && c.outHead != nil {
		c.ending = true
		c.markDirty()
		return
	}
	c.closed = true
	c.closeErr = err
	c.nextDead = c.loop.conns.dying
	c.loop.conns.dying = c
	c.loop.again = true
}

// refuse ends the connection for bytes that are no frame. Nothing more is read; what the handler owes for the frames
// before is still sent.
func (c *Conn) refuse(err error) {
	if !c.busy && c.outHead == nil {
		c.Close(err)
		return
	}
	c.ending, c.refused, c.closeErr = true, true, err
}

// endIfDone closes a connection whose peer has stopped sending, or that was asked to end, once nothing is owed.
func (c *Conn) endIfDone() {
	if c.closed || c.outHead != nil || c.refused && c.busy {
		return
	}
	if c.refused {
		c.Close(c.closeErr)
		return
	}
	if c.ending || (c.eof && !c.busy && c.stash == nil && c.need == 0 && !c.whole()) {
		c.Close(nil)
	}
}

// touch notes that bytes moved.
func (c *Conn) touch() {
	c.active = c.loop.nowNs
	c.loop.conns.toTail(c)
}
