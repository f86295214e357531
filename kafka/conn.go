package kafka

import (
	"millrace/internal/bufpool"
	"millrace/netpoll"
)

// conn is one client connection, owned by its loop.
//
// Requests stand in the list head..tail in order of arrival until their answers have been handed to the socket.
// While a request that is not a Produce is open nothing behind it is begun; frames that arrive meanwhile wait in
// held, and the socket is not read.
type conn struct {
	fe *Frontend
	ls *loopState
	nc *netpoll.Conn

	head, tail *request
	open       int  // requests in the list
	onlyWrites bool // all requests in the list are Produce requests

	held    []*bufpool.Buf
	paused  bool
	closed  bool
	refused bool // came before or after the time of service
	ending  bool // closes when what was handed to the socket has left; nothing is begun or answered any more
	running bool // advance is on the stack
	barrier bool // the last request has not pushed its batches yet: begin nothing behind it

	// What ApiVersions told of the client (KIP-511).
	clientName, clientVersion string
}

// heldMax is how many frames may wait behind an open request before no more are taken from the socket. What was received
// behind them waits in the netpoll connection, a chunk at most, so that held never grows beyond it.
const heldMax = 1

// frame takes one whole frame from the socket.
func (c *conn) frame(b *bufpool.Buf) {
	if c.over() {
		b.Release()
		return
	}
	c.held = append(c.held, b)
	c.advance()
	if len(c.held) >= heldMax && !c.paused && !c.over() {
		c.paused = true
		c.nc.PauseRead()
	}
}

// advance sends the answers that are ready and begins the frames that may begin. It is not entered twice: what
// ends inside it is picked up by its loop.
func (c *conn) advance() {
	if c.running {
		return
	}
	c.running = true
	for again := true; again && !c.over(); {
		again = c.sendReady()
		for len(c.held) > 0 && !c.over() && c.mayBegin(c.held[0]) {
			b := c.held[0]
			copy(c.held, c.held[1:])
			c.held[len(c.held)-1] = nil
			c.held = c.held[:len(c.held)-1]
			c.begin(b)
			again = true
		}
	}
	c.running = false
	if c.paused && len(c.held) == 0 && !c.over() {
		c.paused = false
		c.nc.ResumeRead()
	}
	c.nc.SetBusy(c.open > 0 || len(c.held) > 0)
}

// maxOverlap bounds the Produce requests of one connection that are open at once.
const maxOverlap = 64

func (c *conn) mayBegin(b *bufpool.Buf) bool {
	if c.open == 0 {
		return true
	}
	return !c.barrier && c.onlyWrites && c.open < maxOverlap && isProduce(b.B)
}

// isProduce looks at the API key behind the four bytes of length.
func isProduce(frame []byte) bool { return len(frame) >= 6 && frame[4] == 0 && frame[5] == 0 }

// begin parses the header of a frame and hands the request to its API. A frame that no answer is defined for ends
// the connection, as in Kafka.
func (c *conn) begin(b *bufpool.Buf) {
	r := c.ls.newRequest(c, b)
	if c.head == nil {
		c.head, c.onlyWrites = r, true
	} else {
		c.tail.next = r
	}
	c.tail = r
	c.open++
	c.fe.stats.open.Add(1)
	c.onlyWrites = c.onlyWrites && isProduce(b.B)
	if err := r.parse(); err != nil {
		r.fail(err)
		return
	}
	c.fe.dispatch(r)
}

// sendReady hands the answers at the head of the list to the socket. It reports whether it sent any.
func (c *conn) sendReady() bool {
	sent := false
	for c.head != nil && c.head.done && !c.over() {
		r := c.head
		if r.failed != nil {
			c.close(r.failed)
			return sent
		}
		c.head = r.next
		if c.head == nil {
			c.tail = nil
		}
		c.open--
		if out := r.takeOut(); out != nil {
			c.nc.Send(out)
		}
		c.fe.stats.answered(r.hdr.API.Key, c.ls.loop.NowNs()-r.startNs)
		r.recycle()
		sent = true
	}
	return sent
}

// over tells that nothing is begun and nothing is answered any more.
func (c *conn) over() bool { return c.closed || c.ending }

// close ends the connection when the answers that were handed to the socket have left. Open requests stay in the list
// until what they wait for has ended.
func (c *conn) close(err error) {
	if c.over() {
		return
	}
	c.ending = true
	c.fe.rejected(c, err)
	c.nc.Close(nil)
}

// ended is told by the loop that the connection is gone. Requests that wait only for data are cancelled; appends
// go on, their answers are dropped.
func (c *conn) ended() {
	c.closed = true
	for _, b := range c.held {
		b.Release()
	}
	c.held = nil
	for again := true; again; {
		again = false
		for r := c.head; r != nil; r = r.next {
			if r.cancel != nil && !r.done {
				r.cancel.cancelled(r) // ends in reap, which takes the list apart: begin anew
				again = true
				break
			}
		}
	}
	c.reap()
}

// reap drops ended requests of a closed connection, in whatever order they end.
func (c *conn) reap() {
	var head, tail *request
	for r := c.head; r != nil; {
		next := r.next
		r.next = nil
		if r.done {
			c.open--
			r.dropOut()
			r.recycle()
		} else if head == nil {
			head, tail = r, r
		} else {
			tail.next = r
			tail = r
		}
		r = next
	}
	c.head, c.tail = head, tail
}
