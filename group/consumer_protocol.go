package group

import "encoding/binary"

// subscription is what a member of the classic protocol says in its metadata for the protocol type "consumer".
type subscription struct {
	version int16
	topics  []string
	owned   []topicParts
	rack    *string
}

// topicParts are partitions of a topic by name.
type topicParts struct {
	topic      string
	partitions []int32
}

// protocolReader reads the bytes of the protocol type "consumer". After the first fault bad is set and everything is zero.
type protocolReader struct {
	b   []byte
	bad bool
}

func (r *protocolReader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b) {
		r.bad, r.b = true, nil
		return nil
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}

func (r *protocolReader) int16() int16 {
	if v := r.take(2); v != nil {
		return int16(binary.BigEndian.Uint16(v))
	}
	return 0
}

func (r *protocolReader) int32() int32 {
	if v := r.take(4); v != nil {
		return int32(binary.BigEndian.Uint32(v))
	}
	return 0
}

func (r *protocolReader) string() string { return string(r.take(int(r.int16()))) }

// count reads the length of an array whose elements take at least least bytes each.
func (r *protocolReader) count(least int) int {
	n := int(r.int32())
	if n < 0 || n > len(r.b)/least {
		r.bad, r.b = true, nil
		return 0
	}
	return n
}

// data skips bytes that may be null.
func (r *protocolReader) data() {
	if n := r.int32(); n >= 0 {
		r.take(int(n))
	}
}

func (r *protocolReader) topics() []topicParts {
	list := make([]topicParts, r.count(6))
	for i := range list {
		list[i].topic = r.string()
		list[i].partitions = make([]int32, r.count(4))
		for j := range list[i].partitions {
			list[i].partitions[j] = r.int32()
		}
	}
	return list
}

// readSubscription reads metadata of versions 0 to 3; of later ones what those have.
func readSubscription(b []byte) (subscription, bool) {
	r := protocolReader{b: b}
	s := subscription{version: r.int16()}
	if s.version < 0 {
		return subscription{}, false
	}
	s.topics = make([]string, r.count(2))
	for i := range s.topics {
		s.topics[i] = r.string()
	}
	r.data()
	if s.version >= 1 {
		s.owned = r.topics()
	}
	if s.version >= 2 {
		r.int32()
	}
	if s.version >= 3 {
		if n := r.int16(); n >= 0 {
			rack := string(r.take(int(n)))
			s.rack = &rack
		}
	}
	s.version = min(s.version, 3)
	return s, !r.bad
}

// readAssignment reads what a leader assigned; no bytes: nothing. custom: with data of the leader's own.
func readAssignment(b []byte) (list []topicParts, custom, ok bool) {
	if len(b) == 0 {
		return nil, false, true
	}
	r := protocolReader{b: b}
	if r.int16() < 0 {
		return nil, false, false
	}
	list = r.topics()
	n := r.int32()
	r.take(int(max(n, 0)))
	return list, n > 0, !r.bad
}

// appendAssignment writes what readAssignment reads.
func appendAssignment(dst []byte, version int16, list []topicParts) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(version))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(list)))
	for i := range list {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(list[i].topic)))
		dst = append(dst, list[i].topic...)
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(list[i].partitions)))
		for _, p := range list[i].partitions {
			dst = binary.BigEndian.AppendUint32(dst, uint32(p))
		}
	}
	return binary.BigEndian.AppendUint32(dst, 0xffff_ffff) // no user data
}
