package crc32c

import "golang.org/x/sys/cpu"

var canFold = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPCLMULQDQ

// fold adds acc, moved on by a lane, to the next lane, and so on for blocks lanes from p on; blocks is at least 1.
//
//go:noescape
func fold(acc *[lane]byte, p *byte, blocks int, factors *[2]uint64)
