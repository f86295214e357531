//go:build !race

package kafka

// raceEnabled tells that the tests run under the race detector.
const raceEnabled = false
