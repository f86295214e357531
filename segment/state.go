package segment

import (
	"millrace/segment/batch"
)

// appendState is what the rules for indexes and rolling need to know of a segment so far. A plain value.
type appendState struct {
	pos, end int64 // bytes and next offset
	batches  int64
	chain    uint64
	chained  bool

	since       int64 // bytes since the last index entry, its own batch included
	indexes     int64 // index and time index entries
	times       int64
	firstTs     int64 // max timestamp of the first batch
	maxTs       int64
	maxTsOffset int64 // last offset of the first batch that has maxTs
	lastTimeTs  int64 // timestamp of the last time index entry
}

func newAppendState(base int64) appendState {
	return appendState{end: base, chained: true, firstTs: -1, maxTs: -1, maxTsOffset: base, lastTimeTs: -1}
}

// append takes a batch in, by Kafka's rules: when more than interval bytes were written since the last entry, the batch
// gets an index entry, and a time entry if the largest timestamp grew. v needs its header only. m, if not nil, gets the
// entries; without it the digest is not carried on (staging, which may be undone).
func (a *appendState) append(base int64, v batch.View, interval int64, m *memIndex) {
	last, ts := v.LastOffset(), v.MaxTimestamp()
	if a.pos == 0 {
		a.firstTs = ts
	}
	// A batch that compaction emptied has a timestamp, but no record that could be looked up by it.
	if ts > a.maxTs && v.Count() > 0 {
		a.maxTs, a.maxTsOffset = ts, last
	}
	if a.since > interval {
		a.indexes++
		if m != nil {
			m.addSparse(indexEntry{uint32(v.BaseOffset() - base), uint32(last - base), uint32(a.pos)})
		}
		if a.maxTs > a.lastTimeTs {
			a.times++
			a.lastTimeTs = a.maxTs
			if m != nil {
				m.addTime(timeEntry{a.maxTs, uint32(a.maxTsOffset - base)})
			}
		}
		a.since = 0
	}
	size := int64(v.Size())
	a.pos += size
	a.since += size
	a.end = last + 1
	a.batches++
	if m != nil {
		a.chain = chain(a.chain, v)
	}
}

// skip goes over a damaged range.
func (a *appendState) skip(d Damage) {
	a.pos = d.Pos + d.Len
	a.end = max(a.end, d.NextOffset)
	a.since += d.Len
	a.chained = false
}

// finishTimes adds the last time index entry, which Kafka writes when a segment is closed.
func (a *appendState) finishTimes(base int64, m *memIndex) {
	if a.maxTs > a.lastTimeTs {
		m.addTime(timeEntry{a.maxTs, uint32(a.maxTsOffset - base)})
		a.lastTimeTs = a.maxTs
		a.times++
	}
}
