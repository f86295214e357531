package batch

// Varints as Kafka's records use them: zigzag, base 128, low group first. A
// 32-bit one has at most 5 bytes, a 64-bit one at most 10; bits beyond the
// width are dropped, as Kafka does.

const (
	// MaxVarint and MaxVarlong are the longest encodings in bytes.
	MaxVarint  = 5
	MaxVarlong = 10
)

// Varint reads a zigzag 32-bit varint. n is its length in bytes, 0 if b ends
// before the varint does, negative if it is too long.
func Varint(b []byte) (v int32, n int) {
	u, n := Uvarint(b)
	return int32(u>>1) ^ -int32(u&1), n
}

// Varlong reads a zigzag 64-bit varint; n as in Varint.
func Varlong(b []byte) (v int64, n int) {
	var u uint64
	for i := 0; i < len(b) && i < MaxVarlong; i++ {
		c := b[i]
		u |= uint64(c&0x7f) << (7 * uint(i))
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), i + 1
		}
	}
	if len(b) >= MaxVarlong {
		return 0, -MaxVarlong
	}
	return 0, 0
}

// Uvarint reads an unsigned 32-bit varint; n as in Varint.
func Uvarint(b []byte) (v uint32, n int) {
	var u uint32
	for i := 0; i < len(b) && i < MaxVarint; i++ {
		c := b[i]
		u |= uint32(c&0x7f) << (7 * uint(i))
		if c < 0x80 {
			return u, i + 1
		}
	}
	if len(b) >= MaxVarint {
		return 0, -MaxVarint
	}
	return 0, 0
}

// AppendVarint appends v as a zigzag varint.
func AppendVarint(dst []byte, v int32) []byte {
	return AppendUvarint(dst, uint32(v<<1)^uint32(v>>31))
}

// AppendVarlong appends v as a zigzag varint of up to 10 bytes.
func AppendVarlong(dst []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// AppendUvarint appends v as an unsigned varint.
func AppendUvarint(dst []byte, v uint32) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

// VarintLen is the length of v as a zigzag varint, in bytes.
func VarintLen(v int32) int { return UvarintLen(uint32(v<<1) ^ uint32(v>>31)) }

// UvarintLen is the length of v as an unsigned varint, in bytes.
func UvarintLen(v uint32) int {
	n := 1
	for v >= 0x80 {
		v >>= 7
		n++
	}
	return n
}

// VarlongLen is the length of v as a zigzag varint, in bytes.
func VarlongLen(v int64) int {
	u := uint64(v<<1) ^ uint64(v>>63)
	n := 1
	for u >= 0x80 {
		u >>= 7
		n++
	}
	return n
}
