package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"millrace/vfs"
)

// TestCloseUnderLoad: a clean stop in the middle of appends; what was acknowledged is there, nobody hangs.
func TestCloseUnderLoad(t *testing.T) {
	for round := range 5 {
		m := vfs.NewMem()
		o := testOptions(m)
		o.LoopCount = 2
		e, _ := start(t, o)
		var acked [8]int
		var wg sync.WaitGroup
		for g := range acked {
			p := ensure(t, e, "a", int32(g%3))
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := 0; ; i++ {
					_, err := p.AppendWait(ctxOf(t), idBatch(int64(g), 0, int32(i), fmt.Sprint(g, "/", i)), Need(i%3))
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Errorf("appender %d: %v", g, err)
						return
					}
					acked[g] = i + 1
				}
			}()
		}
		time.Sleep(time.Duration(round) * 2 * time.Millisecond)
		stop(t, e)
		wg.Wait()
		o.FS = m.Image(0)
		e, r := start(t, o)
		if r.ScannedBytes != 0 || r.CutBytes != 0 {
			t.Fatalf("report %+v", r)
		}
		var found [8]int
		for _, p := range e.Partitions() {
			ensure(t, e, "a", p.Index())
			for _, x := range readAll(t, p, ReadUncommitted) {
				if x.value != fmt.Sprint(x.pid, "/", found[x.pid]) {
					t.Fatalf("%s: %+v where record %d belongs", p, x, found[x.pid])
				}
				found[x.pid]++
			}
		}
		for g := range acked {
			if found[g] < acked[g] {
				t.Fatalf("appender %d: %d records, %d acknowledged", g, found[g], acked[g])
			}
		}
		stop(t, e)
	}
}

// TestDeleteUnderLoad: partitions vanish and come back while others append, read and wait; everything completes.
func TestDeleteUnderLoad(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.LoopCount = 2
	c := *DefaultConfig()
	c.SegmentBytes, c.FileDeleteDelayMs = 500, 1
	o.Config = &c
	e, _ := start(t, o)
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	var appended, deleted atomic.Int64
	for g := range 6 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(g), 5))
			for ctx.Err() == nil {
				p, err := e.Ensure(ctxOf(t), "a", int32(rng.IntN(3)))
				if errors.Is(err, ErrDeleted) {
					continue
				}
				if err != nil {
					t.Errorf("ensure: %v", err)
					return
				}
				switch rng.IntN(8) {
				case 0:
					_, err := call(t, func(done func(int, error)) { e.Delete(p, func(err error) { done(0, err) }) })
					if err == nil {
						deleted.Add(1)
					} else if !errors.Is(err, ErrDeleted) {
						t.Errorf("delete: %v", err)
					}
				case 1:
					b := p.Bounds()
					w := park(p, ReadUncommitted, b, 1)
					w.Cancel()
					w.wait(t)
				case 2:
					if _, err := p.Read(0, 1000, ReadUncommitted); err != nil && !errors.Is(err, ErrDeleted) && !errors.Is(err, ErrOutOfRange) {
						t.Errorf("read: %v", err)
					}
				default:
					_, err := p.AppendWait(ctxOf(t), mkBatch("some value"), Need(rng.IntN(3)))
					if err == nil {
						appended.Add(1)
					} else if !errors.Is(err, ErrDeleted) {
						t.Errorf("append: %v", err)
					}
				}
			}
		}()
	}
	wg.Wait()
	if appended.Load() == 0 || deleted.Load() == 0 {
		t.Fatalf("%d appended, %d deleted", appended.Load(), deleted.Load())
	}
	stop(t, e)
	if s := e.Stats(); s.UnsyncedBytes != 0 || s.UnrecoveredBytes != 0 || s.Waiters != 0 || s.Partitions != 0 {
		t.Fatalf("left over: %+v", s)
	}
}

// TestModelOnAFullDisk: random histories with writes that find no space; what was refused left no trace, neither in the
// log nor in the producers' state.
func TestModelOnAFullDisk(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := &modelRun{t: t, rng: rand.New(rand.NewPCG(seed, 11)), mem: vfs.NewMem()}
			r.o = testOptions(nil)
			r.o.SpaceProbeMs = 1
			f := vfs.NewFaulty(r.mem)
			rng := rand.New(rand.NewPCG(seed, 12))
			var armed atomic.Bool
			f.Rule(func(c vfs.Call) vfs.Fault {
				if armed.Load() && c.Op == vfs.OpWritevAt && rng.IntN(3) == 0 {
					return vfs.Fault{Err: syscall.ENOSPC, Short: rng.Int64N(200)}
				}
				return vfs.Fault{}
			})
			r.o.FS = f
			e, _ := start(t, r.o)
			r.e, r.p = e, ensure(t, e, "a", 0)
			refused := 0
			for i := range 120 {
				armed.Store(true)
				refused += r.appendOnFullDisk()
				armed.Store(false)
				eventually(t, "space again", func() bool { return e.Stats().StorageFull == 0 })
				if i%20 == 19 {
					r.check()
				}
			}
			if refused == 0 {
				t.Fatal("nothing was refused")
			}
			stop(t, e)
			r.open() // on what is really there
			r.check()
		})
	}
}

// appendOnFullDisk pushes a burst; what the engine says it refused, the model never sees.
func (r *modelRun) appendOnFullDisk() (refused int) {
	type sent struct {
		a     *pushed
		what  modelBatch
		hoped error // the answer if everything before it in the burst is stored
	}
	var burst []sent
	real := r.m
	r.m.log = append([]modelBatch(nil), real.log...)
	for range 1 + r.rng.IntN(4) {
		b := r.draw()
		_, _, hoped := r.m.append(b) // as if it worked, so that the next one follows
		burst = append(burst, sent{push(r.p, encode(b), Need(r.rng.IntN(3)), -1), b, hoped})
	}
	r.m = real
	for _, s := range burst {
		err := s.a.wait(r.t)
		if errors.Is(err, ErrStorageFull) {
			r.say("append %+v: refused", s.what)
			refused++
			continue
		}
		if refused > 0 && s.hoped != nil && errors.Is(err, s.hoped) {
			continue // judged while what failed later was still on its way
		}
		base, dup, want := r.m.append(s.what)
		r.say("append %+v: %d %v %v", s.what, s.a.BaseOffset, s.a.Duplicate, err)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			r.fatal("append %+v: %v, want %v", s.what, err, want)
		}
		if err == nil && (s.a.BaseOffset != base || s.a.Duplicate != dup) {
			r.fatal("append %+v: base %d dup %v, want %d %v", s.what, s.a.BaseOffset, s.a.Duplicate, base, dup)
		}
	}
	return refused
}

func TestEpochLineage(t *testing.T) {
	m := vfs.NewMem()
	e, _ := start(t, testOptions(m))
	p := ensure(t, e, "a", 0) // epoch 0
	lead := func(epoch int32) {
		t.Helper()
		if _, err := call(t, func(done func(int, error)) { p.SetLeader(epoch, func(err error) { done(0, err) }) }); err != nil {
			t.Fatal(err)
		}
	}
	mustAppend(t, p, NeedCommitted, mkBatch("0", "1"))
	lead(3)
	mustAppend(t, p, NeedCommitted, mkBatch("2"))
	lead(5) // no record
	lead(7)
	mustAppend(t, p, NeedCommitted, mkBatch("3", "4"))
	check := func() {
		t.Helper()
		for _, c := range []struct {
			asked, epoch int32
			end          int64
		}{{0, 0, 2}, {1, 0, 2}, {2, 0, 2}, {3, 3, 3}, {4, 3, 3}, {7, 7, 5}, {8, -1, -1}} {
			if epoch, end := p.EpochEnd(c.asked, 5); epoch != c.epoch || end != c.end {
				t.Errorf("end of epoch %d: %d at %d, want %d at %d", c.asked, epoch, end, c.epoch, c.end)
			}
		}
		for offset, want := range map[int64]int32{0: 0, 1: 0, 2: 3, 3: 7, 4: 7} {
			if got := p.EpochOf(offset); got != want {
				t.Errorf("epoch of offset %d is %d, want %d", offset, got, want)
			}
		}
	}
	check()
	e, _ = start(t, testOptions(m.Image(0)))
	p = e.Lookup("a", 0)
	check()
}

func TestLookupByTime(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p := ensure(t, e, "a", 0)
	if _, ok, err := p.OffsetForTime(0, ReadUncommitted); ok || err != nil {
		t.Fatalf("empty: %v %v", ok, err)
	}
	before := time.Now().UnixMilli()
	mustAppend(t, p, NeedWritten, mkBatch("0", "1"))
	if r, ok, err := p.OffsetForTime(before, ReadUncommitted); !ok || err != nil || r.Offset != 0 || r.LeaderEpoch != 0 {
		t.Fatalf("first: %+v %v %v", r, ok, err)
	}
	if _, ok, err := p.OffsetForTime(before+3_600_000, ReadCommitted); ok || err != nil {
		t.Fatalf("future: %v %v", ok, err)
	}
	if r, ok, err := p.MaxTimestamp(ReadUncommitted); !ok || err != nil || r.TimestampMs < before {
		t.Fatalf("max: %+v %v %v", r, ok, err)
	}
}

func TestProducersAreDescribed(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p := ensure(t, e, "a", 0)
	mustAppend(t, p, NeedWritten, idBatch(9, 2, 5, "x", "y"))
	mustAppend(t, p, NeedWritten, idBatch(4, 0, 0, "x"))
	got, err := call(t, p.Producers)
	if err != nil || len(got) != 2 || got[0].ProducerID != 4 || got[1].ProducerID != 9 ||
		got[1].LastSequence != 6 || got[1].Epoch != 2 || got[1].CoordinatorEpoch != -1 || got[1].TxnFirstOffset != -1 {
		t.Fatalf("%+v %v", got, err)
	}
}
