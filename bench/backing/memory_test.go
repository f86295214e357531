package backing

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestBacking: memory is taken up to the wish and what is spare, given back when little is free, and dropped.
func TestBacking(t *testing.T) {
	var free, spare atomic.Int64
	b := New(10 << 20)
	b.chunk, b.low, b.free, b.spare = 1<<20, 100, free.Load, spare.Load
	if err := b.Take(); err != nil || len(b.chunks) != 0 {
		t.Fatal("taken without any to spare", len(b.chunks), err)
	}
	spare.Store(101)
	free.Store(101)
	if err := b.Take(); err != nil || len(b.chunks) != 10 {
		t.Fatal(len(b.chunks), err)
	}
	b.Begin(func() {})
	time.Sleep(50 * time.Millisecond)
	b.End()
	if len(b.chunks) != 10 {
		t.Fatal("given back though enough was free", len(b.chunks))
	}
	free.Store(99)
	b.Begin(func() {})
	b.End() // the feeder looks once before it sees the end
	if len(b.chunks) != 0 {
		t.Fatal("kept though little was free", len(b.chunks))
	}
	if err := b.Take(); err != nil || len(b.chunks) != 10 {
		t.Fatal(len(b.chunks), err)
	}
	b.Drop()
	if len(b.chunks) != 0 {
		t.Fatal(len(b.chunks))
	}
}
