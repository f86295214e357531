package rawgen

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"millrace/bench/wire"
)

// flight is one request in flight.
type flight struct {
	slot     *wire.ProduceSlot
	intended int64 // when it should have been sent, ns
	free     int64 // when its place became free, ns
	firsts   int64 // first partition of the request
}

// sender is one connection of a producing load. Owned by its loop.
type sender struct {
	fd        int
	index     int
	flights   []flight // ring of Depth
	sent      int64    // requests begun
	answered  int64
	due       int64 // intended time of the next request (open loop), ns
	firstPart int
	body      int
	producer  int64
	producerE int16
	sequence  []int32 // next, per partition
	seen      []int64 // number, from 1, of the latest answer that named it, per partition
	floor     []int64 // least base offset that the next answer may name, per partition
	iov       []unix.Iovec
	iovAt     int
	writing   bool
	blocked   bool // the socket is full: wait for writability
	rbuf      []byte
	rlen      int
	results   []wire.Produced
}

func newSender(o *ProduceOptions, shape *wire.ProduceShape, index int) (*sender, error) {
	s := &sender{
		index: index, flights: make([]flight, o.Depth), firstPart: index * o.PerRequest % o.Partitions, body: index * 7 % o.Bodies,
		producer: -1, sequence: make([]int32, o.Partitions), floor: make([]int64, o.Partitions), seen: make([]int64, o.Partitions), rbuf: make([]byte, 64<<10),
		iov: make([]unix.Iovec, 0, 2*o.PerRequest+1), results: make([]wire.Produced, 0, o.PerRequest),
	}
	if o.Idempotent {
		var err error
		if s.producer, s.producerE, err = InitProducer(o.Addr); err != nil {
			return nil, err
		}
	}
	for i := range s.flights {
		s.flights[i].slot = shape.NewSlot()
	}
	var err error
	s.fd, err = Dial(o.Addr, false)
	return s, err
}

// begin fills the next slot and hands it to the socket. The caller has checked that a slot is free and nothing is half written.
func (s *sender) begin(l *loop, intended, at int64) bool {
	o := l.opts
	f := &s.flights[s.sent%int64(len(s.flights))]
	f.intended = intended
	f.slot.SetCorrelation(int32(s.sent))
	f.firsts = int64(s.firstPart)
	for i := range o.PerRequest {
		p := (s.firstPart + i) % o.Partitions
		h := f.slot.SetPart(i, int32(p), s.body)
		if s.producer >= 0 {
			wire.SetProducer(h, s.producer, s.producerE, s.sequence[p])
			s.sequence[p] = int32((int64(s.sequence[p]) + int64(l.shape.Bodies.Records)) & 0x7fffffff)
		}
		l.shape.Bodies.Stamp(h, s.body, l.wallMs(at))
		if s.body++; s.body == o.Bodies {
			s.body = 0
		}
		if o.sent != nil {
			o.sent.put(p, intended)
		}
	}
	if o.Rotate {
		s.firstPart = (s.firstPart + o.Conns*o.PerRequest) % o.Partitions
	}
	s.iov = s.iov[:0]
	for _, seg := range f.slot.Segments() {
		v := unix.Iovec{Base: &seg[0]}
		v.SetLen(len(seg))
		s.iov = append(s.iov, v)
	}
	s.iovAt, s.writing = 0, true
	s.sent++
	return s.flush(l)
}

// flush writes what is left of the current request; false ends the run.
func (s *sender) flush(l *loop) bool {
	for s.iovAt < len(s.iov) {
		// A kernel takes at most 1024 parts at once.
		n, e := Writev(s.fd, s.iov[s.iovAt:min(len(s.iov), s.iovAt+1024)])
		switch e {
		case 0:
		case unix.EAGAIN:
			s.blocked = true
			return true
		case unix.EINTR:
			continue
		default:
			l.res.Fail("connection %d: write: %v", s.index, e)
			return false
		}
		for n > 0 {
			v := &s.iov[s.iovAt]
			if n < int(v.Len) {
				advance(v, n)
				break
			}
			n -= int(v.Len)
			s.iovAt++
		}
	}
	s.writing, s.blocked = false, false
	l.res.WireBytes += int64(s.flights[(s.sent-1)%int64(len(s.flights))].slot.Size())
	if l.opts.Acks == 0 {
		l.complete(s, Now())
	}
	return true
}

// receive takes all answers that have arrived; false ends the run.
func (s *sender) receive(l *loop) bool {
	for {
		if s.rlen == len(s.rbuf) {
			s.rbuf = append(s.rbuf, make([]byte, len(s.rbuf))...)
		}
		n, e := RecvNow(s.fd, s.rbuf[s.rlen:])
		switch {
		case e == unix.EAGAIN:
			return true
		case e == unix.EINTR:
			continue
		case e != 0 || n == 0:
			l.res.Fail("connection %d: closed by the broker with %d requests unanswered (%v)", s.index, s.sent-s.answered, e)
			return false
		}
		drained := s.rlen+n < len(s.rbuf)
		s.rlen += n
		at := 0
		for s.rlen-at >= 4 {
			size := int(binary.BigEndian.Uint32(s.rbuf[at:]))
			if size < 4 || size > 64<<20 {
				l.res.Fail("connection %d: an answer of %d bytes", s.index, size)
				return false
			}
			if s.rlen-at-4 < size {
				break
			}
			if err := s.answer(l, s.rbuf[at+4:at+4+size]); err != nil {
				l.res.Fail("connection %d: %v", s.index, err)
				return false
			}
			at += 4 + size
		}
		copy(s.rbuf, s.rbuf[at:s.rlen])
		s.rlen -= at
		if drained { // a short read empties the socket: no need to ask again
			return true
		}
	}
}

// answer checks one answer against the oldest request in flight.
func (s *sender) answer(l *loop, frame []byte) error {
	if s.answered == s.sent {
		return fmt.Errorf("an answer to nothing")
	}
	f := &s.flights[s.answered%int64(len(s.flights))]
	corr, results, err := wire.ParseProduceResponse(frame, l.opts.Version, s.results[:0])
	if err != nil {
		return err
	}
	if corr != int32(s.answered) {
		return fmt.Errorf("answer %d came where %d was due", corr, int32(s.answered))
	}
	if len(results) != l.opts.PerRequest {
		return fmt.Errorf("%d partitions answered of %d", len(results), l.opts.PerRequest)
	}
	records := int64(l.shape.Bodies.Records)
	parts := int64(l.opts.Partitions)
	for _, r := range results { // in any order: Kafka answers in the order of a hash map
		p := int64(r.Partition)
		switch {
		case p < 0 || p >= parts || (p-f.firsts+parts)%parts >= int64(l.opts.PerRequest):
			l.res.Fail("partition %d was answered and not sent", p)
		case s.seen[p] == s.answered+1:
			l.res.Fail("partition %d was answered twice", p)
		case r.Code != 0:
			l.res.Fail("partition %d: error code %d", p, r.Code)
		case r.BaseOffset < s.floor[p]:
			l.res.Fail("partition %d: base offset %d after %d was taken", p, r.BaseOffset, s.floor[p])
		default:
			s.floor[p] = r.BaseOffset + records
			s.seen[p] = s.answered + 1
		}
	}
	l.complete(s, Now())
	return nil
}
