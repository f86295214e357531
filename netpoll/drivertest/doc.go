// Package drivertest is the conformance suite for netpoll drivers: what a loop, its connections and its file
// operations must do whichever driver runs. Run it from a driver's own test.
//
// It talks to loops from outside, by real sockets and real files, and knows no driver.
//
// Files: rig.go (loops, handler, client), files.go (test files), and one file per subject: frames.go, sends.go,
// fileops.go, turns.go, clock.go, limits.go, ends.go, memory.go, allocs.go; bench.go (the shapes that matter beside plain system
// calls).
package drivertest
