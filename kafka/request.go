package kafka

import (
	"millrace/internal/bufpool"
	"millrace/kafka/wire"
	"millrace/netpoll"
)

// request is one request of a connection, owned by the connection's loop from begin to recycle. The frame lives
// until release, which a handler may call early when it has read all it needs.
type request struct {
	conn *conn
	next *request

	buf     *bufpool.Buf
	hdr     wire.Header
	startNs int64

	out    *netpoll.Out // the answer; nil with done set means that none is due (acks=0)
	done   bool
	failed error     // ends the connection in place of an answer
	cancel canceller // told when the connection ends while the request waits; may be nil

	produce produceState
	fetch   fetchState
}

// canceller stops the waiting of a request whose connection has ended. It must lead to request.finish.
type canceller interface {
	cancelled(r *request)
}

// parse reads the header.
func (r *request) parse() error {
	hdr, err := wire.ParseHeader(r.buf.B[wire.FrameSize:])
	r.hdr = hdr
	return err
}

// release gives the frame back. Views into it are dead afterwards.
func (r *request) release() {
	if r.buf != nil {
		r.buf.Release()
		r.buf = nil
		r.hdr.ClientID, r.hdr.Body = nil, nil
	}
}

// finish marks the request as answered: by out, or by silence when out is nil. It runs on the connection's loop.
func (r *request) finish(out *netpoll.Out) {
	r.out, r.done = out, true
	r.cancel = nil
	r.release()
	c := r.conn
	if c.closed {
		c.reap()
		return
	}
	c.advance()
}

// fail ends the request by ending its connection: the answer of Kafka where no error can be expressed. The requests
// before it are answered first.
func (r *request) fail(err error) {
	r.failed = err
	r.finish(nil)
}

func (r *request) takeOut() *netpoll.Out {
	out := r.out
	r.out = nil
	return out
}

// dropOut gives up an answer that nobody can receive any more: a closed connection releases what it is sent.
func (r *request) dropOut() {
	if out := r.takeOut(); out != nil {
		r.conn.nc.Send(out)
	}
}

// recycle returns the request to its loop's free list.
func (r *request) recycle() {
	r.release()
	r.conn.fe.stats.open.Add(-1)
	r.conn.ls.freeRequest(r)
}
