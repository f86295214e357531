//go:build race

package validate

// Under the race detector sync.Pool drops what it is given at random, so that
// the codecs allocate.
const racing = true
