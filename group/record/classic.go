package record

// ClassicGroup is a group of the classic protocol, as it was when the leader's assignment was stored or when the group
// became empty.
type ClassicGroup struct {
	ProtocolType string  // "" for a group that never had members
	Generation   int32   // 0 before the first
	Protocol     *string // nil while empty
	Leader       *string // nil while empty
	StateMs      int64   // when the group came into this state, ms since 1970; -1 if unknown
	Members      []ClassicMember
}

// ClassicMember is one member of a classic group.
type ClassicMember struct {
	MemberID           string
	InstanceID         *string
	ClientID           string
	ClientHost         string
	RebalanceTimeoutMs int32
	SessionTimeoutMs   int32
	Subscription       []byte // the metadata for the chosen protocol
	Assignment         []byte
}

// AppendTo appends version 3.
func (g *ClassicGroup) AppendTo(dst []byte) []byte {
	dst = appendVersion(dst, 3)
	dst = appendString(dst, g.ProtocolType)
	dst = be.AppendUint32(dst, uint32(g.Generation))
	dst = appendNullable(dst, g.Protocol)
	dst = appendNullable(dst, g.Leader)
	dst = be.AppendUint64(dst, uint64(g.StateMs))
	dst = be.AppendUint32(dst, uint32(len(g.Members)))
	for i := range g.Members {
		m := &g.Members[i]
		dst = appendString(dst, m.MemberID)
		dst = appendNullable(dst, m.InstanceID)
		dst = appendString(dst, m.ClientID)
		dst = appendString(dst, m.ClientHost)
		dst = be.AppendUint32(dst, uint32(m.RebalanceTimeoutMs))
		dst = be.AppendUint32(dst, uint32(m.SessionTimeoutMs))
		dst = appendBytes(dst, m.Subscription)
		dst = appendBytes(dst, m.Assignment)
	}
	return dst
}

func decodeClassicGroup(r *reader, version int16) *ClassicGroup {
	g := &ClassicGroup{StateMs: -1}
	flexible := version >= 4
	str, null, size := r.string, r.nullable, r.count
	if flexible {
		str, null, size = r.compactString, r.compactNullable, r.compactCount
	}
	g.ProtocolType = str()
	g.Generation = r.int32()
	g.Protocol = null()
	g.Leader = null()
	if version >= 2 {
		g.StateMs = r.int64()
	}
	g.Members = make([]ClassicMember, size(12))
	for i := range g.Members {
		g.Members[i] = decodeClassicMember(r, version)
	}
	if flexible {
		r.noTags()
	}
	return g
}

func decodeClassicMember(r *reader, version int16) (m ClassicMember) {
	str, null, bytes := r.string, r.nullable, r.bytes
	if version >= 4 {
		str, null, bytes = r.compactString, r.compactNullable, r.compactBytes
	}
	m.MemberID = str()
	if version >= 3 {
		m.InstanceID = null()
	}
	m.ClientID = str()
	m.ClientHost = str()
	if version >= 1 {
		m.RebalanceTimeoutMs = r.int32()
	}
	m.SessionTimeoutMs = r.int32()
	if version == 0 {
		m.RebalanceTimeoutMs = m.SessionTimeoutMs
	}
	m.Subscription = bytes()
	m.Assignment = bytes()
	if version >= 4 {
		r.noTags()
	}
	return m
}

func (*ClassicGroup) valueType() Type { return TypeClassicGroup }
