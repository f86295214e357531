package segment

import (
	"math/rand/v2"
	"testing"

	"millrace/internal/codec"
	"millrace/segment/batch"
)

// timedBatch is a batch whose records have the given timestamps, packed with a codec.
func timedBatch(t testing.TB, offset int64, c batch.Codec, appendTime int64, ts ...int64) batch.View {
	t.Helper()
	top := ts[0]
	var section []byte
	for i, x := range ts {
		top = max(top, x)
		section = batch.AppendRecord(section, x-ts[0], int32(i), nil, []byte("v"))
	}
	f := batch.Fields{
		BaseOffset: offset, Attributes: batch.Attributes(0).WithCodec(c), LastOffsetDelta: int32(len(ts) - 1),
		BaseTimestamp: ts[0], MaxTimestamp: top, ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: int32(len(ts)),
	}
	if appendTime >= 0 {
		f.Attributes |= batch.LogAppendTime
		f.MaxTimestamp = appendTime
	}
	if c != batch.None {
		packed, err := codec.Compress(nil, codec.Type(c), -1, section)
		must(t, err)
		section = packed
	}
	return batch.Seal(append(batch.AppendHeader(nil, &f), section...))
}

func lookup(t *testing.T, l *Log, ts, start, bound int64) (int64, int64) {
	t.Helper()
	v := l.View()
	defer v.Release()
	r, ok, err := v.OffsetForTime(ts, start, bound)
	must(t, err)
	if !ok {
		return -1, -1
	}
	return r.Offset, r.Timestamp
}

// TestTimeInsidePackedBatch: each record of a packed batch is found by its own time.
func TestTimeInsidePackedBatch(t *testing.T) {
	for c := batch.None; c <= batch.Zstd; c++ {
		l := mustCreate(t, newMemDir(t), testParams())
		var ts []int64
		for i := range int64(50) {
			ts = append(ts, i+1)
		}
		must(t, appendAll(l, nil, timedBatch(t, 0, c, -1, ts...)))
		for i := range int64(50) {
			if o, at := lookup(t, l, i+1, 0, 50); o != i || at != i+1 {
				t.Fatalf("%s: time %d: offset %d, time %d", c, i+1, o, at)
			}
		}
		if o, _ := lookup(t, l, 51, 0, 50); o != -1 {
			t.Fatalf("%s: after the last: %d", c, o)
		}
		if o, _ := lookup(t, l, 1, 10, 50); o != 10 {
			t.Fatalf("%s: below the log start: %d", c, o)
		}
		if o, _ := lookup(t, l, 45, 0, 40); o != -1 {
			t.Fatalf("%s: above the bound: %d", c, o)
		}
	}
}

func TestTimeBetweenRecords(t *testing.T) {
	want := map[int64]int64{2: 0, 3: 1, 4: 1, 5: 2, 6: 2, 7: 3, 8: 3, 9: -1}
	one := mustCreate(t, newMemDir(t), testParams())
	must(t, appendAll(one, nil, timedBatch(t, 0, batch.Zstd, -1, 2, 4, 6, 8)))
	four := mustCreate(t, newMemDir(t), testParams())
	for i, ts := range []int64{2, 4, 6, 8} {
		must(t, appendAll(four, nil, timedBatch(t, int64(i), batch.None, -1, ts)))
	}
	for ts, o := range want {
		if got, _ := lookup(t, one, ts, 0, 4); got != o {
			t.Errorf("one batch: time %d: %d, want %d", ts, got, o)
		}
		if got, _ := lookup(t, four, ts, 0, 4); got != o {
			t.Errorf("four batches: time %d: %d, want %d", ts, got, o)
		}
	}
	mixed := mustCreate(t, newMemDir(t), testParams())
	for i, ts := range []int64{8, 2, 6, 4} {
		must(t, appendAll(mixed, nil, timedBatch(t, int64(i), batch.None, -1, ts)))
	}
	for ts := int64(1); ts <= 8; ts++ {
		if got, _ := lookup(t, mixed, ts, 0, 4); got != 0 {
			t.Errorf("out of order: time %d: %d", ts, got)
		}
	}
}

func TestAppendTimeAndMarkers(t *testing.T) {
	l := mustCreate(t, newMemDir(t), testParams())
	must(t, appendAll(l, nil, timedBatch(t, 0, batch.Gzip, 500, 1, 2, 3)))
	marker, _, err := batch.Parse(batch.AppendMarker(nil, batch.Marker{ProducerID: 1, Commit: true, Timestamp: 700}))
	must(t, err)
	marker.SetBaseOffset(3)
	must(t, appendAll(l, nil, marker))
	if o, at := lookup(t, l, 3, 0, 4); o != 0 || at != 500 {
		t.Errorf("append time: %d %d", o, at)
	}
	if o, at := lookup(t, l, 3, 2, 4); o != 2 || at != 500 {
		t.Errorf("append time from the middle: %d %d", o, at)
	}
	if o, at := lookup(t, l, 600, 0, 4); o != 3 || at != 700 {
		t.Errorf("a marker counts as a record: %d %d", o, at)
	}
}

// TestTimesAgainstModel compares lookups over many segments, times in any order, with a plain search.
func TestTimesAgainstModel(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 77))
		fsys := newMemDir(t)
		l := mustCreate(t, fsys, testParams())
		var times []int64
		for range 150 {
			var ts []int64
			for range 1 + rng.IntN(6) {
				ts = append(ts, int64(len(times))*3+rng.Int64N(400))
				times = append(times, ts[len(ts)-1])
			}
			must(t, appendAll(l, nil, timedBatch(t, l.End(), batch.Codec(rng.IntN(5)), -1, ts...)))
		}
		if seed%2 == 1 {
			end := l.End()
			must(t, l.Close(nil))
			p := testParams()
			p.Clean, p.CleanEnd, p.RecoveryPoint = true, end, end
			var err error
			l, _, err = Open(fsys, p)
			must(t, err)
		}
		for range 300 {
			ts, start, bound := rng.Int64N(int64(len(times))*3+500), rng.Int64N(50), int64(len(times))-rng.Int64N(60)
			want, wantTs := int64(-1), int64(-1)
			for i := start; i < bound; i++ {
				if times[i] >= ts {
					want, wantTs = i, times[i]
					break
				}
			}
			if o, at := lookup(t, l, ts, start, bound); o != want || at != wantTs {
				t.Fatalf("seed %d: time %d in [%d,%d): %d (%d), want %d (%d)", seed, ts, start, bound, o, at, want, wantTs)
			}
		}
		for range 50 {
			start := rng.Int64N(int64(len(times)))
			best := start
			for i := start; i < int64(len(times)); i++ {
				if times[i] > times[best] {
					best = i
				}
			}
			v := l.View()
			r, ok, err := v.MaxTimestamp(start, int64(len(times)))
			v.Release()
			must(t, err)
			if !ok || r.Offset != best || r.Timestamp != times[best] {
				t.Fatalf("seed %d: newest from %d: %+v, want %d (%d)", seed, start, r, best, times[best])
			}
			v = l.View()
			if _, ok, _ := v.MaxTimestamp(start, best); ok {
				t.Fatal("the newest record lies past the bound")
			}
			v.Release()
		}
	}
}
