package producer

import (
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"millrace/bench/rawgen"
	"millrace/bench/wire"
)

// client is the network client: one connection per broker over one selector. Owned by its loop.
type client struct {
	topic  string
	acks   int16
	max    int // requests in flight per connection
	ep     int
	conns  []*conn
	events []unix.EpollEvent
	done   func(r *request, results []wire.Produced) error
}

// conn is one broker's connection. Owned by its loop.
type conn struct {
	fd       int
	flights  []*request // ring, oldest at answered
	sent     int64
	answered int64
	left     []unix.Iovec // of the newest request
	blocked  bool         // the socket is full
	rbuf     []byte
	rlen     int
	results  []wire.Produced
}

func newClient(o *Options, addrs []string, done func(*request, []wire.Produced) error) (*client, error) {
	c := &client{topic: o.Topic, acks: o.Acks, max: o.MaxInFlight, ep: -1, events: make([]unix.EpollEvent, len(addrs)), done: done}
	var err error
	if c.ep, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, err
	}
	for i, addr := range addrs {
		fd, err := rawgen.Dial(addr, false)
		if err != nil {
			c.close()
			return nil, err
		}
		n := &conn{fd: fd, flights: make([]*request, o.MaxInFlight), rbuf: make([]byte, 64<<10)}
		for j := range n.flights {
			n.flights[j] = &request{}
		}
		c.conns = append(c.conns, n)
		ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff, Fd: int32(i)}
		if err := unix.EpollCtl(c.ep, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

func (c *client) close() {
	for _, n := range c.conns {
		unix.Close(n.fd)
	}
	unix.Close(c.ep)
}

// ready says whether a broker may get a request: fewer than the allowed number are in flight, and the newest is written.
func (c *client) ready(node int) bool {
	n := c.conns[node]
	return len(n.left) == 0 && n.sent-n.answered < int64(c.max)
}

// inFlight counts requests without an answer.
func (c *client) inFlight() int {
	sum := int64(0)
	for _, n := range c.conns {
		sum += n.sent - n.answered
	}
	return int(sum)
}

// slot is the request that send will use next.
func (c *client) slot(node int) *request {
	n := c.conns[node]
	return n.flights[n.sent%int64(c.max)]
}

// send begins the request in the next slot.
func (c *client) send(node int, at int64) error {
	n := c.conns[node]
	r := c.slot(node)
	r.encode(c.topic, c.acks, int32(n.sent))
	r.sentAt = at
	n.sent++
	n.left = r.iov
	return n.flush()
}

func (n *conn) flush() error {
	for len(n.left) > 0 {
		k, e := rawgen.Writev(n.fd, n.left[:min(len(n.left), 1024)])
		switch e {
		case 0:
			n.left = advance(n.left, k)
		case unix.EAGAIN:
			n.blocked = true
			return nil
		case unix.EINTR:
		default:
			return fmt.Errorf("write: %w", e)
		}
	}
	n.blocked = false
	return nil
}

// poll waits, writes what was left, and takes answers.
func (c *client) poll(wait time.Duration) (int, error) {
	n, e := rawgen.EpollWait(c.ep, c.events, wait)
	if e != 0 && e != unix.EINTR {
		return 0, fmt.Errorf("epoll: %w", e)
	}
	for _, ev := range c.events[:max(n, 0)] {
		at := c.conns[ev.Fd]
		if ev.Events&unix.EPOLLOUT != 0 && at.blocked {
			if err := at.flush(); err != nil {
				return 0, err
			}
		}
		if ev.Events&(unix.EPOLLIN|unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0 {
			if err := c.receive(at); err != nil {
				return 0, err
			}
		}
	}
	return max(n, 0), nil
}

func (c *client) receive(n *conn) error {
	for {
		k, e := rawgen.RecvNow(n.fd, n.rbuf[n.rlen:])
		switch {
		case e == unix.EAGAIN:
			return nil
		case e == unix.EINTR:
			continue
		case e != 0 || k == 0:
			return fmt.Errorf("closed by the broker with %d requests unanswered (%v)", n.sent-n.answered, e)
		}
		short := n.rlen+k < len(n.rbuf)
		n.rlen += k
		at := 0
		for n.rlen-at >= 4 {
			size := int(binary.BigEndian.Uint32(n.rbuf[at:]))
			if size < 4 || size > 16<<20 {
				return fmt.Errorf("an answer of %d bytes", size)
			}
			if n.rlen-at-4 < size {
				if 4+size > len(n.rbuf) {
					n.rbuf = append(n.rbuf, make([]byte, 4+size-len(n.rbuf))...)
				}
				break
			}
			if err := c.answer(n, n.rbuf[at+4:at+4+size]); err != nil {
				return err
			}
			at += 4 + size
		}
		copy(n.rbuf, n.rbuf[at:n.rlen])
		n.rlen -= at
		if short {
			return nil
		}
	}
}

func (c *client) answer(n *conn, frame []byte) error {
	if n.answered == n.sent {
		return fmt.Errorf("an answer to nothing")
	}
	r := n.flights[n.answered%int64(c.max)]
	correlation, results, err := wire.ParseProduceResponse(frame, produceVersion, n.results[:0])
	n.results = results
	if err != nil {
		return err
	}
	if correlation != int32(n.answered) || len(results) != len(r.batches) {
		return fmt.Errorf("answer %d with %d partitions came where %d with %d was due", correlation, len(results), int32(n.answered), len(r.batches))
	}
	n.answered++
	return c.done(r, results)
}
