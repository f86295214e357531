package crash

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"sort"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/test/harness"
)

// verifier reads one partition behind its producer. Owned by the test.
type verifier struct {
	p       *producer
	at      int64 // next offset to read
	lastSeq int64
	sum     *xxhash.Digest
	records int64
	marks   []mark // what was read before, at some offsets
}

// mark is the hash over a partition from its start up to an offset.
type mark struct {
	offset int64
	sum    uint64
}

func newVerifier(p *producer) *verifier { return &verifier{p: p, lastSeq: -1, sum: xxhash.New()} }

// catchUp reads to the current end and sets a mark there.
func (v *verifier) catchUp(ctx context.Context) error {
	if err := v.read(ctx, nil); err != nil {
		return fmt.Errorf("%s-%d: %w", v.p.topic, v.p.partition, err)
	}
	v.marks = append(v.marks, mark{v.at, v.sum.Sum64()})
	return nil
}

// final reads everything once more, compares with all marks, and demands every acknowledged record.
func (v *verifier) final(ctx context.Context) error {
	again := newVerifier(v.p)
	if err := again.read(ctx, v.marks); err != nil {
		return fmt.Errorf("%s-%d, second reading: %w", v.p.topic, v.p.partition, err)
	}
	v.p.mu.Lock()
	defer v.p.mu.Unlock()
	var must int64
	for _, s := range v.p.ledger {
		if s.base >= 0 {
			must = max(must, s.base+int64(s.count))
		} else if v.p.idempotent {
			return fmt.Errorf("%s-%d: batch with sequence %d was never acknowledged", v.p.topic, v.p.partition, s.first)
		}
	}
	if again.at < must {
		return fmt.Errorf("%s-%d: log ends at %d, acknowledged up to %d", v.p.topic, v.p.partition, again.at, must)
	}
	if v.p.idempotent && again.records != v.p.acked {
		return fmt.Errorf("%s-%d: %d records in the log, %d acknowledged", v.p.topic, v.p.partition, again.records, v.p.acked)
	}
	return nil
}

// read takes every record from v.at to the end of the log as it is now; at the offsets of marks the hash must be the one seen before.
func (v *verifier) read(ctx context.Context, marks []mark) error {
	end, err := endOf(v.p.addr, v.p.topic, v.p.partition)
	if err != nil {
		return err
	}
	if end < v.at {
		return fmt.Errorf("log ends at %d after %d had been read", end, v.at)
	}
	if end == v.at {
		return nil
	}
	var said clientLog
	cl, err := kgo.NewClient(kgo.SeedBrokers(v.p.addr), kgo.FetchMaxWait(200*time.Millisecond), kgo.WithLogger(kgo.BasicLogger(&said, kgo.LogLevelDebug, nil)),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{v.p.topic: {v.p.partition: kgo.NewOffset().At(v.at)}}),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()))
	if err != nil {
		return err
	}
	defer cl.Close()
	for v.at < end {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("stuck at offset %d of %d: %w; the client says\n%s", v.at, end, ctx.Err(), said.tail())
		}
		for _, e := range fetches.Errors() {
			return fmt.Errorf("fetch at %d: %w", v.at, e.Err)
		}
		for r := range fetches.RecordsAll() {
			for len(marks) > 0 && marks[0].offset <= v.at {
				if marks[0].offset == v.at && marks[0].sum != v.sum.Sum64() {
					return fmt.Errorf("what lies before offset %d reads differently than before", v.at)
				}
				marks = marks[1:]
			}
			if err := v.record(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// clientLog keeps the end of what a client logs. Any goroutine.
type clientLog struct {
	mu sync.Mutex
	b  []byte
}

func (l *clientLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.b = append(l.b, p...); len(l.b) > 64<<10 {
		l.b = append(l.b[:0], l.b[len(l.b)-16<<10:]...)
	}
	return len(p), nil
}

func (l *clientLog) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.b[max(0, len(l.b)-16<<10):])
}

// record checks one record.
func (v *verifier) record(r *kgo.Record) error {
	if r.Offset != v.at {
		return fmt.Errorf("offset %d follows %d", r.Offset, v.at-1)
	}
	if len(r.Value) < 8 {
		return fmt.Errorf("offset %d: value of %d bytes", r.Offset, len(r.Value))
	}
	seq := int64(binary.BigEndian.Uint64(r.Value))
	if v.p.idempotent && seq != v.lastSeq+1 || seq <= v.lastSeq {
		return fmt.Errorf("offset %d: record %d follows %d", r.Offset, seq, v.lastSeq)
	}
	if !bytes.Equal(r.Value, value(v.p.topic, v.p.partition, seq)) || string(r.Key) != fmt.Sprint(seq) {
		return fmt.Errorf("offset %d: record %d has other bytes than were sent", r.Offset, seq)
	}
	if s := v.batchOf(seq); s.no {
		return fmt.Errorf("offset %d: record %d was refused and is there all the same", r.Offset, seq)
	} else if at := s.base + seq - s.first; s.base >= 0 && at != r.Offset {
		return fmt.Errorf("record %d stands at offset %d, acknowledged at %d", seq, r.Offset, at)
	}
	var size [8]byte
	binary.BigEndian.PutUint64(size[:], uint64(len(r.Value))<<32|uint64(len(r.Key)))
	v.sum.Write(size[:])
	v.sum.Write(r.Key)
	v.sum.Write(r.Value)
	v.lastSeq = seq
	v.at++
	v.records++
	return nil
}

// batchOf returns a copy of what is known of the batch that holds a record.
func (v *verifier) batchOf(seq int64) sent {
	v.p.mu.Lock()
	defer v.p.mu.Unlock()
	i := sort.Search(len(v.p.ledger), func(i int) bool { return v.p.ledger[i].first > seq }) - 1
	if i < 0 {
		return sent{base: -1}
	}
	return *v.p.ledger[i]
}

// endOf asks for the end of a partition, with patience for the moment after a start in which Kafka knows no leader yet.
func endOf(addr, topic string, partition int32) (int64, error) {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		end, code, err := harness.EndOffset(addr, topic, partition, -1)
		if err == nil && code == 0 {
			return end, nil
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("end of %s-%d: error %d, %w", topic, partition, code, err)
		}
	}
}
