package wire

import "encoding/binary"

// RequestHead is the part of a request that every server reads.
type RequestHead struct {
	Key, Version int16
	Correlation  int32
}

// ParseHead reads the head of a frame (without its length).
func ParseHead(frame []byte) (RequestHead, bool) {
	if len(frame) < 8 {
		return RequestHead{}, false
	}
	return RequestHead{
		Key:         int16(binary.BigEndian.Uint16(frame)),
		Version:     int16(binary.BigEndian.Uint16(frame[2:])),
		Correlation: int32(binary.BigEndian.Uint32(frame[4:])),
	}, true
}

// ProducePart is one batch of a request, as a view of its frame.
type ProducePart struct {
	Partition int32
	Records   []byte
	Code      int16 // error code of the answer, set by whoever handles the request
}

// ProduceView is a Produce request with one topic, as a view of its frame. Owned by its loop and reused.
type ProduceView struct {
	Head  RequestHead
	Acks  int16
	Topic []byte // name, or the 16 bytes of the id from version 13 on
	Parts []ProducePart
}

// Parse reads a frame (without its length). Only requests with exactly one topic are understood.
func (v *ProduceView) Parse(frame []byte) bool {
	v.Parts = v.Parts[:0]
	head, ok := ParseHead(frame)
	if !ok {
		return false
	}
	v.Head = head
	flex := ProduceFlexible(head.Version)
	c := Cursor{B: frame, Off: 8}
	c.String(false)
	c.Tags(flex)
	c.String(flex)
	v.Acks = c.Int16()
	c.Int32()
	if c.ArrayLen(flex, 2) != 1 {
		return false
	}
	if head.Version >= 13 {
		v.Topic = c.Bytes(16)
	} else {
		v.Topic = c.String(flex)
	}
	for n := c.ArrayLen(flex, 5); n > 0 && !c.Bad; n-- {
		p := ProducePart{Partition: c.Int32()}
		p.Records = c.Bytes(c.BytesLen(flex))
		c.Tags(flex)
		v.Parts = append(v.Parts, p)
	}
	return !c.Bad
}

// AppendResponse appends the answer with the given base offsets, one for each part, and the parts' codes, length included.
func (v *ProduceView) AppendResponse(dst []byte, base []int64) []byte {
	flex := ProduceFlexible(v.Head.Version)
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(v.Head.Correlation))
	dst = AppendTags(dst, flex)
	dst = AppendArrayLen(dst, 1, flex)
	if v.Head.Version >= 13 {
		dst = append(dst, v.Topic...)
	} else if flex {
		dst = append(AppendUvarint(dst, uint32(len(v.Topic))+1), v.Topic...)
	} else {
		dst = append(binary.BigEndian.AppendUint16(dst, uint16(len(v.Topic))), v.Topic...)
	}
	dst = AppendArrayLen(dst, len(v.Parts), flex)
	for i, p := range v.Parts {
		dst = binary.BigEndian.AppendUint32(dst, uint32(p.Partition))
		dst = binary.BigEndian.AppendUint16(dst, uint16(p.Code))
		dst = binary.BigEndian.AppendUint64(dst, uint64(base[i]))
		dst = binary.BigEndian.AppendUint64(dst, ^uint64(0))
		if v.Head.Version >= 5 {
			dst = binary.BigEndian.AppendUint64(dst, 0)
		}
		if v.Head.Version >= 8 {
			dst = AppendArrayLen(dst, 0, flex)
			if flex {
				dst = append(dst, 0)
			} else {
				dst = append(dst, 0xff, 0xff)
			}
		}
		dst = AppendTags(dst, flex)
	}
	dst = AppendTags(dst, flex)
	dst = binary.BigEndian.AppendUint32(dst, 0)
	dst = AppendTags(dst, flex)
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
