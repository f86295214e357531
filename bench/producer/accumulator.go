package producer

import (
	"math"

	"millrace/bench/wire"
)

// Accumulator holds records that wait to be sent: for each partition a queue of batches, of which the last one takes records.
// Owned by its loop; time comes as an argument, ns.
type Accumulator struct {
	batchSize  int
	linger     int64
	inOrder    bool // one request in flight: a partition with a batch in flight is muted
	pool       *pool
	parts      []partQueue
	nodes      []nodeParts
	flushing   bool
	closed     bool
	incomplete int // batches queued or in flight
	who        identity
	spare      []*Batch // answered ones, for reuse
}

// partQueue is one partition's queue, oldest batch first.
type partQueue struct {
	queue    []*Batch
	head     int
	muted    bool
	sequence int32
}

// nodeParts are the partitions that one broker leads, and where the next drain begins.
type nodeParts struct {
	parts []int
	next  int
}

// NewAccumulator makes one for partitions whose leaders are given as indexes of nodes.
func NewAccumulator(o *Options, leaders []int, nodes int) *Accumulator {
	a := &Accumulator{
		batchSize: o.BatchSize, linger: int64(o.Linger), inOrder: o.MaxInFlight == 1, pool: newPool(o.BufferMemory, o.BatchSize),
		parts: make([]partQueue, len(leaders)), nodes: make([]nodeParts, nodes), who: identity{-1, -1},
	}
	for p, n := range leaders {
		a.nodes[n].parts = append(a.nodes[n].parts, p)
	}
	return a
}

func (q *partQueue) len() int { return len(q.queue) - q.head }

func (q *partQueue) pop() *Batch {
	b := q.queue[q.head]
	q.queue[q.head] = nil
	if q.head++; q.head == len(q.queue) {
		q.queue, q.head = q.queue[:0], 0
	} else if q.head >= 64 && q.head*2 >= len(q.queue) {
		n := copy(q.queue, q.queue[q.head:])
		clear(q.queue[n:])
		q.queue, q.head = q.queue[:n], 0
	}
	return b
}

// Appended says what an append did.
type Appended struct {
	OK      bool // false: buffer.memory is exhausted, nothing was appended
	Full    bool // a batch of the partition is ready for being full
	Created bool // a new batch was begun
}

// Wakes says whether the sender should look.
func (r Appended) Wakes() bool { return r.Full || r.Created }

// Append adds a record to the open batch of a partition, or to a new one.
func (a *Accumulator) Append(partition int, value []byte, intended, at, ms int64) Appended {
	q := &a.parts[partition]
	if n := len(q.queue); q.len() > 0 && q.queue[n-1].tryAppend(value, intended, ms) {
		return Appended{OK: true, Full: q.len() > 1 || q.queue[n-1].full()}
	}
	buf := a.pool.allocate(max(a.batchSize, SizeUpperBound(len(value))))
	if buf == nil {
		return Appended{Full: q.len() > 0}
	}
	b := a.open(partition, buf, at, ms)
	b.tryAppend(value, intended, ms)
	q.queue = append(q.queue, b)
	a.incomplete++
	return Appended{OK: true, Created: true, Full: q.len() > 1 || b.full()}
}

// Ready marks the nodes with at least one partition whose first batch may be sent: because it is full, older than linger,
// because somebody waits for memory, or on flush or close. It returns how long, ns, until the next batch will be old enough.
func (a *Accumulator) Ready(at int64, ready []bool) int64 {
	next := int64(math.MaxInt64)
	for n := range a.nodes {
		ready[n] = false
		for _, p := range a.nodes[n].parts {
			q := &a.parts[p]
			if q.muted || q.len() == 0 {
				continue
			}
			if a.ripe(q, at) {
				ready[n] = true
			} else {
				next = min(next, a.linger-(at-q.queue[q.head].created))
			}
		}
	}
	return next
}

// ripe says whether the first batch of a queue that holds one may be sent.
func (a *Accumulator) ripe(q *partQueue, at int64) bool {
	first := q.queue[q.head]
	return q.len() > 1 || first.full() || at-first.created >= a.linger || a.pool.waiting || a.flushing || a.closed
}

// DrainOne takes and closes the first batch of the next partition of a node whose own batch may be sent, or nothing: what a
// sender does that makes a request for every partition.
func (a *Accumulator) DrainOne(node int, at int64, out []*Batch) []*Batch {
	n := &a.nodes[node]
	for range n.parts {
		p := n.parts[n.next]
		n.next = (n.next + 1) % len(n.parts)
		if q := &a.parts[p]; !q.muted && q.len() > 0 && a.ripe(q, at) {
			b := q.pop()
			a.close(q, b)
			return append(out, b)
		}
	}
	return out
}

// Drain takes the first batch of every partition of a node, ready or not, as long as they fit in maxSize bytes together (one
// always does), and closes them. It begins behind where the last drain ended, so that no partition starves.
func (a *Accumulator) Drain(node, maxSize int, out []*Batch) []*Batch {
	n := &a.nodes[node]
	size, had := 0, len(out)
	for range n.parts {
		p := n.parts[n.next%len(n.parts)]
		q := &a.parts[p]
		if !q.muted && q.len() > 0 {
			first := q.queue[q.head]
			if len(out) > had && size+first.Size() > maxSize {
				return out // and begin with this partition next time
			}
			q.pop()
			a.close(q, first)
			size += first.Size()
			out = append(out, first)
		}
		n.next = (n.next + 1) % len(n.parts)
	}
	return out
}

func (a *Accumulator) close(q *partQueue, b *Batch) {
	sequence := int32(-1)
	if a.who.id >= 0 {
		sequence = q.sequence
		q.sequence = int32((int64(sequence) + int64(b.Records)) & 0x7fffffff)
	}
	b.close(a.who, sequence)
	q.muted = a.inOrder
}

// Done gives back the memory of a batch that was answered; the batch is used again.
func (a *Accumulator) Done(b *Batch) {
	a.parts[b.Partition].muted = false
	a.pool.release(b.buf)
	b.buf = nil
	a.spare = append(a.spare, b)
	a.incomplete--
}

// open makes a batch, of an answered one if there is any.
func (a *Accumulator) open(partition int, buf []byte, at, ms int64) *Batch {
	b := &Batch{}
	if n := len(a.spare); n > 0 {
		b, a.spare = a.spare[n-1], a.spare[:n-1]
	}
	*b = Batch{Partition: partition, buf: buf[:wire.BatchHeaderLen], limit: cap(buf), created: at, baseMs: ms, maxMs: ms, intended: b.intended[:0]}
	return b
}

// Flush makes all batches ready until EndFlush.
func (a *Accumulator) Flush() { a.flushing = true }

// EndFlush ends it.
func (a *Accumulator) EndFlush() { a.flushing = false }

// Close makes all batches ready for good.
func (a *Accumulator) Close() { a.closed = true }

// Incomplete counts batches that are queued or in flight.
func (a *Accumulator) Incomplete() int { return a.incomplete }
