// Package proc reads what a process costs from /proc (CPU seconds of all its threads, memory, descriptors, bytes written)
// and what the host took from the machine, starts child processes pinned to a CPU, and finds the process that listens on a
// port.
//
// It never ends a process that it did not start. Nothing here is on a hot path.
//
// Files: usage.go (reading), stolen.go (the host), start.go (starting and ending children), port.go (who listens).
package proc
