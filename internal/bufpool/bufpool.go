// Package bufpool hands out reference-counted byte buffers in mmapped memory, under a budget.
//
// Bytes live outside the Go heap (the kernel may hold their address while an operation is in flight, and they
// cost the collector nothing); the Buf that describes them lives in the Go heap. A pool belongs to one user
// (a loop, the raft log, ...) but Get and Release may be called from any goroutine. Freed memory is reused last
// in, first out, so that it is still in the CPU cache; what lies idle is given back to the system by Trim.
package bufpool
