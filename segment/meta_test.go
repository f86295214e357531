package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

// world runs random operations on a log beside a plain model, with kills, power cuts and clean stops in between. Owned by
// one test.
type world struct {
	t    *testing.T
	rng  *rand.Rand
	m    *vfs.Mem
	l    *Log
	p    Params
	seed uint64
	step int

	model    model
	producer loader
	epoch    int32
	start    int64
	synced   int64
	recovery int64 // in the file
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1234)), m: newMemDir(t), p: testParams()}
	w.p.Options.SegmentBytes = []int64{600, 2000, 10000}[w.rng.IntN(3)]
	w.p.Options.IndexIntervalBytes = []int64{0, 100, 1000}[w.rng.IntN(3)]
	if w.rng.IntN(3) == 0 {
		w.p.Options.IndexBytes = 96
	}
	w.p.Options.AheadMax = []int64{0, 6400}[w.rng.IntN(2)]
	w.p.Options.Preallocate = w.rng.IntN(4) == 0
	w.l = mustCreate(t, w.m, w.p)
	w.l.ahead.roundMin = 0
	return w
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("seed %d step %d: %s", w.seed, w.step, fmt.Sprintf(format, args...))
}

func (w *world) ok(err error) {
	w.t.Helper()
	if err != nil {
		w.fail("%v", err)
	}
}

func (w *world) appendSome() {
	for range 1 + w.rng.IntN(10) {
		end := w.l.End()
		var v batch.View
		switch w.rng.IntN(3) {
		case 0:
			v = producerBatch(end, w.epoch, w.rng.Int64N(3), 0, int32(end), 1+w.rng.IntN(4), 100+end)
		case 1:
			v = testBatch(end, w.epoch, 1+w.rng.IntN(6), w.rng.Int64N(5000), w.rng.IntN(300))
		default:
			v = timedBatch(w.t, end, batch.Codec(w.rng.IntN(5)), -1, w.rng.Int64N(5000), w.rng.Int64N(5000))
			v.SetLeaderEpoch(w.epoch)
		}
		w.ok(appendAll(w.l, w.producer.entries(), v))
		w.model.add(v)
		w.producer.apply(v)
	}
}

func (w *world) doStep() {
	switch w.rng.IntN(12) {
	case 0, 1, 2, 3:
		w.appendSome()
	case 4:
		w.ok(syncLog(w.l))
		w.synced = w.l.SyncedEnd()
	case 5:
		w.l.Checkpoint(w.producer.entries())
		w.ok(runJobs(w.l))
		w.synced, w.recovery = w.l.SyncedEnd(), w.l.RecoveryPoint()
	case 6:
		w.epoch++
		w.l.AssignEpoch(w.epoch)
	case 7:
		if w.l.End() > w.start {
			w.truncate(w.l.End() - w.rng.Int64N(min(30, w.l.End()-w.start)) - 1)
		}
	case 8:
		w.deleteRecords()
	case 9:
		w.reopen()
	case 10:
		w.l.RequestRoll()
		w.ok(runJobs(w.l))
		if w.l.WantRoll() {
			w.l.Roll(w.producer.entries())
			w.ok(runJobs(w.l))
		}
	case 11:
		w.readAll()
	}
}

func (w *world) truncate(at int64) {
	at = max(at, w.start)
	w.recovery = min(w.recovery, at)
	w.l.Truncate(at)
	w.ok(runJobs(w.l))
	w.cutModel(w.l.End())
	w.start = min(w.start, w.l.End()) // the batch that holds the start went as a whole
	w.recovery, w.synced = min(w.recovery, w.l.End()), min(w.synced, w.l.End())
	if w.l.End() > at {
		w.fail("truncated to %d, end %d", at, w.l.End())
	}
}

// cutModel brings the model to an end that the log has come to.
func (w *world) cutModel(end int64) {
	w.model.truncate(end)
	if w.model.end() != end && !(len(w.model.batches) == 0 && end == 0) {
		w.fail("end %d is no batch boundary, model %d", end, w.model.end())
	}
	w.producer = loader{}
	for _, b := range w.model.batches {
		w.producer.apply(b)
	}
}

func (w *world) deleteRecords() {
	if w.l.WrittenEnd() <= w.start {
		return
	}
	to := w.start + 1 + w.rng.Int64N(w.l.WrittenEnd()-w.start)
	w.ok(syncLog(w.l))
	w.synced = max(w.synced, w.l.SyncedEnd())
	if w.l.SyncedEnd() < to {
		w.fail("synced %d, written %d", w.l.SyncedEnd(), w.l.WrittenEnd())
	}
	if !w.l.SetStart(to) {
		w.fail("start %d refused", to)
	}
	w.start = to
	w.l.Retention(0, w.l.WrittenEnd())
	w.l.GiveBackIdle()
	w.l.Tick(w.l.nowMs + int64(w.rng.IntN(100_000)))
	w.ok(runJobs(w.l))
}

func (w *world) reopen() {
	p := w.p
	p.LogStart = w.start
	var ld loader
	p.Producers = &ld
	kind := w.rng.IntN(3)
	end := w.l.End()
	switch kind {
	case 0:
		w.ok(w.l.Close(w.producer.entries()))
		w.synced, w.recovery = end, end
		p.Clean, p.CleanEnd = true, end
	case 1:
		w.m = w.m.Clone()
	case 2:
		w.m = w.m.Image(w.rng.Uint64())
	}
	p.RecoveryPoint = w.recovery
	l, rep, err := Open(w.m, p)
	w.ok(err)
	if l.End() < w.synced || kind != 2 && l.End() != end || len(rep.Damage) != 0 {
		w.fail("kind %d: end %d, was %d, synced %d: %+v", kind, l.End(), end, w.synced, rep)
	}
	if kind == 0 && (rep.ScannedBytes != 0 || len(rep.Notes) != 0) {
		w.fail("a clean start did work: %+v", rep)
	}
	w.l = l
	l.ahead.roundMin = 0
	w.cutModel(l.End())
	w.synced, w.recovery = l.SyncedEnd(), l.RecoveryPoint()
	for id, want := range w.producer.state {
		got := ld.state[id]
		if got.Batches != want.Batches || got.Count != want.Count {
			// Batches below the log start may be forgotten where no snapshot holds them any more.
			if last, _ := want.Last(); last.LastOffset >= w.start && want.Batches[0].LastOffset >= w.start {
				w.fail("kind %d: producer %d: %+v, want %+v: %+v", kind, id, got, want, rep)
			}
		}
	}
	w.producer.state = ld.state
	if w.producer.state == nil {
		w.producer.state = map[int64]ProducerEntry{}
	}
	w.epoch = max(w.epoch, l.Epochs().Last()) + 1
	w.readAll()
}

func (w *world) readAll() {
	from := max(w.start, w.l.Start())
	bound := from
	if w.l.WrittenEnd() > from {
		bound = w.l.WrittenEnd()
	}
	got := readBatches(w.t, w.l, from, bound, 1+w.rng.Int64N(3000))
	i := 0
	for _, b := range w.model.batches {
		if b.LastOffset() < from {
			continue
		}
		if i >= len(got) || !bytes.Equal(got[i], b) {
			w.fail("batch %d of the log is not %d-%d", i, b.BaseOffset(), b.LastOffset())
		}
		i++
	}
	if i != len(got) {
		w.fail("%d batches, want %d", len(got), i)
	}
	if res, err := Verify(w.m, testDir, DumpOptions{}); err != nil || len(res.Problems) != 0 {
		w.fail("verify: %v %v", res.Problems, err)
	}
	prev := EpochEntry{-1, -1}
	for _, e := range w.l.Epochs().Entries() {
		if e.Epoch <= prev.Epoch || e.Start <= prev.Start {
			w.fail("epochs %v", w.l.Epochs().Entries())
		}
		prev = e
	}
	for _, b := range w.model.batches {
		if b.BaseOffset() >= from && b.LeaderEpoch() >= 0 && w.l.Epochs().EpochOf(b.BaseOffset()) != b.LeaderEpoch() {
			w.fail("epoch of %d is %d in the cache, %d in the batch: %v", b.BaseOffset(), w.l.Epochs().EpochOf(b.BaseOffset()), b.LeaderEpoch(), w.l.Epochs().Entries())
		}
	}
}

// TestAgainstModel runs random lives. MILLRACE_SEEDS sets how many, MILLRACE_SEED picks one.
func TestAgainstModel(t *testing.T) {
	first, n := uint64(0), uint64(60)
	if s := os.Getenv("MILLRACE_SEEDS"); s != "" {
		v, err := strconv.ParseUint(s, 10, 32)
		must(t, err)
		n = v
	}
	if s := os.Getenv("MILLRACE_SEED"); s != "" {
		v, err := strconv.ParseUint(s, 10, 64)
		must(t, err)
		first, n = v, 1
	}
	for seed := first; seed < first+n; seed++ {
		w := newWorld(t, seed)
		for w.step = range 60 {
			w.doStep()
		}
		w.readAll()
	}
}

// TestReadersBesideTheOwner: readers look up, slice and check while the log grows, rolls and loses its oldest segments;
// meant for the race detector.
func TestReadersBesideTheOwner(t *testing.T) {
	dir := t.TempDir() + "/t-0"
	p := testParams()
	p.Dir = dir
	p.Options.SegmentBytes = 20_000
	p.Options.FileDeleteDelayMs = 0
	l := mustCreate(t, vfs.OS{}, p)
	var end, start atomic.Int64
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var reads atomic.Int64
	for i := range 3 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			for {
				select {
				case <-stop:
					return
				default:
				}
				hi, lo := end.Load(), start.Load()
				if hi <= lo {
					continue
				}
				if err := readOnce(l, lo+rng.Int64N(hi-lo), hi, rng); err != nil {
					t.Error(err)
					return
				}
				reads.Add(1)
			}
		}()
	}
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 1500 {
		must(t, appendAll(l, nil, testBatch(l.End(), 0, 1+rng.IntN(4), int64(i), rng.IntN(200))))
		end.Store(l.WrittenEnd())
		if i%100 == 99 {
			start.Store(l.WrittenEnd() - 200)
			l.SetStart(l.WrittenEnd() - 100)
			l.Retention(0, l.WrittenEnd())
			l.Tick(int64(i))
			must(t, runJobs(l))
		}
	}
	for reads.Load() < 500 && !t.Failed() {
	}
	close(stop)
	wg.Wait()
	must(t, l.Close(nil))
	if l.shared() != 0 {
		t.Fatalf("%d segments left", l.shared())
	}
}

func (l *Log) shared() int { return len(l.view.Load().segs) }

func readOnce(l *Log, offset, bound int64, rng *rand.Rand) error {
	v := l.View()
	defer v.Release()
	p, err := v.FindBlocking(offset)
	if err == ErrOutOfRange && offset < v.Start() {
		return nil
	}
	if err != nil {
		return err
	}
	r, err := v.SliceBlocking(p, 1+rng.Int64N(5000), bound, true)
	if err != nil {
		return err
	}
	b := make([]byte, r.Len)
	if _, err := r.File.ReadAt(b, r.Off); err != nil {
		return err
	}
	s := batch.NewScanner(b, true)
	if !s.Next() {
		return fmt.Errorf("no batch at %d: %d bytes, %v", offset, r.Len, s.Err())
	}
	if x := s.View(); x.BaseOffset() > offset || x.LastOffset() < offset {
		return fmt.Errorf("offset %d answered by %d-%d", offset, x.BaseOffset(), x.LastOffset())
	}
	for s.Next() {
		if s.View().BaseOffset() >= bound {
			return fmt.Errorf("batch %d at or above %d", s.View().BaseOffset(), bound)
		}
	}
	return nil
}
