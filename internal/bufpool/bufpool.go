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

	mu    sync.Mutex
	free  [classes]freeList
	idle  int64 // bytes on free lists
	slabs int64 // bytes in slabs, which are never unmapped
	big   []*Buf
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
		p.makeRoom(size)
		return &Buf{pool: p, class: int32(c), mem: mapBytes(size)}
	}
	slab := mapBytes(slabBytes)
	p.slabs += slabBytes
	for off := int64(slabBytes) - size; off >= size; off -= size {
		f.bufs = append(f.bufs, &Buf{pool: p, class: int32(c), mem: slab[off : off+size : off+size]})
		p.idle += size
	}
	return &Buf{pool: p, class: int32(c), mem: slab[:size:size]}
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
		p.makeRoom(size)
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

// makeRoom unmaps idle memory so that mapped bytes do not exceed the budget by what lies idle.
func (p *Pool) makeRoom(size int64) {
	if p.budget <= 0 || p.Used()+p.idle <= p.budget {
		return
	}
	over := p.used.Load() + p.idle - p.budget
	for len(p.big) > 0 && over > 0 {
		b := p.big[0]
		p.big = p.big[1:]
		over -= p.unmap(b)
	}
	for c := classes - 1; c >= 0 && over > 0 && classBytes(c) > slabMax; c-- {
		f := &p.free[c]
		for len(f.bufs) > 0 && over > 0 {
			b := f.bufs[0]
			f.bufs = f.bufs[1:]
			over -= p.unmap(b)
		}
		f.low = min(f.low, len(f.bufs))
	}
}

func (p *Pool) unmap(b *Buf) int64 {
	n := int64(len(b.mem))
	p.idle -= n
	unmapBytes(b.mem)
	b.mem = nil
	return n
}

// Trim gives idle memory back to the system: what was not needed since the last Trim. Small buffers keep their
// address space and lose their pages when all of a class lay idle. It reports whether anything is left that a later Trim could free.
func (p *Pool) Trim() (more bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.big {
		p.unmap(b)
	}
	p.big = nil
	for c := range p.free {
		f := &p.free[c]
		if classBytes(c) > slabMax {
			for i := 0; i < f.low; i++ {
				p.unmap(f.bufs[i])
			}
			f.bufs = append(f.bufs[:0], f.bufs[f.low:]...)
			more = more || len(f.bufs) > 0
		}
		clear(f.bufs[len(f.bufs):cap(f.bufs)])
		f.low = len(f.bufs)
	}
	return more
}
