package codec

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// bomb unpacks to size zeros, or claims to unpack to very many.
type bomb struct {
	typ  Type
	data []byte
	size int
}

// bombs come from as little as each codec allows: one member, frame or block
// after the other, each of which is small and unpacks to megabytes.
func bombs(t *testing.T) map[string]bomb {
	t.Helper()
	const part = 16 << 20
	parts := 64 // a gigabyte
	if raceEnabled {
		parts = 2
	}
	zeros := make([]byte, part)
	out := map[string]bomb{}
	var gz bytes.Buffer
	w, err := gzip.NewWriterLevel(&gz, 9)
	if err != nil {
		t.Fatal(err)
	}
	w.Write(zeros)
	w.Close()
	out["gzip"] = bomb{Gzip, bytes.Repeat(gz.Bytes(), parts), parts * part}
	for name, window := range map[string]int{"zstd": 4 << 20, "zstd, huge window": 64 << 20} {
		var b bytes.Buffer
		e, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(window))
		if err != nil {
			t.Fatal(err)
		}
		for rest := zeros; len(rest) > 0; rest = rest[1<<20:] {
			e.Write(rest[:1<<20])
		}
		e.Close()
		out[name] = bomb{Zstd, bytes.Repeat(b.Bytes(), parts), parts * part}
	}
	// 4 MiB lz4 blocks of zeros, the same block again and again.
	block := make([]byte, 0, 20<<10)
	block = append(block, 0x1f, 0, 1, 0)
	for n := 4<<20 - 1 - 4 - 15 - 5; ; n -= 255 {
		if n < 255 {
			block = append(block, byte(n))
			break
		}
		block = append(block, 255)
	}
	block = append(block, 0x50, 0, 0, 0, 0, 0)
	frame := []byte{0x04, 0x22, 0x4d, 0x18, 0x60, 0x70, byte(xxh32([]byte{0x60, 0x70}) >> 8)}
	for range parts * part / (4 << 20) {
		frame = append(frame, byte(len(block)), byte(len(block)>>8), byte(len(block)>>16), 0)
		frame = append(frame, block...)
	}
	out["lz4"] = bomb{Lz4, append(frame, 0, 0, 0, 0), parts * part}
	// A snappy block may claim four gigabytes.
	out["snappy claim"] = bomb{Snappy, append(append(bytes.Clone(xerialHeader), 0, 0, 0, 9), 0xff, 0xff, 0xff, 0xff, 0x0f, 0xfe, 1, 0, 0), 0}
	// A zstd frame may claim a window of 128 MiB for nothing.
	out["zstd claim"] = bomb{Zstd, []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 17 << 3, 0x03 | 0xf8, 0xff, 0x7f, 0}, 0}
	return out
}

// allocated is what f allocates, in bytes.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

func TestBombsStopAtTheCap(t *testing.T) {
	const limit = 4 << 20
	for name, bomb := range bombs(t) {
		t.Logf("%s: %d bytes", name, len(bomb.data))
		// The first use makes decoders for the pools.
		warm, _ := Compress(nil, bomb.typ, bomb.typ.DefaultLevel(), make([]byte, 100))
		Decompress(nil, bomb.typ, warm, 100)
		cost := allocated(func() {
			out, err := Decompress(nil, bomb.typ, bomb.data, limit)
			if err == nil || len(out) != 0 {
				t.Errorf("%s: %d bytes, %v", name, len(out), err)
			}
			check(t, bomb.typ, err)
		})
		if cost > 8*limit {
			t.Errorf("%s: %d MiB allocated", name, cost>>20)
		}
		cost = allocated(func() {
			r, err := NewReader(bomb.typ, bomb.data, limit)
			if err != nil {
				check(t, bomb.typ, err)
				return
			}
			defer r.Close()
			n, err := io.Copy(io.Discard, struct{ io.Reader }{r})
			if err == nil || n > limit {
				t.Errorf("%s: streamed %d bytes, %v", name, n, err)
			}
			check(t, bomb.typ, err)
		})
		if cost > 32<<20 {
			t.Errorf("%s: %d MiB allocated by the Reader", name, cost>>20)
		}
	}
}

// TestStreamingHoldsLittle unpacks bombs with a cap that allows it.
func TestStreamingHoldsLittle(t *testing.T) {
	for name, bomb := range bombs(t) {
		if name != "gzip" && name != "zstd" && name != "lz4" {
			continue
		}
		cost := allocated(func() {
			r, err := NewReader(bomb.typ, bomb.data, int64(bomb.size))
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			n, err := io.Copy(io.Discard, struct{ io.Reader }{r})
			if err != nil || n != int64(bomb.size) {
				t.Errorf("%s: %d bytes of %d, %v", name, n, bomb.size, err)
			}
		})
		if cost > 32<<20 {
			t.Errorf("%s: %d MiB allocated", name, cost>>20)
		}
	}
}

func TestLargeZstdWindowOfSmallData(t *testing.T) {
	var b bytes.Buffer
	e, err := zstd.NewWriter(&b, zstd.WithWindowSize(128<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	plain := samples()["text"]
	for i := 0; i < len(plain); i += 1000 {
		e.Write(plain[i:min(i+1000, len(plain))])
		e.Flush()
	}
	e.Close()
	var head zstd.Header
	if err := head.Decode(b.Bytes()); err != nil || head.WindowSize != 128<<20 {
		t.Fatalf("window %d, %v", head.WindowSize, err)
	}
	for range 2 {
		cost := allocated(func() {
			if got := readAll(t, Zstd, b.Bytes(), 1<<30, 1<<20); !bytes.Equal(got, plain) {
				t.Errorf("%d bytes", len(got))
			}
		})
		if cost > 24<<20 {
			t.Errorf("%d MiB allocated", cost>>20)
		}
	}
	if _, err := Decompress(nil, Zstd, b.Bytes(), 1000); !errors.Is(err, ErrTooLarge) {
		t.Error(err)
	}
}
