package batch

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

// walked is what a Stream makes of a section.
func walked(s *Stream, r io.Reader, count int32, body bool) (heads []RecordHead, err error) {
	s.Reset(r, count)
	var h RecordHead
	for s.Next(&h) {
		if body && !s.Body(&h) {
			break
		}
		heads = append(heads, h)
	}
	return heads, s.Err()
}

func TestStreamAgreesWithIter(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	var s Stream
	for range 200 {
		var section []byte
		count := int32(1 + r.IntN(20))
		for i := range count {
			size := r.IntN(200)
			if r.IntN(10) == 0 {
				size = r.IntN(5 * streamWindow)
			}
			var key []byte
			if r.IntN(2) == 0 {
				key = make([]byte, r.IntN(300))
			}
			var headers []Header
			for range r.IntN(3) {
				headers = append(headers, Header{Key: make([]byte, r.IntN(20)), Value: make([]byte, r.IntN(100))})
			}
			section = AppendRecord(section, r.Int64N(1<<40)-1<<39, i, key, make([]byte, size), headers...)
		}
		readers := map[string]io.Reader{"whole": bytes.NewReader(section), "bytes": iotest.OneByteReader(bytes.NewReader(section)), "data with EOF": iotest.DataErrReader(bytes.NewReader(section))}
		for name, in := range readers {
			heads, err := walked(&s, in, count, true)
			if err != nil {
				t.Fatal(name, err)
			}
			it := NewIter(section, count)
			var rec Record
			for i := 0; it.Next(&rec); i++ {
				h := heads[i]
				if h.OffsetDelta != rec.OffsetDelta || h.TimestampDelta != rec.TimestampDelta || (h.KeySize < 0) != (rec.Key == nil) || h.Size+VarintLen(int32(h.Size)) != rec.Size {
					t.Fatalf("%s: %+v, want %+v", name, h, rec)
				}
			}
		}
		// Heads alone, and the rests written out.
		if heads, err := walked(&s, bytes.NewReader(section), count, false); err != nil || len(heads) != int(count) {
			t.Fatal(len(heads), err)
		}
		var out bytes.Buffer
		s.Reset(iotest.HalfReader(bytes.NewReader(section)), count)
		var h RecordHead
		for s.Next(&h) {
			out.Write(AppendVarint(nil, int32(h.Size)))
			out.WriteByte(0)
			out.Write(AppendVarint(AppendVarlong(nil, h.TimestampDelta), h.OffsetDelta))
			if err := s.CopyRest(&out); err != nil {
				t.Fatal(err)
			}
		}
		if s.Err() != nil || !bytes.Equal(out.Bytes(), section) {
			t.Fatal("the rests are not what was read", s.Err())
		}
	}
}

func TestStreamErrors(t *testing.T) {
	good := AppendRecord(nil, 1, 0, []byte("key"), []byte("value"), Header{Key: []byte("h"), Value: []byte("v")})
	for name, c := range map[string]struct {
		section []byte
		count   int32
		want    error
	}{
		"good":           {good, 1, nil},
		"none":           {nil, 0, nil},
		"negative count": {good, -1, ErrRecord},
		"trailing":       {append(bytes.Clone(good), 0), 1, ErrTrailing},
		"one fewer":      {good, 2, ErrRecord},
		"short":          {[]byte{10, 0, 0, 0, 1, 1}, 1, ErrRecord},
		"long length":    {bytes.Repeat([]byte{0x80}, 20), 1, ErrRecord},
		"byte left":      {append([]byte{byte(len(good) * 2)}, append(bytes.Clone(good[1:]), 0)...), 1, ErrRecord},
		"many headers":   {[]byte{14, 0, 0, 0, 1, 1, 0x7e, 0}, 1, ErrRecord},
		"null header":    {[]byte{16, 0, 0, 0, 1, 1, 2, 1, 0}, 1, ErrRecord},
	} {
		var s Stream
		if _, err := walked(&s, bytes.NewReader(c.section), c.count, true); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	for n := range good {
		var s Stream
		if _, err := walked(&s, bytes.NewReader(good[:n]), 1, true); !errors.Is(err, ErrRecord) {
			t.Errorf("cut at %d: %v", n, err)
		}
		broken := errors.New("broken")
		if _, err := walked(&s, io.MultiReader(bytes.NewReader(good[:n]), iotest.ErrReader(broken)), 1, true); !errors.Is(err, broken) {
			t.Errorf("reader broken at %d: %v", n, err)
		}
	}
	var s Stream
	broken := errors.New("broken")
	if _, err := walked(&s, io.MultiReader(bytes.NewReader(good), iotest.ErrReader(broken)), 1, true); !errors.Is(err, broken) {
		t.Errorf("reader broken behind the last record: %v", err)
	}
}

// FuzzStream: what a Stream takes an Iter takes, with the same records.
func FuzzStream(f *testing.F) {
	f.Add(AppendRecord(nil, 1, 0, []byte("key"), []byte("value"), Header{Key: []byte("h"), Value: []byte("v")}), int32(1))
	f.Fuzz(func(t *testing.T, section []byte, count int32) {
		var s Stream
		heads, err := walked(&s, iotest.HalfReader(bytes.NewReader(section)), count, true)
		it := NewIter(section, count)
		var rec Record
		n := 0
		for it.Next(&rec) {
			hs := rec.Headers()
			var h Header
			for hs.Next(&h) {
			}
			if hs.Err() != nil {
				break
			}
			if n < len(heads) && (heads[n].OffsetDelta != rec.OffsetDelta || heads[n].TimestampDelta != rec.TimestampDelta) {
				t.Fatalf("record %d: %+v and %+v", n, heads[n], rec)
			}
			n++
		}
		if err == nil && (it.Err() != nil || n != int(count)) {
			t.Fatalf("taken, but read only %d of %d: %v", n, count, it.Err())
		}
	})
}
