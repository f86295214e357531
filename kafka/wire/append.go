package wire

import "encoding/binary"

// The primitives of replies. flexible chooses the compact form.

func appendUvarint(dst []byte, v uint32) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

func uvarintLen(v uint32) int {
	n := 1
	for v >= 0x80 {
		v >>= 7
		n++
	}
	return n
}

func appendI16(dst []byte, v int16) []byte { return binary.BigEndian.AppendUint16(dst, uint16(v)) }
func appendI32(dst []byte, v int32) []byte { return binary.BigEndian.AppendUint32(dst, uint32(v)) }
func appendI64(dst []byte, v int64) []byte { return binary.BigEndian.AppendUint64(dst, uint64(v)) }

// appendCount writes the count of an array, -1 for null. It also serves for the
// length of bytes and records.
func appendCount(dst []byte, n int, flexible bool) []byte {
	if flexible {
		return appendUvarint(dst, uint32(n+1))
	}
	return appendI32(dst, int32(n))
}

func appendString[S string | []byte](dst []byte, s S, flexible bool) []byte {
	if flexible {
		dst = appendUvarint(dst, uint32(len(s)+1))
	} else {
		dst = appendI16(dst, int16(len(s)))
	}
	return append(dst, s...)
}

// appendOptionalString writes null for "".
func appendOptionalString(dst []byte, s string, flexible bool) []byte {
	if s != "" {
		return appendString(dst, s, flexible)
	}
	if flexible {
		return append(dst, 0)
	}
	return appendI16(dst, -1)
}

// stringLen is the length of s in compact form.
func compactStringLen(s string) int { return uvarintLen(uint32(len(s)+1)) + len(s) }

// NodeEndpoint names a broker in the leader hints of Produce (v10+) and Fetch
// (v16+).
type NodeEndpoint struct {
	NodeID int32
	Host   string
	Port   int32
	// Rack is null if empty.
	Rack string
}

// appendEndpointTags writes the tag section that ends a Produce or Fetch reply:
// tag 0 with the endpoints, or no tag if there are none.
func appendEndpointTags(dst []byte, endpoints []NodeEndpoint) []byte {
	if len(endpoints) == 0 {
		return append(dst, 0)
	}
	size := uvarintLen(uint32(len(endpoints) + 1))
	for i := range endpoints {
		e := &endpoints[i]
		size += 4 + compactStringLen(e.Host) + 4 + 1 + 1
		if e.Rack != "" {
			size += compactStringLen(e.Rack) - 1
		}
	}
	dst = append(dst, 1, 0)
	dst = appendUvarint(dst, uint32(size))
	dst = appendUvarint(dst, uint32(len(endpoints)+1))
	for i := range endpoints {
		e := &endpoints[i]
		dst = appendI32(dst, e.NodeID)
		dst = appendString(dst, e.Host, true)
		dst = appendI32(dst, e.Port)
		dst = appendOptionalString(dst, e.Rack, true)
		dst = append(dst, 0)
	}
	return dst
}

// LeaderHint tells a client who leads now (answers 6 and 74). Both are -1 when
// unknown; NoLeaderHint says so.
type LeaderHint struct {
	LeaderID    int32
	LeaderEpoch int32
}

// NoLeaderHint is the default, which is not written.
var NoLeaderHint = LeaderHint{-1, -1}

// appendLeaderTag writes tag number with the hint.
func appendLeaderTag(dst []byte, number byte, h LeaderHint) []byte {
	dst = append(dst, number, 9)
	dst = appendI32(dst, h.LeaderID)
	dst = appendI32(dst, h.LeaderEpoch)
	return append(dst, 0)
}
