package segment

import (
	"runtime"
	"testing"

	"millrace/internal/codec"
	"millrace/segment/batch"
)

// TestTimeInsideLargeBatch: a lookup does not hold what a batch unpacks to.
func TestTimeInsideLargeBatch(t *testing.T) {
	const half = 40 << 20
	section := batch.AppendRecord(nil, 0, 0, nil, make([]byte, half))
	section = batch.AppendRecord(section, 5, 1, []byte("key"), make([]byte, half))
	for _, c := range []batch.Codec{batch.Gzip, batch.LZ4, batch.Zstd} {
		f := batch.Fields{Attributes: batch.Attributes(0).WithCodec(c), LastOffsetDelta: 1, BaseTimestamp: 100, MaxTimestamp: 105,
			ProducerID: -1, ProducerEpoch: -1, BaseSequence: -1, Count: 2}
		b, err := codec.Compress(batch.AppendHeader(nil, &f), codec.Type(c), codec.Type(c).DefaultLevel(), section)
		must(t, err)
		p := testParams()
		p.Options.SegmentBytes = 64 << 20
		l := mustCreate(t, newMemDir(t), p)
		must(t, appendAll(l, nil, batch.Seal(b)))
		lookup(t, l, 103, 0, 2) // fills the pools
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if o, at := lookup(t, l, 103, 0, 2); o != 1 || at != 105 {
			t.Errorf("%s: offset %d, time %d", c, o, at)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: the lookup took %d MiB", c, n>>20)
		}
	}
}
