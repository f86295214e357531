package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace/segment"
	"millrace/segment/batch"
	"millrace/vfs"
)

// compacted are options under which every partition is compacted, in small segments and often.
func compacted(fs vfs.FS) Options {
	o := testOptions(fs)
	c := *DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes, c.FileDeleteDelayMs = 4000, 200, 0
	c.Delete, c.Compact, c.MinCleanableRatio = false, true, 0.1
	o.Config = &c
	o.Cleaner.BackoffMs = 5
	return o
}

// keyed is a batch of one record; an empty value is a tombstone.
func keyed(pid int64, seq int32, key, value string) batch.View {
	var b batch.Builder
	b.Reset(nil, 0, 0)
	if pid >= 0 {
		b.SetProducer(pid, 0, seq)
	}
	var v []byte
	if value != "" {
		v = []byte(value)
	}
	b.Add(time.Now().UnixMilli(), []byte(key), v)
	return b.Finish()
}

// readState reads a partition as a consumer does, and checks that every answer makes progress.
func readState(t testing.TB, p *Partition) map[string]string {
	t.Helper()
	m := map[string]string{}
	for next := p.Bounds().LogStart; next < p.Bounds().Committed; {
		data, err := p.Read(next, 1<<20, ReadUncommitted)
		if err != nil {
			t.Fatalf("read at %d: %v", next, err)
		}
		before := next
		s := batch.NewScanner(data, true)
		for s.Next() {
			v := s.View()
			it := v.Iter()
			var r batch.Record
			for it.Next(&r) {
				if v.BaseOffset()+int64(r.OffsetDelta) < before {
					continue
				}
				if r.Value == nil {
					delete(m, string(r.Key))
				} else {
					m[string(r.Key)] = string(r.Value)
				}
			}
			next = max(next, v.NextOffset())
		}
		if next == before {
			t.Fatalf("no progress at %d of %d", next, p.Bounds().Committed)
		}
	}
	return m
}

func cleanTo(t testing.TB, p *Partition, offset int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is clean up to %d", p, offset), func() bool { return p.cleanedTo.Load() >= offset })
}

func activeBase(p *Partition) int64 {
	v := p.log.View()
	defer v.Release()
	return v.ActiveBase()
}

func TestCleanerCompactsAndRestarts(t *testing.T) {
	m := vfs.NewMem()
	e, _ := start(t, compacted(m))
	p := ensure(t, e, "c", 0)
	want := map[string]string{}
	for i := range 600 {
		k, v := fmt.Sprint("k", i%10), fmt.Sprint(i, strings.Repeat("x", 50))
		mustAppend(t, p, NeedWritten, keyed(4, int32(i), k, v))
		want[k] = v
	}
	eventually(t, "it shrinks", func() bool { return p.cleanedTo.Load() >= activeBase(p) && p.Size() < 12_000 })
	if got := readState(t, p); !maps.Equal(got, want) {
		t.Fatalf("%v", got)
	}
	for o := int64(0); o < p.Bounds().Committed; o++ {
		var plan FetchPlan
		if err := p.PlanBlocking(&plan, o, 1, ReadUncommitted, true); err != nil || plan.Range.Len == 0 {
			t.Fatalf("fetch at %d: %+v %v", o, plan, err)
		}
		plan.Ref.Release()
	}
	cleaned := p.cleanedTo.Load()
	list, err := segment.ReadOffsets(m, "/data/"+segment.CleanerFile)
	if err != nil || len(list) != 1 || list[0].Offset < 0 || list[0].Topic != "c" {
		t.Fatalf("%v %v", list, err)
	}
	// What kill -9 leaves, and a clean stop.
	for _, fs := range []*vfs.Mem{m.Clone(), m} {
		if fs == m {
			stop(t, e)
		}
		o := compacted(fs)
		o.Cleaner.Disabled = true
		e2, r := start(t, o)
		if len(r.Damage)+len(r.Failed)+len(r.CutFiles) > 0 {
			t.Fatalf("%+v", r)
		}
		p2 := ensure(t, e2, "c", 0)
		if got := p2.cleanedTo.Load(); got > cleaned || got < 0 {
			t.Errorf("clean up to %d, was %d", got, cleaned)
		}
		if got := readState(t, p2); !maps.Equal(got, want) {
			t.Fatalf("%v", got)
		}
		// The producer goes on where it was.
		if r := mustAppend(t, p2, NeedCommitted, keyed(4, 599, "k9", want["k9"])); !r.Duplicate {
			t.Errorf("%+v", r)
		}
		mustAppend(t, p2, NeedCommitted, keyed(4, 600, "new", "n"))
		stop(t, e2)
	}
}

// TestCleanerUnderLoad has producers write while the cleaner runs on two loops and two threads; consumers read along.
func TestCleanerUnderLoad(t *testing.T) {
	o := compacted(vfs.NewMem())
	o.LoopCount, o.Cleaner.Threads = 2, 2
	o.Cleaner.BackoffMs = 1
	e, _ := start(t, o)
	rounds := 1500
	if testing.Short() {
		rounds = 400
	}
	var wg sync.WaitGroup
	wants := make([]map[string]string, 4)
	for i := range wants {
		p := ensure(t, e, "load", int32(i))
		want := map[string]string{}
		wants[i] = want
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(i), 7))
			for n := range rounds {
				k := fmt.Sprint("k", rng.IntN(30))
				v := fmt.Sprint(n, strings.Repeat("y", rng.IntN(80)))
				if rng.IntN(5) == 0 {
					v = ""
				}
				if _, err := p.AppendWait(context.Background(), keyed(int64(i), int32(n), k, v), NeedWritten); err != nil {
					t.Error(err)
					return
				}
				if v == "" {
					delete(want, k)
				} else {
					want[k] = v
				}
				if n%100 == 0 {
					readState(t, p)
				}
			}
		}()
	}
	wg.Wait()
	if t.Failed() {
		return
	}
	for i, want := range wants {
		p := e.Lookup("load", int32(i))
		cleanTo(t, p, activeBase(p)-500)
		if got := readState(t, p); !maps.Equal(got, want) {
			t.Errorf("partition %d: %d keys, want %d", i, len(got), len(want))
		}
	}
	if e.cleaner.runs.Load() == 0 {
		t.Error("nothing was cleaned")
	}
}

// TestCleanerSwitches: policies change, topics go, starts move and the engine stops in the middle of a cleaning.
func TestCleanerSwitches(t *testing.T) {
	m := vfs.NewMem()
	o := compacted(m)
	o.Cleaner.BytesPerSecond = 1 // a cleaning takes for ever
	e, _ := start(t, o)
	fill := func(p *Partition) {
		for i := range 200 {
			mustAppend(t, p, NeedWritten, keyed(-1, 0, fmt.Sprint("k", i%5), fmt.Sprint(i, strings.Repeat("x", 50))))
		}
	}
	under := func(p *Partition) func() bool { return func() bool { return p.cleaningNow.Load() } }
	p := ensure(t, e, "s", 0)
	fill(p)
	eventually(t, "a cleaning is under way", under(p))
	plain := *p.Config()
	plain.Compact = false
	p.SetConfig(&plain)
	eventually(t, "the cleaning was given up", func() bool { return !p.cleaningNow.Load() })
	if p.cleanedTo.Load() >= 0 {
		t.Errorf("clean up to %d", p.cleanedTo.Load())
	}
	// A topic goes while it is cleaned, and one of its name comes.
	again := plain
	again.Compact = true
	p.SetConfig(&again)
	e.SetCleaner(CleanerOptions{BackoffMs: 5})
	cleanTo(t, p, activeBase(p))
	e.SetCleaner(CleanerOptions{BackoffMs: 5, BytesPerSecond: 1})
	fill(p)
	eventually(t, "a cleaning is under way", under(p))
	began := time.Now()
	if _, err := call(t, func(done func(int, error)) { e.Delete(p, func(err error) { done(0, err) }) }); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("the deletion took %v", d)
	}
	p = ensure(t, e, "s", 0)
	if list, err := segment.ReadOffsets(m, "/data/"+segment.CleanerFile); err != nil || len(list) != 0 || p.cleanedTo.Load() != -1 {
		t.Errorf("the new topic is clean up to %v, %d, %v", list, p.cleanedTo.Load(), err)
	}
	// DeleteRecords in the middle.
	fill(p)
	eventually(t, "a cleaning is under way", under(p))
	if _, err := call(t, func(done func(int64, error)) { p.DeleteRecords(150, done) }); err != nil {
		t.Fatal(err)
	}
	e.SetCleaner(CleanerOptions{BackoffMs: 5})
	began = time.Now()
	stop(t, e)
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("the stop took %v", d)
	}
	o.Cleaner = CleanerOptions{BackoffMs: 5}
	e, _ = start(t, o)
	p = ensure(t, e, "s", 0)
	cleanTo(t, p, activeBase(p))
	if got := readState(t, p); len(got) != 5 || !strings.HasPrefix(got["k4"], "199") || p.Bounds().LogStart != 150 {
		t.Errorf("%v from %d", got, p.Bounds().LogStart)
	}
}

func TestCleanerLagsAndRatio(t *testing.T) {
	o := compacted(vfs.NewMem())
	var now atomic.Int64
	now.Store(time.Now().UnixMilli())
	o.WallMs = now.Load
	e, _ := start(t, o)
	fill := func(p *Partition) {
		for i := range 200 {
			mustAppend(t, p, NeedWritten, keyed(-1, 0, fmt.Sprint("k", i%5), fmt.Sprint(i, strings.Repeat("x", 50))))
		}
	}
	set := func(p *Partition, change func(*PartitionConfig)) {
		c := *p.Config()
		change(&c)
		p.SetConfig(&c)
	}
	p := ensure(t, e, "lag", 0)
	set(p, func(c *PartitionConfig) { c.MinCompactionLagMs = 3_600_000 })
	fill(p)
	q := ensure(t, e, "ratio", 0)
	set(q, func(c *PartitionConfig) { c.MinCleanableRatio = 1 })
	fill(q)
	time.Sleep(50 * time.Millisecond)
	if p.cleanedTo.Load() >= 0 || q.cleanedTo.Load() >= 0 {
		t.Fatalf("cleaned up to %d and %d", p.cleanedTo.Load(), q.cleanedTo.Load())
	}
	set(q, func(c *PartitionConfig) { c.MaxCompactionLagMs = 1800_000 })
	now.Add(3_700_000)
	cleanTo(t, p, activeBase(p))
	cleanTo(t, q, activeBase(q))
}

// TestCleanerMeetsDamage: the partition is marked, said so, its other data is served, others are cleaned.
func TestCleanerMeetsDamage(t *testing.T) {
	m := vfs.NewMem()
	o := compacted(m)
	o.Cleaner.Disabled = true
	e, _ := start(t, o)
	p := ensure(t, e, "bad", 0)
	good := ensure(t, e, "good", 0)
	for i := range 200 {
		for _, x := range []*Partition{p, good} {
			mustAppend(t, x, NeedCommitted, keyed(-1, 0, fmt.Sprint("k", i%5), fmt.Sprint(i, strings.Repeat("x", 50))))
		}
	}
	f, err := m.Open("/data/bad-0/00000000000000000000.log")
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	f.ReadAt(b[:], 300)
	b[0] ^= 4
	f.WriteAt(b[:], 300)
	before := p.Size()
	e.SetCleaner(CleanerOptions{BackoffMs: 5})
	eventually(t, "the damage is noticed", p.uncleanable.Load)
	cleanTo(t, good, activeBase(good))
	if p.Size() != before {
		t.Errorf("%d bytes, were %d", p.Size(), before)
	}
	eventually(t, "the damage is not served", func() bool {
		_, err := p.Read(2, 1, ReadUncommitted)
		return errors.Is(err, ErrCorrupt)
	})
	if data, err := p.Read(0, 1, ReadUncommitted); err != nil || len(data) == 0 {
		t.Errorf("the batch before: %v", err)
	}
	if data, err := p.Read(150, 1, ReadUncommitted); err != nil || len(data) == 0 {
		t.Errorf("a batch behind: %v", err)
	}
}

// TestCleanerKilled stops the machine at many calls while the cleaner works; nothing acknowledged is lost.
func TestCleanerKilled(t *testing.T) {
	step := int64(23)
	if testing.Short() {
		step = 101
	}
	for n := int64(30); ; n += step {
		m := vfs.NewMem()
		o := compacted(m)
		o.Cleaner.BackoffMs = 1
		e, _ := start(t, o)
		p := ensure(t, e, "a", 0)
		m.CrashAfter(n)
		written, committed := map[string]string{}, map[string]string{}
		maybe := ""
		i := 0
		for ; i < 400; i++ {
			k, v := fmt.Sprint("k", i%7), fmt.Sprint(i, strings.Repeat("z", 60))
			need := NeedWritten
			if i%20 == 0 {
				need = NeedCommitted
			}
			maybe = v
			if _, err := p.AppendWait(ctxOf(t), keyed(1, int32(i), k, v), need); err != nil {
				break
			}
			written[k] = v
			if need == NeedCommitted {
				committed = maps.Clone(written)
			}
		}
		over := !m.Crashed()
		abort(e)
		for image, fs := range map[string]*vfs.Mem{"killed": m.Clone(), "power cut": m.Image(uint64(n))} {
			o := compacted(fs)
			e, r := start(t, o)
			if len(r.Failed)+len(r.Damage) > 0 {
				t.Fatalf("%s at %d: %+v", image, n, r)
			}
			p := ensure(t, e, "a", 0)
			got := readState(t, p)
			if image == "killed" {
				for k, v := range written {
					if got[k] != v && got[k] != maybe {
						t.Fatalf("%s at %d: %s is %q, want %q", image, n, k, got[k], v)
					}
				}
			} else {
				for k, v := range committed {
					if num(got[k]) < num(v) {
						t.Fatalf("%s at %d: %s is %q, want %q or later", image, n, k, got[k], v)
					}
				}
			}
			abort(e)
		}
		if over {
			return
		}
	}
}

// num is the number that a value begins with, -1 if there is none.
func num(v string) int {
	n := -1
	fmt.Sscanf(v, "%d", &n)
	return n
}

func TestRateLimit(t *testing.T) {
	var l rateLimit
	if d := l.reserve(1<<30, noRate()); d != 0 {
		t.Error(d)
	}
	if d := l.reserve(500, 1000); d < 490*time.Millisecond || d > 500*time.Millisecond {
		t.Error(d)
	}
	if d := l.reserve(500, 1000); d < 980*time.Millisecond || d > time.Second {
		t.Error(d)
	}
}

// noRate is the rate without a bound.
func noRate() float64 {
	var o CleanerOptions
	o.ensureDefaults()
	return o.BytesPerSecond
}

// TestDeletedWhileCreationReturns: a partition is deleted the moment it is known; its name is claimed until its directory
// has gone, and free afterwards.
func TestDeletedWhileCreationReturns(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	for range 300 {
		created := make(chan error, 1)
		e.Create(PartitionSpec{Topic: "x"}, func(_ *Partition, err error) { created <- err })
		var p *Partition
		for p == nil {
			p = e.Lookup("x", 0)
		}
		deleted := make(chan error, 1)
		e.Delete(p, func(err error) { deleted <- err })
		for _, c := range []chan error{created, deleted} {
			select {
			case err := <-c:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("no answer")
			}
		}
	}
}
