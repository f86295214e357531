package segment

// ProducerWindow is the number of latest batches kept per producer for duplicate detection.
const ProducerWindow = 5

// ProducerBatch is one appended batch of a producer.
type ProducerBatch struct {
	LastSequence int32
	// OffsetDelta is last offset minus base offset; the base sequence is LastSequence - OffsetDelta (mod 2^31).
	OffsetDelta int32
	LastOffset  int64
	// Timestamp is the batch's max timestamp in ms.
	Timestamp int64
}

// ProducerEntry is the state of one idempotent or transactional producer on a partition, as in Kafka's .snapshot
// plus the duplicate window that our side file keeps. A plain value.
type ProducerEntry struct {
	ProducerID int64
	Epoch      int16
	// CoordinatorEpoch is that of the last marker, -1 for none.
	CoordinatorEpoch int32
	// Timestamp is the time of the last append in ms.
	Timestamp int64
	// TxnFirstOffset is the first offset of the open transaction, -1 for none.
	TxnFirstOffset int64
	// Batches holds the Count latest batches, oldest first. Count 0: only a marker was seen.
	Batches [ProducerWindow]ProducerBatch
	Count   int
}

// Last is the latest batch; ok is false if there is none.
func (e *ProducerEntry) Last() (b ProducerBatch, ok bool) {
	if e.Count == 0 {
		return ProducerBatch{}, false
	}
	return e.Batches[e.Count-1], true
}
