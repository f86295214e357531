package engine

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"millrace/vfs"
)

func faultyEngine(t *testing.T, mod func(*Options)) (*vfs.Faulty, *Engine, Options) {
	t.Helper()
	f := vfs.NewFaulty(vfs.NewMem())
	o := testOptions(f)
	if mod != nil {
		mod(&o)
	}
	e, _ := start(t, o)
	return f, e, o
}

func TestNoSpaceIsRefusedAndServiceResumes(t *testing.T) {
	var full atomic.Bool
	f, e, o := faultyEngine(t, nil)
	p := ensure(t, e, "a", 0)
	q := ensure(t, e, "b", 0)
	mustAppend(t, p, NeedCommitted, idBatch(1, 0, 0, "0"))
	f.Rule(func(c vfs.Call) vfs.Fault {
		if full.Load() && (c.Op == vfs.OpWritevAt || c.Op == vfs.OpWriteAt) {
			return vfs.Fault{Err: syscall.ENOSPC, Short: 30} // part of a batch gets there
		}
		return vfs.Fault{}
	})
	full.Store(true)
	a := push(p, idBatch(1, 0, 1, "1"), NeedCommitted, -1)
	b := push(p, idBatch(1, 0, 2, "2"), NeedWritten, -1)
	if err := a.wait(t); !errors.Is(err, ErrStorageFull) {
		t.Fatalf("full disk: %v", err)
	}
	if err := b.wait(t); !errors.Is(err, ErrStorageFull) {
		t.Fatalf("behind it: %v", err)
	}
	if _, err := p.AppendWait(ctxOf(t), idBatch(1, 0, 1, "1"), NeedWritten); !errors.Is(err, ErrStorageFull) {
		t.Fatalf("while full: %v", err)
	}
	if got := valuesOf(readAll(t, p, ReadUncommitted)); got != "0" { // reads go on
		t.Fatalf("read %q", got)
	}
	if e.Stats().StorageFull != 1 || q.Err() != nil || p.Err() != nil {
		t.Fatalf("stats %+v, errors %v %v", e.Stats(), p.Err(), q.Err())
	}
	full.Store(false)
	eventually(t, "service resumes", func() bool { return e.Stats().StorageFull == 0 })
	for i := int32(1); i < 4; i++ { // the producer's state was undone: 1 is next
		if r := mustAppend(t, p, NeedCommitted, idBatch(1, 0, i, fmt.Sprint(i))); r.Duplicate || r.BaseOffset != int64(i) {
			t.Fatalf("after: %+v", r)
		}
	}
	mustAppend(t, q, NeedCommitted, mkBatch("q"))
	if got := valuesOf(readAll(t, p, ReadUncommitted)); got != "0 1 2 3" {
		t.Fatalf("read %q", got)
	}
	stop(t, e)
	o.FS = f.Inner()
	e, _ = start(t, o)
	if got := valuesOf(readAll(t, ensure(t, e, "a", 0), ReadUncommitted)); got != "0 1 2 3" {
		t.Fatalf("after restart: %q", got)
	}
}

func TestNoSpaceForTheNextSegment(t *testing.T) {
	var full atomic.Bool
	f, e, _ := faultyEngine(t, func(o *Options) {
		c := *DefaultConfig()
		c.SegmentBytes = 1000
		o.Config = &c
	})
	p := ensure(t, e, "a", 0)
	f.Rule(func(c vfs.Call) vfs.Fault {
		if full.Load() && c.Op == vfs.OpCreate {
			return vfs.Fault{Err: syscall.ENOSPC}
		}
		return vfs.Fault{}
	})
	full.Store(true)
	seq := int32(0)
	var err error
	for range 100 {
		if _, err = p.AppendWait(ctxOf(t), idBatch(1, 0, seq, "some value that fills the segment"), NeedCommitted); err != nil {
			break
		}
		seq++
	}
	if !errors.Is(err, ErrStorageFull) {
		t.Fatalf("after %d appends: %v", seq, err)
	}
	full.Store(false)
	eventually(t, "service resumes", func() bool {
		_, err := p.AppendWait(ctxOf(t), idBatch(1, 0, seq, "x"), NeedCommitted)
		return err == nil
	})
	if n := len(readAll(t, p, ReadUncommitted)); n != int(seq)+1 {
		t.Fatalf("%d records, want %d", n, seq+1)
	}
}

func TestFailedWriteKillsTheDirectory(t *testing.T) {
	dead := make(chan string, 1)
	f, e, o := faultyEngine(t, func(o *Options) {
		o.Dirs = []string{"/d1", "/d2"}
		o.DirFailed = func(dir string, err error) { dead <- dir }
	})
	p, q := ensure(t, e, "a", 0), ensure(t, e, "b", 0)
	mustAppend(t, p, NeedCommitted, mkBatch("0"))
	mustAppend(t, q, NeedCommitted, mkBatch("0"))
	w := park(p, ReadUncommitted, p.Bounds(), 1)
	f.FailNth(vfs.OpWritevAt, p.path, 1, syscall.EIO)
	if _, err := p.AppendWait(ctxOf(t), mkBatch("1"), NeedWritten); !errors.Is(err, ErrOffline) {
		t.Fatalf("failed write: %v", err)
	}
	if got := <-dead; got != p.LogDir() {
		t.Fatalf("dead directory %q, want %q", got, p.LogDir())
	}
	if r := w.wait(t); r != WakeGone {
		t.Fatalf("waiter woken for reason %d", r)
	}
	if _, err := p.Read(0, 100, ReadUncommitted); !errors.Is(err, ErrOffline) {
		t.Fatalf("read: %v", err)
	}
	mustAppend(t, q, NeedCommitted, mkBatch("1")) // the other directory lives
	r := ensure(t, e, "c", 0)
	if r.LogDir() != q.LogDir() {
		t.Fatalf("a new partition in the dead directory")
	}
	stop(t, e)
	o.FS, o.DirFailed = f.Inner(), nil
	e, rep := start(t, o)
	if len(rep.Failed) > 0 || rep.Partitions != 3 {
		t.Fatalf("report %+v", rep)
	}
	if got := valuesOf(readAll(t, ensure(t, e, "a", 0), ReadUncommitted)); got != "0" && got != "0 1" {
		t.Fatalf("after restart %q", got)
	}
	mustAppend(t, ensure(t, e, "a", 0), NeedCommitted, mkBatch("2"))
}

// TestFailedSyncIsNeverAcknowledged: the datasync of an acks=all append fails and the cache goes on showing bytes that the
// disk never got; the next start must not trust it.
func TestFailedSyncIsNeverAcknowledged(t *testing.T) {
	m := vfs.NewMem()
	f := vfs.NewFaulty(m)
	o := testOptions(f)
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	mustAppend(t, p, NeedCommitted, idBatch(1, 0, 0, "0"))
	f.FailNth(vfs.OpDatasync, ".log", 1, syscall.EIO)
	if _, err := p.AppendWait(ctxOf(t), idBatch(1, 0, 1, "1"), NeedCommitted); !errors.Is(err, ErrOffline) {
		t.Fatalf("failed sync: %v", err)
	}
	for range 3 { // and never again, though the next sync would succeed
		if _, err := p.AppendWait(ctxOf(t), idBatch(1, 0, 1, "1"), NeedCommitted); !errors.Is(err, ErrOffline) {
			t.Fatalf("after a failed sync: %v", err)
		}
	}
	abort(e)
	if _, ok := mustStat(m, "/.data.millrace-failed"); !ok {
		t.Fatal("no mark beside the directory")
	}
	if err := m.LosePending(p.path + "/00000000000000000000.log"); err != nil {
		t.Fatal(err)
	}
	o.FS = m.Clone() // the machine did not restart: the cache still shows what was lost
	e, r := start(t, o)
	if len(r.Failed) > 0 {
		t.Fatalf("report %+v", r)
	}
	q := ensure(t, e, "a", 0)
	if got := valuesOf(readAll(t, q, ReadUncommitted)); got != "0" {
		t.Fatalf("read %q: bytes that the disk does not have", got)
	}
	if r := mustAppend(t, q, NeedCommitted, idBatch(1, 0, 1, "1")); r.Duplicate || r.BaseOffset != 1 {
		t.Fatalf("resend: %+v", r)
	}
	if _, ok := mustStat(o.FS, "/.data.millrace-failed"); ok {
		t.Fatal("the mark is still there")
	}
	stop(t, e)
	o.FS = o.FS.(*vfs.Mem).Image(0)
	e, _ = start(t, o)
	if got := valuesOf(readAll(t, ensure(t, e, "a", 0), ReadUncommitted)); got != "0 1" {
		t.Fatalf("read %q after a power cut", got)
	}
}

func mustStat(fs vfs.FS, name string) (any, bool) {
	i, err := fs.Stat(name)
	return i, err == nil
}

func TestSlowDiskIsReportedNotWaitedFor(t *testing.T) {
	f := vfs.NewFaulty(vfs.NewMem())
	o := testOptions(f)
	o.UnsyncedAgeMaxMs = 5
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	f.Rule(delay(vfs.OpDatasync, 60*time.Millisecond))
	for range 200 {
		mustAppend(t, p, NeedWritten, mkBatch("x"))
	}
	eventually(t, "slow syncs are counted", func() bool { return e.Stats().SlowSyncs > 0 })
}
