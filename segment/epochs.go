package segment

import "sort"

// EpochEntry says where a leader epoch begins.
type EpochEntry struct {
	Epoch int32
	Start int64
}

// Epochs is a lineage of leader epochs, growing in both fields. Immutable once published.
type Epochs struct{ entries []EpochEntry }

// Entries are the entries. Not to be changed.
func (e *Epochs) Entries() []EpochEntry { return e.entries }

// Last is the latest epoch, -1 if there is none.
func (e *Epochs) Last() int32 {
	if len(e.entries) == 0 {
		return -1
	}
	return e.entries[len(e.entries)-1].Epoch
}

// EndOffset is what OffsetForLeaderEpoch answers: the largest epoch <= asked and the end of it; for one older than all
// known, asked itself and the first known start. logEnd is the end of the latest epoch. Unknown: (-1, -1).
func (e *Epochs) EndOffset(asked int32, logEnd int64) (epoch int32, end int64) {
	n := len(e.entries)
	if asked == -1 || n == 0 || asked > e.Last() {
		return -1, -1
	}
	i := sort.Search(n, func(i int) bool { return e.entries[i].Epoch > asked }) // the next higher one
	switch {
	case i == 0:
		return asked, e.entries[0].Start
	case i == n:
		return e.entries[n-1].Epoch, logEnd
	}
	return e.entries[i-1].Epoch, e.entries[i].Start
}

// EpochOf is the epoch that offset was written in, -1 if unknown.
func (e *Epochs) EpochOf(offset int64) int32 {
	i := sort.Search(len(e.entries), func(i int) bool { return e.entries[i].Start > offset })
	if i == 0 {
		return -1
	}
	return e.entries[i-1].Epoch
}

// assign is the lineage with epoch beginning at start. Entries that hold no records (start not below) are replaced; it
// is e itself when epoch is not above the last one.
func (e *Epochs) assign(epoch int32, start int64) *Epochs {
	if epoch < 0 || epoch <= e.Last() {
		return e
	}
	kept := e.entries
	for len(kept) > 0 && kept[len(kept)-1].Start >= start {
		kept = kept[:len(kept)-1]
	}
	return &Epochs{append(kept[:len(kept):len(kept)], EpochEntry{epoch, start})}
}

// truncateEnd drops the epochs that begin at or above end (KAFKA-10706).
func (e *Epochs) truncateEnd(end int64) *Epochs {
	i := sort.Search(len(e.entries), func(i int) bool { return e.entries[i].Start >= end })
	if i == len(e.entries) {
		return e
	}
	return &Epochs{e.entries[:i:i]}
}

// truncateStart drops the epochs that ended at or below start; the one that covers start begins there.
func (e *Epochs) truncateStart(start int64) *Epochs {
	i := sort.Search(len(e.entries), func(i int) bool { return e.entries[i].Start > start })
	if i == 0 || i == 1 && e.entries[0].Start == start {
		return e
	}
	kept := append([]EpochEntry(nil), e.entries[i-1:]...)
	kept[0].Start = start
	return &Epochs{kept}
}
