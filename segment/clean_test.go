package segment

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"millrace/internal/codec"
	"millrace/segment/batch"
	"millrace/vfs"
)

// kv is one record of the tests; a nil value is a tombstone.
type kv struct {
	key   string
	value []byte
}

func put(key, value string) kv { return kv{key, []byte(value)} }
func del(key string) kv        { return kv{key: key} }

// kvBatch is a batch of these records at offset, packed with codec c.
func kvBatch(offset, ts int64, c batch.Codec, recs ...kv) batch.View {
	var b batch.Builder
	b.Reset(nil, offset, 0)
	for i, r := range recs {
		b.Add(ts+int64(i), []byte(r.key), r.value)
	}
	return pack(b.Finish(), c)
}

// pack compresses a batch.
func pack(v batch.View, c batch.Codec) batch.View {
	if c == batch.None {
		return v
	}
	f := v.Fields()
	f.Attributes = f.Attributes.WithCodec(c)
	out, err := codec.Compress(batch.AppendHeader(nil, &f), codec.Type(c), codec.Type(c).DefaultLevel(), v.Payload())
	if err != nil {
		panic(err)
	}
	return batch.Seal(out)
}

// flat is a record as read back.
type flat struct {
	offset, ts int64
	key        string
	value      []byte
}

// records unpacks all records of the log from offset on, one fetch after the other.
func flatten(t testing.TB, l *Log, from int64) []flat {
	t.Helper()
	var out []flat
	for _, raw := range readBatches(t, l, from, l.WrittenEnd(), 1000) {
		v := batch.View(raw)
		section, err := recordSection(v)
		must(t, err)
		it := batch.NewIter(section, v.Count())
		var r batch.Record
		for it.Next(&r) {
			if o := v.BaseOffset() + int64(r.OffsetDelta); o >= from && !v.Attributes().Control() {
				out = append(out, flat{o, v.TimestampOf(r.TimestampDelta), string(r.Key), bytes.Clone(r.Value)})
			}
		}
		must(t, it.Err())
	}
	return out
}

// state is what a reader of the whole log ends up with.
func state(t testing.TB, l *Log) map[string]string {
	t.Helper()
	m := map[string]string{}
	last := int64(-1)
	for _, r := range flatten(t, l, l.Start()) {
		if r.offset <= last {
			t.Fatalf("offset %d behind %d", r.offset, last)
		}
		last = r.offset
		if r.value == nil {
			delete(m, r.key)
		} else {
			m[r.key] = string(r.value)
		}
	}
	return m
}

func checkState(t testing.TB, what string, l *Log, want map[string]string) {
	t.Helper()
	if got := state(t, l); !maps.Equal(got, want) {
		for k, v := range want {
			if got[k] != v {
				t.Errorf("%s: key %s is %q, want %q", what, k, got[k], v)
			}
		}
		for k := range got {
			if _, ok := want[k]; !ok {
				t.Errorf("%s: key %s is back: %q", what, k, got[k])
			}
		}
		t.FailNow()
	}
}

// cleanSettings are those of most tests.
func cleanSettings(l *Log, nowMs int64) CleanSettings {
	return CleanSettings{NowMs: nowMs, DeleteRetentionMs: 1000, Stable: l.WrittenEnd(), MapBytes: 1 << 20, LoadFactor: 0.9}
}

// cleanLog does one whole cleaning as the engine would. nil stats: there was nothing to do.
func cleanLog(l *Log, o CleanSettings, producers []ProducerEntry) (*CleanStats, error) {
	l.Checkpoint(producers)
	if err := runJobs(l); err != nil {
		return nil, err
	}
	c := l.BeginClean(l.Cleanable(CleanLimits{Stable: o.Stable, NowMs: o.NowMs}), o)
	if c == nil {
		return nil, nil
	}
	stats, err := c.Run(func(g *Cleaned) (bool, error) {
		if !l.Replace(g) {
			return false, nil
		}
		return true, runJobs(l)
	})
	l.EndClean(c, err == nil)
	return &stats, err
}

// begunClean is a cleaning of all that a checkpoint covers, and its settings.
func begunClean(t testing.TB, l *Log) (*Cleaning, CleanSettings) {
	t.Helper()
	l.Checkpoint(nil)
	must(t, runJobs(l))
	o := cleanSettings(l, 5000)
	return l.BeginClean(l.Cleanable(CleanLimits{Stable: o.Stable}), o), o
}

func mustClean(t testing.TB, l *Log, o CleanSettings) CleanStats {
	t.Helper()
	s, err := cleanLog(l, o, nil)
	must(t, err)
	if s == nil {
		t.Fatal("nothing to clean")
	}
	return *s
}

func roll(t testing.TB, l *Log) {
	t.Helper()
	l.RequestRoll()
	must(t, runJobs(l))
	if l.CanRoll() {
		l.Roll(nil)
	}
	must(t, runJobs(l))
}

// progress fetches at every offset: each answer must hold a batch whose last offset is at or above the one asked for.
func progress(t testing.TB, l *Log) {
	t.Helper()
	for o := l.Start(); o < l.WrittenEnd(); o++ {
		v := l.View()
		p, err := v.FindBlocking(o)
		if err != nil {
			t.Fatalf("find %d: %v", o, err)
		}
		r, err := v.SliceBlocking(p, 1, l.WrittenEnd(), true)
		if err != nil || r.Len == 0 {
			t.Fatalf("fetch at %d of %d: %d bytes, %v", o, l.WrittenEnd(), r.Len, err)
		}
		b := make([]byte, r.Len)
		if _, err := r.File.ReadAt(b, r.Off); err != nil {
			t.Fatal(err)
		}
		s := batch.NewScanner(b, true)
		last := int64(-1)
		for s.Next() {
			last = s.View().LastOffset()
		}
		if last < o {
			t.Fatalf("fetch at %d answers up to %d", o, last)
		}
		v.Release()
	}
}

func TestCleanKeepsTheLatest(t *testing.T) {
	for c := batch.None; c <= batch.Zstd; c++ {
		t.Run(c.String(), func(t *testing.T) {
			m := newMemDir(t)
			l := mustCreate(t, m, testParams())
			want := map[string]string{}
			for i := range int64(400) {
				at := l.End()
				var recs []kv
				for j := range int64(3) {
					k, v := fmt.Sprint("k", (i*7+j)%20), fmt.Sprint("v", at+j, "-", string(value(at, 40)))
					recs = append(recs, put(k, v))
					want[k] = v
				}
				must(t, appendAll(l, nil, kvBatch(at, 1000+at, c, recs...)))
			}
			before := l.Size()
			stamps := map[int64]int64{}
			for _, r := range flatten(t, l, 0) {
				stamps[r.offset] = r.ts
			}
			s := mustClean(t, l, cleanSettings(l, 1_000_000))
			checkState(t, "cleaned", l, want)
			progress(t, l)
			if l.Size() > before/3 || s.RecordsWritten > 200 {
				t.Errorf("%d bytes of %d are left, %+v", l.Size(), before, s)
			}
			for _, r := range flatten(t, l, 0) {
				if stamps[r.offset] != r.ts {
					t.Fatalf("offset %d has timestamp %d, had %d", r.offset, r.ts, stamps[r.offset])
				}
			}
			res, err := Verify(m, testDir, DumpOptions{Records: true})
			if err != nil || len(res.Problems) > 0 {
				t.Errorf("%v %v", err, res.Problems)
			}
			if l.CleanedTo() != l.ActiveBase() {
				t.Errorf("clean up to %d, the active segment begins at %d", l.CleanedTo(), l.ActiveBase())
			}
			// Restarts: clean, and after kill -9 with everything to be scanned.
			end := l.End()
			must(t, l.Close(nil))
			for _, p := range []Params{testParams(), testParams()} {
				p.Clean, p.CleanEnd, p.RecoveryPoint = true, end, end
				l2, rep, err := Open(m.Clone(), p)
				must(t, err)
				if len(rep.Damage)+len(rep.Notes) > 0 || rep.ScannedBytes > 0 {
					t.Errorf("clean start: %+v", rep)
				}
				checkState(t, "clean start", l2, want)
				progress(t, l2)
				l2.Abandon()
			}
			p := testParams()
			l3, rep, err := Open(m.Clone(), p)
			must(t, err)
			if len(rep.Damage) > 0 || rep.CutBytes > 0 {
				t.Errorf("scan of everything: %+v", rep)
			}
			checkState(t, "scan of everything", l3, want)
			l3.Abandon()
		})
	}
}

func TestCleanTombstones(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	must(t, appendAll(l, nil, kvBatch(0, 10, 0, put("a", "1"), put("b", "1"))))
	must(t, appendAll(l, nil, kvBatch(2, 20, batch.LZ4, del("a"), put("c", "1"))))
	roll(t, l)
	tomb := func() (at []int64) {
		for _, r := range flatten(t, l, 0) {
			if r.value == nil {
				at = append(at, r.offset)
				if r.ts != 20 {
					t.Fatalf("timestamp of the tombstone: %d", r.ts)
				}
			}
		}
		return at
	}
	o := cleanSettings(l, 5000)
	mustClean(t, l, o)
	if at := tomb(); !slices.Equal(at, []int64{2}) {
		t.Fatalf("tombstones at %v", at)
	}
	head := batch.View(readBatches(t, l, 2, 4, 1000)[0])
	if a := head.Attributes(); !a.DeleteHorizon() || a.Codec() != batch.LZ4 || head.BaseTimestamp() != 6000 || head.MaxTimestamp() != 21 || head.LastOffset() != 3 {
		t.Fatalf("%+v", head.Fields())
	}
	must(t, appendAll(l, nil, kvBatch(4, 30, 0, put("d", "1"))))
	roll(t, l)
	o.NowMs, o.Stable = 5999, l.WrittenEnd()
	mustClean(t, l, o)
	if at := tomb(); !slices.Equal(at, []int64{2}) {
		t.Fatalf("before the horizon: tombstones at %v", at)
	}
	must(t, appendAll(l, nil, kvBatch(5, 40, 0, put("e", "1"))))
	roll(t, l)
	o.NowMs, o.Stable = 6000, l.WrittenEnd()
	mustClean(t, l, o)
	if at := tomb(); at != nil {
		t.Fatalf("behind the horizon: tombstones at %v", at)
	}
	checkState(t, "at the end", l, map[string]string{"b": "1", "c": "1", "d": "1", "e": "1"})
	progress(t, l)
}

func TestCleanKeepsLastOfProducersAndOfTheLog(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	keyed := func(pid int64, seq int32) batch.View {
		var b batch.Builder
		b.Reset(nil, l.End(), 0)
		b.SetProducer(pid, 0, seq)
		b.Add(10, []byte("k"), []byte("v"))
		return b.Finish()
	}
	var ld loader
	for _, v := range []struct {
		pid int64
		seq int32
	}{{1, 0}, {1, 1}, {2, 0}, {1, 2}, {2, 1}, {3, 0}} {
		b := keyed(v.pid, v.seq)
		must(t, appendAll(l, nil, b))
		ld.apply(b)
	}
	must(t, appendAll(l, nil, kvBatch(6, 10, 0, put("x", "1"), kv{"", []byte("no key")})))
	must(t, appendAll(l, nil, kvBatch(8, 10, 0, put("k", "2"))))
	roll(t, l)
	must(t, appendAll(l, nil, kvBatch(9, 10, 0, put("x", "2"), put("y", "1"))))
	must(t, appendAll(l, nil, kvBatch(11, 10, 0, put("y", "0"))))
	roll(t, l)
	must(t, appendAll(l, nil, kvBatch(12, 10, 0, put("y", "2")), kvBatch(13, 10, 0, put("z", "2"))))
	o := cleanSettings(l, 100)
	o.Producers = ld.entries()
	mustClean(t, l, o)
	var got []string
	for _, raw := range readBatches(t, l, 0, l.WrittenEnd(), 1000) {
		v := batch.View(raw)
		got = append(got, fmt.Sprint(v.BaseOffset(), "-", v.LastOffset(), " pid ", v.ProducerID(), " seq ", v.BaseSequence(), " n ", v.Count()))
	}
	want := []string{
		"3-3 pid 1 seq 2 n 0", "4-4 pid 2 seq 1 n 0", "5-5 pid 3 seq 0 n 0",
		"6-7 pid -1 seq -1 n 1", // the empty key is a key
		"8-8 pid -1 seq -1 n 1", "9-10 pid -1 seq -1 n 1", "11-11 pid -1 seq -1 n 1", "12-12 pid -1 seq -1 n 1", "13-13 pid -1 seq -1 n 1",
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got\n%q, want\n%q", got, want)
	}
	progress(t, l)
	roll(t, l)
	o.Stable = l.WrittenEnd()
	must(t, appendAll(l, nil, kvBatch(14, 10, 0, put("z", "3"))))
	s := mustClean(t, l, o)
	batches := readBatches(t, l, 13, l.WrittenEnd(), 1000)
	if v := batch.View(batches[0]); v.LastOffset() != 13 || s.Groups != 1 {
		t.Fatalf("the last batch below the bound went: %+v, %+v", v.Fields(), s)
	}
	progress(t, l)
}

// TestCleanRecordsWithoutKey: they cannot be in a compacted topic, but a topic may have become one. The last batch below the
// bound stays, emptied: a fetch behind the last key still gets somewhere.
func TestCleanRecordsWithoutKey(t *testing.T) {
	l := mustCreate(t, newMemDir(t), testParams())
	must(t, appendAll(l, nil, producerBatch(0, 0, -1, -1, -1, 3, 10), kvBatch(3, 10, 0, put("a", "1")), producerBatch(4, 0, -1, -1, -1, 3, 10)))
	roll(t, l)
	s := mustClean(t, l, cleanSettings(l, 100))
	if s.InvalidRecords != 6 || len(flatten(t, l, 0)) != 1 {
		t.Fatalf("%+v", s)
	}
	progress(t, l)
	last := batch.View(readBatches(t, l, 4, l.WrittenEnd(), 1000)[0])
	if last.BaseOffset() != 4 || last.LastOffset() != 6 || last.Count() != 0 {
		t.Fatalf("%+v", last.Fields())
	}
}

// twoGroups is a log whose cleaning has two groups, the first of which loses its last segment altogether.
func twoGroups(t *testing.T) (*vfs.Mem, *Log, map[string]string) {
	m := newMemDir(t)
	p := testParams()
	p.Options.SegmentBytes = 1000
	l := mustCreate(t, m, p)
	must(t, appendAll(l, nil, kvBatch(0, 10, 0, put("a", "1"))))
	roll(t, l)
	must(t, appendAll(l, nil, kvBatch(1, 10, 0, put("b", "1"))))
	roll(t, l)
	must(t, appendAll(l, nil, kvBatch(2, 10, 0, put("b", "2"+string(value(1, 900))))))
	roll(t, l)
	must(t, appendAll(l, nil, kvBatch(3, 10, 0, put("c", "1"))))
	return m, l, state(t, l)
}

// TestCleanSwapCoversEmptySegments: killed when the swap is durable and the old files are still there, recovery takes away
// all that the swap was made from.
func TestCleanSwapCoversEmptySegments(t *testing.T) {
	m, l, want := twoGroups(t)
	c, _ := begunClean(t, l)
	stop := errors.New("stop")
	_, err := c.Run(func(g *Cleaned) (bool, error) {
		for _, suffix := range cleanSuffixes {
			must(t, m.Rename(g.fresh.path(suffix)+suffixCleaned, g.fresh.path(suffix)+suffixSwap))
		}
		must(t, m.SyncDir(testDir))
		return true, stop
	})
	if !errors.Is(err, stop) {
		t.Fatal(err)
	}
	p := testParams()
	p.RecoveryPoint = l.RecoveryPoint()
	im := m.Image(0)
	l2, rep, err := Open(im, p)
	must(t, err)
	if l2.Segments() != l.Segments()-1 || len(rep.Damage) > 0 || l2.view.Load().segs[1].base != 2 {
		t.Fatalf("%d segments of %d, %+v", l2.Segments(), l.Segments(), rep)
	}
	checkState(t, "recovered", l2, want)
	progress(t, l2)
}

// TestCleanAndDeleteRecords: the log start passes segments that are being replaced, and segments that wait for it.
func TestCleanAndDeleteRecords(t *testing.T) {
	for _, start := range []int64{1, 2, 3} {
		m, l, want := twoGroups(t)
		s, err := func() (*CleanStats, error) {
			c, _ := begunClean(t, l)
			first := true
			s, err := c.Run(func(g *Cleaned) (bool, error) {
				if !l.Replace(g) {
					return false, nil
				}
				if first {
					first = false
					l.SetStart(start)
					l.Retention(6000, l.WrittenEnd())
				}
				return true, runJobs(l)
			})
			l.EndClean(c, err == nil)
			return &s, err
		}()
		must(t, err)
		l.Retention(6000, l.WrittenEnd())
		must(t, runJobs(l))
		delete(want, "a")
		if start == 3 {
			delete(want, "b")
		}
		checkState(t, fmt.Sprint("start at ", start), l, want)
		progress(t, l)
		if l.Start() != start || s.Groups != 2 {
			t.Errorf("start %d, %+v", l.Start(), s)
		}
		end := l.End()
		must(t, l.Close(nil))
		p := testParams()
		p.Clean, p.CleanEnd, p.RecoveryPoint, p.LogStart = true, end, end, start
		l, rep, err := Open(m, p)
		if err != nil || len(rep.Damage)+len(rep.Notes) > 0 {
			t.Fatalf("%v %+v", err, rep)
		}
		checkState(t, "restarted", l, want)
	}
}

// TestCleanSkipsOnlyWhatIsGone: of a group that lost a segment meanwhile the others are still dirty.
func TestCleanSkipsOnlyWhatIsGone(t *testing.T) {
	for start, gone := range map[int64]bool{1: false, 2: true} {
		_, l, _ := twoGroups(t)
		c, _ := begunClean(t, l)
		first := true
		s, err := c.Run(func(g *Cleaned) (bool, error) {
			if first {
				first = false
				l.SetStart(start)
				l.Retention(6000, l.WrittenEnd())
				must(t, runJobs(l))
				if l.Replace(g) || l.Gone(g) != gone {
					t.Fatalf("start %d: replaced, or gone is not %v", start, gone)
				}
				if !gone {
					return false, ErrAborted
				}
				return false, nil
			}
			if l.Gone(g) {
				t.Fatalf("start %d: the second group is gone", start)
			}
			return l.Replace(g), runJobs(l)
		})
		l.EndClean(c, err == nil)
		if gone && (err != nil || s.Skipped != 1 || s.Groups != 1 || l.CleanedTo() != 3) || !gone && (!errors.Is(err, ErrAborted) || l.CleanedTo() != 0) {
			t.Errorf("start %d: %v, %+v, clean to %d", start, err, s, l.CleanedTo())
		}
	}
}

// TestCleanAndTruncate: a cleaning from before a truncation changes nothing behind it.
func TestCleanAndTruncate(t *testing.T) {
	m, l, _ := twoGroups(t)
	c, o := begunClean(t, l)
	s, err := c.Run(func(g *Cleaned) (bool, error) {
		if l.cutCount == 0 {
			l.Truncate(2)
			if l.Replace(g) {
				t.Error("replaced while a truncation is under way")
			}
			must(t, runJobs(l))
			must(t, appendAll(l, nil, kvBatch(2, 10, 0, put("a", "9"))))
		}
		return l.Replace(g), runJobs(l)
	})
	must(t, err)
	l.EndClean(c, true)
	if s.Groups != 0 || s.Skipped != 2 || l.CleanedTo() != 0 {
		t.Errorf("%+v, clean to %d", s, l.CleanedTo())
	}
	checkState(t, "truncated", l, map[string]string{"a": "9", "b": "1"})
	roll(t, l)
	must(t, appendAll(l, nil, kvBatch(3, 10, 0, put("z", "1"))))
	o.Stable = l.WrittenEnd()
	mustClean(t, l, o)
	checkState(t, "cleaned", l, map[string]string{"a": "9", "b": "1", "z": "1"})
	// Into a cleaned segment, where records are missing.
	l.Truncate(1)
	must(t, runJobs(l))
	if l.CleanedTo() > l.End() || l.End() != 1 {
		t.Errorf("end %d, clean to %d", l.End(), l.CleanedTo())
	}
	must(t, l.Close(nil))
	list, err := m.List(testDir)
	must(t, err)
	for _, e := range list {
		if strings.HasSuffix(e.Name(), suffixCleaned) || strings.HasSuffix(e.Name(), suffixSwap) {
			t.Errorf("%s is left", e.Name())
		}
	}
}

func txnBatch(offset, pid int64, seq int32, recs ...kv) batch.View {
	var b batch.Builder
	b.Reset(nil, offset, 0)
	b.SetProducer(pid, 0, seq)
	b.SetAttributes(batch.Transactional)
	for _, r := range recs {
		b.Add(100, []byte(r.key), r.value)
	}
	return b.Finish()
}

func marker(offset, pid int64, commit bool) batch.View {
	v := batch.View(batch.AppendMarker(nil, batch.Marker{ProducerID: pid, Commit: commit, Timestamp: 100}))
	v.SetBaseOffset(offset)
	v.SetLeaderEpoch(0)
	return v
}

func TestCleanTransactions(t *testing.T) {
	l := mustCreate(t, newMemDir(t), testParams())
	must(t, appendAll(l, nil,
		kvBatch(0, 100, 0, put("a", "0"), put("b", "0")),
		txnBatch(2, 7, 0, put("a", "aborted")),
		txnBatch(3, 8, 0, put("b", "1")),
	))
	roll(t, l)
	must(t, appendAll(l, nil,
		txnBatch(4, 7, 1, put("c", "aborted")),
		marker(5, 7, false),
		marker(6, 8, true),
		txnBatch(7, 7, 2, put("c", "1")),
	))
	roll(t, l)
	must(t, appendAll(l, nil, marker(8, 7, true), kvBatch(9, 100, 0, put("d", "1"))))
	want := map[string]string{"a": "0", "b": "1", "c": "1", "d": "1"}
	o := cleanSettings(l, 200)
	// While the last transaction is open nothing of its segment may go.
	o.Stable = 7
	mustClean(t, l, o)
	if l.CleanedTo() != 4 {
		t.Fatalf("cleaned to %d", l.CleanedTo())
	}
	bases := func() (out []int64) {
		for _, raw := range readBatches(t, l, 0, l.WrittenEnd(), 1000) {
			out = append(out, batch.View(raw).BaseOffset())
		}
		return out
	}
	if got := bases(); !slices.Equal(got, []int64{0, 3, 4, 5, 6, 7, 8, 9}) {
		t.Fatalf("batches %v", got)
	}
	o.Stable = l.WrittenEnd()
	mustClean(t, l, o)
	checkState(t, "cleaned", l, want)
	// The abort marker stays this time, for its records were there; so does the commit marker of records that stay.
	if got := bases(); !slices.Equal(got, []int64{0, 3, 5, 6, 7, 8, 9}) {
		t.Fatalf("batches %v", got)
	}
	// Now it has nothing left: it gets a horizon, and goes behind it.
	for i, c := range []struct {
		nowMs int64
		want  []int64
	}{{300, []int64{0, 3, 5, 6, 7, 8}}, {1299, []int64{0, 3, 5, 6, 7, 8}}, {1300, []int64{0, 3, 6, 7, 8}}} {
		roll(t, l)
		must(t, appendAll(l, nil, kvBatch(l.End(), 100, 0, put("d", strconv.Itoa(i)))))
		roll(t, l)
		must(t, appendAll(l, nil, kvBatch(l.End(), 100, 0, put("e", strconv.Itoa(i)))))
		o.NowMs, o.Stable = c.nowMs, l.WrittenEnd()
		mustClean(t, l, o)
		got := bases()
		got = got[:slices.IndexFunc(got, func(b int64) bool { return b >= 9 })]
		if !slices.Equal(got, c.want) {
			t.Fatalf("at %d: batches %v", c.nowMs, got)
		}
	}
	progress(t, l)
}

func TestCleanWithSmallMap(t *testing.T) {
	l := mustCreate(t, newMemDir(t), testParams())
	want := map[string]string{}
	for i := range 1000 {
		k, v := fmt.Sprint("key", i%300), fmt.Sprint(i)
		must(t, appendAll(l, nil, kvBatch(l.End(), 1000, 0, put(k, v))))
		want[k] = v
	}
	o := cleanSettings(l, 5000)
	o.MapBytes = 1 // as small as it gets: 57 keys
	for n := 0; ; n++ {
		s, err := cleanLog(l, o, nil)
		must(t, err)
		if s == nil {
			if n < 10 {
				t.Errorf("%d rounds", n)
			}
			break
		}
		checkState(t, fmt.Sprint("round ", n), l, want)
	}
	progress(t, l)
	var recs []kv
	for i := range 100 {
		recs = append(recs, put(fmt.Sprint("big", i), "v"))
	}
	roll(t, l)
	must(t, appendAll(l, nil, kvBatch(l.End(), 1000, 0, recs...)))
	roll(t, l)
	o.Stable = l.WrittenEnd()
	if _, err := cleanLog(l, o, nil); err != nil {
		t.Fatal(err) // the part before the large batch
	}
	if _, err := cleanLog(l, o, nil); !isUncleanable(err) {
		t.Fatalf("a batch of 100 keys and a map of 57: %v", err)
	}
}

func TestCleanLeavesDamageAlone(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	for i := range 200 {
		must(t, appendAll(l, nil, kvBatch(l.End(), 1000, 0, put(fmt.Sprint("k", i%10), string(value(int64(i), 100))))))
	}
	before := readBatches(t, l, 0, l.WrittenEnd(), 1000)
	f, err := m.Open(l.view.Load().segs[1].path(suffixLog))
	must(t, err)
	var b [1]byte
	_, err = f.ReadAt(b[:], 500)
	must(t, err)
	b[0] ^= 0x10
	_, err = f.WriteAt(b[:], 500)
	must(t, err)
	c, o := begunClean(t, l)
	_, err = c.Run(func(*Cleaned) (bool, error) { t.Fatal("something was replaced"); return false, nil })
	if !isUncleanable(err) {
		t.Fatal(err)
	}
	d, ok := l.NoteDamage(c)
	l.EndClean(c, false)
	if !ok || d.Pos > 500 || d.Pos+d.Len <= 500 {
		t.Fatalf("%+v", d)
	}
	must(t, runJobs(l))
	check := func(l *Log) {
		t.Helper()
		v := l.View()
		defer v.Release()
		for _, raw := range before {
			x := batch.View(raw)
			_, err := v.FindBlocking(x.BaseOffset())
			if bad := x.BaseOffset() >= d.FromOffset && x.BaseOffset() < d.NextOffset; bad != (err != nil) {
				t.Fatalf("offset %d with damage at %d-%d: %v", x.BaseOffset(), d.FromOffset, d.NextOffset, err)
			}
		}
	}
	check(l)
	end := l.End()
	must(t, l.Close(nil))
	p := testParams()
	p.Clean, p.CleanEnd, p.RecoveryPoint = true, end, end
	l, rep, err := Open(m, p)
	must(t, err)
	if len(rep.Damage) != 1 {
		t.Fatalf("%+v", rep)
	}
	check(l)
	if c := l.BeginClean(l.Cleanable(CleanLimits{Stable: end}), o); c != nil {
		if _, err := c.Run(nil); !isUncleanable(err) {
			t.Fatal(err)
		}
		l.EndClean(c, false)
	}
}

func isUncleanable(err error) bool { return errors.Is(err, ErrUncleanable) }
