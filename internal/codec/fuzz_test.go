package codec

import (
	"bytes"
	"io"
	"testing"
)

const fuzzCap = 1 << 20

// fuzzDecoder holds the two ways to unpack against each other.
func fuzzDecoder(f *testing.F, typ Type) {
	for _, plain := range samples() {
		if len(plain) > 1<<16 {
			plain = plain[:1<<16]
		}
		small, err := Compress(nil, typ, typ.DefaultLevel(), plain)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(small)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole, err := Decompress(nil, typ, data, fuzzCap)
		if len(whole) > fuzzCap {
			t.Fatalf("%d bytes past the cap", len(whole)-fuzzCap)
		}
		r, openErr := NewReader(typ, data, fuzzCap)
		if openErr != nil {
			if err == nil {
				t.Fatalf("unpacked to %d bytes, but the Reader says %v", len(whole), openErr)
			}
			return
		}
		defer r.Close()
		streamed, streamErr := io.ReadAll(r)
		if len(streamed) > fuzzCap {
			t.Fatalf("streamed %d bytes past the cap", len(streamed)-fuzzCap)
		}
		if err == nil && (streamErr != nil || !bytes.Equal(whole, streamed)) {
			t.Fatalf("%d bytes at once, %d streamed, %v", len(whole), len(streamed), streamErr)
		}
	})
}

func FuzzGzip(f *testing.F)   { fuzzDecoder(f, Gzip) }
func FuzzSnappy(f *testing.F) { fuzzDecoder(f, Snappy) }
func FuzzLz4(f *testing.F)    { fuzzDecoder(f, Lz4) }
func FuzzZstd(f *testing.F)   { fuzzDecoder(f, Zstd) }

// FuzzRoundTrip packs anything with every codec.
func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("abc"), 3)
	f.Fuzz(func(t *testing.T, plain []byte, level int) {
		for _, typ := range packed {
			small, err := Compress(nil, typ, level, plain)
			if err != nil {
				t.Fatal(typ, err)
			}
			back, err := Decompress(nil, typ, small, len(plain))
			if err != nil || !bytes.Equal(back, plain) {
				t.Fatalf("%s level %d: %d bytes of %d, %v", typ, level, len(back), len(plain), err)
			}
		}
	})
}
