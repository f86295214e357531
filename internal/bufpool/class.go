package bufpool

import (
	"fmt"
	"math/bits"

	"golang.org/x/sys/unix"
)

// Sizes grow by quarters of a power of two, so that at most a fifth of a buffer is waste.
const (
	minShift  = 9  // smallest class: 512 bytes
	maxShift  = 23 // classes end below 8 MiB; above that a buffer is rounded to whole 64 KiB
	classes   = (maxShift - minShift) * 4
	slabBytes = 256 << 10 // small classes are cut from mappings of this size
	slabMax   = 32 << 10
	bigRound  = 64 << 10
)

// classOf returns the class that holds n bytes and its size; class -1 for buffers above all classes.
func classOf(n int) (class int, size int64) {
	if n <= 1<<minShift {
		return 0, 1 << minShift
	}
	shift := bits.Len(uint(n-1)) - 1 // 2^shift < n <= 2^(shift+1)
	quarter := 1 << (shift - 2)
	q := (n - 1 - 1<<shift) / quarter // 0..3: quarters above 2^shift, less one
	c := (shift-minShift)*4 + q + 1
	if c >= classes {
		return -1, (int64(n) + bigRound - 1) &^ (bigRound - 1)
	}
	return c, int64(1<<shift + (q+1)*quarter)
}

// classBytes is the size of a class.
func classBytes(c int) int64 {
	shift, q := minShift+c/4, c%4
	return int64(1)<<shift + int64(q)<<(shift-2)
}

func mapBytes(n int64) []byte {
	b, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		// Out of address space or of memory maps: as fatal as a failed allocation in the Go heap.
		panic(fmt.Sprintf("cannot map %d bytes: %v", n, err))
	}
	return b
}

func unmapBytes(b []byte) { _ = unix.Munmap(b) }
