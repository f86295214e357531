//go:build !amd64

package crc32c

const canFold = false

func fold(*[lane]byte, *byte, int, *[2]uint64) { panic("crc32c: no folding on this processor") }
