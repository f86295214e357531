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

// recompress appends to dst the batch that holds the records of section in the
// topic's codec. Offsets become 0, 1, 2... and the first record's timestamp the
// base, as Kafka's builder has them.
func (c *Checker) recompress(dst []byte, v batch.View, t *Topic, section []byte, maxTimestampMs int64) (batch.View, error) {
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
	if w.gaps || w.fixed || w.firstDelta != 0 {
		section = c.rebase(section, f.Count)
	}
	start := len(dst)
	dst = batch.AppendHeader(dst, &f)
	dst, err := compress(dst, t.Codec, t.Level, section)
	if err != nil {
		return nil, err
	}
	return batch.Seal(dst[start:len(dst):len(dst)]), nil
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
		delta -= w.firstDelta
		if w.fixed {
			delta = 0
		}
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
