package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"testing"

	"millrace/vfs"
)

// cleanScript is a small life of a compacted log: updates, tombstones, rolls, cleanings whose groups span segments, and
// tombstones that go. Whatever is lost, the state of every key is one that had been reached, and nothing durable is lost.
type cleanScript struct {
	states   []map[string]string // states[n] is what the first n records make
	synced   int64
	recovery int64
}

func (s *cleanScript) append(l *Log, now int64, recs ...kv) error {
	for _, r := range recs { // noted first: what an error is told about may have been written
		next := map[string]string{}
		for k, v := range s.states[len(s.states)-1] {
			next[k] = v
		}
		if r.value == nil {
			delete(next, r.key)
		} else {
			next[r.key] = string(r.value)
		}
		s.states = append(s.states, next)
	}
	return appendAll(l, nil, kvBatch(l.End(), now, 0, recs...))
}

func cleanScriptParams() Params {
	p := testParams()
	p.Options.SegmentBytes = 700
	p.Options.FileDeleteDelayMs = 0
	return p
}

func (s *cleanScript) run(fsys vfs.FS) error {
	s.states = []map[string]string{{}}
	l, err := Create(fsys, cleanScriptParams())
	if err != nil {
		return err
	}
	now := int64(1000)
	for round := range 5 {
		for i := range 12 {
			k := fmt.Sprint("k", i%4)
			rec := put(k, fmt.Sprint(round, "-", i, "-", string(value(1, 40))))
			if i >= 4 && i%3 == round%3 {
				rec = del(k)
			}
			if err := s.append(l, now, rec, put(fmt.Sprint("fill", i%2), string(value(1, 30)))); err != nil {
				return err
			}
		}
		o := cleanSettings(l, now)
		o.DeleteRetentionMs = 1500
		if _, err := cleanLog(l, o, nil); err != nil {
			return err
		}
		s.synced, s.recovery = l.SyncedEnd(), l.RecoveryPoint()
		now += 1000
		l.Tick(now)
		if err := runJobs(l); err != nil {
			return err
		}
	}
	if err := l.Close(nil); err != nil {
		return err
	}
	s.synced, s.recovery = l.SyncedEnd(), l.RecoveryPoint()
	return nil
}

func (s *cleanScript) verify(t *testing.T, im vfs.FS, what string) {
	t.Helper()
	p := cleanScriptParams()
	p.RecoveryPoint = s.recovery
	l, rep, err := Open(im, p)
	if err != nil {
		if _, serr := im.Stat(testDir); serr != nil && s.synced == 0 {
			return
		}
		t.Fatalf("%s: %v", what, err)
	}
	if len(rep.Damage) != 0 || l.End() < s.synced || l.Start() != 0 {
		t.Fatalf("%s: %d-%d, synced %d: %+v", what, l.Start(), l.End(), s.synced, rep)
	}
	if l.End() >= int64(len(s.states)) {
		t.Fatalf("%s: end %d, only %d records were written", what, l.End(), len(s.states)-1)
	}
	checkState(t, what, l, s.states[l.End()])
	progress(t, l)
	// It goes on, and can be cleaned.
	if err := appendAll(l, nil, kvBatch(l.End(), 9000, 0, put("k0", "new"))); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	want := s.states[l.End()-1]
	want = map[string]string{}
	for k, v := range s.states[l.End()-1] {
		want[k] = v
	}
	want["k0"] = "new"
	roll(t, l)
	if _, err := cleanLog(l, cleanSettings(l, 100_000), nil); err != nil {
		t.Fatalf("%s: cleaning: %v", what, err)
	}
	checkState(t, what+", cleaned", l, want)
	progress(t, l)
	l.Abandon()
}

// TestCleanCrashAtEveryCall cuts the power before storage calls of the script (every third; all with SEGMENT_CRASH_ALL set),
// and kills recovery at its calls too.
func TestCleanCrashAtEveryCall(t *testing.T) {
	whole := newMemDir(t)
	whole.CrashAfter(-1)
	var s cleanScript
	must(t, s.run(whole))
	total := whole.Changes()
	s.verify(t, whole.Clone(), "at the end")
	step := int64(3)
	if testing.Short() {
		step = 11
	}
	if os.Getenv("SEGMENT_CRASH_ALL") != "" {
		step = 1
	}
	images := 0
	for n := int64(0); n < total; n += step {
		m := newMemDir(t)
		m.CrashAfter(n)
		var s cleanScript
		if err := s.run(m); !m.Crashed() || err != nil && !errors.Is(err, vfs.ErrCrashed) {
			t.Fatalf("crash point %d: %v", n, err)
		}
		s.verify(t, m.Clone(), fmt.Sprintf("killed before call %d", n))
		for _, seed := range seedsFor(n) {
			s.verify(t, m.Image(seed), fmt.Sprintf("crash before call %d, seed %d", n, seed))
			images++
		}
		if n%4 != 0 {
			continue
		}
		for k := int64(0); ; k++ {
			im := m.Image(uint64(n)*7 + 3)
			im.CrashAfter(k)
			p := cleanScriptParams()
			p.RecoveryPoint = s.recovery
			_, _, err := Open(im, p)
			if !im.Crashed() {
				break
			}
			if err == nil {
				t.Fatalf("recovery of %d went on over a crash at %d", n, k)
			}
			s.verify(t, im.Image(uint64(k)+2), fmt.Sprintf("crash before call %d, recovery crashed before its call %d", n, k))
			images++
		}
	}
	t.Logf("%d calls, %d images", total, images)
}

var errFull = &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}

// TestCleanFaults fails each storage call of a cleaning once: the log stays whole, and after a lack of space the next
// cleaning does the rest.
func TestCleanFaults(t *testing.T) {
	for _, fault := range []error{error(errFull), errors.New("broken")} {
		for n := int64(1); ; n++ {
			m := newMemDir(t)
			f := vfs.NewFaulty(m)
			l := mustCreate(t, f, cleanScriptParams())
			want := map[string]string{}
			for i := range 60 {
				k, v := fmt.Sprint("k", i%5), fmt.Sprint(i, string(value(1, 40)))
				must(t, appendAll(l, nil, kvBatch(l.End(), 1000, 0, put(k, v))))
				want[k] = v
			}
			l.Checkpoint(nil)
			must(t, runJobs(l))
			left, hit := n, vfs.Call{}
			f.Rule(func(c vfs.Call) vfs.Fault {
				if !c.Op.Changes() {
					return vfs.Fault{}
				}
				if left--; left == 0 {
					hit = c
					return vfs.Fault{Err: fault, Short: -1}
				}
				return vfs.Fault{}
			})
			o := cleanSettings(l, 5000)
			_, err := cleanLog(l, o, nil)
			f.Clear()
			if left > 0 {
				break
			}
			what := fmt.Sprintf("call %d (%v %s), %v", n, hit.Op, hit.Name, fault)
			if err == nil {
				t.Fatalf("%s: no error", what)
			}
			checkState(t, what, l, want)
			if fault != error(errFull) {
				end := l.RecoveryPoint()
				l.Abandon()
				p := cleanScriptParams()
				p.RecoveryPoint = end
				l, _, err = Open(m.Image(uint64(n)), p)
				must(t, err)
				checkState(t, what+", reopened", l, want)
				l.Abandon()
				continue
			}
			l.Tick(6000)
			must(t, runJobs(l))
			if s, err := cleanLog(l, o, nil); err != nil || s != nil && s.Skipped > 0 {
				t.Fatalf("%s: again: %v %+v", what, err, s)
			}
			checkState(t, what+", again", l, want)
			progress(t, l)
			must(t, l.Close(nil))
			list, err := m.List(testDir)
			must(t, err)
			for _, e := range list {
				if _, suffix, ok := parseFileName(e.Name()); ok && (len(suffix) > 8 && suffix[len(suffix)-8:] == suffixCleaned || len(suffix) > 5 && suffix[len(suffix)-5:] == suffixSwap) {
					t.Fatalf("%s: %s is left", what, e.Name())
				}
			}
		}
	}
}
