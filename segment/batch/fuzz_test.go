package batch

import (
	"bytes"
	"testing"
)

// FuzzParse: no input panics, and what Parse takes round-trips through Fields.
func FuzzParse(f *testing.F) {
	f.Add(unhex(f, byHand))
	f.Add(unhex(f, kafkaPlain+kafkaGzip))
	f.Add(AppendMarker(nil, Marker{ProducerID: 1, Commit: true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := NewScanner(b, false)
		for s.Next() {
			v := s.View()
			if len(v) != v.Size() || len(v) < HeaderSize {
				t.Fatal("a view of the wrong length")
			}
			fields := v.Fields()
			again := AppendHeader(nil, &fields)
			again = Seal(append(again, v.Payload()...))
			want := View(bytes.Clone(v))
			want.UpdateCRC()
			if !bytes.Equal(again, want) {
				t.Fatal("fields lose something")
			}
			if _, rest, err := Parse(again); err != nil || len(rest) != 0 {
				t.Fatal("a sealed batch does not parse", err)
			}
			ParseMarker(v)
		}
	})
}

// FuzzIter: no input panics, and what the iterators read can be written again
// as an equal record.
func FuzzIter(f *testing.F) {
	f.Add(unhex(f, byHand)[HeaderSize:], int32(2))
	f.Add(unhex(f, kafkaPlain)[HeaderSize:], int32(2))
	f.Add([]byte{1}, int32(1))
	f.Fuzz(func(t *testing.T, section []byte, count int32) {
		it := NewIter(section, count)
		var r Record
		read := 0
		for it.Next(&r) {
			read += r.Size
			var headers []Header
			hs := r.Headers()
			var h Header
			for hs.Next(&h) {
				headers = append(headers, h)
			}
			if hs.Err() != nil {
				continue
			}
			again := AppendRecord(nil, r.TimestampDelta, r.OffsetDelta, r.Key, r.Value, headers...)
			var back Record
			one := NewIter(again, 1)
			if !one.Next(&back) || back.TimestampDelta != r.TimestampDelta || back.OffsetDelta != r.OffsetDelta ||
				!bytes.Equal(back.Key, r.Key) || !bytes.Equal(back.Value, r.Value) || (back.Key == nil) != (r.Key == nil) || int(back.HeaderCount) != len(headers) {
				t.Fatalf("%+v became %+v", r, back)
			}
		}
		if it.Err() == nil && read != len(section) {
			t.Fatal("bytes were passed over in silence")
		}
	})
}
