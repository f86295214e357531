package crash

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// sent is one batch of a producer and what became of it.
type sent struct {
	first int64 // sequence of its first record, counted without wrap
	count int32
	base  int64 // offset it was acknowledged at, or -1
	no    bool  // definitely refused: must never be seen
	frame []byte
}

// producer writes numbered records to one partition. Its own goroutine owns it, but for the ledger.
type producer struct {
	addr, topic string
	partition   int32
	acks        int16
	idempotent  bool
	id          int64
	epoch       int16
	rng         *rand.Rand
	pause       time.Duration // between batches
	inFlight    int

	next    int64
	pending []*sent

	mu     sync.Mutex
	ledger []*sent // any goroutine, under mu
	acked  int64   // records acknowledged
	resent int64   // batches sent again after a lost connection or a retriable error
	err    error   // what must never happen

	outage atomic.Bool // the disk is gone: any error may come

	stop chan struct{}
	done chan struct{}
}

// newProducer makes a producer; idempotent means acks=all, otherwise acks=1.
func newProducer(t testing.TB, addr, topic string, partition int32, idempotent bool, seed uint64) *producer {
	p := &producer{addr: addr, topic: topic, partition: partition, acks: 1, idempotent: idempotent, id: -1, epoch: -1, inFlight: 5,
		rng: rand.New(rand.NewPCG(seed, uint64(partition))), pause: 4 * time.Millisecond, stop: make(chan struct{}), done: make(chan struct{})}
	if idempotent {
		p.acks = -1
		req := kmsg.NewPtrInitProducerIDRequest()
		req.Version = 4
		req.ProducerID, req.ProducerEpoch, req.TransactionTimeoutMillis = -1, -1, 60000
		r := initProducerID(t, addr, req)
		if r.ErrorCode != 0 {
			t.Fatalf("InitProducerId: %v", kerr.ErrorForCode(r.ErrorCode))
		}
		p.id, p.epoch = r.ProducerID, r.ProducerEpoch
	}
	return p
}

// initProducerID asks until the broker's coordinator is loaded.
func initProducerID(t testing.TB, addr string, req *kmsg.InitProducerIDRequest) *kmsg.InitProducerIDResponse {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		resp, err := harness.Once(addr, req)
		if err != nil {
			t.Fatalf("InitProducerId: %v", err)
		}
		r := resp.(*kmsg.InitProducerIDResponse)
		if r.ErrorCode != kerr.CoordinatorLoadInProgress.Code || time.Now().After(deadline) {
			return r
		}
	}
}

// value is the content of a record, made from its place alone.
func value(topic string, partition int32, seq int64) []byte {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s/%d/%d", topic, partition, seq)
	seed := h.Sum64()
	out := binary.BigEndian.AppendUint64(nil, uint64(seq))
	rng := rand.New(rand.NewPCG(seed, 1))
	for range rng.IntN(120) {
		out = binary.BigEndian.AppendUint64(out, rng.Uint64()|0x2020202020202020)
	}
	return out
}

// nextBatch makes the next batch in a codec picked by chance.
func (p *producer) nextBatch(conn *harness.Conn) *sent {
	s := &sent{first: p.next, count: int32(1 + p.rng.IntN(20)), base: -1}
	now := time.Now().UnixMilli()
	b := harness.NewBatch()
	b.Codec = p.rng.IntN(len(harness.Codecs))
	if p.idempotent {
		b.ProducerID, b.ProducerEpoch, b.BaseSequence = p.id, p.epoch, int32(s.first%(1<<31))
	}
	for i := range s.count {
		seq := s.first + int64(i)
		b.Records = append(b.Records, harness.Record{Timestamp: now, Key: fmt.Appendf(nil, "%d", seq), Value: value(p.topic, p.partition, seq)})
	}
	req := p.request(b.Bytes())
	s.frame, _ = conn.Encode(req)
	p.next += int64(s.count)
	p.mu.Lock()
	p.ledger = append(p.ledger, s)
	p.mu.Unlock()
	return s
}

func (p *producer) request(records []byte) *kmsg.ProduceRequest {
	return harness.Produce(p.topic, p.partition, p.acks, records)
}

// run sends until stop is closed and, if idempotent, until everything sent is acknowledged.
func (p *producer) run() {
	defer close(p.done)
	for !p.finished() {
		conn, err := harness.Dial(p.addr)
		if err != nil {
			time.Sleep(3 * time.Millisecond)
			continue
		}
		err = p.session(conn)
		conn.Close()
		if err != nil {
			p.mu.Lock()
			p.err = err
			p.mu.Unlock()
			return
		}
		if !p.idempotent {
			p.pending = nil // their outcome stays unknown
		}
	}
}

func (p *producer) stopping() bool {
	select {
	case <-p.stop:
		return true
	default:
		return false
	}
}

func (p *producer) finished() bool { return p.stopping() && len(p.pending) == 0 }

// session works on one connection until it breaks or a retriable error comes; only what must never happen is returned.
func (p *producer) session(conn *harness.Conn) error {
	order := append([]*sent{}, p.pending...)
	for _, s := range order {
		if conn.SendRaw(s.frame) != nil {
			return nil
		}
		p.mu.Lock()
		p.resent++
		p.mu.Unlock()
	}
	for !p.finished() {
		// The very first batch goes alone: a broker that does not know a producer accepts any first sequence.
		for !p.stopping() && len(p.pending) < p.inFlight && (p.next == 0 || p.acknowledged() > 0) {
			s := p.nextBatch(conn)
			p.pending = append(p.pending, s)
			order = append(order, s)
			if conn.SendRaw(s.frame) != nil {
				return nil
			}
			time.Sleep(time.Duration(p.rng.Int64N(int64(2*p.pause) + 1)))
		}
		frame, err := conn.ReadFrame()
		if err != nil {
			return nil
		}
		s := order[0]
		if got, want := binary.BigEndian.Uint32(frame), binary.BigEndian.Uint32(s.frame[8:]); got != want {
			return fmt.Errorf("answer %d came where %d was due", got, want)
		}
		retry, err := p.answer(s, frame)
		if retry || err != nil {
			return err
		}
		order, p.pending = order[1:], p.pending[1:]
	}
	return nil
}

// answer notes an acknowledgement; retry means that everything pending must be sent again.
func (p *producer) answer(s *sent, frame []byte) (retry bool, err error) {
	resp, err := harness.ParseResponse(p.request(nil), frame)
	if err != nil {
		return false, err
	}
	part := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0]
	if part.ErrorCode != 0 && p.outage.Load() {
		return true, nil
	}
	switch part.ErrorCode {
	case 0:
	case 3, 5, 6, 7, 56: // unknown for the moment after a start, no leader yet, moved, timed out, storage
		time.Sleep(5 * time.Millisecond)
		if p.idempotent {
			return true, nil
		}
		// A plain producer goes on with the same connection: what is under way on a closed one may still be written, later than what a
		// new one sends.
		p.mu.Lock()
		s.no = part.ErrorCode != 7
		p.mu.Unlock()
		return false, nil
	default:
		return false, fmt.Errorf("batch with sequences %d-%d: %v", s.first, s.first+int64(s.count)-1, kerr.ErrorForCode(part.ErrorCode))
	}
	if part.BaseOffset < 0 {
		return false, fmt.Errorf("batch with sequence %d acknowledged at offset %d", s.first, part.BaseOffset)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.base = part.BaseOffset
	s.frame = nil
	p.acked += int64(s.count)
	return false, nil
}

// acknowledged is the number of records acknowledged so far.
func (p *producer) acknowledged() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.acked
}

// failure is what went wrong for good, if anything.
func (p *producer) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}
