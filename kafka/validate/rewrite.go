package validate

import (
	"millrace/segment/batch"
)

// keptAttributes are the bits that survive when Kafka writes the attributes
// anew in place.
const keptAttributes batch.Attributes = 0x7f

// stamp puts timestamp type and max timestamp right in place. Like Kafka it
// leaves a batch alone that has both.
func stamp(v batch.View, appendTime bool, maxTimestampMs int64) {
	a := v.Attributes()
	if a.LogAppendTime() == appendTime && v.MaxTimestamp() == maxTimestampMs {
		return
	}
	a &= keptAttributes &^ batch.LogAppendTime
	if appendTime {
		a |= batch.LogAppendTime
	}
	v.SetAttributes(a)
	v.SetMaxTimestamp(maxTimestampMs)
	v.UpdateCRC()
}

// restated is the header of the batch that is compressed anew. Offsets become
// 0, 1, 2... and the first record's timestamp the base, as Kafka's builder has
// them.
func (c *Checker) restated(v batch.View, t *Topic, maxTimestampMs int64) batch.Fields {
	w := &c.walk
	f := v.Fields()
	f.BaseOffset, f.LeaderEpoch = 0, batch.NoLeaderEpoch
	f.MaxTimestamp = maxTimestampMs
	f.BaseTimestamp = w.base
	if !w.fixed {
		f.BaseTimestamp += w.firstDelta
	}
	f.Attributes = (f.Attributes & batch.Transactional).WithCodec(t.Codec)
	if t.LogAppendTime {
		f.Attributes |= batch.LogAppendTime
	}
	return f
}

// recompress appends to dst the batch that holds the records of section in the
// topic's codec; a nil section is unpacked again piece by piece.
func (c *Checker) recompress(dst []byte, v batch.View, t *Topic, section []byte, maxTimestampMs int64) (batch.View, error) {
	w := &c.walk
	f := c.restated(v, t, maxTimestampMs)
	start := len(dst)
	dst = batch.AppendHeader(dst, &f)
	var err error
	if section == nil {
		dst, err = c.repack(dst, v, t)
	} else {
		if w.gaps || w.odd || w.fixed || w.firstDelta != 0 {
			section = c.rebase(section, f.Count)
		}
		dst, err = compress(dst, t.Codec, t.Level, section)
	}
	if err != nil {
		return nil, err
	}
	return batch.Seal(dst[start:len(dst):len(dst)]), nil
}

// rebased is a timestamp delta against the new base.
func (w *walk) rebased(delta int64) int64 {
	if w.fixed {
		return 0
	}
	return delta - w.firstDelta
}

// rebase rewrites the deltas of count well-formed records.
func (c *Checker) rebase(section []byte, count int32) []byte {
	w := &c.walk
	out := c.fresh[:0]
	for p, i := 0, int32(0); i < count; i++ {
		size, q := varint(section, p)
		p = q + int(size)
		r := section[q:p]
		delta, q := varlong(r, 1)
		_, q = varint(r, q)
		delta = w.rebased(delta)
		body := 1 + batch.VarlongLen(delta) + batch.VarintLen(i) + len(r) - q
		out = batch.AppendVarint(out, int32(body))
		out = append(out, 0)
		out = batch.AppendVarlong(out, delta)
		out = batch.AppendVarint(out, i)
		out = append(out, r[q:]...)
	}
	c.fresh = out
	return out
}
