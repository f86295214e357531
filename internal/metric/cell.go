package metric

import "sync/atomic"

// Counter only grows. Owned by its loop, read by any goroutine.
type Counter struct {
	v atomic.Int64
	_ [56]byte // no two cells share a cache line
}

// Add counts n more. By the owner only: a plain load and store.
func (c *Counter) Add(n int64) { c.v.Store(c.v.Load() + n) }

// Inc counts one more. By the owner only.
func (c *Counter) Inc() { c.Add(1) }

// AddShared counts n more, from any goroutine.
func (c *Counter) AddShared(n int64) { c.v.Add(n) }

// Load is the count so far. Any goroutine.
func (c *Counter) Load() int64 { return c.v.Load() }

// Gauge goes up and down. Owned by its loop, read by any goroutine.
type Gauge struct {
	v atomic.Int64
	_ [56]byte
}

// Set replaces the value. Any goroutine.
func (g *Gauge) Set(n int64) { g.v.Store(n) }

// Add changes the value by n. By the owner only.
func (g *Gauge) Add(n int64) { g.v.Store(g.v.Load() + n) }

// AddShared changes the value by n, from any goroutine.
func (g *Gauge) AddShared(n int64) { g.v.Add(n) }

// Load is the value. Any goroutine.
func (g *Gauge) Load() int64 { return g.v.Load() }
