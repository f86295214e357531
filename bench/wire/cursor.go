package wire

import "encoding/binary"

// Cursor reads big-endian protocol fields from a byte slice. After the first read past the end it is Bad and yields zeros.
// Owned by its caller.
type Cursor struct {
	B   []byte
	Off int
	Bad bool
}

func (c *Cursor) take(n int) []byte {
	if n < 0 || len(c.B)-c.Off < n {
		c.Bad = true
		c.Off = len(c.B)
		return nil
	}
	b := c.B[c.Off : c.Off+n]
	c.Off += n
	return b
}

// Int8 reads one byte.
func (c *Cursor) Int8() int8 {
	if b := c.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

// Int16 reads a 16-bit integer.
func (c *Cursor) Int16() int16 {
	if b := c.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

// Int32 reads a 32-bit integer.
func (c *Cursor) Int32() int32 {
	if b := c.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

// Int64 reads a 64-bit integer.
func (c *Cursor) Int64() int64 {
	if b := c.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// Uvarint reads an unsigned varint of at most 32 bits.
func (c *Cursor) Uvarint() uint32 {
	var v uint32
	for shift := 0; shift < 35; shift += 7 {
		b := c.take(1)
		if b == nil {
			return 0
		}
		v |= uint32(b[0]&0x7f) << shift
		if b[0] < 0x80 {
			return v
		}
	}
	c.Bad = true
	return 0
}

// Bytes reads n bytes without copying them.
func (c *Cursor) Bytes(n int) []byte { return c.take(n) }

// String reads a nullable string, compact if flexible, without copying it; null reads as nil.
func (c *Cursor) String(flexible bool) []byte {
	n := 0
	if flexible {
		n = int(c.Uvarint()) - 1
	} else {
		n = int(c.Int16())
	}
	if n < 0 {
		return nil
	}
	return c.take(n)
}

// ArrayLen reads an array's length, compact if flexible; null reads as -1. Each element takes at least minSize bytes: a
// count that cannot fit in what is left makes the cursor Bad and reads as 0.
func (c *Cursor) ArrayLen(flexible bool, minSize int) int {
	n := int(c.length(flexible))
	if n > 0 && n > (len(c.B)-c.Off)/minSize {
		c.Bad = true
		return 0
	}
	return n
}

// BytesLen reads the length of a nullable byte field, compact if flexible; null reads as -1.
func (c *Cursor) BytesLen(flexible bool) int { return int(c.length(flexible)) }

func (c *Cursor) length(flexible bool) int32 {
	if flexible {
		return int32(c.Uvarint()) - 1
	}
	return c.Int32()
}

// Tags skips a tag section if flexible.
func (c *Cursor) Tags(flexible bool) {
	if !flexible {
		return
	}
	for n := c.Uvarint(); n > 0 && !c.Bad; n-- {
		c.Uvarint()
		c.take(int(c.Uvarint()))
	}
}

// Left says how many bytes are unread.
func (c *Cursor) Left() int { return len(c.B) - c.Off }

// AppendUvarint appends v as an unsigned varint.
func AppendUvarint(dst []byte, v uint32) []byte { return binary.AppendUvarint(dst, uint64(v)) }

// AppendString appends a string, compact if flexible.
func AppendString(dst []byte, s string, flexible bool) []byte {
	if flexible {
		return append(AppendUvarint(dst, uint32(len(s))+1), s...)
	}
	return append(binary.BigEndian.AppendUint16(dst, uint16(len(s))), s...)
}

// AppendArrayLen appends an array's length, compact if flexible.
func AppendArrayLen(dst []byte, n int, flexible bool) []byte {
	if flexible {
		return AppendUvarint(dst, uint32(n)+1)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n))
}

// AppendTags appends an empty tag section if flexible.
func AppendTags(dst []byte, flexible bool) []byte {
	if flexible {
		return append(dst, 0)
	}
	return dst
}
