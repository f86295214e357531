package segment

import (
	"fmt"

	"millrace/internal/codec"
	"millrace/segment/batch"
)

// lastOfProducer is what has to stay of a producer: the batch of its last sequence, or, if it has none, its last marker.
type lastOfProducer struct {
	offset int64 // of the last record; -1 if there is only a marker
	epoch  int16
}

func lastsOf(entries []ProducerEntry) map[int64]lastOfProducer {
	m := make(map[int64]lastOfProducer, len(entries))
	for i := range entries {
		e := &entries[i]
		l := lastOfProducer{offset: -1, epoch: e.Epoch}
		if b, ok := e.Last(); ok {
			l.offset = b.LastOffset
		}
		m[e.ProducerID] = l
	}
	return m
}

// batchCleaner decides what stays of each batch, by the rules of Kafka's cleaner (KIP-534 for tombstones and markers).
// Owned by one cleaning.
type batchCleaner struct {
	keys    *keyMap
	end     int64 // records at or above stay as they are
	to      int64 // the batch that ends here stays, be it empty, so that the log keeps its end
	nowMs   int64
	horizon int64 // when tombstones that are cleaned for the first time may go
	lasts   map[int64]lastOfProducer
	txns    *cleanTxns
	stats   *CleanStats

	keep    []keptRecord
	payload []byte
	out     []byte
}

// keptRecord is a record that stays: its bytes and timestamp.
type keptRecord struct {
	raw []byte
	ts  int64
}

// clean returns what stays of v: v itself, a batch that is valid until the next call, or nil.
func (b *batchCleaner) clean(v batch.View) (batch.View, error) {
	a := v.Attributes()
	discard, alone := false, false
	if a.Control() {
		alone = b.txns.marker(v)
		discard = alone && a.DeleteHorizon() && v.BaseTimestamp() <= b.nowMs
	} else {
		var err error
		if discard, err = b.txns.data(v); err != nil {
			return nil, err
		}
	}
	b.stats.RecordsRead += int64(v.Count())
	switch {
	case discard, v.Count() == 0:
		return b.emptied(v), nil
	case a.Control():
		if alone && !a.DeleteHorizon() {
			return b.rewrite(v, v.Payload(), nil, b.horizon)
		}
		b.stats.RecordsWritten += int64(v.Count())
		return v, nil
	case v.BaseOffset() >= b.end:
		b.stats.RecordsWritten += int64(v.Count())
		return v, nil
	}
	return b.filter(v)
}

// filter takes the superseded records out of a data batch.
func (b *batchCleaner) filter(v batch.View) (batch.View, error) {
	section := v.Payload()
	if c := v.Attributes().Codec(); c != batch.None {
		var err error
		if b.payload, err = codec.Decompress(b.payload[:0], codec.Type(c), section, recordBytesMax); err != nil {
			return nil, fmt.Errorf("%w: batch at offset %d: %v", ErrUncleanable, v.BaseOffset(), err)
		}
		section = b.payload
	}
	b.keep = b.keep[:0]
	it := batch.NewIter(section, v.Count())
	tombstones := false
	at := 0
	var r batch.Record
	for it.Next(&r) {
		raw := section[at : at+r.Size]
		at += r.Size
		offset := v.BaseOffset() + int64(r.OffsetDelta)
		if !b.stays(v, &r, offset) {
			continue
		}
		tombstones = tombstones || r.Value == nil && offset < b.end
		b.keep = append(b.keep, keptRecord{raw, v.TimestampOf(r.TimestampDelta)})
	}
	if it.Err() != nil {
		return nil, fmt.Errorf("%w: batch at offset %d: %v", ErrUncleanable, v.BaseOffset(), it.Err())
	}
	horizon := int64(-1)
	if tombstones && !v.Attributes().DeleteHorizon() {
		horizon = b.horizon
	}
	switch {
	case len(b.keep) == 0:
		return b.emptied(v), nil
	case horizon < 0 && len(b.keep) == int(v.Count()):
		b.stats.RecordsWritten += int64(v.Count())
		return v, nil
	}
	return b.rewrite(v, section, b.keep, horizon)
}

// stays says whether a record of a data batch stays.
func (b *batchCleaner) stays(v batch.View, r *batch.Record, offset int64) bool {
	if offset >= b.end {
		return true
	}
	if r.Key == nil {
		b.stats.InvalidRecords++
		return false
	}
	if offset < b.keys.get(r.Key) {
		return false
	}
	return r.Value != nil || !v.Attributes().DeleteHorizon() || b.nowMs < v.BaseTimestamp()
}

// emptied is what stays of a batch without records: nothing, or its header if that says where a producer or the log is.
func (b *batchCleaner) emptied(v batch.View) batch.View {
	if v.NextOffset() != b.to && !b.isLast(v) {
		return nil
	}
	if v.Count() == 0 {
		return v
	}
	f := v.Fields()
	f.Attributes &= batch.LogAppendTime | batch.Transactional | batch.Control
	f.BaseTimestamp, f.Count = batch.NoTimestamp, 0
	b.out = batch.AppendHeader(b.out[:0], &f)
	return batch.Seal(b.out)
}

// isLast says whether the batch has the last sequence, or the last marker, of a producer.
func (b *batchCleaner) isLast(v batch.View) bool {
	if !v.HasProducerID() {
		return false
	}
	l, ok := b.lasts[v.ProducerID()]
	if !ok {
		return false
	}
	if l.offset >= 0 {
		return v.LastOffset() == l.offset
	}
	return v.Attributes().Control() && v.ProducerEpoch() == l.epoch
}

// rewrite is the batch with the kept records only (nil: all in section). A horizon above -1 becomes the base timestamp,
// and the records' timestamps are told from there.
func (b *batchCleaner) rewrite(v batch.View, section []byte, keep []keptRecord, horizon int64) (batch.View, error) {
	f := v.Fields()
	if keep == nil {
		it, at := batch.NewIter(section, v.Count()), 0
		var r batch.Record
		for it.Next(&r) {
			keep = append(keep, keptRecord{section[at : at+r.Size], v.TimestampOf(r.TimestampDelta)})
			at += r.Size
		}
		if it.Err() != nil {
			return nil, fmt.Errorf("%w: batch at offset %d: %v", ErrUncleanable, v.BaseOffset(), it.Err())
		}
	}
	f.Count = int32(len(keep))
	if !f.Attributes.LogAppendTime() {
		f.MaxTimestamp = keep[0].ts
		for _, k := range keep {
			f.MaxTimestamp = max(f.MaxTimestamp, k.ts)
		}
	}
	if horizon >= 0 {
		f.Attributes |= batch.DeleteHorizon
		f.BaseTimestamp = horizon
	}
	b.stats.RecordsWritten += int64(len(keep))
	b.out = batch.AppendHeader(b.out[:0], &f)
	c := f.Attributes.Codec()
	if c == batch.None {
		b.out = appendKept(b.out, keep, horizon)
		return batch.Seal(b.out), nil
	}
	plain := appendKept(nil, keep, horizon)
	var err error
	if b.out, err = codec.Compress(b.out, codec.Type(c), codec.Type(c).DefaultLevel(), plain); err != nil {
		return nil, err
	}
	return batch.Seal(b.out), nil
}

// appendKept appends the records, with timestamps relative to horizon if that is not negative.
func appendKept(dst []byte, keep []keptRecord, horizon int64) []byte {
	for _, k := range keep {
		if horizon < 0 {
			dst = append(dst, k.raw...)
		} else {
			dst = appendRebased(dst, k.raw, k.ts-horizon)
		}
	}
	return dst
}

// appendRebased appends a record, which is well formed, with another timestamp delta.
func appendRebased(dst, raw []byte, delta int64) []byte {
	_, n := batch.Varint(raw)
	body := raw[n:]
	_, m := batch.Varlong(body[1:])
	rest := body[1+m:]
	dst = batch.AppendVarint(dst, int32(1+batch.VarlongLen(delta)+len(rest)))
	dst = append(dst, body[0])
	dst = batch.AppendVarlong(dst, delta)
	return append(dst, rest...)
}
