package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"millrace/vfs"
)

// The crash tests run a short script over a file system in memory that stops at the n-th call that changes something, for
// every n. Then they start again on what a killed process leaves (the page cache survives: Clone) and on several of the
// images that a power cut could leave, and hold the result against what had been acknowledged.

// oracle is what the script knows. Record i of partition k has the value "i" and the sequence i.
type oracle struct {
	sent      [2]int32 // records pushed
	written   [2]int32 // records acknowledged by acks=1 or acks=all
	committed [2]int32 // records acknowledged by acks=all, and all before
	started   [2]int64 // log start acknowledged
	asked     [2]int64 // log start asked for
}

func crashOptions(fs vfs.FS) Options {
	o := testOptions(fs)
	c := *DefaultConfig()
	c.SegmentBytes, c.IndexIntervalBytes = 400, 100
	o.Config = &c
	o.UnsyncedBytesMax = 800 // checkpoints between the appends
	return o
}

// runScript does the script until the first error. It reports whether it came to the end. together: its logs are many enough
// to be closed with syncs of the whole file system.
func runScript(fs vfs.FS, or *oracle, together bool) (done bool) {
	ctx := context.Background()
	o := crashOptions(fs)
	if together {
		o.SyncFSAbove = 1
	}
	e, err := Open(o)
	if err != nil {
		return false
	}
	defer abort(e)
	if _, err := e.Load(ctx); err != nil {
		return false
	}
	var ps [2]*Partition
	for k := range ps {
		if ps[k], err = e.Ensure(ctx, "a", int32(k)); err != nil {
			return false
		}
	}
	for i := range int32(16) {
		for k, p := range ps {
			need := NeedCommitted
			if (i+int32(k))%3 != 0 {
				need = NeedWritten
			}
			or.sent[k] = i + 1
			if _, err := p.AppendWait(ctx, idBatch(int64(k), 0, i, strconv.Itoa(int(i))), need); err != nil {
				return false
			}
			or.written[k] = i + 1
			if need == NeedCommitted {
				or.committed[k] = i + 1
			}
		}
		if i == 9 {
			or.asked[0] = 6
			got := make(chan error, 1)
			ps[0].DeleteRecords(6, func(_ int64, err error) { got <- err })
			if <-got != nil {
				return false
			}
			or.started[0] = 6
		}
	}
	return e.Close(ctx) == nil
}

// verify starts on what a crash left. all: everything that was written is there, not only what was acknowledged by
// acks=all.
func verify(t *testing.T, name string, fs vfs.FS, or *oracle, all bool) {
	t.Helper()
	o := crashOptions(fs)
	e, err := Open(o)
	if err != nil {
		t.Fatalf("%s: open: %v", name, err)
	}
	defer abort(e)
	r, err := e.Load(context.Background())
	if err != nil || len(r.Failed) > 0 || len(r.Damage) > 0 {
		t.Fatalf("%s: load: %v, %+v", name, err, r)
	}
	for k := range 2 {
		verifyPartition(t, fmt.Sprintf("%s, a-%d", name, k), e, k, or, all)
	}
}

func verifyPartition(t *testing.T, name string, e *Engine, k int, or *oracle, all bool) {
	t.Helper()
	p := e.Lookup("a", int32(k))
	must := or.committed[k]
	if all {
		must = or.written[k]
	}
	if p == nil {
		if must > 0 {
			t.Fatalf("%s is gone", name)
		}
		return
	}
	p, err := e.Ensure(ctxOf(t), "a", int32(k))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	b := p.Bounds()
	if b.LogStart < or.started[k] || b.LogStart > or.asked[k] {
		t.Fatalf("%s: log start %d, acknowledged %d, asked for %d", name, b.LogStart, or.started[k], or.asked[k])
	}
	end := int32(b.Written)
	if end < must || end > or.sent[k] {
		t.Fatalf("%s: end %d, acknowledged %d, sent %d", name, end, must, or.sent[k])
	}
	// Resend the last acknowledged one and all that is open, as a client would.
	for i := max(must-1, 0); i < or.sent[k]; i++ {
		r, err := p.AppendWait(ctxOf(t), idBatch(int64(k), 0, i, strconv.Itoa(int(i))), NeedCommitted)
		if err != nil || r.BaseOffset != int64(i) || r.Duplicate != (i < end) {
			t.Fatalf("%s: resend of %d with end %d: %+v, %v", name, i, end, r, err)
		}
	}
	for i, r := range readAll(t, p, ReadUncommitted) {
		if want := b.LogStart + int64(i); r.offset != want || r.value != strconv.Itoa(int(want)) {
			t.Fatalf("%s: record %+v where %d belongs", name, r, want)
		}
	}
	if got := p.Bounds().Committed; got != int64(or.sent[k]) {
		t.Fatalf("%s: committed %d of %d", name, got, or.sent[k])
	}
}

func TestCrashAtEveryStorageCall(t *testing.T) {
	t.Run("alone", func(t *testing.T) { crashEverywhere(t, false) })
	t.Run("together", func(t *testing.T) { crashEverywhere(t, true) })
}

func crashEverywhere(t *testing.T, together bool) {
	dry := vfs.NewMem()
	var or oracle
	if !runScript(dry, &or, together) {
		t.Fatal("the script does not end without a crash")
	}
	total := dry.Changes()
	verify(t, "clean stop", dry.Image(0), &or, true)
	t.Logf("%d changing calls", total)
	step, images := int64(1), 2
	if testing.Short() {
		step = 7
	}
	if v, err := strconv.Atoi(os.Getenv("ENGINE_CRASH_IMAGES")); err == nil {
		images = v
	}
	for n := int64(0); n < total; n += step {
		m := vfs.NewMem()
		m.CrashAfter(n)
		var or oracle
		runScript(m, &or, together)
		verify(t, fmt.Sprintf("killed after %d", n), m.Clone(), &or, true)
		for i := range images {
			seed := imageSeed(n, i)
			verify(t, fmt.Sprintf("power cut after %d, image %d", n, seed), m.Image(seed), &or, false)
		}
		if n%5 == 0 {
			verifyCrashInRecovery(t, n, m, &or)
		}
		if t.Failed() {
			return
		}
	}
}

// imageSeed lets the images that keep nothing and everything of what was not synced come up every third time each.
func imageSeed(n int64, i int) uint64 {
	if n%3 < 2 && i == 0 {
		return uint64(n % 3)
	}
	return uint64(n)*100 + uint64(i)
}

// verifyCrashInRecovery kills the recovery too, several times in a row.
func verifyCrashInRecovery(t *testing.T, n int64, m *vfs.Mem, or *oracle) {
	t.Helper()
	fs := m.Image(uint64(n) + 100)
	for i := range int64(4) {
		fs.CrashAfter(i * 3)
		if e, err := Open(crashOptions(fs)); err == nil {
			e.Load(context.Background())
			abort(e)
		}
		fs = fs.Image(uint64(n + i))
	}
	verify(t, fmt.Sprintf("power cut after %d and in the recoveries", n), fs, or, false)
}

// TestKillUnderLoad: many appenders, a crash at some call, nothing acknowledged is lost, none is there twice.
func TestKillUnderLoad(t *testing.T) {
	for seed := range 12 {
		m := vfs.NewMem()
		o := crashOptions(m)
		o.LoopCount = 2
		e, _ := start(t, o)
		var ps []*Partition
		for i := range 4 {
			ps = append(ps, ensure(t, e, "a", int32(i)))
		}
		m.CrashAfter(int64(20 + 17*seed))
		type ack struct{ written, committed, sent int }
		acks := make(chan [3]int, 8)
		for g := range 8 {
			go func() {
				a := ack{}
				need := []Need{NeedCommitted, NeedWritten}[g%2]
				for i := 0; ; i++ {
					a.sent = i + 1
					_, err := ps[g%4].AppendWait(ctxOf(t), idBatch(int64(g), 0, int32(i), fmt.Sprint(g, "/", i)), need)
					if err != nil {
						if !errors.Is(err, ErrOffline) {
							t.Errorf("appender %d: %v", g, err)
						}
						break
					}
					a.written = i + 1
					if need == NeedCommitted {
						a.committed = i + 1
					}
				}
				acks <- [3]int{g, a.written, a.committed}
			}()
		}
		var written, committed [8]int
		for range 8 {
			a := <-acks
			written[a[0]], committed[a[0]] = a[1], a[2]
		}
		abort(e)
		checkLoad(t, fmt.Sprintf("seed %d, killed", seed), m.Clone(), written)
		checkLoad(t, fmt.Sprintf("seed %d, power cut", seed), m.Image(uint64(seed)), committed)
	}
}

func checkLoad(t *testing.T, name string, fs vfs.FS, must [8]int) {
	t.Helper()
	e, r := start(t, crashOptions(fs))
	defer abort(e)
	if len(r.Failed)+len(r.Damage) > 0 {
		t.Fatalf("%s: %+v", name, r)
	}
	next := [8]int{}
	for k := range 4 {
		p := ensure(t, e, "a", int32(k))
		for i, r := range readAll(t, p, ReadUncommitted) {
			g := int(r.pid)
			if r.offset != int64(i) || r.value != fmt.Sprint(g, "/", next[g]) {
				t.Fatalf("%s: %s: record %+v where %d/%d belongs at %d", name, p, r, g, next[g], i)
			}
			next[g]++
		}
	}
	for g := range next {
		if next[g] < must[g] {
			t.Fatalf("%s: producer %d: %d records, %d were acknowledged", name, g, next[g], must[g])
		}
	}
}
