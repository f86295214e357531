package batch

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"
)

// byHand is a batch written out field by field; its CRC was computed by a
// bit-by-bit program.
const byHand = "" +
	"0000000000000007" + // base offset 7
	"00000049" + // length 73: 49 of header, 24 of records
	"00000003" + // leader epoch 3
	"02" + // magic
	"747f08d6" + // crc
	"0010" + // transactional
	"00000001" + // last offset delta
	"00000000000003e8" + // base timestamp 1000
	"00000000000003ed" + // max timestamp 1005
	"0000000000000009" + // producer id 9
	"0002" + // producer epoch 2
	"0000000b" + // base sequence 11
	"00000002" + // two records
	"1a" + "00" + "00" + "00" + "026b" + "0276" + "02" + "0268" + "047879" + // k=v with a header h=xy
	"12" + "00" + "0a" + "02" + "01" + "06616263" + "00" // null=abc, 5 ms later

// Two batches as Apache Kafka 4.4.0 stored them: plain, and recompressed with
// gzip for an idempotent producer.
const (
	kafkaPlain = "00000000000000020000004100000000025517ed8b00000000000100000000000003ef00000000000003f1ffffffffffffffffffffffffffff00000002" +
		"0e000000010278000e00040201027800"
	kafkaGzip = "000000000000000a0000004d00000000022a86ee4e00010000000000000000000003e800000000000003e8000000000000004d00000000000000000001" +
		"1f8b08000000000000ffe36360606064aa600000ae8d762c08000000"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBatchWrittenByHand(t *testing.T) {
	b := unhex(t, byHand)
	v, rest, err := Parse(append(b, 1, 2))
	if err != nil || len(rest) != 2 {
		t.Fatal(err, rest)
	}
	want := Fields{BaseOffset: 7, LeaderEpoch: 3, Attributes: Transactional, LastOffsetDelta: 1, BaseTimestamp: 1000, MaxTimestamp: 1005,
		ProducerID: 9, ProducerEpoch: 2, BaseSequence: 11, Count: 2}
	if v.Fields() != want {
		t.Fatalf("%+v", v.Fields())
	}
	if v.LastOffset() != 8 || v.NextOffset() != 9 || v.LastSequence() != 12 || v.Size() != 85 || v.Length() != 73 || v.Magic() != 2 || v.CRC() != 0x747f08d6 || !v.HasProducerID() {
		t.Fatal("derived values")
	}
	var r Record
	it := v.Iter()
	if !it.Next(&r) || string(r.Key) != "k" || string(r.Value) != "v" || r.OffsetDelta != 0 || r.TimestampDelta != 0 || r.HeaderCount != 1 || r.Size != 14 {
		t.Fatalf("first record %+v", r)
	}
	var h Header
	hs := r.Headers()
	if !hs.Next(&h) || string(h.Key) != "h" || string(h.Value) != "xy" || hs.Next(&h) || hs.Err() != nil {
		t.Fatalf("header %+v %v", h, hs.Err())
	}
	if !it.Next(&r) || r.Key != nil || string(r.Value) != "abc" || r.OffsetDelta != 1 || v.TimestampOf(r.TimestampDelta) != 1005 || r.HeaderCount != 0 {
		t.Fatalf("second record %+v", r)
	}
	if it.Next(&r) || it.Err() != nil {
		t.Fatal(it.Err())
	}

	// The builder and the header writer make the same bytes.
	var bld Builder
	bld.Reset([]byte("xy"), 7, 3)
	bld.SetAttributes(Transactional)
	bld.SetProducer(9, 2, 11)
	bld.Add(1000, []byte("k"), []byte("v"), Header{[]byte("h"), []byte("xy")})
	bld.Add(1005, nil, []byte("abc"))
	if bld.Count() != 2 || bld.Size() != len(b) {
		t.Fatal("builder's count and size")
	}
	if got := bld.Finish(); !bytes.Equal(got, b) || !bytes.Equal(bld.Bytes()[2:], b) {
		t.Fatalf("built\n%x, want\n%x", got, b)
	}
	f := want
	if got := Seal(append(AppendHeader(nil, &f), b[HeaderSize:]...)); !bytes.Equal(got, b) {
		t.Fatalf("sealed %x", got)
	}
}

func TestBatchesOfKafka(t *testing.T) {
	b := append(unhex(t, kafkaPlain), unhex(t, kafkaGzip)...)
	s := NewScanner(b, true)
	if !s.Next() || s.View().BaseOffset() != 2 || s.View().Count() != 2 || s.Pos() != 0 {
		t.Fatal(s.Err())
	}
	it := s.View().Iter()
	var r Record
	for i := int32(0); it.Next(&r); i++ {
		if r.OffsetDelta != i || string(r.Value) != "x" || r.TimestampDelta != int64(2*i) {
			t.Fatalf("%+v", r)
		}
	}
	if it.Err() != nil {
		t.Fatal(it.Err())
	}
	if !s.Next() || s.View().ProducerID() != 77 || s.View().Attributes().Codec() != Gzip || s.Pos() != 77 || s.End() != len(b) {
		t.Fatal(s.Err())
	}
	if it := s.View().Iter(); it.Next(&r) || it.Err() != ErrCompressed {
		t.Fatal("compressed records were read")
	}
	if s.Next() || s.Err() != nil {
		t.Fatal(s.Err())
	}
}

func TestParseErrors(t *testing.T) {
	good := unhex(t, byHand)
	change := func(at int, with ...byte) []byte {
		b := bytes.Clone(good)
		copy(b[at:], with)
		return b
	}
	for _, c := range []struct {
		name string
		b    []byte
		want error
	}{
		{"nothing", nil, ErrShort},
		{"cut header", good[:60], ErrShort},
		{"cut records", good[:84], ErrTruncated},
		{"length 48", change(8, 0, 0, 0, 48), ErrLength},
		{"length negative", change(8, 0xff), ErrLength},
		{"length huge", change(8, 0x7f, 0xff, 0xff, 0xff), ErrTruncated},
		{"magic 1", change(16, 1), ErrMagic},
		{"magic -1", change(16, 0xff), ErrMagic},
		{"crc", change(17, 0), ErrChecksum},
		{"attributes", change(21, 1), ErrChecksum},
		{"last byte", change(84, 1), ErrChecksum},
		{"base offset is outside the crc", change(0, 9), nil},
		{"leader epoch is outside the crc", change(12, 9), nil},
	} {
		v, rest, err := Parse(c.b)
		if err != c.want {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && (v != nil || len(rest) != len(c.b)) {
			t.Errorf("%s: an error with a view", c.name)
		}
		if _, _, perr := Peek(c.b); c.want != ErrChecksum && perr != c.want {
			t.Errorf("%s: Peek says %v", c.name, perr)
		}
	}
	if n, err := PeekSize(good[:12]); n != 85 || err != nil {
		t.Error(n, err)
	}
	if _, err := PeekSize(good[:11]); err != ErrShort {
		t.Error(err)
	}
	if _, err := PeekSize(change(8, 0, 0, 0, 48)); err != ErrLength {
		t.Error(err)
	}
	s := NewScanner(append(bytes.Clone(good), good[:50]...), true)
	if !s.Next() || s.Next() || s.Err() != ErrShort || s.End() != 85 {
		t.Error("scanner at a torn tail", s.Err())
	}
}

func TestSetters(t *testing.T) {
	v := View(unhex(t, byHand))
	v.SetBaseOffset(1 << 40)
	v.SetLeaderEpoch(77)
	if _, _, err := Parse(v); err != nil || v.BaseOffset() != 1<<40 || v.LeaderEpoch() != 77 {
		t.Fatal(err)
	}
	v.SetAttributes(v.Attributes() | LogAppendTime)
	v.SetMaxTimestamp(5000)
	v.SetLastOffsetDelta(4)
	if v.TimestampOf(3) != 5000 || v.LastOffset() != 1<<40+4 {
		t.Fatal("append time")
	}
	if _, _, err := Parse(v); err != ErrChecksum {
		t.Fatal(err)
	}
	v.UpdateCRC()
	if _, _, err := Parse(v); err != nil {
		t.Fatal(err)
	}
	a := Attributes(0x7f).WithCodec(Zstd)
	if a != 0x7c || !a.LogAppendTime() || !a.Transactional() || !a.Control() || !a.DeleteHorizon() || a.Codec() != Zstd || Codec(5).Valid() || Codec(7).String() != "unknown" || LZ4.String() != "lz4" {
		t.Fatal("attributes")
	}
	if AddSequence(math.MaxInt32-1, 3) != 1 || AddSequence(math.MaxInt32, 1) != 0 || AddSequence(4, 0) != 4 {
		t.Fatal("sequences wrap")
	}
}

func TestMarkers(t *testing.T) {
	for _, commit := range []bool{false, true} {
		m := Marker{ProducerID: 5, ProducerEpoch: 6, Commit: commit, CoordinatorEpoch: 7, Timestamp: 8}
		b := AppendMarker([]byte("x"), m)[1:]
		v, rest, err := Parse(b)
		if err != nil || len(rest) != 0 {
			t.Fatal(err)
		}
		if got, ok := ParseMarker(v); !ok || got != m {
			t.Fatalf("%+v", got)
		}
		if v.BaseSequence() != -1 || v.Attributes() != Transactional|Control || v.Count() != 1 || v.LastSequence() != -1 {
			t.Fatalf("%+v", v.Fields())
		}
		// As Kafka writes it: key version 0 and type, value version 0 and epoch.
		want := "20000000" + "08" + "0000" + map[bool]string{false: "0000", true: "0001"}[commit] + "0c" + "0000" + "00000007" + "00"
		if got := hex.EncodeToString(v.Payload()); got != want {
			t.Fatalf("payload %s, want %s", got, want)
		}
	}
	if _, ok := ParseMarker(View(unhex(t, byHand))); ok {
		t.Fatal("a data batch is no marker")
	}
	if _, ok := ControlType([]byte{0, 0, 0}); ok {
		t.Fatal("short key")
	}
	if kind, ok := ControlType([]byte{0, 0, 0, 9}); !ok || kind != 9 {
		t.Fatal("other kinds")
	}
}

func TestVarints(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	values := []int64{0, 1, -1, 63, 64, -64, -65, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64}
	for i := 0; i < 2000; i++ {
		values = append(values, int64(r.Uint64())>>r.IntN(64))
	}
	for _, v := range values {
		b := AppendVarlong(nil, v)
		if !bytes.Equal(b, binary.AppendVarint(nil, v)) || len(b) != VarlongLen(v) {
			t.Fatalf("varlong %d: %x", v, b)
		}
		if got, n := Varlong(append(b, 0xff)); got != v || n != len(b) {
			t.Fatalf("varlong %d: %d, %d", v, got, n)
		}
		if _, n := Varlong(b[:len(b)-1]); n != 0 {
			t.Fatalf("cut varlong %d: %d", v, n)
		}
		w := int32(v)
		b = AppendVarint(nil, w)
		if !bytes.Equal(b, binary.AppendVarint(nil, int64(w))) || len(b) != VarintLen(w) {
			t.Fatalf("varint %d: %x", w, b)
		}
		if got, n := Varint(append(b, 0xff)); got != w || n != len(b) {
			t.Fatalf("varint %d: %d, %d", w, got, n)
		}
		b = AppendUvarint(nil, uint32(w))
		if got, n := Uvarint(b); got != uint32(w) || n != len(b) || n != UvarintLen(uint32(w)) {
			t.Fatalf("uvarint %d: %d, %d", w, got, n)
		}
	}
	long := bytes.Repeat([]byte{0x80}, 20)
	if _, n := Varint(long); n >= 0 {
		t.Error("5 bytes are too long", n)
	}
	if _, n := Varint(long[:4]); n != 0 {
		t.Error("4 bytes are cut", n)
	}
	if _, n := Varlong(long); n >= 0 {
		t.Error("10 bytes are too long", n)
	}
}

func TestMalformedRecords(t *testing.T) {
	frame := func(body ...byte) []byte { return append(AppendVarint(nil, int32(len(body))), body...) }
	huge := AppendVarint(nil, math.MaxInt32)
	for _, c := range []struct {
		name    string
		section []byte
		count   int32
		want    error
	}{
		{"good", frame(0, 0, 0, 1, 1, 0), 1, nil},
		{"none", nil, 0, nil},
		{"negative count", nil, -1, ErrRecord},
		{"too few", frame(0, 0, 0, 1, 1, 0), 2, ErrRecord},
		{"too many", append(frame(0, 0, 0, 1, 1, 0), frame(0, 0, 0, 1, 1, 0)...), 1, ErrTrailing},
		{"length 0", []byte{0}, 1, ErrRecord},
		{"length negative", []byte{1}, 1, ErrRecord},
		{"longer than the batch", []byte{80, 0, 0, 0, 1, 1, 0}, 1, ErrRecord},
		{"key longer than the record", frame(0, 0, 0, 40, 'k', 1, 0), 1, ErrRecord},
		{"value longer than the record", frame(0, 0, 0, 1, 40, 'v', 0), 1, ErrRecord},
		{"no header count", frame(0, 0, 0, 1, 2, 'v'), 1, ErrRecord},
		{"header count negative", frame(0, 0, 0, 1, 2, 'v', 1), 1, ErrRecord},
		{"header count huge", frame(append([]byte{0, 0, 0, 1, 1}, huge...)...), 1, ErrRecord},
		{"byte left", frame(0, 0, 0, 1, 2, 'v', 0, 0), 1, ErrRecord},
	} {
		it := NewIter(c.section, c.count)
		var r Record
		for it.Next(&r) {
		}
		if it.Err() != c.want {
			t.Errorf("%s: %v", c.name, it.Err())
		}
	}
	for name, body := range map[string][]byte{
		"header key null": {0, 0, 0, 1, 1, 2, 1, 2, 'h'},
		"header cut":      {0, 0, 0, 1, 1, 2, 2, 'k'},
		"byte left":       {0, 0, 0, 1, 1, 2, 2, 'k', 1, 0},
	} {
		it := NewIter(frame(body...), 1)
		var r Record
		if !it.Next(&r) {
			t.Errorf("%s: %v", name, it.Err())
			continue
		}
		hs := r.Headers()
		var h Header
		for hs.Next(&h) {
		}
		if hs.Err() != ErrRecord {
			t.Errorf("%s: %v", name, hs.Err())
		}
	}
}

func TestWalkingDoesNotAllocate(t *testing.T) {
	b := unhex(t, byHand+byHand)
	if n := testing.AllocsPerRun(100, func() {
		s := NewScanner(b, true)
		for s.Next() {
			it := s.View().Iter()
			var r Record
			for it.Next(&r) {
				hs := r.Headers()
				var h Header
				for hs.Next(&h) {
				}
			}
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	buf := make([]byte, 0, 1024)
	var bld Builder
	key, value := []byte("key"), []byte("value")
	if n := testing.AllocsPerRun(100, func() {
		bld.Reset(buf, 0, 0)
		bld.Add(1, key, value)
		bld.Finish()
	}); n != 0 {
		t.Errorf("builder: %v allocations", n)
	}
}
