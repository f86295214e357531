// Package crc32c is the checksum of record batches: CRC-32C (Castagnoli), as hash/crc32 computes it. Where the processor
// multiplies four pairs of polynomials at once (AVX-512 with VPCLMULQDQ) long data are folded that way, about twice as fast
// as hash/crc32, which goes eight bytes at a time.
//
// Files: crc32c.go (what callers use), fold.go (folding, and the constants it takes), fold_amd64.go and fold_amd64.s (the
// inner loop), fold_other.go (processors without).
package crc32c
