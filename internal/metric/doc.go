// Package metric holds counters, gauges and histograms that cost a few nanoseconds on the hot path: each loop has
// a cell of its own, written by that loop alone, and a scrape adds the cells of the same name and labels.
//
// It never allocates while counting and knows no HTTP. Registering may be done from any goroutine; a cell is
// owned by its loop (Add, Inc, Set, Observe by one goroutine at a time), but for the methods that say "any
// goroutine"; reading is any goroutine's.
//
// Files: cell.go (Counter, Gauge), histogram.go, registry.go (Registry, families), text.go (the Prometheus text
// format).
package metric
