package record

// Offset is a committed offset.
type Offset struct {
	Offset      int64
	LeaderEpoch int32 // -1 if unknown
	Metadata    string
	// CommitMs is when it was committed, ms since 1970.
	CommitMs int64
	// ExpireMs is set by OffsetCommit v2-4 with a retention time, -1 otherwise. Such a value is written as version 1,
	// which has no leader epoch. A negative or huge retention time makes it any number; such offsets have expired already.
	ExpireMs int64
	// TopicID is zero where it is not known.
	TopicID [16]byte
}

// AppendTo appends version 3, or 1 if it expires at a set time, or 4 if the topic id is known.
func (o *Offset) AppendTo(dst []byte) []byte {
	version := int16(3)
	switch {
	case o.ExpireMs != -1:
		version = 1
	case o.TopicID != [16]byte{}:
		version = 4
	}
	dst = appendVersion(dst, version)
	dst = be.AppendUint64(dst, uint64(o.Offset))
	if version >= 3 {
		dst = be.AppendUint32(dst, uint32(o.LeaderEpoch))
	}
	if version >= 4 {
		dst = appendCompact(dst, o.Metadata)
	} else {
		dst = appendString(dst, o.Metadata)
	}
	dst = be.AppendUint64(dst, uint64(o.CommitMs))
	switch version {
	case 1:
		dst = be.AppendUint64(dst, uint64(o.ExpireMs))
	case 4:
		dst = append(dst, 1, 0, 16)
		dst = append(dst, o.TopicID[:]...)
	}
	return dst
}

func decodeOffset(r *reader, version int16) *Offset {
	o := &Offset{LeaderEpoch: -1, ExpireMs: -1}
	o.Offset = r.int64()
	if version >= 3 {
		o.LeaderEpoch = r.int32()
	}
	if version >= 4 {
		o.Metadata = r.compactString()
	} else {
		o.Metadata = r.string()
	}
	o.CommitMs = r.int64()
	if version == 1 {
		o.ExpireMs = r.int64()
	}
	if version >= 4 {
		r.tags(func(tag int, r *reader) {
			if tag == 0 {
				o.TopicID = r.uuid()
			}
		})
	}
	return o
}

func (*Offset) valueType() Type { return TypeOffset }
