package wire

import (
	"encoding/binary"
	"errors"
)

// Range of Produce versions that a ProduceShape can encode.
const (
	ProduceMin = 3
	ProduceMax = 13
)

// KeyProduce and the other keys are the API keys that the hot paths speak.
const (
	KeyProduce = 0
	KeyFetch   = 1
)

// ProduceFlexible says whether a version of Produce uses compact fields.
func ProduceFlexible(version int16) bool { return version >= 9 }

// ProduceShape is what all requests of one connection have in common. Immutable.
type ProduceShape struct {
	Version   int16
	ClientID  string
	Topic     string
	TopicID   [16]byte // instead of Topic from version 13 on
	Acks      int16
	TimeoutMs int32
	Parts     int // partitions, so batches, per request
	Bodies    *Bodies
}

// ProduceSlot is the changing part of one request in flight: everything but the records, which Segments interleaves with it.
// Owned by the generator's loop; unchanged while its request is being written.
type ProduceSlot struct {
	shape   *ProduceShape
	buf     []byte
	corrAt  int
	partAt  []int
	batchAt []int
	segs    [][]byte // views of buf and places for bodies in turn: 2*Parts+1, or 2*Parts if nothing follows
	size    int
}

// NewSlot lays out a request.
func (s *ProduceShape) NewSlot() *ProduceSlot {
	flex := ProduceFlexible(s.Version)
	slot := &ProduceSlot{shape: s}
	b := make([]byte, 4, 256+s.Parts*80)
	b = binary.BigEndian.AppendUint16(b, KeyProduce)
	b = binary.BigEndian.AppendUint16(b, uint16(s.Version))
	slot.corrAt = len(b)
	b = append(b, 0, 0, 0, 0)
	b = AppendString(b, s.ClientID, false) // never compact, even in the flexible header
	b = AppendTags(b, flex)
	if flex { // no transactional id
		b = append(b, 0)
	} else {
		b = append(b, 0xff, 0xff)
	}
	b = binary.BigEndian.AppendUint16(b, uint16(s.Acks))
	b = binary.BigEndian.AppendUint32(b, uint32(s.TimeoutMs))
	b = AppendArrayLen(b, 1, flex)
	if s.Version >= 13 {
		b = append(b, s.TopicID[:]...)
	} else {
		b = AppendString(b, s.Topic, flex)
	}
	b = AppendArrayLen(b, s.Parts, flex)
	cuts := []int{0}
	for range s.Parts {
		slot.partAt = append(slot.partAt, len(b))
		b = append(b, 0, 0, 0, 0)
		b = AppendArrayLen(b, s.Bodies.BatchLen(), flex) // a nullable byte field counts like an array
		slot.batchAt = append(slot.batchAt, len(b))
		b = s.Bodies.AppendHeader(b)
		cuts = append(cuts, len(b))
		b = AppendTags(b, flex) // of the partition, behind its records
	}
	b = AppendTags(b, flex) // of the topic
	b = AppendTags(b, flex) // of the request
	slot.buf = b
	for i, from := range cuts {
		to := len(b)
		if i+1 < len(cuts) {
			to = cuts[i+1]
		}
		if from == to {
			break
		}
		slot.segs = append(slot.segs, b[from:to])
		if i < s.Parts {
			slot.segs = append(slot.segs, nil)
		}
	}
	slot.size = len(b) + s.Parts*s.Bodies.Len
	binary.BigEndian.PutUint32(b, uint32(slot.size-4))
	return slot
}

// Size is the length of the whole frame.
func (p *ProduceSlot) Size() int { return p.size }

// SetCorrelation numbers the request.
func (p *ProduceSlot) SetCorrelation(id int32) {
	binary.BigEndian.PutUint32(p.buf[p.corrAt:], uint32(id))
}

// SetPart addresses batch i of the request to a partition, gives it body number body and returns its header, to be
// completed by SetProducer (if idempotent) and Bodies.Stamp, in that order.
func (p *ProduceSlot) SetPart(i int, partition int32, body int) []byte {
	binary.BigEndian.PutUint32(p.buf[p.partAt[i]:], uint32(partition))
	p.segs[2*i+1] = p.shape.Bodies.Data[body]
	return p.buf[p.batchAt[i] : p.batchAt[i]+BatchHeaderLen]
}

// Segments is the whole frame as a gather list; valid until the slot is used again.
func (p *ProduceSlot) Segments() [][]byte { return p.segs }

// Produced is one partition's part of an answer.
type Produced struct {
	Partition  int32
	Code       int16
	BaseOffset int64
}

// ErrMalformed is returned for an answer that does not parse.
var ErrMalformed = errors.New("malformed answer")

// ParseProduceResponse reads an answer (frame without its length) into dst and returns the correlation id.
func ParseProduceResponse(frame []byte, version int16, dst []Produced) (int32, []Produced, error) {
	flex := ProduceFlexible(version)
	c := Cursor{B: frame}
	corr := c.Int32()
	c.Tags(flex)
	for t := c.ArrayLen(flex, 2); t > 0 && !c.Bad; t-- {
		if version >= 13 {
			c.Bytes(16)
		} else {
			c.String(flex)
		}
		for p := c.ArrayLen(flex, 14); p > 0 && !c.Bad; p-- {
			r := Produced{Partition: c.Int32(), Code: c.Int16(), BaseOffset: c.Int64()}
			c.Int64() // log append time
			if version >= 5 {
				c.Int64() // log start offset
			}
			if version >= 8 {
				for e := c.ArrayLen(flex, 5); e > 0 && !c.Bad; e-- {
					c.Int32()
					c.String(flex)
					c.Tags(flex)
				}
				c.String(flex)
			}
			c.Tags(flex)
			dst = append(dst, r)
		}
		c.Tags(flex)
	}
	c.Int32() // throttle time
	c.Tags(flex)
	if c.Bad || c.Left() != 0 {
		return corr, dst, ErrMalformed
	}
	return corr, dst, nil
}
