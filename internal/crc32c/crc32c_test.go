package crc32c

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"
)

// TestKnown: RFC 3720, B.4, and the check value of CRC-32C.
func TestKnown(t *testing.T) {
	zeros, ones, up := make([]byte, 32), make([]byte, 32), make([]byte, 32)
	for i := range up {
		ones[i], up[i] = 0xff, byte(i)
	}
	for want, data := range map[uint32][]byte{0x8a9136aa: zeros, 0x62a8ab43: ones, 0x46dd794e: up, 0xe3069283: []byte("123456789"), 0: nil} {
		if got := Checksum(data); got != want {
			t.Errorf("%x: %08x, want %08x", data, got, want)
		}
	}
}

// TestLikeTheStandardLibrary: every length around lanes, every alignment, any start value.
func TestLikeTheStandardLibrary(t *testing.T) {
	if !canFold {
		t.Log("this processor does not fold: hash/crc32 is compared with itself")
	}
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 1<<20+64)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	std := crc32.MakeTable(crc32.Castagnoli)
	check := func(off, n int, crc uint32) {
		t.Helper()
		if got, want := Update(crc, data[off:off+n]), crc32.Update(crc, std, data[off:off+n]); got != want {
			t.Fatalf("%d bytes at %d after %08x: %08x, want %08x", n, off, crc, got, want)
		}
	}
	for n := range 2*foldMin + 2 {
		check(n%64, n, 0)
		check(n*7%64, n, r.Uint32())
	}
	for range 300 {
		check(r.IntN(64), r.IntN(1<<20), r.Uint32())
	}
	crc, whole := uint32(0), data[:300_000] // in pieces
	for rest := whole; len(rest) > 0; {
		n := min(len(rest), 1+r.IntN(5000))
		crc = Update(crc, rest[:n])
		rest = rest[n:]
	}
	if want := crc32.Checksum(whole, std); crc != want {
		t.Fatalf("in pieces %08x, want %08x", crc, want)
	}
}

// TestEveryBitCounts: a flipped bit anywhere in a batch changes the checksum.
func TestEveryBitCounts(t *testing.T) {
	data := make([]byte, foldMin+300)
	for i := range data {
		data[i] = byte(i * i)
	}
	was := Checksum(data)
	for i := range data {
		for bit := range 8 {
			data[i] ^= 1 << bit
			if Checksum(data) == was {
				t.Fatalf("bit %d of byte %d does not count", bit, i)
			}
			data[i] ^= 1 << bit
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	std := crc32.MakeTable(crc32.Castagnoli)
	for _, n := range []int{100, 1 << 10, 8 << 10, 64 << 10, 400 << 10} {
		data := make([]byte, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for range b.N {
				Checksum(data)
			}
		})
		b.Run(fmt.Sprint(n, "/std"), func(b *testing.B) {
			b.SetBytes(int64(n))
			for range b.N {
				crc32.Checksum(data, std)
			}
		})
	}
}
