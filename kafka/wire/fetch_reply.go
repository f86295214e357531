package wire

// FetchReply writes the answer to a Fetch request, versions 4 to 18. The record
// bytes are not copied: the reply is a buffer with gaps, and the caller sends
// buffer pieces and record bytes (file ranges, memory) by turns.
//
// Call Begin, then for each topic Topic, its Partitions and EndTopic, then End.
// The counts given must be kept. It is owned by its user; Begin reuses the
// slice of gaps.
type FetchReply struct {
	buf      []byte
	gaps     []Gap
	start    int
	records  int
	version  int16
	flexible bool
}

// Gap is a place in the reply's buffer where record bytes are sent from
// elsewhere.
type Gap struct {
	// Position: the record bytes follow buf[:Position], counted from the start
	// of the slice that End returns.
	Position int
	// Bytes is the length of the record bytes, > 0.
	Bytes int
}

// AbortedTxn is one entry of the aborted transactions, sorted by FirstOffset.
type AbortedTxn struct {
	ProducerID  int64
	FirstOffset int64
}

// EpochEnd says where an epoch ends in the leader's log.
type EpochEnd struct {
	Epoch     int32
	EndOffset int64
}

// NoEpochEnd is the default of the diverging epoch and the snapshot id, which is
// not written.
var NoEpochEnd = EpochEnd{-1, -1}

// FetchPartitionReply is the answer for one partition. Use
// NewFetchPartitionReply or set every field: the zero value of the hints is not
// their default.
type FetchPartitionReply struct {
	Index            int32
	Error            ErrorCode
	HighWatermark    int64
	LastStableOffset int64
	// LogStartOffset is written from version 5 on.
	LogStartOffset int64
	// AbortedTxns is null if nil, empty if not nil and of length 0.
	AbortedTxns []AbortedTxn
	// PreferredReadReplica is written from version 11 on, -1 for none.
	PreferredReadReplica int32
	// Diverging, Leader and Snapshot are tags of version 12 on.
	Diverging EpochEnd
	Leader    LeaderHint
	Snapshot  EpochEnd
	// RecordBytes is the length of the records, which the caller sends. Negative
	// means null.
	RecordBytes int
}

// NewFetchPartitionReply is an entry without records, offsets and hints (all
// offsets -1), as Kafka answers errors.
func NewFetchPartitionReply(index int32, e ErrorCode) FetchPartitionReply {
	return FetchPartitionReply{
		Index:                index,
		Error:                e,
		HighWatermark:        -1,
		LastStableOffset:     -1,
		LogStartOffset:       -1,
		PreferredReadReplica: -1,
		Diverging:            NoEpochEnd,
		Leader:               NoLeaderHint,
		Snapshot:             NoEpochEnd,
	}
}

// Begin starts the frame at the end of dst with its size, the response header,
// and the reply's head. e and sessionID are written from version 7 on.
func (w *FetchReply) Begin(dst []byte, version int16, correlationID, throttleMs int32, e ErrorCode, sessionID int32, topics int) {
	w.start, w.records, w.version, w.flexible = len(dst), 0, version, version >= 12
	w.gaps = w.gaps[:0]
	dst = BeginFrame(dst, byKey[KeyFetch], version, correlationID)
	dst = appendI32(dst, throttleMs)
	if version >= 7 {
		dst = appendI16(dst, int16(e))
		dst = appendI32(dst, sessionID)
	}
	w.buf = appendCount(dst, topics, w.flexible)
}

// Topic starts a topic: name below version 13, id from there on.
func (w *FetchReply) Topic(name []byte, id UUID, partitions int) {
	if w.version >= 13 {
		w.buf = append(w.buf, id[:]...)
	} else {
		w.buf = appendString(w.buf, name, w.flexible)
	}
	w.buf = appendCount(w.buf, partitions, w.flexible)
}

// Partition writes one partition of the current topic and, if it has records,
// notes a gap for them.
func (w *FetchReply) Partition(p *FetchPartitionReply) {
	dst := appendI32(w.buf, p.Index)
	dst = appendI16(dst, int16(p.Error))
	dst = appendI64(dst, p.HighWatermark)
	dst = appendI64(dst, p.LastStableOffset)
	if w.version >= 5 {
		dst = appendI64(dst, p.LogStartOffset)
	}
	if p.AbortedTxns == nil {
		dst = appendCount(dst, -1, w.flexible)
	} else {
		dst = appendCount(dst, len(p.AbortedTxns), w.flexible)
		for i := range p.AbortedTxns {
			dst = appendI64(dst, p.AbortedTxns[i].ProducerID)
			dst = appendI64(dst, p.AbortedTxns[i].FirstOffset)
			if w.flexible {
				dst = append(dst, 0)
			}
		}
	}
	if w.version >= 11 {
		dst = appendI32(dst, p.PreferredReadReplica)
	}
	dst = appendCount(dst, max(p.RecordBytes, -1), w.flexible)
	if p.RecordBytes > 0 {
		w.gaps = append(w.gaps, Gap{Position: len(dst), Bytes: p.RecordBytes})
		w.records += p.RecordBytes
	}
	if w.flexible {
		dst = appendFetchTags(dst, p)
	}
	w.buf = dst
}

// appendFetchTags writes the tag section of a partition.
func appendFetchTags(dst []byte, p *FetchPartitionReply) []byte {
	count := byte(0)
	if p.Diverging != NoEpochEnd {
		count++
	}
	if p.Leader != NoLeaderHint {
		count++
	}
	if p.Snapshot != NoEpochEnd {
		count++
	}
	dst = append(dst, count)
	if p.Diverging != NoEpochEnd {
		dst = append(dst, 0, 13)
		dst = appendI32(dst, p.Diverging.Epoch)
		dst = appendI64(dst, p.Diverging.EndOffset)
		dst = append(dst, 0)
	}
	if p.Leader != NoLeaderHint {
		dst = appendLeaderTag(dst, 1, p.Leader)
	}
	if p.Snapshot != NoEpochEnd {
		dst = append(dst, 2, 13)
		dst = appendI64(dst, p.Snapshot.EndOffset)
		dst = appendI32(dst, p.Snapshot.Epoch)
		dst = append(dst, 0)
	}
	return dst
}

// EndTopic ends the current topic.
func (w *FetchReply) EndTopic() {
	if w.flexible {
		w.buf = append(w.buf, 0)
	}
}

// Size is the length of the frame so far with its records and its size field,
// in bytes.
func (w *FetchReply) Size() int { return len(w.buf) - w.start + w.records }

// RecordBytes is the sum of the gaps so far.
func (w *FetchReply) RecordBytes() int { return w.records }

// End finishes the frame and returns dst with it and the gaps in ascending
// order, valid until the next Begin. endpoints are written from version 16 on.
func (w *FetchReply) End(endpoints []NodeEndpoint) (dst []byte, gaps []Gap) {
	dst = w.buf
	if w.flexible {
		if w.version < 16 {
			endpoints = nil
		}
		dst = appendEndpointTags(dst, endpoints)
	}
	EndFrame(dst, w.start, w.records)
	w.buf = nil
	return dst, w.gaps
}
