// Package bufpool hands out reference-counted byte buffers in mmapped memory, under a budget.
//
// Bytes live outside the Go heap (the kernel may hold their address while an operation is in flight, and they
// cost the collector nothing); the Buf that describes them lives in the Go heap. A pool belongs to one user
// (a loop, the raft log, ...) but Get and Release may be called from any goroutine. Freed memory is reused last
// in, first out, so that it is still in the CPU cache; what lies idle is given back to the system by Trim.
//
// It never blocks: Get answers nil when the budget is used up, and OnFree tells who wants to know that there is
// room again.
//
// Invariants: a buffer is on a free list exactly when its count is 0; bytes handed out by Get never exceed the
// budget but for one buffer that is larger than the whole budget and alone.
//
// Files: bufpool.go (Pool), buf.go (Buf), class.go (size classes).
package bufpool

import (
	"sync"
	"sync/atomic"
)

// Pool is a set of buffers under one budget. Any goroutine.
type Pool struct {
	budget int64
	used   atomic.Int64 // bytes of the classes handed out under the budget
	forced atomic.Int64 // bytes handed out by GetForce
	wanted atomic.Bool  // somebody waits for room
	onFree func()       // immutable once Get is used

	mu   sync.Mutex
	free [classes]freeList
	idle int64 // bytes on free lists
	big  []*Buf
}

// freeList is one class's free buffers, guarded by the pool's lock. low is the shortest it was since the last
// Trim: what nobody needed in the meantime.
type freeList struct {
	bufs []*Buf
	low  int
}

// New makes a pool that hands out at most budget bytes at a time; 0 means no bound.
func New(budget int64) *Pool {
	return &Pool{budget: budget}
}

// Budget is the bound in bytes, 0 when there is none.
func (p *Pool) Budget() int64 { return p.budget }

// Used is the number of bytes handed out, in whole size classes, those of GetForce included.
func (p *Pool) Used() int64 { return p.used.Load() + p.forced.Load() }

// Idle is the number of bytes that lie on free lists.
func (p *Pool) Idle() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.idle
}

// OnFree sets what is called, on the releasing goroutine, after a release that follows a WantFree. To be set
// before the pool is used.
func (p *Pool) OnFree(fn func()) { p.onFree = fn }

// WantFree asks for one call of OnFree at the next release. Who got nil from Get calls WantFree and then tries
// Get once more, so that a release in between is not missed.
func (p *Pool) WantFree() { p.wanted.Store(true) }

// Get hands out a buffer of n bytes (len(B) == n) with one reference, or nil when the budget does not allow it.
// The bytes hold whatever was there before.
func (p *Pool) Get(n int) *Buf {
	c, size := classOf(n)
	if !p.reserve(size) {
		return nil
	}
	b := p.take(c, size, n)
	b.count = &p.used
	return b
}

// GetForce is Get outside the budget: for small buffers whose number is bounded by something else. They do not count
// against those that Get hands out, so who holds one while waiting for the budget does not wait for itself.
func (p *Pool) GetForce(n int) *Buf {
	c, size := classOf(n)
	p.forced.Add(size)
	b := p.take(c, size, n)
	b.count = &p.forced
	return b
}

// reserve counts size bytes as used if the budget allows. A buffer above the whole budget is allowed when it
// would be alone, else it could never be had.
func (p *Pool) reserve(size int64) bool {
	for {
		u := p.used.Load()
		if p.budget > 0 && u > 0 && u+size > p.budget {
			return false
		}
		if p.used.CompareAndSwap(u, u+size) {
			return true
		}
	}
}

func (p *Pool) take(c int, size int64, n int) *Buf {
	var b *Buf
	p.mu.Lock()
	if c >= 0 {
		b = p.takeClass(c, size)
	} else {
		b = p.takeBig(size)
	}
	p.mu.Unlock()
	b.B = b.mem[:n]
	b.size = size
	b.refs.Store(1)
	return b
}

func (p *Pool) takeClass(c int, size int64) *Buf {
	f := &p.free[c]
	if k := len(f.bufs); k > 0 {
		b := f.bufs[k-1]
		f.bufs = f.bufs[:k-1]
		if k-1 < f.low {
			f.low = k - 1
		}
		p.idle -= size
		return b
	}
	if size > slabMax {
		p.makeRoom()
		return &Buf{pool: p, class: int32(c), mem: mapBytes(size)}
	}
	sl := &slab{mem: mapBytes(slabBytes)}
	for off := int64(0); off+size <= slabBytes; off += size {
		f.bufs = append(f.bufs, &Buf{pool: p, class: int32(c), slab: sl, mem: sl.mem[off : off+size : off+size]})
		sl.bufs++
		p.idle += size
	}
	p.idle -= size
	b := f.bufs[len(f.bufs)-1]
	f.bufs = f.bufs[:len(f.bufs)-1]
	return b
}

// takeBig finds a buffer above the classes: the smallest free one that wastes at most a fifth.
func (p *Pool) takeBig(size int64) *Buf {
	best := -1 // of the same size or a little more; what is more is not counted
	for i, b := range p.big {
		k := int64(len(b.mem))
		if k >= size && k <= size+size/4 && (best < 0 || k < int64(len(p.big[best].mem))) {
			best = i
		}
	}
	if best < 0 {
		p.makeRoom()
		return &Buf{pool: p, class: -1, mem: mapBytes(size)}
	}
	b := p.big[best]
	p.big = append(p.big[:best], p.big[best+1:]...)
	p.idle -= int64(len(b.mem))
	return b
}

// put takes a buffer back. Called with count 0.
func (p *Pool) put(b *Buf) {
	size, count, counted := int64(len(b.mem)), b.count, b.size
	p.mu.Lock()
	if b.class >= 0 {
		f := &p.free[b.class]
		f.bufs = append(f.bufs, b)
	} else {
		p.big = append(p.big, b)
	}
	p.idle += size
	p.mu.Unlock()
	count.Add(-counted)
	if p.wanted.Load() && p.wanted.CompareAndSwap(true, false) && p.onFree != nil {
		p.onFree()
	}
}

// makeRoom unmaps idle memory so that mapped bytes do not exceed the budget by what lies idle. Called with used counted.
func (p *Pool) makeRoom() {
	if p.budget <= 0 {
		return
	}
	over := p.Used() + p.idle - p.budget
	for len(p.big) > 0 && over > 0 {
		last := len(p.big) - 1
		over -= p.unmap(p.big[last])
		p.big[last] = nil
		p.big = p.big[:last]
	}
	for c := classes - 1; c >= 0 && over > 0 && classBytes(c) > slabMax; c-- {
		f := &p.free[c]
		k := min(int64(len(f.bufs)), (over+classBytes(c)-1)/classBytes(c))
		for _, b := range f.bufs[:k] {
			over -= p.unmap(b)
		}
		f.drop(func(i int, _ *Buf) bool { return i < int(k) })
	}
}

func (p *Pool) unmap(b *Buf) int64 {
	n := int64(len(b.mem))
	p.idle -= n
	unmapBytes(b.mem)
	b.mem = nil
	return n
}

// drop takes buffers off the list.
func (f *freeList) drop(gone func(i int, b *Buf) bool) {
	kept := f.bufs[:0]
	for i, b := range f.bufs {
		if !gone(i, b) {
			kept = append(kept, b)
		}
	}
	clear(f.bufs[len(kept):])
	f.bufs = kept
	f.low = min(f.low, len(kept))
}

// Trim gives back to the system what was not needed since the last Trim. It reports whether a later Trim may find more: not when
// nothing was taken from the pool in between.
func (p *Pool) Trim() (more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.big {
		p.unmap(b)
	}
	p.big = nil
	for c := range p.free {
		f := &p.free[c]
		more = more || f.low < len(f.bufs)
		switch {
		case f.low == 0:
		case classBytes(c) > slabMax:
			low := f.low
			for _, b := range f.bufs[:low] {
				p.unmap(b)
			}
			f.drop(func(i int, _ *Buf) bool { return i < low })
		default:
			p.trimSlabs(f)
		}
		f.low = len(f.bufs)
	}
	return more
}

// trimSlabs unmaps the slabs of which no buffer was needed.
func (p *Pool) trimSlabs(f *freeList) {
	cold := f.bufs[:f.low]
	for _, b := range cold {
		b.slab.cold++
	}
	for _, b := range cold {
		if sl := b.slab; sl.cold == sl.bufs && sl.mem != nil {
			unmapBytes(sl.mem)
			sl.mem = nil
		}
	}
	for _, b := range cold {
		if b.slab.mem == nil {
			p.idle -= int64(len(b.mem))
			b.mem = nil
		}
	}
	f.drop(func(_ int, b *Buf) bool { return b.mem == nil })
	for _, b := range f.bufs {
		b.slab.cold = 0
	}
}

// slab is one mapping that small buffers of one class are cut from. Guarded by the pool's lock.
type slab struct {
	mem  []byte
	bufs int // cut from it
	cold int // of these lying idle, while trimSlabs counts
}
