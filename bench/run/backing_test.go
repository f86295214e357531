package run

import (
	"sync/atomic"
	"testing"
	"time"
)

// TestBacking: memory is taken up to the wish and what is spare, given back when little is free, and dropped.
func TestBacking(t *testing.T) {
	var free, spare atomic.Int64
	b := newBacking(10 << 20)
	b.chunk, b.low, b.free, b.spare = 1<<20, 100, free.Load, spare.Load
	if err := b.take(); err != nil || len(b.chunks) != 0 {
		t.Fatal("taken without any to spare", len(b.chunks), err)
	}
	spare.Store(101)
	free.Store(101)
	if err := b.take(); err != nil || len(b.chunks) != 10 {
		t.Fatal(len(b.chunks), err)
	}
	b.begin(func() {})
	time.Sleep(50 * time.Millisecond)
	b.end()
	if len(b.chunks) != 10 {
		t.Fatal("given back though enough was free", len(b.chunks))
	}
	free.Store(99)
	b.begin(func() {})
	b.end() // the feeder looks once before it sees the end
	if len(b.chunks) != 0 {
		t.Fatal("kept though little was free", len(b.chunks))
	}
	if err := b.take(); err != nil || len(b.chunks) != 10 {
		t.Fatal(len(b.chunks), err)
	}
	b.drop()
	if len(b.chunks) != 0 {
		t.Fatal(len(b.chunks))
	}
}
