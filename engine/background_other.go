//go:build !linux

package engine

// inBackground runs fn on a goroutine: only Linux has priorities of threads.
func inBackground(fn func()) { go fn() }
