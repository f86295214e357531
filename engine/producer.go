package engine

import (
	"slices"

	"millrace/segment"
	"millrace/segment/batch"
)

// producers is what a partition knows of its idempotent producers. Owned by the partition's loop (while a log is being
// opened, by the goroutine that opens it).
//
// Each producer has the state as written and, while batches of it are staged, the state as it will be when their writes
// have returned. Checks look at the latter; a failed write throws it away, so that a resend meets what is on disk.
type producers struct {
	byID map[int64]*producer
	max  int
	// changed tells that the written state differs from the last snapshot.
	changed bool
	// open is how many producers have an open transaction, firstOpen its lowest first offset (noOffset: none).
	open      int
	firstOpen int64
	free      []*segment.ProducerEntry
}

type producer struct {
	now     segment.ProducerEntry
	ahead   *segment.ProducerEntry // nil when pending is 0
	pending int
	written bool // now holds something
}

const noOffset = int64(1<<63 - 1)

func newProducers(max int) *producers {
	return &producers{byID: map[int64]*producer{}, max: max, firstOpen: noOffset}
}

// state is what the next batch is checked against.
func (pr *producer) state() *segment.ProducerEntry {
	if pr.pending > 0 {
		return pr.ahead
	}
	return &pr.now
}

// baseSequence is the first sequence number of a remembered batch.
func baseSequence(b *segment.ProducerBatch) int32 {
	return int32((int64(b.LastSequence) - int64(b.OffsetDelta)) & 0x7fffffff)
}

// noEpoch is the epoch of a batch that names none.
const noEpoch = -1

// check judges a batch with a producer id: nil and nil to append it, a remembered batch that it repeats exactly, or an
// error (KIP-98, KIP-360).
func (t *producers) check(v batch.View) (*segment.ProducerBatch, error) {
	pr := t.byID[v.ProducerID()]
	if pr == nil {
		if len(t.byID) >= t.max {
			return nil, ErrTooManyProducers
		}
		if v.ProducerEpoch() < noEpoch {
			return nil, ErrInvalidProducerEpoch
		}
		return nil, nil // unknown here: any first sequence is accepted
	}
	e, epoch, first := pr.state(), v.ProducerEpoch(), v.BaseSequence()
	switch {
	case epoch < e.Epoch:
		return nil, ErrInvalidProducerEpoch
	case epoch > e.Epoch:
		if first != 0 && e.Epoch != noEpoch {
			return nil, ErrOutOfOrderSequence
		}
		return nil, nil
	}
	last := v.LastSequence()
	for i := e.Count - 1; i >= 0; i-- {
		b := &e.Batches[i]
		if b.LastSequence == last && baseSequence(b) == first {
			return b, nil
		}
	}
	if e.Epoch == noEpoch { // as in Kafka, a producer without epoch has no order
		return nil, nil
	}
	want := int32(0)
	if e.Count > 0 {
		want = batch.AddSequence(e.Batches[e.Count-1].LastSequence, 1)
	}
	if first != want {
		return nil, ErrOutOfOrderSequence
	}
	return nil, nil
}

// stage notes a batch that is on its way to disk, stamped with its offset.
func (t *producers) stage(v batch.View) *producer {
	pr := t.byID[v.ProducerID()]
	if pr == nil {
		pr = &producer{now: freshEntry(v)}
		t.byID[v.ProducerID()] = pr
	}
	if pr.pending == 0 {
		if n := len(t.free); n > 0 {
			pr.ahead, t.free = t.free[n-1], t.free[:n-1]
		} else {
			pr.ahead = new(segment.ProducerEntry)
		}
		*pr.ahead = pr.now
	}
	pr.pending++
	addBatch(pr.ahead, v)
	return pr
}

// commit merges a batch whose write has returned.
func (t *producers) commit(pr *producer, v batch.View) {
	t.apply(pr, v)
	t.unpend(pr)
}

// drop undoes stage. All staged batches of the partition fail together, so what was ahead is worthless.
func (t *producers) drop(pr *producer) {
	t.unpend(pr)
	if pr.pending == 0 && !pr.written {
		delete(t.byID, pr.now.ProducerID)
	}
}

func (t *producers) unpend(pr *producer) {
	pr.pending--
	if pr.pending == 0 {
		t.free = append(t.free, pr.ahead)
		pr.ahead = nil
	}
}

// apply adds one stored batch to the written state; live appends, replay at start and replication all come through here.
func (t *producers) apply(pr *producer, v batch.View) {
	before := pr.now.TxnFirstOffset
	if v.Attributes().Control() {
		addMarker(&pr.now, v)
	} else {
		addBatch(&pr.now, v)
	}
	pr.written, t.changed = true, true
	if pr.now.TxnFirstOffset != before {
		t.recountOpen()
	}
}

func freshEntry(v batch.View) segment.ProducerEntry {
	return segment.ProducerEntry{
		ProducerID:       v.ProducerID(),
		Epoch:            v.ProducerEpoch(),
		CoordinatorEpoch: -1,
		TxnFirstOffset:   -1,
	}
}

func addBatch(e *segment.ProducerEntry, v batch.View) {
	if epoch := v.ProducerEpoch(); epoch != e.Epoch {
		e.Epoch, e.Count = epoch, 0
	}
	e.Timestamp = v.MaxTimestamp()
	if v.Attributes().Transactional() && e.TxnFirstOffset < 0 {
		e.TxnFirstOffset = v.BaseOffset()
	}
	if v.BaseSequence() < 0 {
		return
	}
	if e.Count == segment.ProducerWindow {
		copy(e.Batches[:], e.Batches[1:])
		e.Count--
	}
	e.Batches[e.Count] = segment.ProducerBatch{
		LastSequence: v.LastSequence(),
		OffsetDelta:  v.LastOffsetDelta(),
		LastOffset:   v.LastOffset(),
		Timestamp:    v.MaxTimestamp(),
	}
	e.Count++
}

func addMarker(e *segment.ProducerEntry, v batch.View) {
	if epoch := v.ProducerEpoch(); epoch != e.Epoch {
		e.Epoch, e.Count = epoch, 0
	}
	e.Timestamp = v.MaxTimestamp()
	m, ok := batch.ParseMarker(v)
	if !ok {
		return
	}
	e.CoordinatorEpoch = m.CoordinatorEpoch
	e.TxnFirstOffset = -1
}

func (t *producers) recountOpen() {
	t.open, t.firstOpen = 0, noOffset
	for _, pr := range t.byID {
		if o := pr.now.TxnFirstOffset; o >= 0 {
			t.open++
			t.firstOpen = min(t.firstOpen, o)
		}
	}
}

// Load takes over a snapshot (segment.ProducerLoader).
func (t *producers) Load(entries []segment.ProducerEntry, _ int64) {
	t.byID = make(map[int64]*producer, len(entries))
	for i := range entries {
		t.byID[entries[i].ProducerID] = &producer{now: entries[i], written: true}
	}
	t.recountOpen()
}

// Replay takes over one stored batch (segment.ProducerLoader).
func (t *producers) Replay(v batch.View) {
	pr := t.byID[v.ProducerID()]
	if pr == nil {
		pr = &producer{now: freshEntry(v)}
		t.byID[v.ProducerID()] = pr
	}
	t.apply(pr, v)
}

// entries copies the written state, ordered by id.
func (t *producers) entries() []segment.ProducerEntry {
	out := make([]segment.ProducerEntry, 0, len(t.byID))
	for _, pr := range t.byID {
		if pr.written {
			out = append(out, pr.now)
		}
	}
	slices.SortFunc(out, func(a, b segment.ProducerEntry) int {
		return cmpInt64(a.ProducerID, b.ProducerID)
	})
	return out
}

func cmpInt64(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// expire forgets producers without open transaction that were idle for ttlMs by nowMs.
func (t *producers) expire(nowMs, ttlMs int64) (n int) {
	for id, pr := range t.byID {
		if pr.pending == 0 && pr.now.TxnFirstOffset < 0 && nowMs-pr.now.Timestamp >= ttlMs {
			delete(t.byID, id)
			n++
		}
	}
	if n > 0 {
		t.changed = true
	}
	return n
}

func (t *producers) infos() []ProducerInfo {
	entries := t.entries()
	out := make([]ProducerInfo, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		info := ProducerInfo{
			ProducerID: e.ProducerID, Epoch: e.Epoch, LastSequence: -1, LastTimestampMs: e.Timestamp,
			CoordinatorEpoch: e.CoordinatorEpoch, TxnFirstOffset: e.TxnFirstOffset,
		}
		if b, ok := e.Last(); ok {
			info.LastSequence = b.LastSequence
		}
		out = append(out, info)
	}
	return out
}
