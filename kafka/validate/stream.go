package validate

import (
	"errors"

	"millrace/internal/codec"
	"millrace/kafka/wire"
	"millrace/segment/batch"
)

// Large does what Records does, on a worker and for a batch of any size. It
// unpacks piece by piece and holds no record, so that its memory does not
// follow what the batch unpacks to. A batch that must be compressed anew is
// unpacked twice: once to be checked, once to be packed.
func (c *Checker) Large(v batch.View, t *Topic, nowMs int64, dst []byte) Result {
	defer c.stream.Release()
	w := &c.walk
	w.prepare(v, t, nowMs)
	recompress := t.Recompress && t.Codec != v.Attributes().Codec()
	if v.Attributes().Codec() == batch.None {
		if !w.run(v.Payload(), v.Count()) {
			return malformed()
		}
	} else if r, ok := c.walkStream(v); !ok {
		return r
	}
	return c.finish(v, t, nowMs, nil, recompress, dst)
}

// open begins the records of v.
func (c *Checker) open(v batch.View) (*codec.Reader, error) {
	r, err := codec.NewReader(codec.Type(v.Attributes().Codec()), v.Payload(), maxBytes)
	if err == nil {
		c.stream.Reset(r, v.Count())
	}
	return r, err
}

// walkStream is walk.run for records that come piece by piece. Where it
// answers false the Result is that of the batch.
func (c *Checker) walkStream(v batch.View) (Result, bool) {
	if codec.Claim(codec.Type(v.Attributes().Codec()), v.Payload()) > maxBytes {
		return tooLarge(), false
	}
	r, err := c.open(v)
	if err != nil {
		return undone(err), false
	}
	defer r.Close()
	w, s := &c.walk, &c.stream
	w.begin()
	var h batch.RecordHead
	for i := int32(0); s.Next(&h); i++ {
		if h.Size > w.most {
			return malformed(), false
		}
		if !s.Body(&h) {
			break
		}
		w.see(i, &h)
	}
	if err := s.Err(); err != nil {
		return undone(err), false
	}
	return Result{}, true
}

// undone is the result of records that could not be read to their end.
func undone(err error) Result {
	switch {
	case errors.Is(err, codec.ErrTooLarge):
		return tooLarge()
	case errors.Is(err, codec.ErrCorrupt):
		return refuse(wire.InvalidRecord, "the records do not decompress")
	}
	return malformed()
}

// repack appends to dst the records of v in the topic's codec, as they were
// just walked, at most as much as a batch of the topic has room for.
func (c *Checker) repack(dst []byte, v batch.View, t *Topic) ([]byte, error) {
	r, err := c.open(v)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	out, err := codec.NewWriter(codec.Type(t.Codec), t.Level, dst, t.MaxMessageBytes-batch.HeaderSize)
	if err != nil {
		return nil, err
	}
	if err := c.copyRecords(out); err != nil {
		out.Abort()
		return nil, err
	}
	return out.Close()
}

// copyRecords writes the records of the stream with new deltas.
func (c *Checker) copyRecords(out *codec.Writer) error {
	w, s := &c.walk, &c.stream
	var h batch.RecordHead
	head := c.head[:0]
	for i := int32(0); s.Next(&h); i++ {
		delta := w.rebased(h.TimestampDelta)
		head = batch.AppendVarint(head[:0], int32(1+batch.VarlongLen(delta)+batch.VarintLen(i)+s.Rest()))
		head = append(head, 0)
		head = batch.AppendVarint(batch.AppendVarlong(head, delta), i)
		if _, err := out.Write(head); err != nil {
			return err
		}
		if err := s.CopyRest(out); err != nil {
			return err
		}
	}
	c.head = head
	return s.Err()
}
