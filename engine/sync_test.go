package engine

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"millrace/vfs"
)

// slowDisk is a file system in memory whose datasync takes a while, and counters of its calls.
func slowDisk(d time.Duration) (*vfs.Faulty, *counter, *counter) {
	f := vfs.NewFaulty(vfs.NewMem())
	syncs, groups := &counter{op: vfs.OpDatasync}, &counter{op: vfs.OpSyncFS}
	f.Rule(syncs.rule)
	f.Rule(groups.rule)
	f.Rule(delay(vfs.OpDatasync, d))
	f.Rule(delay(vfs.OpSyncFS, d))
	return f, syncs, groups
}

func TestGroupCommit(t *testing.T) {
	f, syncs, _ := slowDisk(2 * time.Millisecond)
	e, _ := start(t, testOptions(f))
	p := ensure(t, e, "a", 0)
	before := syncs.n.Load()
	const appenders, each = 64, 20
	var wg sync.WaitGroup
	for range appenders {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range each {
				mustAppend(t, p, NeedCommitted, mkBatch("x"))
			}
		}()
	}
	wg.Wait()
	n := syncs.n.Load() - before
	t.Logf("%d syncs for %d appends", n, appenders*each)
	if n > appenders*each/8 {
		t.Fatalf("%d syncs for %d appends: they are not shared", n, appenders*each)
	}
	if n < each {
		t.Fatalf("%d syncs: an append was acknowledged without one", n)
	}
	if b := p.Bounds(); b.Synced != appenders*each {
		t.Fatalf("bounds %+v", b)
	}
}

func TestManyPartitionsShareOneSyncFS(t *testing.T) {
	f, syncs, groups := slowDisk(2 * time.Millisecond)
	e, _ := start(t, testOptions(f))
	var ps []*Partition
	for i := range 40 {
		ps = append(ps, ensure(t, e, "a", int32(i)))
	}
	before := syncs.n.Load()
	for range 5 {
		as, _ := call(t, func(done func([]*pushed, error)) {
			ps[0].post(func() { // all in one turn
				var as []*pushed
				for _, p := range ps {
					as = append(as, push(p, mkBatch("x"), NeedCommitted, -1))
				}
				done(as, nil)
			})
		})
		for _, a := range as {
			if err := a.wait(t); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s, g := syncs.n.Load()-before, groups.n.Load(); g != 5 || s != 0 {
		t.Fatalf("%d datasyncs and %d syncfs for 200 appends to 40 partitions", s, g)
	}
	for _, p := range ps {
		if b := p.Bounds(); b.Synced != 5 || b.Committed != 5 {
			t.Fatalf("%s: %+v", p, b)
		}
	}
}

// TestCommittedStopsAtUnsyncedAcksAll is the rule of decisions 2.
func TestCommittedStopsAtUnsyncedAcksAll(t *testing.T) {
	f, _, _ := slowDisk(150 * time.Millisecond)
	o := testOptions(f)
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	if err := push(p, mkBatch("1"), NeedWritten, -1).wait(t); err != nil {
		t.Fatal(err)
	}
	if b := p.Bounds(); b.Committed != 1 || b.Synced != 0 {
		t.Fatalf("acks=1 alone: %+v", b)
	}
	all := push(p, mkBatch("2"), NeedCommitted, -1)
	one := push(p, mkBatch("3"), NeedWritten, -1)
	if err := one.wait(t); err != nil {
		t.Fatal(err)
	}
	if b := p.Bounds(); b.Committed != 1 || b.Written != 3 || all.isDone() {
		t.Fatalf("acks=1 behind an unsynced acks=all: %+v, acked %v", b, all.isDone())
	}
	if got := valuesOf(readAll(t, p, ReadUncommitted)); got != "1" {
		t.Fatalf("a client reads %q", got)
	}
	if got := valuesOf(readAll(t, p, ReadWritten)); got != "1 2 3" {
		t.Fatalf("a replica reads %q", got)
	}
	if err := all.wait(t); err != nil {
		t.Fatal(err)
	}
	if b := p.Bounds(); b.Committed != 3 || b.Synced < 2 {
		t.Fatalf("after the sync: %+v", b)
	}
}

func TestWriteCaching(t *testing.T) {
	f, syncs, _ := slowDisk(0)
	c := *DefaultConfig()
	c.WriteCaching = true
	o := testOptions(f)
	o.Config, o.UnsyncedAgeMaxMs = &c, 3_600_000
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	before := syncs.n.Load()
	for range 20 {
		mustAppend(t, p, NeedCommitted, mkBatch("x"))
	}
	if n := syncs.n.Load() - before; n != 0 {
		t.Fatalf("%d syncs", n)
	}
	if b := p.Bounds(); b.Committed != 20 || b.Synced != 0 {
		t.Fatalf("bounds %+v", b)
	}
}

// TestInternalTopicsAlwaysSync: whatever acks says and write caching says.
func TestInternalTopicsAlwaysSync(t *testing.T) {
	f, _, _ := slowDisk(50 * time.Millisecond)
	c := *DefaultConfig()
	c.WriteCaching, c.Internal = true, true
	o := testOptions(f)
	o.Config = &c
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	mustAppend(t, p, NeedWritten, mkBatch("x"))
	if b := p.Bounds(); b.Synced != 1 || b.Committed != 1 {
		t.Fatalf("bounds %+v", b)
	}
}

func TestBackgroundSync(t *testing.T) {
	f, syncs, _ := slowDisk(0)
	o := testOptions(f)
	o.UnsyncedAgeMaxMs = 20
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	mustAppend(t, p, NeedWritten, mkBatch("x"))
	eventually(t, "synced by age", func() bool { return p.Bounds().Synced == 1 })
	time.Sleep(60 * time.Millisecond)
	n := syncs.n.Load()
	time.Sleep(100 * time.Millisecond)
	if m := syncs.n.Load(); m != n {
		t.Fatalf("%d syncs while idle", m-n)
	}
	if s := e.Stats(); s.UnsyncedBytes != 0 {
		t.Fatalf("stats %+v", s)
	}
}

func TestFlushSettings(t *testing.T) {
	f, _, _ := slowDisk(0)
	c := *DefaultConfig()
	c.FlushMessages = 3
	o := testOptions(f)
	o.Config, o.UnsyncedAgeMaxMs = &c, 3_600_000
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	mustAppend(t, p, NeedWritten, mkBatch("x", "y"))
	if b := p.Bounds(); b.Synced != 0 {
		t.Fatalf("synced too early: %+v", b)
	}
	mustAppend(t, p, NeedWritten, mkBatch("z"))
	eventually(t, "flush.messages", func() bool { return p.Bounds().Synced == 3 })
	d := c
	d.FlushMs, d.FlushMessages = 10, 1<<40
	p.SetConfig(&d)
	mustAppend(t, p, NeedWritten, mkBatch("z"))
	eventually(t, "flush.ms", func() bool { return p.Bounds().Synced == 4 })
}

// TestRecoveryPointsBoundWhatIsReadAgain: with acks=1 load the bytes above the recovery points stay bounded, and after
// a kill no more than that is scanned.
func TestRecoveryPointsBoundWhatIsReadAgain(t *testing.T) {
	m := vfs.NewMem()
	o := testOptions(m)
	o.UnsyncedBytesMax = 64 << 10
	c := *DefaultConfig()
	c.SegmentBytes = 50 << 10
	o.Config = &c
	e, _ := start(t, o)
	big := string(make([]byte, 1000))
	for i := range 600 {
		p := ensure(t, e, "a", int32(i%3))
		mustAppend(t, p, NeedWritten, idBatch(int64(i%3), 0, int32(i/3), big))
	}
	eventually(t, "the keeper keeps up", func() bool { return e.Stats().UnrecoveredBytes <= o.UnsyncedBytesMax*7/8 })
	if e.Stats().Checkpoints == 0 {
		t.Fatal("no checkpoint counted")
	}
	o2 := o
	o2.FS = m.Clone()
	e2, r := start(t, o2)
	if r.ScannedBytes > o.UnsyncedBytesMax || r.CutBytes != 0 {
		t.Fatalf("scanned %d bytes of %d kept: %+v", r.ScannedBytes, 600*1070, r)
	}
	for i := range 3 {
		p := ensure(t, e2, "a", int32(i))
		if n := len(readAll(t, p, ReadUncommitted)); n != 200 {
			t.Fatalf("%s: %d records", p, n)
		}
		if r := mustAppend(t, p, NeedCommitted, idBatch(int64(i), 0, 199, big)); !r.Duplicate {
			t.Fatalf("%s: a resend was appended: %+v", p, r)
		}
		for s := int32(195); s < 200; s++ {
			if r := mustAppend(t, p, NeedCommitted, idBatch(int64(i), 0, s, big)); !r.Duplicate || r.BaseOffset != int64(s) {
				t.Fatalf("%s: resend of %d: %+v", p, s, r)
			}
		}
	}
}

// TestDuplicateWaitsForItsOwnAcks: a resend of a written batch with acks=all is answered only after the sync.
func TestDuplicateWaitsForItsOwnAcks(t *testing.T) {
	f, _, _ := slowDisk(100 * time.Millisecond)
	o := testOptions(f)
	o.UnsyncedAgeMaxMs = 3_600_000
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	first := push(p, idBatch(1, 0, 0, "x"), NeedCommitted, -1)
	one := push(p, idBatch(1, 0, 0, "x"), NeedWritten, -1)
	all := push(p, idBatch(1, 0, 0, "x"), NeedCommitted, -1)
	if err := one.wait(t); err != nil || !one.Duplicate || one.BaseOffset != 0 {
		t.Fatalf("acks=1 resend: %+v %v", one.Append, err)
	}
	if first.isDone() || all.isDone() {
		t.Fatal("acks=all answered before the sync")
	}
	if err := all.wait(t); err != nil || !all.Duplicate || p.Bounds().Synced != 1 {
		t.Fatalf("acks=all resend: dup %v %v, %+v", all.Duplicate, err, p.Bounds())
	}
	if err := first.wait(t); err != nil || first.Duplicate {
		t.Fatalf("first: %v %v", first.Duplicate, err)
	}
	if got := valuesOf(readAll(t, p, ReadUncommitted)); got != "x" {
		t.Fatalf("read %q", got)
	}
}

// TestOrderAcrossPushers: per pusher, offsets follow the order of pushes, and nothing is lost between loops.
func TestOrderAcrossPushers(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.LoopCount = 2
	e, _ := start(t, o)
	ps := []*Partition{ensure(t, e, "a", 0), ensure(t, e, "a", 1)}
	const pushers, each = 6, 300
	var wg sync.WaitGroup
	for g := range pushers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var as []*pushed
			for i := range each {
				as = append(as, push(ps[i%2], idBatch(int64(g), 0, int32(i/2), fmt.Sprint(g, "/", i)), Need(i%3), -1))
			}
			last := [2]int64{-1, -1}
			for i, a := range as {
				if err := a.wait(t); err != nil || a.BaseOffset <= last[i%2] {
					t.Errorf("pusher %d, append %d: offset %d after %d, %v", g, i, a.BaseOffset, last[i%2], err)
					return
				}
				last[i%2] = a.BaseOffset
			}
		}()
	}
	wg.Wait()
	for _, p := range ps {
		if n := len(readAll(t, p, ReadUncommitted)); n != pushers*each/2 {
			t.Fatalf("%s: %d records", p, n)
		}
	}
}
