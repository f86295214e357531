package segment

import (
	"encoding/binary"
	"fmt"
	"sort"
)

// Entry sizes of Kafka's index files in bytes.
const (
	indexEntrySize = 8
	timeEntrySize  = 12
)

// indexEntry says that the batch at file position pos ends with offset base+last. In memory the batch's first offset is
// known too where it was appended or scanned; read from a file, first equals last.
type indexEntry struct {
	first, last, pos uint32
}

// timeEntry says that the largest timestamp up to the batch with last offset base+rel is ts.
type timeEntry struct {
	ts  int64
	rel uint32
}

func appendIndexEntry(b []byte, e indexEntry) []byte {
	b = binary.BigEndian.AppendUint32(b, e.last)
	return binary.BigEndian.AppendUint32(b, e.pos)
}

func appendTimeEntry(b []byte, e timeEntry) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(e.ts))
	return binary.BigEndian.AppendUint32(b, e.rel)
}

func indexEntryAt(b []byte, i int) indexEntry {
	last := binary.BigEndian.Uint32(b[i*indexEntrySize:])
	return indexEntry{first: last, last: last, pos: binary.BigEndian.Uint32(b[i*indexEntrySize+4:])}
}

func timeEntryAt(b []byte, i int) timeEntry {
	b = b[i*timeEntrySize:]
	return timeEntry{ts: int64(binary.BigEndian.Uint64(b)), rel: binary.BigEndian.Uint32(b[8:])}
}

// indexLen is the number of entries before the zero-filled rest that Kafka leaves in an active segment's preallocated
// index. No real entry has position 0 (the first batch gets none).
func indexLen(b []byte) int {
	return sort.Search(len(b)/indexEntrySize, func(i int) bool { return indexEntryAt(b, i).pos == 0 })
}

// timeIndexLen is the same for a time index. A real entry is not all zero: one with timestamp 0 and offset 0 can only
// be the first.
func timeIndexLen(b []byte) int {
	n := len(b) / timeEntrySize
	if n > 0 && timeEntryAt(b, 0) == (timeEntry{}) {
		if n == 1 {
			return 1
		}
		if timeEntryAt(b, 1).ts <= 0 {
			return 0
		}
	}
	return sort.Search(n, func(i int) bool { return i > 0 && timeEntryAt(b, i) == (timeEntry{}) })
}

// decodeIndex checks an index file against the log it belongs to: entries grow strictly and lie inside size bytes.
func decodeIndex(b []byte, size int64) ([]indexEntry, error) {
	if len(b)%indexEntrySize != 0 {
		return nil, fmt.Errorf("%w: index of %d bytes", ErrFormat, len(b))
	}
	n := indexLen(b)
	out := make([]indexEntry, n)
	var prev indexEntry
	for i := range out {
		e := indexEntryAt(b, i)
		if e.pos <= prev.pos || i > 0 && e.last <= prev.last || int64(e.pos) >= size || int32(e.last) < 0 {
			return nil, fmt.Errorf("%w: index entry %d (%d, %d) after (%d, %d)", ErrFormat, i, e.last, e.pos, prev.last, prev.pos)
		}
		out[i], prev = e, e
	}
	if err := zeroTail(b[n*indexEntrySize:]); err != nil {
		return nil, err
	}
	return out, nil
}

// decodeTimeIndex checks a time index: timestamps grow strictly, offsets grow.
func decodeTimeIndex(b []byte) ([]timeEntry, error) {
	if len(b)%timeEntrySize != 0 {
		return nil, fmt.Errorf("%w: time index of %d bytes", ErrFormat, len(b))
	}
	n := timeIndexLen(b)
	out := make([]timeEntry, n)
	prev := timeEntry{ts: -1}
	for i := range out {
		e := timeEntryAt(b, i)
		// A segment without timestamps ends in an entry (-1, base) in some files of Kafka.
		if int32(e.rel) < 0 || e.rel < prev.rel || i > 0 && e.ts <= prev.ts || e.ts < -1 {
			return nil, fmt.Errorf("%w: time index entry %d (%d, %d) after (%d, %d)", ErrFormat, i, e.ts, e.rel, prev.ts, prev.rel)
		}
		out[i], prev = e, e
	}
	if err := zeroTail(b[n*timeEntrySize:]); err != nil {
		return nil, err
	}
	return out, nil
}

// zeroTail checks that what follows the last entry was never used.
func zeroTail(b []byte) error {
	for _, c := range b {
		if c != 0 {
			return fmt.Errorf("%w: index entries behind the first empty one", ErrFormat)
		}
	}
	return nil
}
