package bufpool

import (
	"sync/atomic"

	"millrace/internal/invariant"
)

// Buf is a counted buffer. B may be resliced by whoever holds the only reference; the memory behind it stays
// valid until the last Release. Retain and Release: any goroutine.
type Buf struct {
	B []byte

	mem   []byte
	pool  *Pool
	slab  *slab         // what a small buffer is cut from
	count *atomic.Int64 // where size is counted
	size  int64
	class int32
	refs  atomic.Int32
}

// Retain adds a reference. The caller must hold one.
func (b *Buf) Retain() {
	if b.refs.Add(1) <= 1 {
		panic("invariant broken: a released buffer was retained")
	}
}

// RetainN adds n references at once. The caller must hold one.
func (b *Buf) RetainN(n int32) {
	if b.refs.Add(n) <= n {
		panic("invariant broken: a released buffer was retained")
	}
}

// Release gives up a reference; the last one returns the memory to the pool.
func (b *Buf) Release() {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("invariant broken: a buffer was released twice")
	}
	if invariant.Expensive {
		for i := range b.mem {
			b.mem[i] = 0xdb
		}
	}
	b.B = nil
	b.pool.put(b)
}

// Cap is how long B may be made.
func (b *Buf) Cap() int { return len(b.mem) }

// Full is the whole memory of the buffer.
func (b *Buf) Full() []byte { return b.mem }
