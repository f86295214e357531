package crc32c

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	// lane is how many bytes are folded onto the next as many: four registers of 64.
	lane = 256
	// foldMin is the least length for which that pays: what is left at the end, one lane, goes the usual way.
	foldMin = 16 * lane
)

// folded is Update for whole lanes of data, at least one. A message is a polynomial, and its checksum a remainder by P: a
// lane may be replaced by any other that leaves the same remainder. So each lane is multiplied by x^2048 modulo P
// and added to the lane behind it, until one is left, whose checksum is that of all.
// (Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009.)
func folded(crc uint32, data []byte) uint32 {
	var acc [lane]byte
	copy(acc[:], data)
	le := binary.LittleEndian
	le.PutUint32(acc[:], le.Uint32(acc[:])^^crc)
	if blocks := len(data)/lane - 1; blocks > 0 {
		fold(&acc, &data[lane], blocks, &factors)
	}
	return crc32.Update(^uint32(0), table, acc[:]) // acc carries the state in front of it: the register begins at 0
}

// factors move the first and the second half of a register of 128 bits on by a lane: x^(2048+64) and x^2048 modulo P, each
// divided by x, because a product of two bit-reversed numbers stands one bit too high.
var factors = [2]uint64{reversed(powerOfX(8*lane + 64 - 1)), reversed(powerOfX(8*lane - 1))}

// powerOfX is x^n modulo P; the coefficient of x^i is bit i.
func powerOfX(n int) uint32 {
	const p = 0x1edc6f41 // without x^32
	r := uint32(1)
	for range n {
		top := r >> 31
		r = r<<1 ^ top*p
	}
	return r
}

// reversed writes a remainder as the instruction reads it: the coefficient of x^i is bit 63-i.
func reversed(r uint32) (out uint64) {
	for i := range 32 {
		out |= uint64(r>>i&1) << (63 - i)
	}
	return out
}
