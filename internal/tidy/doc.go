// Package tidy holds tests over the source itself: which package may import which, how long files are, what pure
// packages must not call, which paths the docs name. It has no code of its own.
package tidy
