package record

import "encoding/binary"

var be = binary.BigEndian

func appendString(dst []byte, s string) []byte {
	return append(be.AppendUint16(dst, uint16(len(s))), s...)
}

func appendNullable(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, 0xff, 0xff)
	}
	return appendString(dst, *s)
}

func appendBytes(dst, b []byte) []byte {
	return append(be.AppendUint32(dst, uint32(len(b))), b...)
}

func appendUvarint(dst []byte, n int) []byte { return binary.AppendUvarint(dst, uint64(n)) }

func appendCompact(dst []byte, s string) []byte {
	return append(appendUvarint(dst, len(s)+1), s...)
}

func appendCompactNullable(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, 0)
	}
	return appendCompact(dst, *s)
}

func appendCompactBytes(dst, b []byte) []byte {
	return append(appendUvarint(dst, len(b)+1), b...)
}

func appendInt32s(dst []byte, v []int32) []byte {
	dst = appendUvarint(dst, len(v)+1)
	for _, n := range v {
		dst = be.AppendUint32(dst, uint32(n))
	}
	return dst
}

func appendCompactStrings(dst []byte, v []string) []byte {
	dst = appendUvarint(dst, len(v)+1)
	for _, s := range v {
		dst = appendCompact(dst, s)
	}
	return dst
}

func appendInt64Tag(dst []byte, tag int, v int64) []byte {
	return be.AppendUint64(append(appendUvarint(dst, tag), 8), uint64(v))
}
