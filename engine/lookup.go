package engine

import (
	"millrace/segment"
)

// RecordPos names one record in the answer to a lookup by time.
type RecordPos struct {
	Offset      int64
	TimestampMs int64
	LeaderEpoch int32 // -1 if unknown
}

// OffsetForTime is the first record with a timestamp >= ts below the isolation's end, exact inside compressed batches;
// ok is false if there is none. It blocks: call it on an ordinary goroutine or through Loop.Offload.
func (p *Partition) OffsetForTime(ts int64, i Isolation) (r RecordPos, ok bool, err error) {
	return p.lookup(i, func(v *segment.View, start, end int64) (segment.Record, bool, error) {
		return v.OffsetForTime(ts, start, end)
	})
}

// MaxTimestamp is the first record with the largest timestamp below the isolation's end; ok is false if there is none.
// It blocks, as OffsetForTime does.
func (p *Partition) MaxTimestamp(i Isolation) (r RecordPos, ok bool, err error) {
	return p.lookup(i, func(v *segment.View, start, end int64) (segment.Record, bool, error) {
		return v.MaxTimestamp(start, end)
	})
}

func (p *Partition) lookup(i Isolation, find func(v *segment.View, start, end int64) (segment.Record, bool, error)) (RecordPos, bool, error) {
	if err := p.Err(); err != nil {
		return RecordPos{}, false, err
	}
	b := p.Bounds()
	v := p.log.View()
	defer v.Release()
	r, ok, err := find(v, b.LogStart, b.End(i))
	if err != nil || !ok {
		return RecordPos{}, false, readError(err)
	}
	return RecordPos{r.Offset, r.Timestamp, r.LeaderEpoch}, true, nil
}

// EpochEnd answers OffsetForLeaderEpoch: the largest epoch at or below asked, and the offset at which it ends; the
// latest epoch ends at end (the caller's bound: Kafka answers the high watermark). (-1, -1) if unknown.
func (p *Partition) EpochEnd(asked int32, end int64) (epoch int32, offset int64) {
	b := p.Bounds()
	if asked == b.LeaderEpoch && asked >= 0 {
		return asked, end
	}
	return p.log.Epochs().EndOffset(asked, end)
}

// EpochOf is the leader epoch of the record at offset; at the end of the log it is the present one. -1 if unknown.
func (p *Partition) EpochOf(offset int64) int32 { return p.log.Epochs().EpochOf(offset) }
