//go:build race

package codec

// raceEnabled tells that the race detector is on: it makes sync.Pool drop
// things at random, so that allocations cannot be counted, and is slow.
const raceEnabled = true
