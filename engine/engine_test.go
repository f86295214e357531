package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"millrace/segment/batch"
	"millrace/vfs"
)

// eachFS runs a test in memory and on real files.
func eachFS(t *testing.T, test func(t *testing.T, o Options)) {
	t.Run("mem", func(t *testing.T) { test(t, testOptions(vfs.NewMem())) })
	t.Run("os", func(t *testing.T) {
		o := testOptions(nil)
		o.Dirs = []string{t.TempDir()}
		test(t, o)
	})
}

func TestAppendAndRead(t *testing.T) {
	eachFS(t, func(t *testing.T, o Options) {
		e, _ := start(t, o)
		p := ensure(t, e, "a", 0)
		if r := mustAppend(t, p, NeedWritten, mkBatch("x", "y")); r.BaseOffset != 0 || r.LastOffset != 1 {
			t.Fatalf("offsets %+v", r)
		}
		if r := mustAppend(t, p, NeedCommitted, mkBatch("z")); r.BaseOffset != 2 {
			t.Fatalf("offsets %+v", r)
		}
		if s := e.Stats(); s.Appends != 2 || s.AppendBytes != int64(len(mkBatch("x", "y"))+len(mkBatch("z"))) || s.Writes != 2 {
			t.Errorf("counted %d batches, %d bytes, %d writes", s.Appends, s.AppendBytes, s.Writes)
		}
		b := p.Bounds()
		if b.Written != 3 || b.Committed != 3 || b.Synced != 3 || b.Stable != 3 || b.LogStart != 0 || b.LeaderEpoch != 0 {
			t.Fatalf("bounds %+v", b)
		}
		if got := valuesOf(readAll(t, p, ReadCommitted)); got != "x y z" {
			t.Fatalf("read %q", got)
		}
		if _, err := p.Read(4, 100, ReadUncommitted); !errors.Is(err, ErrOutOfRange) {
			t.Fatalf("read beyond the end: %v", err)
		}
		if got, err := p.Read(3, 100, ReadUncommitted); err != nil || got != nil {
			t.Fatalf("read at the end: %d bytes, %v", len(got), err)
		}
		stop(t, e)
		if _, err := p.AppendWait(ctxOf(t), mkBatch("late"), NeedWritten); !errors.Is(err, ErrClosed) {
			t.Fatalf("append after Close: %v", err)
		}
	})
}

func TestRestartAfterCleanStop(t *testing.T) {
	eachFS(t, func(t *testing.T, o Options) {
		e, _ := start(t, o)
		for i := range 20 {
			p := ensure(t, e, "topic", int32(i))
			for j := range 5 {
				mustAppend(t, p, NeedWritten, idBatch(int64(i), 0, int32(j), fmt.Sprint(i, "/", j)))
			}
		}
		cluster := e.ClusterID()
		stop(t, e)
		e, r := start(t, o)
		if r.Partitions != 20 || r.ScannedBytes != 0 || r.CutBytes != 0 || len(r.Failed)+len(r.Damage) > 0 {
			t.Fatalf("report %+v", r)
		}
		if e.ClusterID() != cluster || cluster == "" {
			t.Fatalf("cluster id %q became %q", cluster, e.ClusterID())
		}
		for i := range 20 {
			p := e.Lookup("topic", int32(i))
			if _, err := p.AppendWait(ctxOf(t), mkBatch("no"), NeedWritten); !errors.Is(err, ErrNotLeader) {
				t.Fatalf("append before SetLeader: %v", err)
			}
			ensure(t, e, "topic", int32(i))
			if b := p.Bounds(); b.Committed != 5 || b.Synced != 5 || b.LeaderEpoch != 1 {
				t.Fatalf("bounds %+v", b)
			}
			for j := range int32(5) { // the whole window survives
				r := mustAppend(t, p, NeedCommitted, idBatch(int64(i), 0, j, fmt.Sprint(i, "/", j)))
				if !r.Duplicate || r.BaseOffset != int64(j) {
					t.Fatalf("resend: %+v", r)
				}
			}
			mustAppend(t, p, NeedCommitted, idBatch(int64(i), 0, 5, "new"))
			rs := readAll(t, p, ReadUncommitted)
			if len(rs) != 6 || rs[4].epoch != 0 || rs[5].epoch != 1 {
				t.Fatalf("records %+v", rs)
			}
		}
	})
}

// TestIdlePartitionsStopCheaply: a clean stop writes nothing for partitions that did not change, and the next start still
// scans nothing.
func TestIdlePartitionsStopCheaply(t *testing.T) {
	m := vfs.NewMem()
	e, _ := start(t, testOptions(m))
	for i := range 30 {
		p := ensure(t, e, "a", int32(i))
		if i%2 == 0 {
			mustAppend(t, p, NeedWritten, idBatch(1, 0, 0, "x"))
		}
	}
	stop(t, e)
	for range 2 {
		e, r := start(t, testOptions(m))
		if r.Partitions != 30 || r.ScannedBytes != 0 || len(r.Notes)+len(r.Failed) > 0 {
			t.Fatalf("report %+v", r)
		}
		for i := range 30 {
			ensure(t, e, "a", int32(i))
		}
		before := m.Changes()
		stop(t, e)
		if n := m.Changes() - before; n > 20 {
			t.Fatalf("%d changing calls for an idle stop", n)
		}
	}
	e, r := start(t, testOptions(m.Image(0)))
	if r.ScannedBytes != 0 {
		t.Fatalf("report %+v", r)
	}
	for i := range 30 {
		p := ensure(t, e, "a", int32(i))
		if r := mustAppend(t, p, NeedCommitted, idBatch(1, 0, 0, "x")); r.Duplicate != (i%2 == 0) || r.BaseOffset != 0 {
			t.Fatalf("%s: %+v", p, r)
		}
	}
}

func TestRestartAfterKill(t *testing.T) {
	m := vfs.NewMem()
	e, _ := start(t, testOptions(m))
	p := ensure(t, e, "a", 0)
	for i := range 10 {
		mustAppend(t, p, NeedWritten, idBatch(1, 0, int32(i), fmt.Sprint(i)))
	}
	e2, r := start(t, testOptions(m.Clone()))
	if r.Partitions != 1 || r.CutBytes != 0 || r.ScannedBytes == 0 {
		t.Fatalf("report %+v", r)
	}
	q := ensure(t, e2, "a", 0)
	if got := valuesOf(readAll(t, q, ReadUncommitted)); got != "0 1 2 3 4 5 6 7 8 9" {
		t.Fatalf("read %q", got)
	}
	if r := mustAppend(t, q, NeedCommitted, idBatch(1, 0, 9, "9")); !r.Duplicate || r.BaseOffset != 9 {
		t.Fatalf("resend: %+v", r)
	}
	mustAppend(t, q, NeedCommitted, idBatch(1, 0, 10, "10"))
}

// A log whose recovery replayed nothing has no snapshot that tells its producer state; the stop after it must write one,
// though no producer ever wrote there, or every start scans the log again.
func TestCleanStopAfterRecoveryEndsTheScanning(t *testing.T) {
	m := vfs.NewMem()
	e, _ := start(t, testOptions(m))
	ensure(t, e, "a", 0)
	killed := m.Clone()
	for round := range 3 {
		e, r := start(t, testOptions(killed))
		if round > 0 && (r.Unclean != 0 || r.ScannedBytes != 0) {
			t.Fatalf("start %d after a clean stop scanned %d bytes of %d partitions", round, r.ScannedBytes, r.Unclean)
		}
		mustAppend(t, ensure(t, e, "a", 0), NeedWritten, mkBatch("x"))
		stop(t, e)
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	o := testOptions(nil)
	o.Dirs = []string{t.TempDir()}
	start(t, o)
	if _, err := Open(o); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("second open: %v", err)
	}
}

func TestForeignDirectoryIsRefused(t *testing.T) {
	m := vfs.NewMem()
	o := testOptions(m)
	o.ClusterID, o.NodeID = "abc", 3
	e, _ := start(t, o)
	stop(t, e)
	other := o
	other.ClusterID = "xyz"
	if _, err := Open(other); !errors.Is(err, ErrIdentity) {
		t.Fatalf("other cluster: %v", err)
	}
	other = o
	other.NodeID = 4
	if _, err := Open(other); !errors.Is(err, ErrIdentity) {
		t.Fatalf("other node: %v", err)
	}
}

func TestAppendRefusals(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p, err := call(t, func(done func(*Partition, error)) {
		c := *DefaultConfig()
		c.SegmentBytes = 1000
		e.Create(PartitionSpec{Topic: "a", TopicID: hexID("a"), Config: &c}, done)
	})
	if err != nil {
		t.Fatal(err)
	}
	lead := func(epoch int32) error {
		_, err := call(t, func(done func(int, error)) { p.SetLeader(epoch, func(err error) { done(0, err) }) })
		return err
	}
	if err := push(p, mkBatch("x"), NeedWritten, -1).wait(t); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("before SetLeader: %v", err)
	}
	if err := lead(5); err != nil {
		t.Fatal(err)
	}
	if err := lead(4); !errors.Is(err, ErrFenced) {
		t.Fatalf("a falling epoch: %v", err)
	}
	for epoch, want := range map[int32]error{4: ErrFenced, 6: ErrUnknownEpoch, 5: nil, -1: nil} {
		if err := push(p, mkBatch("x"), NeedWritten, epoch).wait(t); !errors.Is(err, want) {
			t.Fatalf("epoch %d: %v, want %v", epoch, err, want)
		}
	}
	if err := push(p, mkBatch(string(make([]byte, 2000))), NeedWritten, -1).wait(t); !errors.Is(err, ErrBatchTooLarge) {
		t.Fatalf("too large: %v", err)
	}
	if err := push(p, mkBatch("x")[:40], NeedWritten, -1).wait(t); !errors.Is(err, ErrInvalidBatch) {
		t.Fatalf("cut batch: %v", err)
	}
	if err := lead(NoEpoch); err != nil {
		t.Fatal(err)
	}
	if err := push(p, mkBatch("x"), NeedWritten, -1).wait(t); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("after giving up leadership: %v", err)
	}
	if n := len(readAll(t, p, ReadUncommitted)); n != 2 {
		t.Fatalf("%d records, want the 2 that were accepted", n)
	}
}

func TestCreateTwiceAndDelete(t *testing.T) {
	eachFS(t, func(t *testing.T, o Options) {
		c := *DefaultConfig()
		c.FileDeleteDelayMs = 1
		o.Config = &c
		e, _ := start(t, o)
		create := func(id string) (*Partition, error) {
			return call(t, func(done func(*Partition, error)) {
				e.Create(PartitionSpec{Topic: "a", TopicID: hexID(id)}, done)
			})
		}
		p, err := create("one")
		if err != nil {
			t.Fatal(err)
		}
		if q, err := create("one"); q != p || !errors.Is(err, ErrExists) {
			t.Fatalf("again: %v %v", q, err)
		}
		if _, err := create("two"); !errors.Is(err, ErrTopicID) {
			t.Fatalf("other id: %v", err)
		}
		for _, name := range []string{"", ".", "..", "a/b", "a\x00", "ä"} {
			if _, err := call(t, func(done func(*Partition, error)) { e.Create(PartitionSpec{Topic: name}, done) }); !errors.Is(err, ErrName) {
				t.Fatalf("name %q: %v", name, err)
			}
		}
		call(t, func(done func(int, error)) { p.SetLeader(1, func(err error) { done(0, err) }) })
		mustAppend(t, p, NeedCommitted, mkBatch("x"))
		poll := parkAtEnd(p)
		if _, err := call(t, func(done func(int, error)) { e.Delete(p, func(err error) { done(0, err) }) }); err != nil {
			t.Fatalf("delete: %v", err)
		}
		if r := poll.wait(t); r != WakeGone {
			t.Fatalf("waiter woken for reason %d", r)
		}
		if _, err := p.AppendWait(ctxOf(t), mkBatch("y"), NeedWritten); !errors.Is(err, ErrDeleted) {
			t.Fatalf("append to a deleted partition: %v", err)
		}
		if _, err := p.Read(0, 100, ReadUncommitted); !errors.Is(err, ErrDeleted) {
			t.Fatalf("read of a deleted partition: %v", err)
		}
		if e.Lookup("a", 0) != nil {
			t.Fatal("still there")
		}
		q, err := create("two") // the name is free at once
		if err != nil || q.Bounds().Written != 0 {
			t.Fatalf("again after delete: %v", err)
		}
		eventually(t, "the files go", func() bool {
			list, err := e.fs.List(o.Dirs[0])
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for _, x := range list {
				if x.IsDir() {
					n++
				}
			}
			return n == 1
		})
		stop(t, e)
	})
}

func parkAtEnd(p *Partition) *poll { return park(p, ReadUncommitted, p.Bounds(), 1) }

func TestOwnersAreSpread(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.LoopCount = 3
	o.Dirs = []string{"/d1", "/d2"}
	e, _ := start(t, o)
	for i := range 30 {
		ensure(t, e, "t", int32(i))
	}
	loops, dirs := map[int]int{}, map[string]int{}
	for _, p := range e.Partitions() {
		loops[p.Owner().Index()]++
		dirs[p.LogDir()]++
	}
	for i := range 3 {
		if loops[i] != 10 {
			t.Fatalf("partitions per loop: %v", loops)
		}
	}
	if dirs["/d1"] != 15 || dirs["/d2"] != 15 {
		t.Fatalf("partitions per directory: %v", dirs)
	}
	stop(t, e)
	e, r := start(t, o)
	if r.Partitions != 30 || len(e.Partitions()) != 30 {
		t.Fatalf("after restart: %+v", r)
	}
}

func TestRollsKeepEverything(t *testing.T) {
	eachFS(t, func(t *testing.T, o Options) {
		c := *DefaultConfig()
		c.SegmentBytes = 2000
		o.Config = &c
		e, _ := start(t, o)
		p := ensure(t, e, "a", 0)
		var waits []*pushed
		for i := range 400 {
			need := NeedWritten
			if i%3 == 0 {
				need = NeedCommitted
			}
			waits = append(waits, push(p, idBatch(1, 0, int32(i), fmt.Sprint(i)), need, -1))
		}
		for i, a := range waits {
			if err := a.wait(t); err != nil || a.BaseOffset != int64(i) {
				t.Fatalf("append %d: offset %d, %v", i, a.BaseOffset, err)
			}
		}
		rs := readAll(t, p, ReadUncommitted)
		if len(rs) != 400 {
			t.Fatalf("%d records", len(rs))
		}
		for i, r := range rs {
			if r.value != fmt.Sprint(i) {
				t.Fatalf("record %d is %q", i, r.value)
			}
		}
		if e.Stats().Rolls < 10 {
			t.Fatalf("only %d rolls", e.Stats().Rolls)
		}
		stop(t, e)
		e, r := start(t, o)
		if r.ScannedBytes != 0 {
			t.Fatalf("scanned after a clean stop: %+v", r)
		}
		p = ensure(t, e, "a", 0)
		if n := len(readAll(t, p, ReadUncommitted)); n != 400 {
			t.Fatalf("%d records after restart", n)
		}
		mustAppend(t, p, NeedCommitted, idBatch(1, 0, 400, "more"))
	})
}

func TestDeleteRecords(t *testing.T) {
	eachFS(t, func(t *testing.T, o Options) {
		c := *DefaultConfig()
		c.SegmentBytes = 1000
		o.Config = &c
		e, _ := start(t, o)
		p := ensure(t, e, "a", 0)
		for i := range 50 {
			mustAppend(t, p, NeedWritten, mkBatch(fmt.Sprint(i)))
		}
		del := func(offset int64) (int64, error) {
			return call(t, func(done func(int64, error)) { p.DeleteRecords(offset, done) })
		}
		if _, err := del(51); !errors.Is(err, ErrOutOfRange) {
			t.Fatalf("beyond the end: %v", err)
		}
		if _, err := del(-2); !errors.Is(err, ErrOutOfRange) {
			t.Fatalf("negative: %v", err)
		}
		poll := parkAtEnd(p)
		if at, err := del(33); err != nil || at != 33 {
			t.Fatalf("delete: %d, %v", at, err)
		}
		if r := poll.wait(t); r != WakeChanged {
			t.Fatalf("waiter woken for reason %d", r)
		}
		if at, err := del(20); err != nil || at != 33 {
			t.Fatalf("delete of what is gone: %d, %v", at, err)
		}
		if _, err := p.Read(32, 100, ReadUncommitted); !errors.Is(err, ErrOutOfRange) {
			t.Fatalf("read below the start: %v", err)
		}
		if rs := readAll(t, p, ReadUncommitted); rs[0].value != "33" || len(rs) != 17 {
			t.Fatalf("first %+v of %d", rs[0], len(rs))
		}
		stop(t, e)
		e, _ = start(t, o)
		p = ensure(t, e, "a", 0)
		if b := p.Bounds(); b.LogStart != 33 || b.Committed != 50 {
			t.Fatalf("after restart: %+v", b)
		}
		if at, err := call(t, func(done func(int64, error)) { p.DeleteRecords(-1, done) }); err != nil || at != 50 {
			t.Fatalf("delete all: %d, %v", at, err)
		}
		if r := mustAppend(t, p, NeedCommitted, mkBatch("next")); r.BaseOffset != 50 {
			t.Fatalf("offset %d, want 50", r.BaseOffset)
		}
	})
}

func TestRetentionBySize(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.RetentionCheckMs = 5
	c := *DefaultConfig()
	c.SegmentBytes, c.RetentionBytes = 1000, 3000
	o.Config = &c
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	for i := range 200 {
		mustAppend(t, p, NeedWritten, mkBatch(fmt.Sprint(i)))
	}
	eventually(t, "retention gives segments up", func() bool { return p.Bounds().LogStart > 100 })
	eventually(t, "the size is near 3000", func() bool { return p.Size() >= 3000 && p.Size() < 4200 })
	rs := readAll(t, p, ReadUncommitted)
	if rs[len(rs)-1].value != "199" {
		t.Fatalf("last record %+v", rs[len(rs)-1])
	}
	if n := e.Stats().Deleted; n == 0 {
		t.Fatal("no deleted segment counted")
	}
}

func TestRetentionByTime(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.RetentionCheckMs = 5
	c := *DefaultConfig()
	c.SegmentBytes, c.RetentionMs = 1000, 3_600_000
	o.Config = &c
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	old := time.Now().Add(-2 * time.Hour).UnixMilli()
	for i := range 50 {
		var b batch.Builder
		b.Reset(nil, 0, 0)
		b.Add(old, nil, []byte(fmt.Sprint(i)))
		mustAppend(t, p, NeedWritten, b.Finish())
	}
	eventually(t, "all is given up, the active segment too", func() bool {
		b := p.Bounds()
		return b.LogStart == 50
	})
	if r := mustAppend(t, p, NeedCommitted, mkBatch("now")); r.BaseOffset != 50 {
		t.Fatalf("offset %d", r.BaseOffset)
	}
	time.Sleep(30 * time.Millisecond)
	if b := p.Bounds(); b.LogStart != 50 || b.Committed != 51 {
		t.Fatalf("bounds %+v", b)
	}
}

func TestConfigIsLive(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p := ensure(t, e, "a", 0)
	for range 10 {
		mustAppend(t, p, NeedWritten, mkBatch("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))
	}
	c := *DefaultConfig()
	c.SegmentBytes = 300
	p.SetConfig(&c)
	for range 10 {
		mustAppend(t, p, NeedWritten, mkBatch("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"))
	}
	if n := e.Stats().Rolls; n < 4 {
		t.Fatalf("%d rolls after segment.bytes was lowered", n)
	}
}

func TestCloseGivesUpInTime(t *testing.T) {
	f := vfs.NewFaulty(vfs.NewMem())
	o := testOptions(f)
	o.Commit = CommitExternal // nobody will commit
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	a := push(p, mkBatch("x"), NeedCommitted, -1)
	eventually(t, "written", func() bool { return p.Bounds().Written == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := e.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("close: %v", err)
	}
	if err := a.wait(t); !errors.Is(err, ErrClosed) {
		t.Fatalf("append at the end: %v", err)
	}
}

func TestExternalCommit(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.Commit = CommitExternal
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	commit := func(to int64) {
		call(t, func(done func(int, error)) { p.post(func() { p.SetCommitted(to); done(0, nil) }) })
	}
	a := push(p, mkBatch("x", "y"), NeedCommitted, -1)
	b := push(p, mkBatch("z"), NeedCommitted, -1)
	c := push(p, mkBatch("w"), NeedWritten, -1)
	if err := c.wait(t); err != nil {
		t.Fatal(err)
	}
	if a.isDone() || b.isDone() || p.Bounds().Committed != 0 {
		t.Fatal("committed by itself")
	}
	eventually(t, "synced for those who wait", func() bool { return p.Bounds().Synced >= 3 })
	commit(2)
	if err := a.wait(t); err != nil || b.isDone() {
		t.Fatalf("first: %v, second done: %v", err, b.isDone())
	}
	commit(1) // never back
	if got := p.Bounds().Committed; got != 2 {
		t.Fatalf("committed %d", got)
	}
	commit(99) // as far as written
	if err := b.wait(t); err != nil || p.Bounds().Committed != 4 {
		t.Fatalf("second: %v, bounds %+v", err, p.Bounds())
	}
	stop(t, e)
}

func TestRealFilesAreKafkas(t *testing.T) {
	o := testOptions(nil)
	o.Dirs = []string{t.TempDir()}
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	mustAppend(t, p, NeedCommitted, mkBatch("x"))
	stop(t, e)
	for _, name := range []string{"meta.properties", "recovery-point-offset-checkpoint", "log-start-offset-checkpoint",
		".kafka_cleanshutdown", ".lock", "a-0/00000000000000000000.log", "a-0/partition.metadata", "a-0/leader-epoch-checkpoint"} {
		if _, err := os.Stat(o.Dirs[0] + "/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
