package codec

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

var packed = []Type{Gzip, Snappy, Lz4, Zstd}

// samples are inputs of many shapes by name.
func samples() map[string][]byte {
	r := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 300_000)
	r.Read(noise)
	return map[string][]byte{
		"empty":     {},
		"one byte":  {7},
		"text":      []byte(strings.Repeat("to be or not to be, that is the question; ", 5_000)),
		"noise":     noise,
		"zeros":     make([]byte, 1<<20),
		"one block": noise[:32<<10],
		"64 KiB":    noise[:64<<10],
		"mixed":     append(append(make([]byte, 70_000), noise[:70_000]...), make([]byte, 70_000)...),
	}
}

func levels(t Type) []int {
	switch t {
	case Gzip:
		return []int{-1, 1, 5, 9, -7, 99}
	case Lz4:
		return []int{1, 4, 9, 12, 17, 0, 99}
	case Zstd:
		return []int{-131072, 0, 1, 3, 9, 22, 99}
	}
	return []int{0}
}

func TestRoundTrip(t *testing.T) {
	for name, plain := range samples() {
		for _, typ := range append([]Type{None}, packed...) {
			for _, level := range levels(typ) {
				small, err := Compress([]byte("before"), typ, level, plain)
				if err != nil || !bytes.HasPrefix(small, []byte("before")) {
					t.Fatalf("%s %s %d: %v", name, typ, level, err)
				}
				small = small[len("before"):]
				got, err := Decompress([]byte("kept"), typ, small, len(plain))
				if err != nil || string(got[:4]) != "kept" || !bytes.Equal(got[4:], plain) {
					t.Fatalf("%s %s %d: %d bytes of %d, %v", name, typ, level, len(got)-4, len(plain), err)
				}
				if streamed := readAll(t, typ, small, int64(len(plain)), 1000); !bytes.Equal(streamed, plain) {
					t.Fatalf("%s %s %d: streamed %d bytes of %d", name, typ, level, len(streamed), len(plain))
				}
			}
		}
	}
}

func readAll(t *testing.T, typ Type, src []byte, limit int64, step int) []byte {
	t.Helper()
	r, err := NewReader(typ, src, limit)
	if err != nil {
		t.Fatal(typ, err)
	}
	defer r.Close()
	var out []byte
	buf := make([]byte, step)
	for {
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(typ, err)
		}
		if n == 0 {
			t.Fatal(typ, "Read gave neither bytes nor an error")
		}
	}
}

func TestNothingPastTheCap(t *testing.T) {
	plain := samples()["text"]
	for _, typ := range append([]Type{None}, packed...) {
		small, _ := Compress(nil, typ, typ.DefaultLevel(), plain)
		for _, limit := range []int{0, 1, 100, 32 << 10, 64 << 10, len(plain) - 1} {
			got, err := Decompress([]byte("kept"), typ, small, limit)
			if !errors.Is(err, ErrTooLarge) || string(got) != "kept" {
				t.Errorf("%s, cap %d: %d bytes, %v", typ, limit, len(got), err)
			}
			r, err := NewReader(typ, small, int64(limit))
			if err != nil {
				t.Fatal(err)
			}
			n, err := io.Copy(io.Discard, struct{ io.Reader }{r})
			if !errors.Is(err, ErrTooLarge) || n > int64(limit) {
				t.Errorf("%s, cap %d: streamed %d bytes, %v", typ, limit, n, err)
			}
			r.Close()
		}
	}
}

func TestDestinationIsUsed(t *testing.T) {
	plain := samples()["text"]
	for _, typ := range packed {
		small, _ := Compress(nil, typ, typ.DefaultLevel(), plain)
		dst := make([]byte, 0, len(plain)+100)
		got, err := Decompress(dst, typ, small, len(plain))
		if err != nil || &got[0] != &dst[:1][0] {
			t.Errorf("%s: the destination had room but was not used (%v)", typ, err)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	plain := samples()["text"]
	for _, typ := range packed {
		small, _ := Compress(nil, typ, typ.DefaultLevel(), plain)
		dst := make([]byte, 0, len(plain))
		buf := make([]byte, 4096)
		back := make([]byte, 0, 2*len(plain))
		work := map[string]func(){
			"Decompress": func() {
				if _, err := Decompress(dst, typ, small, len(plain)); err != nil {
					t.Fatal(err)
				}
			},
			"Reader": func() {
				r, err := NewReader(typ, small, int64(len(plain)))
				for err == nil {
					_, err = r.Read(buf)
				}
				r.Close()
			},
			"Compress": func() {
				if _, err := Compress(back, typ, typ.DefaultLevel(), plain); err != nil {
					t.Fatal(err)
				}
			},
		}
		for name, f := range work {
			f()
			if n := testing.AllocsPerRun(20, f); n > 0.5 && !raceEnabled {
				t.Errorf("%s %s: %.1f allocations", typ, name, n)
			}
		}
	}
}

// What Kafka's Java client makes of three times this text.
const question = "to be or not to be, that is the question; "

var fromJava = map[Type]string{
	Gzip:   "1f8b08000000000000ff2bc957484a55c82f52c8cb2f5128017174144a32124b14328b8174aa4261696a7149667e9e354492ca2a011d1c728e7e000000",
	Snappy: "82534e41505059000000000100000001000000347e34746f206265206f72206e6f742074010d602c207468617420697320746865207175657374696f6e3b2074011dfe2a003a2a00",
	Lz4:    "04224d1860408235000000d1746f206265206f72206e6f74200d00f2082c207468617420697320746865207175657374696f6e3b1d000f2a003750696f6e3b2000000000",
	Zstd:   "28b52ffd0058a401009402746f206265206f72206e6f7420746f2062652c207468617420697320746865207175657374696f6e3b0200dc140201982a03010000",
}

func TestBytesOfJava(t *testing.T) {
	want := []byte(question + question + question)
	for typ, text := range fromJava {
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decompress(nil, typ, b, 1000)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %q, %v", typ, got, err)
		}
		if got := readAll(t, typ, b, 1000, 7); !bytes.Equal(got, want) {
			t.Errorf("%s: streamed %q", typ, got)
		}
	}
}

func TestSnappyFraming(t *testing.T) {
	raw, _ := hex.DecodeString(fromJava[Snappy][40:])
	want := []byte(question + question + question)
	if got, err := Decompress(nil, Snappy, raw, 1000); err != nil || !bytes.Equal(got, want) {
		t.Errorf("raw snappy: %q, %v", got, err)
	}
	framed, _ := hex.DecodeString(fromJava[Snappy])
	twice := append(bytes.Clone(framed), framed...)
	if got, err := Decompress(nil, Snappy, twice, 1000); err != nil || !bytes.Equal(got, append(bytes.Clone(want), want...)) {
		t.Errorf("two streams one behind the other: %q, %v", got, err)
	}
	ours, _ := Compress(nil, Snappy, 0, want)
	if !bytes.HasPrefix(ours, xerialHeader) {
		t.Errorf("header %x", ours[:16])
	}
	if want := [16]byte{0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1}; [16]byte(ours) != want {
		t.Errorf("header %x", ours[:16])
	}
}

func TestGzipMembersAndRubbishBehind(t *testing.T) {
	one, _ := Compress(nil, Gzip, -1, []byte("one "))
	two, _ := Compress(nil, Gzip, -1, []byte("two"))
	got, err := Decompress(nil, Gzip, append(append([]byte{}, one...), two...), 100)
	if err != nil || string(got) != "one two" {
		t.Errorf("%q, %v", got, err)
	}
	got, err = Decompress(nil, Gzip, append(append([]byte{}, one...), "rubbish"...), 100)
	if err != nil || string(got) != "one " {
		t.Errorf("%q, %v", got, err)
	}
}

func TestLz4FrameFlags(t *testing.T) {
	frame, _ := hex.DecodeString(fromJava[Lz4])
	head := func(flags, block byte) []byte {
		f := bytes.Clone(frame)
		f[4], f[5] = flags, block
		f[6] = byte(xxh32(f[4:6]) >> 8)
		return f
	}
	if _, err := Decompress(nil, Lz4, head(0x60, 0x70), 1000); err != nil {
		t.Error("4 MiB blocks:", err)
	}
	for name, f := range map[string][]byte{
		"dependent blocks": head(0x40, 0x40), "version 0": head(0x20, 0x40), "version 2": head(0xa0, 0x40), "dictionary": head(0x61, 0x40),
		"block code 3": head(0x60, 0x30), "reserved bit": head(0x60, 0x41), "checksum": append(append([]byte{}, frame[:6]...), append([]byte{frame[6] + 1}, frame[7:]...)...),
	} {
		if _, err := Decompress(nil, Lz4, f, 1000); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	withSums := head(0x60|lz4BlockChecksum|lz4ContentChecksum, 0x40)
	block := withSums[11 : len(withSums)-4]
	sum := xxh32(block)
	withSums = append(withSums[:len(withSums)-4], byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24), 0, 0, 0, 0, 1, 2, 3, 4)
	if got, err := Decompress(nil, Lz4, withSums, 1000); err != nil || len(got) != 126 {
		t.Errorf("block checksum: %d bytes, %v", len(got), err)
	}
	withSums[len(withSums)-9]++
	if _, err := Decompress(nil, Lz4, withSums, 1000); !errors.Is(err, ErrCorrupt) {
		t.Errorf("wrong block checksum: %v", err)
	}
}

func TestXXH32(t *testing.T) {
	// Vectors of the xxHash specification's own test program.
	for text, want := range map[string]uint32{"": 0x02cc5d05, "a": 0x550d7456, "abc": 0x32d153ff, "Nobody inspects the spammish repetition": 0xe2293b2f} {
		if got := xxh32([]byte(text)); got != want {
			t.Errorf("%q: %08x, want %08x", text, got, want)
		}
	}
}

// TestCutAndFlipped cuts inputs at each byte and flips bits in each: an error
// or some output, never a panic, never more than the cap.
func TestCutAndFlipped(t *testing.T) {
	plain := []byte(strings.Repeat(question, 30))
	for _, typ := range packed {
		whole, _ := Compress(nil, typ, typ.DefaultLevel(), plain)
		cutAccepted := 0
		for i := range whole {
			got, err := Decompress(nil, typ, whole[:i], len(plain))
			if err == nil && len(got) >= len(plain) {
				cutAccepted++
			}
			check(t, typ, err)
		}
		if cutAccepted > 0 && typ != Snappy {
			t.Errorf("%s: %d cut inputs passed for whole", typ, cutAccepted)
		}
		for i := range whole {
			for bit := range 8 {
				broken := bytes.Clone(whole)
				broken[i] ^= 1 << bit
				got, err := Decompress(nil, typ, broken, 2*len(plain))
				check(t, typ, err)
				if len(got) > 2*len(plain) {
					t.Fatalf("%s: %d bytes past the cap", typ, len(got))
				}
				r, err := NewReader(typ, broken, int64(2*len(plain)))
				if err != nil {
					check(t, typ, err)
					continue
				}
				n, err := io.Copy(io.Discard, struct{ io.Reader }{r})
				check(t, typ, err)
				if n > int64(2*len(plain)) {
					t.Fatalf("%s: streamed %d bytes past the cap", typ, n)
				}
				r.Close()
			}
		}
	}
}

func check(t *testing.T, typ Type, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, ErrCorrupt) && !errors.Is(err, ErrTooLarge) {
		t.Fatalf("%s: %v is of no known kind", typ, err)
	}
}

func TestNames(t *testing.T) {
	for _, typ := range []Type{None, Gzip, Snappy, Lz4, Zstd} {
		if got, ok := ByName(typ.String()); !ok || got != typ {
			t.Errorf("%s: %v %v", typ, got, ok)
		}
	}
	if got, ok := ByName("uncompressed"); !ok || got != None {
		t.Error("uncompressed", got, ok)
	}
	if _, ok := ByName("producer"); ok {
		t.Error("producer is no codec")
	}
	for _, typ := range []Type{5, 7, -1} {
		if typ.Valid() {
			t.Error(typ, "is valid")
		}
		if _, err := Decompress(nil, typ, nil, 1); !errors.Is(err, ErrCorrupt) {
			t.Error(typ, err)
		}
		if _, err := Compress(nil, typ, 1, nil); err == nil {
			t.Error(fmt.Sprint(typ), "compressed")
		}
	}
}
