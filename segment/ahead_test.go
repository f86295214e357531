package segment

import (
	"errors"
	"path/filepath"
	"testing"

	"millrace/vfs"
)

// aheadParams are those of a log that takes a round of 4 kB for much.
func aheadParams() Params {
	p := testParams()
	p.Options.SegmentBytes, p.Options.AheadMax = 1<<20, 256<<10
	return p
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

func logFile(base int64) string { return fileName(testDir, base, suffixLog) }

func TestBlocksAreAllocatedAheadWhileMuchIsWritten(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, aheadParams())
	appendBytes(t, l, 3)
	if n := beyond(t, m, logFile(0)); n != 0 {
		t.Fatalf("%d bytes allocated ahead before it is known how much is written", n)
	}
	must(t, syncLog(l)) // a round of 30 kB
	appendBytes(t, l, 1)
	if n := beyond(t, m, logFile(0)); n < 100_000 || n > 130_000 {
		t.Fatalf("%d bytes allocated ahead, want those of four rounds", n)
	}
	calls := 0
	m.OnCall(func(c vfs.Call) {
		if c.Op == vfs.OpAllocate {
			calls++
		}
	})
	appendBytes(t, l, 40)
	if n := beyond(t, m, logFile(0)); n < 50_000 || calls > 8 {
		t.Fatalf("%d bytes allocated ahead by %d calls", n, calls)
	}
	must(t, syncLog(l)) // 400 kB: the bound counts
	appendBytes(t, l, 1)
	if n := beyond(t, m, logFile(0)); n < 200_000 || n > 256<<10 {
		t.Fatalf("%d bytes allocated ahead, want at most AheadMax", n)
	}
	must(t, syncLog(l)) // 10 kB
	must(t, appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 10)))
	must(t, syncLog(l)) // 80 bytes
	calls = 0
	for range 100 {
		must(t, appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 3000)))
	}
	if calls > 0 {
		t.Fatalf("%d allocations after a small round", calls)
	}
}

func TestUnusedBlocksAreGivenBack(t *testing.T) {
	setup := func(t *testing.T) (*vfs.Mem, *Log) {
		m := newMemDir(t)
		l := mustCreate(t, m, aheadParams())
		appendBytes(t, l, 10)
		must(t, syncLog(l))
		appendBytes(t, l, 1)
		if beyond(t, m, logFile(0)) == 0 {
			t.Fatal("nothing was allocated ahead")
		}
		return m, l
	}
	none := func(t *testing.T, fsys vfs.FS, name, when string) {
		t.Helper()
		if n := beyond(t, fsys, name); n != 0 {
			t.Fatalf("%d bytes are still allocated behind the end of %s %s", n, filepath.Base(name), when)
		}
	}
	t.Run("roll", func(t *testing.T) {
		m, l := setup(t)
		l.RequestRoll()
		must(t, runJobs(l))
		l.Roll(nil)
		must(t, runJobs(l))
		none(t, m, logFile(0), "after it was sealed")
		if beyond(t, m, logFile(l.ActiveBase())) == 0 {
			t.Fatal("the new segment starts without blocks")
		}
	})
	t.Run("roll before the allocation", func(t *testing.T) {
		m, l := setup(t)
		for range 30 {
			if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 10_000)); r != Staged {
				t.Fatal(r)
			}
		}
		must(t, flush(l))
		ahead := l.TakeJob()
		if ahead == nil || ahead.Kind != JobAhead {
			t.Fatalf("%+v, want an allocation", ahead)
		}
		l.RequestRoll()
		must(t, runJobs(l)) // the other lane
		l.Roll(nil)
		ahead.Run()
		l.JobDone(ahead)
		must(t, runJobs(l))
		none(t, m, logFile(0), "after it was sealed")
	})
	t.Run("close", func(t *testing.T) {
		m, l := setup(t)
		must(t, l.Close(nil))
		none(t, m, logFile(0), "after a clean stop")
	})
	t.Run("close with others", func(t *testing.T) {
		m, l := setup(t)
		c, err := l.BeginClose(nil)
		must(t, err)
		for more := true; more; {
			must(t, m.SyncFS("/d"))
			more, err = c.Step()
			must(t, err)
		}
		must(t, c.End())
		none(t, m, logFile(0), "after a clean stop")
	})
	t.Run("idle", func(t *testing.T) {
		m, l := setup(t)
		l.Tick(l.nowMs + aheadIdleMs - 1)
		must(t, runJobs(l))
		if beyond(t, m, logFile(0)) == 0 {
			t.Fatal("given back too early")
		}
		l.Tick(l.nowMs + aheadIdleMs)
		if r := l.Stage(testBatch(l.End(), 0, 1, 1000, 10)); r != StageBusy {
			t.Fatalf("an append while the file is cut to its size: %v", r)
		}
		must(t, runJobs(l))
		none(t, m, logFile(0), "after a minute without appends")
		appendBytes(t, l, 3)
		must(t, l.Close(nil))
	})
	t.Run("kill", func(t *testing.T) {
		m, l := setup(t)
		m = m.Clone()
		l, _, err := Open(m, func() Params { p := aheadParams(); p.NowMs = l.nowMs; return p }())
		must(t, err)
		if beyond(t, m, logFile(0)) == 0 {
			t.Fatal("a killed process left no blocks")
		}
		must(t, l.Close(nil))
		none(t, m, logFile(0), "after a start and a clean stop")
	})
	t.Run("failed write", func(t *testing.T) {
		m, l := setup(t)
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
		none(t, m, logFile(0), "after a cut")
		appendBytes(t, l, 1)
		if beyond(t, m, logFile(0)) == 0 {
			t.Fatal("no blocks ahead after a cut")
		}
	})
}

// TestAFullDiskTakesWhatFits: where nothing can be allocated ahead the appends go on, up to the last block.
func TestAFullDiskTakesWhatFits(t *testing.T) {
	m := newMemDir(t)
	l := mustCreate(t, m, aheadParams())
	appendBytes(t, l, 10)
	must(t, syncLog(l))
	total, free, err := m.Usage("/d")
	must(t, err)
	m.SetCapacity(total - free + 60_000)
	appendBytes(t, l, 5)
	if l.End() != 15 {
		t.Fatalf("end %d", l.End())
	}
	if err := appendAll(l, nil, testBatch(l.End(), 0, 1, 1000, 10_000)); !IsNoSpace(err) {
		t.Fatalf("%v, want a full disk", err)
	}
}

// TestPreallocate: preallocate=true has the blocks of a whole segment from its first batch on, after a restart too, and
// keeps them while nothing comes.
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
	appendBytes(t, l, 1)
	whole(0)
	l.Tick(l.nowMs + 2*aheadIdleMs)
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
	l, _, err := Open(m, p)
	must(t, err)
	appendBytes(t, l, 1)
	whole(1)
	must(t, l.Close(nil))
}
