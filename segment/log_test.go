package segment

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"syscall"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

func TestAppendRollRead(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	var md model
	rng := rand.New(rand.NewPCG(1, 2))
	fillLog(t, l, &md, rng, 300)
	if l.Segments() < 5 {
		t.Fatalf("only %d segments", l.Segments())
	}
	md.check(t, l, 0)
	for start := int64(0); start < l.End(); start += 7 {
		got := readBatches(t, l, start, l.End(), 500)
		if b := batch.View(got[0]); b.BaseOffset() > start || b.LastOffset() < start {
			t.Fatalf("offset %d answered by batch %d-%d", start, b.BaseOffset(), b.LastOffset())
		}
	}
	// Every batch boundary as a bound: all below it, nothing above.
	for _, b := range md.batches {
		got := readBatches(t, l, max(0, b.BaseOffset()-20), b.BaseOffset(), 1<<20)
		if b.BaseOffset() == 0 {
			continue
		}
		if last := batch.View(got[len(got)-1]).LastOffset(); last != b.BaseOffset()-1 {
			t.Fatalf("bound %d: last offset served is %d", b.BaseOffset(), last)
		}
	}
	v := l.View()
	defer v.Release()
	if _, err := v.Find(l.End() + 1); !errors.Is(err, ErrOutOfRange) {
		t.Fatalf("above the end: %v", err)
	}
	if _, err := v.Find(-1); !errors.Is(err, ErrOutOfRange) {
		t.Fatalf("negative: %v", err)
	}
	p, err := v.Find(l.End())
	must(t, err)
	if r, err := v.Slice(p, 100, l.End(), true); err != nil || r.Len != 0 {
		t.Fatalf("at the end: %v %v", r, err)
	}
}

func TestCleanReopen(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	var md model
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 5 {
		fillLog(t, l, &md, rng, 40)
		end := l.End()
		must(t, l.Close(nil))
		calls := m.Changes()
		p := testParams()
		p.Clean, p.CleanEnd, p.RecoveryPoint = true, end, end
		var rep Report
		var err error
		l, rep, err = Open(m, p)
		must(t, err)
		if rep.ScannedBytes != 0 || rep.CutBytes != 0 || len(rep.RebuiltIndexes) != 0 || len(rep.Notes) != 0 {
			t.Fatalf("round %d: a clean start did work: %+v", round, rep)
		}
		if m.Changes() != calls {
			t.Fatalf("a clean start changed files")
		}
		if l.End() != end || l.SyncedEnd() != end || l.RecoveryPoint() != end {
			t.Fatalf("end %d synced %d, want %d", l.End(), l.SyncedEnd(), end)
		}
		md.check(t, l, 0)
	}
}

func TestKillReopen(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	var md model
	rng := rand.New(rand.NewPCG(5, 6))
	for round := range 6 {
		fillLog(t, l, &md, rng, 60)
		if round%2 == 0 {
			l.Checkpoint(nil)
			must(t, runJobs(l))
			if l.RecoveryPoint() != l.End() {
				t.Fatalf("recovery point %d, end %d", l.RecoveryPoint(), l.End())
			}
		}
		rp, size := l.RecoveryPoint(), l.UncheckpointedBytes()
		fillLog(t, l, &md, rng, 5)
		m = m.Clone()
		p := testParams()
		p.RecoveryPoint = rp
		var rep Report
		var err error
		l, rep, err = Open(m, p)
		must(t, err)
		if rep.CutBytes != 0 || len(rep.Damage) != 0 {
			t.Fatalf("round %d: %+v", round, rep)
		}
		if round%2 == 0 && rep.ScannedBytes > size+5*1024 {
			t.Fatalf("round %d: scanned %d bytes with %d above the checkpoint", round, rep.ScannedBytes, size)
		}
		md.check(t, l, 0)
	}
}

func TestSyncedEndAcrossRoll(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	for l.Segments() < 2 {
		v := testBatch(l.End(), 0, 2, 5, 100)
		switch l.Stage(v) {
		case Staged:
			must(t, flush(l))
		case StageRoll:
			for j := l.TakeJob(); j != nil; j = l.TakeJob() {
				j.Run()
				l.JobDone(j)
			}
			l.Roll(nil)
		}
	}
	boundary := l.End()
	must(t, appendOnly(l, testBatch(l.End(), 0, 2, 5, 100)))
	must(t, syncLog(l))
	if l.SyncedEnd() != boundary {
		t.Fatalf("synced end %d passed the roll at %d before the names were durable", l.SyncedEnd(), boundary)
	}
	must(t, runJobs(l))
	if l.SyncedEnd() != l.End() {
		t.Fatalf("synced end %d, want %d", l.SyncedEnd(), l.End())
	}
}

// appendOnly appends without running jobs.
func appendOnly(l *Log, v batch.View) error {
	if r := l.Stage(v); r != Staged {
		return errors.New("not staged")
	}
	return flush(l)
}

func TestFailedWriteIsUndone(t *testing.T) {
	m := newMemDir(t)
	f := vfs.NewFaulty(m)
	l := mustCreate(t, f, testParams())
	var md model
	rng := rand.New(rand.NewPCG(7, 8))
	fillLog(t, l, &md, rng, 5)
	end := l.End()
	f.Rule(func(c vfs.Call) vfs.Fault {
		if c.Op == vfs.OpWritevAt {
			return vfs.Fault{Err: syscall.ENOSPC, Short: 100}
		}
		return vfs.Fault{}
	})
	l.AssignEpoch(1)
	if r := l.Stage(testBatch(end, 1, 3, 9, 50)); r != Staged {
		t.Fatal(r)
	}
	w := l.TakeWrite()
	if r := l.Stage(testBatch(end+3, 1, 3, 9, 50)); r != Staged {
		t.Fatal(r)
	}
	n, err := w.File.WritevAt(w.Iov, w.Off)
	if l.WriteDone(w, n, err) {
		t.Fatal("a failed write passed")
	}
	if l.End() != end || l.WrittenEnd() != end || l.TakeWrite() != nil || l.Stage(testBatch(end, 1, 1, 1, 1)) != StageBusy {
		t.Fatalf("end %d, want %d", l.End(), end)
	}
	f.Clear()
	must(t, runJobs(l))
	fillLog(t, l, &md, rng, 50)
	md.check(t, l, 0)
	if e := l.Epochs().Entries(); len(e) != 2 || e[1] != (EpochEntry{1, end}) {
		t.Fatalf("epochs %v, end was %d", e, end)
	}
}

func TestStageAllocatesNothing(t *testing.T) {
	m := newMemDir(t)
	p := testParams()
	p.Options.SegmentBytes = 1 << 30
	l := mustCreate(t, m, p)
	v := testBatch(0, 0, 3, 100, 100)
	step := func() {
		v.SetBaseOffset(l.End())
		if l.Stage(v) != Staged {
			t.Fatal("not staged")
		}
		w := l.TakeWrite()
		if !l.WriteDone(w, w.Bytes, nil) {
			t.Fatal("write")
		}
		if j := l.TakeJob(); j != nil {
			t.Fatal("a job")
		}
		if s := l.BeginSync(); s != nil {
			l.SyncDone(s, nil)
		}
	}
	step()
	if n := testing.AllocsPerRun(1000, step); n > 0.1 {
		t.Fatalf("%v allocations per append", n)
	}
	view := l.View()
	defer view.Release()
	if n := testing.AllocsPerRun(1000, func() {
		v := l.View()
		p, err := v.Find(l.End() - 300)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := v.Slice(p, 1000, l.End()-30, true); err != nil || r.Len == 0 {
			t.Fatal(err)
		}
		v.Release()
	}); n > 0 {
		t.Fatalf("%v allocations per fetch", n)
	}
}

func TestTruncate(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 9))
		m := newMemDir(t)
		l := mustCreate(t, m, testParams())
		var md model
		fillLog(t, l, &md, rng, 100)
		old := l.View()
		oldEnd := old.End()
		at := rng.Int64N(l.End() + 1)
		l.Truncate(at)
		must(t, runJobs(l))
		md.truncate(at)
		if len(md.batches) > 0 || l.End() != 0 {
			if l.End() != md.end() {
				t.Fatalf("seed %d: truncated to %d: end %d, want %d", seed, at, l.End(), md.end())
			}
		}
		md.check(t, l, 0)
		if old.End() != oldEnd {
			t.Fatal("an old view changed")
		}
		old.Release()
		fillLog(t, l, &md, rng, 30)
		md.check(t, l, 0)
		l.Tick(l.nowMs + 100_000)
		must(t, runJobs(l))
		m = m.Clone()
		p := testParams()
		l, _, err := Open(m, p)
		must(t, err)
		md.check(t, l, 0)
	}
}

// TestTruncateDropsSnapshotsOfQueuedSeals: a follower's roll over a gap writes a snapshot that no segment is named after; if
// its seal was queued before a truncation it goes too, or the log would grow past its offset again and a start would take it
// for the state there.
func TestTruncateDropsSnapshotsOfQueuedSeals(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	var ps loader
	for range 4 {
		v := producerBatch(l.End(), 0, 7, 0, int32(l.End()), 2, 1000)
		must(t, appendAll(l, nil, v))
		ps.apply(v)
	}
	if r := l.Stage(testBatch(100, 0, 1, 1000, 4000)); r != StageRoll {
		t.Fatal(r)
	}
	must(t, runJobs(l))
	l.Roll(ps.entries()) // its seal is queued and not run
	l.Truncate(4)
	must(t, runJobs(l))
	if l.End() != 4 {
		t.Fatalf("end %d", l.End())
	}
	for _, suffix := range []string{suffixSnapshot, suffixWindow} {
		if _, err := m.Stat(fileName(testDir, 8, suffix)); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%d%s after a truncation to 4: %v", 8, suffix, err)
		}
	}
}

func TestTruncateDropsEmptyEpochs(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	must(t, appendAll(l, nil, testBatch(0, 3, 5, 1, 10)))
	l.AssignEpoch(7)
	l.Truncate(l.End())
	must(t, runJobs(l))
	if e := l.Epochs().Entries(); len(e) != 1 || e[0].Epoch != 3 {
		t.Fatalf("%v", e)
	}
	l.Reset(100)
	must(t, runJobs(l))
	if l.Start() != 100 || l.End() != 100 || len(l.Epochs().Entries()) != 0 || l.Segments() != 1 {
		t.Fatalf("reset: %d %d %v", l.Start(), l.End(), l.Epochs().Entries())
	}
	must(t, appendAll(l, nil, testBatch(100, 8, 5, 1, 10)))
}

func TestRetention(t *testing.T) {
	m := newMemDir(t)
	p := testParams()
	l := mustCreate(t, m, p)
	var md model
	rng := rand.New(rand.NewPCG(1, 1))
	fillLog(t, l, &md, rng, 400) // timestamps are 1000 + 10 * offset
	o := l.Options()
	o.RetentionMs, o.RetentionBytes = -1, -1
	l.SetOptions(o)
	v := l.View()
	third := v.segs[2].base
	v.Release()
	if !l.SetStart(third + 1) {
		t.Fatal("SetStart")
	}
	n := l.Segments()
	r := l.Retention(1_000_000, l.End())
	if r.ByStart != 2 || l.Segments() != n-2 || l.Start() != third+1 {
		t.Fatalf("%+v, start %d", r, l.Start())
	}
	o.RetentionMs = 10 * (l.End() - third) / 2
	l.SetOptions(o)
	r = l.Retention(1000+l.End()*10, l.End())
	if r.ByTime == 0 || r.Roll {
		t.Fatalf("%+v", r)
	}
	o.RetentionMs, o.RetentionBytes = -1, l.Size()/2
	l.SetOptions(o)
	r = l.Retention(1_000_000, l.End())
	if r.BySize == 0 || l.Size() < o.RetentionBytes {
		t.Fatalf("%+v: %d left of %d", r, l.Size(), o.RetentionBytes)
	}
	if again := l.Retention(1_000_000, l.End()); again != (Retained{}) {
		t.Fatalf("one pass was not enough: %+v", again)
	}
	must(t, runJobs(l))
	start := l.Start()
	md.check(t, l, start)
	// All expired: the active one is rolled, then goes; no offset is lost.
	o.RetentionMs, o.RetentionBytes = 1, -1
	l.SetOptions(o)
	if r = l.Retention(1<<40, l.End()); !r.Roll {
		t.Fatalf("%+v", r)
	}
	must(t, runJobs(l))
	l.Roll(nil)
	must(t, runJobs(l))
	l.Retention(1<<40, l.End())
	must(t, runJobs(l))
	if l.Segments() != 1 || l.Start() != md.end() || l.End() != md.end() {
		t.Fatalf("%d segments, %d-%d, want %d", l.Segments(), l.Start(), l.End(), md.end())
	}
	l.Tick(1 << 41)
	must(t, runJobs(l))
	list, err := m.List(testDir)
	must(t, err)
	for _, e := range list {
		if o, _, ok := parseFileName(e.Name()); ok && o < md.end() {
			t.Errorf("left over: %s", e.Name())
		}
	}
	if r := l.Retention(1<<42, l.End()); r != (Retained{}) {
		t.Fatalf("an empty active segment is not due: %+v", r)
	}
}

func TestReadersHoldDeletedFiles(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, testParams())
	var md model
	fillLog(t, l, &md, rand.New(rand.NewPCG(1, 1)), 100)
	v := l.View()
	p, err := v.FindBlocking(0)
	must(t, err)
	o := l.Options()
	o.RetentionMs, o.FileDeleteDelayMs = 1, 0
	l.SetOptions(o)
	l.Retention(1<<40, l.End())
	must(t, runJobs(l))
	l.Tick(1 << 41)
	must(t, runJobs(l))
	r, err := v.Slice(p, 100000, v.End(), true)
	must(t, err)
	if _, err := r.File.ReadAt(make([]byte, r.Len), r.Off); err != nil {
		t.Fatalf("a reader lost its file: %v", err)
	}
	f := r.File
	v.Release()
	l.Tick(1<<41 + 1)
	must(t, runJobs(l))
	if _, err := f.ReadAt(make([]byte, 1), 0); err == nil {
		t.Fatal("the file is still open")
	}
}
