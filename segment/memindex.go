package segment

import (
	"sort"
	"sync/atomic"
)

const (
	pageLen = 256
	// densePages bounds the latest batches that are all known by position: 64 pages of 256, 192 KiB per active log.
	densePages = 64
)

type (
	indexPage [pageLen]indexEntry
	timePage  [pageLen]timeEntry
)

// memIndex is a segment's index in memory: Kafka's sparse entries, its time entries, and every one of the latest
// batches ("dense"). One writer (the log's owner) appends: entry first, then the counter, atomically. Any goroutine
// reads. Entries never change. Pages are found through an immutable directory that is replaced when a page is added;
// old dense pages drop out of it, and the collector frees them when no reader is left.
type memIndex struct {
	dir atomic.Pointer[indexDir]

	sparse, times, dense atomic.Int64 // numbers of entries ever added

	// loaded is how many of the first sparse entries came from a file: their first offset is not known. Set before
	// anyone else sees the index.
	loaded int
}

// indexDir lists the pages. Immutable once published.
type indexDir struct {
	sparse []*indexPage
	times  []*timePage
	dense  []*indexPage
	// denseFirst is the number of the first entry of dense[0].
	denseFirst int64
}

func newMemIndex() *memIndex {
	m := &memIndex{}
	m.dir.Store(&indexDir{})
	return m
}

// addSparse, addTime and addDense append an entry. Owner only. A page is added every 256 entries.
func (m *memIndex) addSparse(e indexEntry) {
	n := m.sparse.Load()
	d := m.dir.Load()
	if n == int64(len(d.sparse))*pageLen {
		d = d.clone()
		d.sparse = append(d.sparse[:len(d.sparse):len(d.sparse)], new(indexPage))
		m.dir.Store(d)
	}
	d.sparse[n/pageLen][n%pageLen] = e
	m.sparse.Store(n + 1)
}

func (m *memIndex) addTime(e timeEntry) {
	n := m.times.Load()
	d := m.dir.Load()
	if n == int64(len(d.times))*pageLen {
		d = d.clone()
		d.times = append(d.times[:len(d.times):len(d.times)], new(timePage))
		m.dir.Store(d)
	}
	d.times[n/pageLen][n%pageLen] = e
	m.times.Store(n + 1)
}

func (m *memIndex) addDense(e indexEntry) {
	n := m.dense.Load()
	d := m.dir.Load()
	if n == d.denseFirst+int64(len(d.dense))*pageLen {
		d = d.clone()
		if len(d.dense) == densePages {
			d.dense, d.denseFirst = d.dense[1:], d.denseFirst+pageLen
		}
		d.dense = append(d.dense[:len(d.dense):len(d.dense)], new(indexPage))
		m.dir.Store(d)
	}
	i := n - d.denseFirst
	d.dense[i/pageLen][i%pageLen] = e
	m.dense.Store(n + 1)
}

func (d *indexDir) clone() *indexDir { c := *d; return &c }

// snap is one consistent look at the index: counters first, then the directory, which holds at least as much.
type snap struct {
	d                  *indexDir
	sparse, times      int
	denseFrom, denseTo int64 // entry numbers
}

func (m *memIndex) snap() snap {
	s := snap{sparse: int(m.sparse.Load()), times: int(m.times.Load()), denseTo: m.dense.Load()}
	s.d = m.dir.Load()
	s.denseFrom = min(s.d.denseFirst, s.denseTo)
	return s
}

func (s *snap) sparseAt(i int) indexEntry { return s.d.sparse[i/pageLen][i%pageLen] }
func (s *snap) timeAt(i int) timeEntry    { return s.d.times[i/pageLen][i%pageLen] }

func (s *snap) denseAt(i int64) indexEntry {
	i -= s.d.denseFirst
	return s.d.dense[i/pageLen][i%pageLen]
}

func (s *snap) denseLen() int { return int(s.denseTo - s.denseFrom) }

// denseStart is the file position from which all batches are known; limit if none are.
func (s *snap) denseStart(limit int64) int64 {
	if s.denseLen() == 0 {
		return limit
	}
	return int64(s.denseAt(s.denseFrom).pos)
}

// denseFind is the first known batch whose last offset is at or above rel. It is exact if rel is not below the first
// dense batch's first offset.
func (s *snap) denseFind(rel int64) (e indexEntry, next int64, ok bool) {
	n := s.denseLen()
	if n == 0 || rel < int64(s.denseAt(s.denseFrom).first) {
		return e, 0, false
	}
	i := sort.Search(n, func(i int) bool { return int64(s.denseAt(s.denseFrom+int64(i)).last) >= rel })
	if i == n {
		return e, 0, false
	}
	next = -1
	if i+1 < n {
		next = int64(s.denseAt(s.denseFrom + int64(i) + 1).pos)
	}
	return s.denseAt(s.denseFrom + int64(i)), next, true
}

// floor is the last sparse entry whose first offset is at or below rel; i is -1 if there is none.
func (s *snap) floor(rel int64) (e indexEntry, i int) {
	i = sort.Search(s.sparse, func(i int) bool { return int64(s.sparseAt(i).first) > rel }) - 1
	if i < 0 {
		return indexEntry{}, -1
	}
	return s.sparseAt(i), i
}

// boundary is the largest known start of a batch at or below pos and above from; 0 if none is known.
func (s *snap) boundary(from, pos int64) int64 {
	best := int64(0)
	if n := s.denseLen(); n > 0 && int64(s.denseAt(s.denseFrom).pos) <= pos {
		i := sort.Search(n, func(i int) bool { return int64(s.denseAt(s.denseFrom+int64(i)).pos) > pos })
		best = int64(s.denseAt(s.denseFrom + int64(i) - 1).pos)
	} else {
		i := sort.Search(s.sparse, func(i int) bool { return int64(s.sparseAt(i).pos) > pos })
		if i > 0 {
			best = int64(s.sparseAt(i - 1).pos)
		}
	}
	if best <= from {
		return 0
	}
	return best
}

// after is the smallest known start of a batch above pos; limit if none is known.
func (s *snap) after(pos, limit int64) int64 {
	i := sort.Search(s.sparse, func(i int) bool { return int64(s.sparseAt(i).pos) > pos })
	if i < s.sparse {
		limit = min(limit, int64(s.sparseAt(i).pos))
	}
	if n := s.denseLen(); n > 0 {
		i := sort.Search(n, func(i int) bool { return int64(s.denseAt(s.denseFrom+int64(i)).pos) > pos })
		if i < n {
			limit = min(limit, int64(s.denseAt(s.denseFrom+int64(i)).pos))
		}
	}
	return limit
}

// timeFloor is the last time entry whose timestamp is below ts: records with a timestamp >= ts come in the batch behind
// it at the earliest. ok is false if there is none.
func (s *snap) timeFloor(ts int64) (e timeEntry, ok bool) {
	i := sort.Search(s.times, func(i int) bool { return s.timeAt(i).ts >= ts })
	if i == 0 {
		return e, false
	}
	return s.timeAt(i - 1), true
}

// encodeIndex and encodeTimes are the file bytes of the entries from..to.
func (s *snap) encodeIndex(from, to int) []byte {
	b := make([]byte, 0, (to-from)*indexEntrySize)
	for i := from; i < to; i++ {
		b = appendIndexEntry(b, s.sparseAt(i))
	}
	return b
}

func (s *snap) encodeTimes(from, to int) []byte {
	b := make([]byte, 0, (to-from)*timeEntrySize)
	for i := from; i < to; i++ {
		b = appendTimeEntry(b, s.timeAt(i))
	}
	return b
}
