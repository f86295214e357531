package wire

// ProduceReply writes the answer to a Produce request, versions 3 to 13, into
// the caller's slice: Begin, then for each topic Topic, its Partitions and EndTopic, then
// End. The counts given must be kept. It is owned by its user and may be reused
// at once.
type ProduceReply struct {
	buf      []byte
	start    int
	version  int16
	flexible bool
}

// RecordError names one bad record of a refused batch (v8+).
type RecordError struct {
	// Index is the record's place in the batch.
	Index int32
	// Message is null if empty.
	Message string
}

// ProducePartitionReply is the answer for one partition. Errors carry
// BaseOffset, LogAppendTimeMs and LogStartOffset -1.
type ProducePartitionReply struct {
	Index      int32
	Error      ErrorCode
	BaseOffset int64
	// LogAppendTimeMs is -1 unless the topic stamps the append time.
	LogAppendTimeMs int64
	LogStartOffset  int64
	RecordErrors    []RecordError
	// Message is null if empty.
	Message string
	// Leader is written from version 10 on, unless it is NoLeaderHint.
	Leader LeaderHint
}

// Begin starts the frame at the end of dst with its size, the response header
// and the topic count.
func (w *ProduceReply) Begin(dst []byte, version int16, correlationID int32, topics int) {
	w.start, w.version, w.flexible = len(dst), version, version >= 9
	w.buf = BeginFrame(dst, byKey[KeyProduce], version, correlationID)
	w.buf = appendCount(w.buf, topics, w.flexible)
}

// Topic starts a topic: name below version 13, id from there on.
func (w *ProduceReply) Topic(name []byte, id UUID, partitions int) {
	if w.version >= 13 {
		w.buf = append(w.buf, id[:]...)
	} else {
		w.buf = appendString(w.buf, name, w.flexible)
	}
	w.buf = appendCount(w.buf, partitions, w.flexible)
}

// Partition writes one partition of the current topic.
func (w *ProduceReply) Partition(p *ProducePartitionReply) {
	dst := appendI32(w.buf, p.Index)
	dst = appendI16(dst, int16(p.Error))
	dst = appendI64(dst, p.BaseOffset)
	dst = appendI64(dst, p.LogAppendTimeMs)
	if w.version >= 5 {
		dst = appendI64(dst, p.LogStartOffset)
	}
	if w.version >= 8 {
		dst = appendCount(dst, len(p.RecordErrors), w.flexible)
		for i := range p.RecordErrors {
			dst = appendI32(dst, p.RecordErrors[i].Index)
			dst = appendOptionalString(dst, p.RecordErrors[i].Message, w.flexible)
			if w.flexible {
				dst = append(dst, 0)
			}
		}
		dst = appendOptionalString(dst, p.Message, w.flexible)
	}
	if w.flexible {
		if w.version >= 10 && p.Leader != NoLeaderHint {
			dst = appendLeaderTag(append(dst, 1), 0, p.Leader)
		} else {
			dst = append(dst, 0)
		}
	}
	w.buf = dst
}

// EndTopic ends the current topic.
func (w *ProduceReply) EndTopic() {
	if w.flexible {
		w.buf = append(w.buf, 0)
	}
}

// End finishes the frame and returns dst with it. endpoints name the leaders of
// the hints given and are written from version 10 on.
func (w *ProduceReply) End(throttleMs int32, endpoints []NodeEndpoint) []byte {
	dst := appendI32(w.buf, throttleMs)
	if w.flexible {
		if w.version < 10 {
			endpoints = nil
		}
		dst = appendEndpointTags(dst, endpoints)
	}
	EndFrame(dst, w.start, 0)
	w.buf = nil
	return dst
}
