package metric

import (
	"math/bits"
	"sync/atomic"
)

// A histogram has 8 linear buckets per power of two: values are known to within 12.5 %.
const (
	subBits = 3
	sub     = 1 << subBits
	buckets = (64 - subBits) * sub
)

// Histogram counts values (nanoseconds, bytes, ...) in log-linear buckets. Owned by its loop, read by any
// goroutine.
type Histogram struct {
	sum    atomic.Int64
	counts [buckets]atomic.Uint64
}

func bucketOf(v uint64) int {
	if v < sub {
		return int(v)
	}
	shift := bits.Len64(v) - 1 - subBits
	return (shift+1)*sub + int(v>>shift) - sub
}

// bucketTop is the largest value of bucket i.
func bucketTop(i int) uint64 {
	if i < sub {
		return uint64(i)
	}
	shift := i/sub - 1
	return (uint64(i%sub)+sub+1)<<shift - 1
}

// Observe counts one value; negative ones count as 0. By the owner only.
func (h *Histogram) Observe(v int64) {
	if v < 0 {
		v = 0
	}
	c := &h.counts[bucketOf(uint64(v))]
	c.Store(c.Load() + 1)
	h.sum.Store(h.sum.Load() + v)
}

// Snapshot is a histogram at one moment, merged from any number of cells. Owned by its caller.
type Snapshot struct {
	Count  uint64
	Sum    int64
	counts [buckets]uint64
}

// AddTo adds the histogram's counts to s. Any goroutine.
func (h *Histogram) AddTo(s *Snapshot) {
	for i := range h.counts {
		n := h.counts[i].Load()
		s.counts[i] += n
		s.Count += n
	}
	s.Sum += h.sum.Load()
}

// Quantile is an upper bound of the q-quantile (0 <= q <= 1), 0 when nothing was counted.
func (s *Snapshot) Quantile(q float64) int64 {
	if s.Count == 0 {
		return 0
	}
	rank := uint64(q * float64(s.Count))
	if rank >= s.Count {
		rank = s.Count - 1
	}
	var seen uint64
	for i, n := range s.counts {
		if seen += n; seen > rank {
			return int64(bucketTop(i))
		}
	}
	return int64(bucketTop(buckets - 1))
}

// Below is how many values are certainly at most v (the resolution of a bucket applies).
func (s *Snapshot) Below(v int64) uint64 {
	var n uint64
	for i, c := range s.counts {
		if bucketTop(i) > uint64(v) {
			break
		}
		n += c
	}
	return n
}
