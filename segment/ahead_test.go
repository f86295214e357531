package segment

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"

	"millrace/vfs"
)

func aheadParams() Params {
	p := testParams()
	p.Options.SegmentBytes, p.Options.AheadMax = 400<<10, 1<<30
	return p
}

// aheadLog makes a log that takes 20 kB between two syncs for much.
func aheadLog(t *testing.T, fsys vfs.FS, p Params) *Log {
	t.Helper()
	l := mustCreate(t, fsys, p)
	l.ahead.roundMin = 20_000
	return l
}

// beyond is what a file has allocated behind its end.
func beyond(t *testing.T, fsys vfs.FS, name string) int64 {
	t.Helper()
	info, err := fsys.Stat(name)
	must(t, err)
	return max(vfs.Allocated(info)-(info.Size()+511)/512*512, 0)
}

// appendBytes appends batches of about 10 kB.
func appendBytes(t *testing.T, l *Log, batches int) {
	t.Helper()
	for range batches {
		must(t, appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 10_000)))
	}
}

// fillSegment appends until the log rolls.
func fillSegment(t *testing.T, l *Log) {
	t.Helper()
	for n := l.Segments(); l.Segments() == n; {
		appendBytes(t, l, 1)
	}
}

func logFile(base int64) string { return fileName(testDir, base, suffixLog) }

func TestTheNextSegmentHasBlocksWhereOneWasFilledQuickly(t *testing.T) {
	m := newMemDir(t)
	l := aheadLog(t, m, aheadParams())
	appendBytes(t, l, 30)
	if n := beyond(t, m, logFile(0)); n != 0 {
		t.Fatalf("the first segment has %d bytes of blocks behind its end", n)
	}
	fillSegment(t, l)
	base := l.ActiveBase()
	if n := beyond(t, m, logFile(base)); n < 380<<10 || n > 400<<10 {
		t.Fatalf("the second segment has %d bytes of blocks behind its end", n)
	}
	allocations := 0
	m.OnCall(func(c vfs.Call) {
		if c.Op == vfs.OpAllocate {
			allocations++
		}
	})
	l.Tick(l.nowMs + aheadFillMs + 1)
	fillSegment(t, l)
	if n := beyond(t, m, logFile(l.ActiveBase())); n != 0 || allocations > 0 {
		t.Fatalf("after one that was filled slowly: %d bytes by %d calls", n, allocations)
	}
	if n := beyond(t, m, logFile(base)); n != 0 {
		t.Fatalf("%d bytes behind a full segment", n)
	}
	appendBytes(t, l, 5)
	l.RequestRoll()
	must(t, runJobs(l))
	l.Roll(nil)
	must(t, runJobs(l))
	if n := beyond(t, m, logFile(l.ActiveBase())); n != 0 || allocations > 0 {
		t.Fatalf("after a segment that is not full: %d bytes by %d calls", n, allocations)
	}
	fillSegment(t, l)
	if allocations != 1 {
		t.Fatalf("%d allocations for one more that was filled quickly", allocations)
	}
	for n := l.Segments(); l.Segments() == n; {
		appendBytes(t, l, 1)
		must(t, syncLog(l))
	}
	if allocations != 1 {
		t.Fatal("allocated after a segment of which each batch was synced")
	}
}

func TestAheadMaxBounds(t *testing.T) {
	m := newMemDir(t)
	p := aheadParams()
	p.Options.AheadMax = 100 << 10
	l := aheadLog(t, m, p)
	fillSegment(t, l)
	if n := beyond(t, m, logFile(l.ActiveBase())); n == 0 || n > 100<<10 {
		t.Fatalf("%d bytes of blocks behind its end", n)
	}
	o := l.Options()
	o.AheadMax = 1 << 40
	l.SetOptions(o)
	if l.Options().AheadMax != 100<<10 {
		t.Fatal("a fixed option changed")
	}
}

func TestUnusedBlocksAreGivenBack(t *testing.T) {
	setup := func(t *testing.T) (*vfs.Mem, *Log, string) {
		m := newMemDir(t)
		l := aheadLog(t, m, aheadParams())
		fillSegment(t, l)
		appendBytes(t, l, 1)
		name := logFile(l.ActiveBase())
		if beyond(t, m, name) == 0 {
			t.Fatal("nothing was allocated ahead")
		}
		return m, l, name
	}
	none := func(t *testing.T, fsys vfs.FS, name, when string) {
		t.Helper()
		if n := beyond(t, fsys, name); n != 0 {
			t.Fatalf("%d bytes are still allocated behind the end of %s %s", n, filepath.Base(name), when)
		}
	}
	idle := func(l *Log) { l.nowMs += aheadIdleMs; l.GiveBackIdle(); l.Tick(l.nowMs) }
	t.Run("roll", func(t *testing.T) {
		m, l, name := setup(t)
		l.RequestRoll()
		must(t, runJobs(l))
		l.Roll(nil)
		must(t, runJobs(l))
		none(t, m, name, "after it was sealed")
	})
	t.Run("close", func(t *testing.T) {
		m, l, name := setup(t)
		must(t, l.Close(nil))
		none(t, m, name, "after a clean stop")
	})
	t.Run("close with others", func(t *testing.T) {
		m, l, name := setup(t)
		c, err := l.BeginClose(nil)
		must(t, err)
		for more := true; more; {
			must(t, m.SyncFS("/d"))
			more, err = c.Step()
			must(t, err)
		}
		must(t, c.End())
		none(t, m, name, "after a clean stop")
	})
	t.Run("idle", func(t *testing.T) {
		m, l, name := setup(t)
		l.nowMs += aheadIdleMs - 1
		l.GiveBackIdle()
		must(t, runJobs(l))
		if beyond(t, m, name) == 0 {
			t.Fatal("given back too early")
		}
		idle(l)
		if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 10)); r != StageBusy {
			t.Fatalf("an append while the file is cut to its size: %v", r)
		}
		must(t, runJobs(l))
		none(t, m, name, "after a minute without appends")
		appendBytes(t, l, 3)
		must(t, l.Close(nil))
	})
	t.Run("a trickle after a burst", func(t *testing.T) {
		m, l, name := setup(t)
		for range 2 * aheadFillMs / 30_000 {
			must(t, appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 10)))
			must(t, syncLog(l))
			l.GiveBackIdle()
			l.Tick(l.nowMs + 30_000)
			must(t, runJobs(l))
		}
		l.GiveBackIdle()
		must(t, runJobs(l))
		none(t, m, name, "when it fills much slower than the one before")
	})
	t.Run("idle with a write under way", func(t *testing.T) {
		m, l, name := setup(t)
		must(t, syncLog(l))
		for _, take := range []bool{false, true} {
			var w *Write
			if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 10_000)); r != Staged {
				t.Fatal(r)
			}
			if take {
				w = l.TakeWrite()
				_, err := w.File.WritevAt(w.Iov, w.Off)
				must(t, err)
			}
			must(t, runJobs(l))
			idle(l)
			must(t, runJobs(l))
			if l.busy || beyond(t, m, name) == 0 {
				t.Fatalf("given back under a write that is staged, taken: %v", take)
			}
			if take {
				if !l.WriteDone(w, w.Bytes, nil) {
					t.Fatal("write refused")
				}
			} else {
				must(t, flush(l))
			}
			must(t, syncLog(l))
		}
		if res, err := Verify(m, testDir, DumpOptions{Records: true}); err != nil || len(res.Problems) > 0 {
			t.Fatal(err, res.Problems)
		}
	})
	t.Run("idle behind a checkpoint", func(t *testing.T) {
		_, l, _ := setup(t)
		must(t, syncLog(l))
		l.Checkpoint(nil)
		j := l.TakeJob()
		idle(l)
		if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 10)); r != Staged {
			t.Fatalf("an append waits for a checkpoint: %v", r)
		}
		j.Run()
		l.JobDone(j)
		must(t, j.Err)
	})
	t.Run("idle with a successor", func(t *testing.T) {
		m, l, _ := setup(t)
		for n := l.Segments(); l.successor == nil; {
			appendBytes(t, l, 1)
			if l.Segments() > n {
				t.Fatal("rolled without a successor")
			}
		}
		name := l.succName
		if beyond(t, m, name) == 0 {
			t.Fatal("a successor without blocks")
		}
		must(t, syncLog(l))
		idle(l)
		must(t, runJobs(l))
		if _, err := m.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("the successor is still there: %v", err)
		}
		fillSegment(t, l)
	})
	t.Run("bytes before the size", func(t *testing.T) {
		m, l, name := setup(t)
		idle(l)
		must(t, runJobs(l))
		none(t, m, name, "after a minute without appends")
		p := aheadParams()
		var ps loader
		p.Producers = &ps
		cut, _, err := Open(m.Image(0), p) // a power cut
		must(t, err)
		if cut.End() != l.End() {
			t.Fatalf("end %d after a power cut, want %d: what was not synced was cut to its size", cut.End(), l.End())
		}
	})
	t.Run("a failed sync is not a lack of space", func(t *testing.T) {
		m, l, name := setup(t)
		f := vfs.NewFaulty(m)
		file, err := f.Open(name)
		must(t, err)
		l.active.file.File = file
		f.FailNth(vfs.OpDatasync, "", 1, syscall.ENOSPC)
		idle(l)
		if err := runJobs(l); err == nil || IsNoSpace(err) {
			t.Fatalf("%v", err)
		}
	})
	refuse := func(t *testing.T, m *vfs.Mem, l *Log, name string, err error) *vfs.Faulty {
		must(t, syncLog(l))
		f := vfs.NewFaulty(m)
		file, oerr := f.Open(name)
		must(t, oerr)
		l.active.file.File = file
		f.FailNth(vfs.OpTruncate, "", 1, err)
		idle(l)
		return f
	}
	t.Run("a broken disk", func(t *testing.T) {
		m, l, name := setup(t)
		refuse(t, m, l, name, syscall.EIO)
		if err := runJobs(l); !errors.Is(err, syscall.EIO) {
			t.Fatalf("%v, want the disk's error", err)
		}
	})
	t.Run("no space to give back", func(t *testing.T) {
		m, l, name := setup(t)
		f := refuse(t, m, l, name, syscall.ENOSPC)
		must(t, runJobs(l))
		if f.Hits() != 1 || beyond(t, m, name) == 0 || !l.HasAhead() {
			t.Fatal("the blocks are forgotten")
		}
		idle(l)
		must(t, runJobs(l))
		none(t, m, name, "after the second try")
		appendBytes(t, l, 3) // and the log goes on
	})
	t.Run("kill", func(t *testing.T) {
		m, l, name := setup(t)
		m = m.Clone()
		p := aheadParams()
		p.NowMs = l.nowMs
		l, _, err := Open(m, p)
		must(t, err)
		if beyond(t, m, name) == 0 {
			t.Fatal("a killed process left no blocks")
		}
		must(t, l.Close(nil))
		none(t, m, name, "after a start and a clean stop")
	})
	t.Run("kill before the seal", func(t *testing.T) {
		m, l, name := setup(t)
		l.RequestRoll()
		must(t, runJobs(l))
		l.Roll(nil) // the seal does not run
		if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 10_000)); r != Staged {
			t.Fatal(r)
		}
		must(t, flush(l))
		m = m.Clone()
		if beyond(t, m, name) == 0 {
			t.Fatal("nothing to give back")
		}
		l2, _, err := Open(m, aheadParams())
		must(t, err)
		if l2.End() != l.End() || l2.Segments() != 3 {
			t.Fatalf("end %d, want %d; %d segments", l2.End(), l.End(), l2.Segments())
		}
		none(t, m, name, "after a start")
	})
	t.Run("failed write", func(t *testing.T) {
		m, l, name := setup(t)
		if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 10_000)); r != Staged {
			t.Fatal(r)
		}
		w := l.TakeWrite()
		_, err := w.File.WritevAt([][]byte{w.Iov[0][:5000]}, w.Off)
		must(t, err)
		if l.WriteDone(w, 5000, errors.New("short")) {
			t.Fatal("a failed write was taken")
		}
		must(t, runJobs(l))
		none(t, m, name, "after a cut")
		appendBytes(t, l, 1)
	})
}

// TestASegmentThatWasOpenedSaysNothingOfItsSpeed: after a start it is not known how fast what is there came.
func TestASegmentThatWasOpenedSaysNothingOfItsSpeed(t *testing.T) {
	m := newMemDir(t)
	p := aheadParams()
	l := aheadLog(t, m, p)
	appendBytes(t, l, 34)
	must(t, l.Close(nil))
	l, _, err := Open(m, p)
	must(t, err)
	l.ahead.roundMin = 20_000
	fillSegment(t, l)
	if n := beyond(t, m, logFile(l.ActiveBase())); n != 0 {
		t.Fatalf("%d bytes ahead", n)
	}
	fillSegment(t, l)
	if n := beyond(t, m, logFile(l.ActiveBase())); n == 0 {
		t.Fatal("nothing ahead after a segment that was filled since the start")
	}
}

// TestARefusedAllocationStopsNothing but one that shows a broken disk.
func TestARefusedAllocationStopsNothing(t *testing.T) {
	for _, c := range []struct {
		op   vfs.Op
		err  error
		ends bool
	}{{vfs.OpUsage, syscall.EACCES, false}, {vfs.OpAllocate, syscall.ENOSPC, false}, {vfs.OpAllocate, syscall.EPERM, false}, {vfs.OpAllocate, syscall.EIO, true}} {
		f := vfs.NewFaulty(newMemDir(t))
		l := aheadLog(t, f, aheadParams())
		f.FailNth(c.op, "", 1, c.err)
		var err error
		for err == nil && l.Segments() == 1 {
			err = appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 10_000))
		}
		if f.Hits() != 1 || c.ends != errors.Is(err, syscall.EIO) || !c.ends && err != nil {
			t.Errorf("%v of %v: %v", c.err, c.op, err)
		}
		p := aheadParams()
		p.Dir, p.Options.Preallocate = "/d/u-0", true
		f.FailNth(c.op, "u-0", 1, c.err)
		if _, err := Create(f, p); err != nil || f.Hits() != 2 {
			t.Errorf("%v of %v while a log is made: %v", c.err, c.op, err)
		}
	}
}

// TestAFullDiskTakesWhatFits: where there is little space none is allocated ahead, and appends go on up to the last block.
func TestAFullDiskTakesWhatFits(t *testing.T) {
	m := newMemDir(t)
	l := aheadLog(t, m, aheadParams())
	fillSegment(t, l)
	total, free, err := m.Usage("/d")
	must(t, err)
	m.SetCapacity(total - free + 700_000)
	calls := 0
	m.OnCall(func(c vfs.Call) {
		if c.Op == vfs.OpAllocate {
			calls++
		}
	})
	for err == nil {
		err = appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 10_000))
	}
	_, free, uerr := m.Usage("/d")
	must(t, uerr)
	if !IsNoSpace(err) || calls > 0 || free > 15_000 {
		t.Fatalf("%v with %d bytes free, after %d allocations", err, free, calls)
	}
}

// TestPreallocate: preallocate=true has the blocks of a whole segment from the start and keeps them while nothing comes.
func TestPreallocate(t *testing.T) {
	m := newMemDir(t)
	p := aheadParams()
	p.Options.Preallocate, p.Options.AheadMax = true, 0
	whole := func(base int64) {
		t.Helper()
		info, err := m.Stat(logFile(base))
		must(t, err)
		if n := vfs.Allocated(info); n != p.Options.SegmentBytes {
			t.Fatalf("segment %d has %d bytes allocated", base, n)
		}
	}
	l := mustCreate(t, m, p)
	whole(0)
	appendBytes(t, l, 1)
	must(t, syncLog(l))
	l.nowMs += 2 * aheadIdleMs
	l.GiveBackIdle()
	must(t, runJobs(l))
	whole(0)
	l.RequestRoll()
	must(t, runJobs(l))
	l.Roll(nil)
	must(t, runJobs(l))
	whole(1)
	if n := beyond(t, m, logFile(0)); n != 0 {
		t.Fatalf("%d bytes allocated behind a sealed segment", n)
	}
	must(t, l.Close(nil))
	if n := beyond(t, m, logFile(1)); n != 0 {
		t.Fatalf("%d bytes allocated behind a closed log", n)
	}
}

// TestAheadOnDisk does it on the file system under the tests: blocks appear without bytes, and go with a cut to the same size.
func TestAheadOnDisk(t *testing.T) {
	p := aheadParams()
	p.Dir = filepath.Join(t.TempDir(), "t-0")
	p.Options.SegmentBytes = 2 << 20
	l := aheadLog(t, vfs.OS{}, p)
	fillSegment(t, l)
	if l.ahead.off { // a file system without fallocate: the log does without
		must(t, l.Close(nil))
		return
	}
	name := fileName(p.Dir, l.ActiveBase(), suffixLog)
	if n := beyond(t, vfs.OS{}, name); n < 1<<20 {
		t.Fatalf("%d bytes of blocks behind the end", n)
	}
	end := l.End()
	must(t, l.Close(nil))
	if n := beyond(t, vfs.OS{}, name); n > aheadSlack {
		t.Fatalf("%d bytes of blocks behind the end of a closed log", n)
	}
	l, rep, err := Open(vfs.OS{}, p)
	must(t, err)
	if l.End() != end {
		t.Fatalf("end %d: %+v", l.End(), rep)
	}
	must(t, l.Close(nil))
}

// unsupported is a file system without fallocate, and how often it was asked.
type unsupported struct {
	*vfs.Mem
	asked *int
}

type unsupportedFile struct {
	vfs.File
	asked *int
}

func (u unsupported) CreateTrunc(name string) (vfs.File, error) {
	f, err := u.Mem.CreateTrunc(name)
	return unsupportedFile{f, u.asked}, err
}

func (f unsupportedFile) Allocate(int64, int64) error {
	*f.asked++
	return &fs.PathError{Op: "fallocate", Err: syscall.EOPNOTSUPP}
}

func TestAFileSystemWithoutFallocateIsAskedOnce(t *testing.T) {
	asked := 0
	l := aheadLog(t, unsupported{newMemDir(t), &asked}, aheadParams())
	for range 4 {
		fillSegment(t, l)
	}
	if asked != 1 || l.HasAhead() {
		t.Fatalf("asked %d times in %d segments", asked, l.Segments())
	}
}

// TestACutThatFoundNoSpaceIsTriedAgain: until then the log takes no append, but what was written is synced and retention makes
// the space that is missing; then the log goes on.
func TestACutThatFoundNoSpaceIsTriedAgain(t *testing.T) {
	f := vfs.NewFaulty(newMemDir(t))
	l := mustCreate(t, f, testParams())
	appendBytes(t, l, 1)
	l.RequestRoll()
	must(t, runJobs(l))
	l.Roll(nil)
	must(t, runJobs(l))
	must(t, appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 100)))
	if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 1000)); r != Staged {
		t.Fatal(r)
	}
	w := l.TakeWrite()
	_, err := w.File.WritevAt([][]byte{w.Iov[0][:500]}, w.Off)
	must(t, err)
	f.FailNth(vfs.OpTruncate, "", 1, syscall.ENOSPC)
	if l.WriteDone(w, 500, syscall.ENOSPC) {
		t.Fatal("a failed write was taken")
	}
	if err := runJobs(l); !IsNoSpace(err) {
		t.Fatalf("%v, want no space", err)
	}
	if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 10)); r != StageBusy {
		t.Fatalf("%v before the cut", r)
	}
	must(t, syncLog(l))
	if l.SyncedEnd() != 2 {
		t.Fatalf("synced to %d", l.SyncedEnd())
	}
	o := l.Options()
	o.RetentionBytes, o.DeleteByRetention = 50, true
	l.SetOptions(o)
	if r := l.Retention(l.nowMs, l.WrittenEnd()); r.BySize != 1 {
		t.Fatalf("%+v", r)
	}
	must(t, runJobs(l))
	l.Tick(l.nowMs)
	must(t, runJobs(l))
	must(t, appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 100)))
	must(t, l.Close(nil))
}
