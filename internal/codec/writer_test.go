package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/klauspost/compress/snappy"
)

func TestWriterPacksPieceByPiece(t *testing.T) {
	plain := bytes.Repeat(samples()["text"], 5)
	for _, typ := range append([]Type{None}, packed...) {
		for _, level := range []int{typ.DefaultLevel(), 1} {
			for _, step := range []int{1000, 32 << 10, 100_001, len(plain)} {
				w, err := NewWriter(typ, level, []byte("kept"), len(plain)+1000)
				if err != nil {
					t.Fatal(typ, err)
				}
				for rest := plain; len(rest) > 0; {
					n := min(step, len(rest))
					if m, err := w.Write(rest[:n]); err != nil || m != n {
						t.Fatal(typ, m, err)
					}
					rest = rest[n:]
				}
				out, err := w.Close()
				if err != nil || string(out[:4]) != "kept" {
					t.Fatal(typ, err)
				}
				got, err := Decompress(nil, typ, out[4:], len(plain))
				if err != nil || !bytes.Equal(got, plain) {
					t.Errorf("%s, steps of %d: %d of %d bytes, %v", typ, step, len(got), len(plain), err)
				}
				if typ != None && len(out) > len(plain)/2 {
					t.Errorf("%s: %d bytes became %d", typ, len(plain), len(out))
				}
			}
		}
	}
}

func TestWriterStopsAtTheCap(t *testing.T) {
	plain := bytes.Repeat(samples()["text"], 50)
	for _, typ := range append([]Type{None}, packed...) {
		for _, limit := range []int{0, 10, 1000} {
			w, err := NewWriter(typ, typ.DefaultLevel(), nil, limit)
			for err == nil {
				if _, err = w.Write(plain); err == nil {
					_, err = w.Close()
					if err == nil {
						t.Fatalf("%s: everything fits into %d bytes", typ, limit)
					}
					break
				}
				w.Abort()
			}
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("%s, cap %d: %v", typ, limit, err)
			}
			// What came back to the pools still works.
			out, err := Compress(nil, typ, typ.DefaultLevel(), plain[:1000])
			if err != nil {
				t.Fatal(typ, err)
			}
			if got, err := Decompress(nil, typ, out, 1000); err != nil || !bytes.Equal(got, plain[:1000]) {
				t.Errorf("%s after the cap: %v", typ, err)
			}
		}
	}
}

func TestClaims(t *testing.T) {
	plain := samples()["text"]
	for _, typ := range append([]Type{None}, packed...) {
		small, err := Compress(nil, typ, typ.DefaultLevel(), plain)
		if err != nil {
			t.Fatal(err)
		}
		want := int64(len(plain))
		if typ == Lz4 {
			want = -1 // Kafka's frames do not say
		}
		if got := Claim(typ, small); got != want {
			t.Errorf("%s: %d, want %d", typ, got, want)
		}
		for n := range min(len(small), 64) {
			Claim(typ, small[:n]) // must not panic
		}
	}
	frame := binary.LittleEndian.AppendUint32(nil, lz4Magic)
	frame = append(frame, lz4Version|lz4Independent|lz4ContentSize, 0x40)
	frame = binary.LittleEndian.AppendUint64(frame, 12345)
	if got := Claim(Lz4, append(frame, 0)); got != 12345 {
		t.Errorf("lz4 with a content size: %d", got)
	}
	if got := Claim(Snappy, append(bytes.Clone(xerialHeader), 0xff, 0xff, 0xff, 0xff)); got != -1 {
		t.Errorf("a cut snappy stream: %d", got)
	}
}

// One input at a time is held as a whole; the right to it comes back.
func TestLargeBlocksTakeTurns(t *testing.T) {
	plain := make([]byte, wholeFree+1)
	small := snappy.Encode(nil, plain)
	a, err := NewReader(Snappy, small, int64(len(plain)))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 100)
	if n, err := a.Read(buf); n != len(buf) || err != nil {
		t.Fatal(n, err)
	}
	second := make(chan error)
	go func() {
		b, err := NewReader(Snappy, small, int64(len(plain)))
		if err == nil {
			_, err = b.Read(make([]byte, 100))
			b.Close()
		}
		second <- err
	}()
	if wholeSlot.TryLock() {
		t.Error("the first reader does not hold the right")
		wholeSlot.Unlock()
	}
	a.Close()
	if err := <-second; err != nil {
		t.Error(err)
	}
	if !wholeSlot.TryLock() {
		t.Error("the right did not come back")
	} else {
		wholeSlot.Unlock()
	}
	if _, err := Decompress(nil, Snappy, snappy.Encode(nil, make([]byte, wholeMax+1)), 1<<30); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}
