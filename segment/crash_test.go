package segment

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

// script is a small life of a log with everything that touches the disk. It returns what was acknowledged as synced, and
// the batches in order; a crash shows as an error.
type script struct {
	model     model
	synced    int64 // acknowledged as durable
	start     int64
	recovery  int64 // what the recovery-point file holds
	epoch     int32
	producers loader
	maxEnd    int64
	cutTo     int64 // a truncation to this offset was begun
}

func (s *script) append(l *Log, n int) error {
	for range n {
		v := producerBatch(l.End(), s.epoch, 5, 0, int32(l.End()), 3, 1000+l.End())
		if err := appendAll(l, s.producers.entries(), v); err != nil {
			return err
		}
		s.model.add(v)
		s.producers.apply(v)
		s.maxEnd = max(s.maxEnd, l.End())
	}
	return nil
}

func (s *script) sync(l *Log) error {
	if err := syncLog(l); err != nil {
		return err
	}
	s.synced = max(s.synced, l.SyncedEnd())
	return nil
}

func (s *script) checkpoint(l *Log) error {
	l.Checkpoint(s.producers.entries())
	if err := runJobs(l); err != nil {
		return err
	}
	s.synced = max(s.synced, l.SyncedEnd())
	s.recovery = l.RecoveryPoint()
	return nil
}

func (s *script) run(fsys vfs.FS) error {
	p := testParams()
	p.Options.SegmentBytes, p.Options.AheadMax = 1200, 6400
	l, err := Create(fsys, p)
	if err != nil {
		return err
	}
	l.ahead.roundMin = 0
	steps := []func(*Log) error{
		func(l *Log) error { return s.append(l, 3) },
		s.sync,
		func(l *Log) error { return s.append(l, 8) }, // rolls
		s.sync,
		s.checkpoint,
		func(l *Log) error { s.epoch = 1; l.AssignEpoch(1); return s.append(l, 5) },
		s.sync,
		func(l *Log) error { return s.append(l, 2) },
		func(l *Log) error { // truncate into the last segments
			at := l.End() - 8
			s.cutTo = at
			s.recovery = min(s.recovery, at)
			s.synced = min(s.synced, at-at%3)
			l.Truncate(at)
			if err := runJobs(l); err != nil {
				return err
			}
			s.model.truncate(at)
			s.producers = loader{}
			for _, v := range s.model.batches {
				s.producers.apply(v)
			}
			return nil
		},
		func(l *Log) error { s.epoch = 2; s.cutTo = 0; return s.append(l, 6) },
		s.sync,
		s.checkpoint,
		func(l *Log) error { // delete records
			s.start = 14
			l.SetStart(14)
			l.Retention(0, l.WrittenEnd())
			return runJobs(l)
		},
		func(l *Log) error { l.Tick(1 << 40); l.GiveBackIdle(); return runJobs(l) },
		func(l *Log) error { return s.append(l, 4) },
		func(l *Log) error {
			if err := l.Close(s.producers.entries()); err != nil {
				return err
			}
			s.synced, s.recovery = l.SyncedEnd(), l.RecoveryPoint()
			return nil
		},
	}
	for _, step := range steps {
		if err := step(l); err != nil {
			return err
		}
	}
	return nil
}

// verify opens an image and checks what must hold whatever was lost.
func (s *script) verify(t *testing.T, im vfs.FS, what string) {
	t.Helper()
	p := testParams()
	p.Options.SegmentBytes = 1200
	p.RecoveryPoint, p.LogStart = s.recovery, s.start
	var ld loader
	p.Producers = &ld
	l, rep, err := Open(im, p)
	if err != nil {
		if _, serr := im.Stat(testDir); serr != nil && s.synced == 0 {
			return // the directory itself did not make it, and nothing in it was acknowledged
		}
		t.Fatalf("%s: %v", what, err)
	}
	if len(rep.Damage) != 0 {
		t.Fatalf("%s: damage %+v", what, rep.Damage)
	}
	if l.End() < s.synced {
		t.Fatalf("%s: end %d below the acknowledged %d\n%+v", what, l.End(), s.synced, rep)
	}
	start := max(s.start, l.Start())
	var want loader
	n := 0
	for _, b := range s.model.batches {
		if b.LastOffset() < l.End() {
			want.apply(b)
			n++
		}
	}
	got := readBatches(t, l, start, l.End(), 700)
	known := map[int64]batch.View{}
	for _, b := range s.model.batches {
		known[b.BaseOffset()] = b
	}
	for _, g := range got {
		b := batch.View(g)
		w, ok := known[b.BaseOffset()]
		if ok && !bytes.Equal(w, g) && s.cutTo == 0 {
			t.Fatalf("%s: batch %d is another one", what, b.BaseOffset())
		}
		if !ok && b.BaseOffset() < s.synced {
			t.Fatalf("%s: batch %d was never written", what, b.BaseOffset())
		}
	}
	if s.cutTo == 0 && int64(n*3) == l.End() {
		for id, w := range want.state {
			g := ld.state[id]
			wl, _ := w.Last()
			gl, _ := g.Last()
			if wl != gl || g.Count != w.Count || g.Batches != w.Batches {
				t.Fatalf("%s: producer %d: %+v, want %+v (snapshot %d, replayed %v)\n%+v", what, id, g, w, rep.SnapshotOffset, ld.replays, rep)
			}
		}
	}
	for i, e := range l.Epochs().Entries() {
		if e.Start >= l.End() && l.End() > 0 || i > 0 && e.Start <= l.Epochs().Entries()[i-1].Start {
			t.Fatalf("%s: epochs %v, end %d", what, l.Epochs().Entries(), l.End())
		}
	}
	// What was recovered goes on.
	end := l.End()
	v := producerBatch(end, 9, 5, 1, 0, 2, 5000)
	if err := appendAll(l, nil, v); err != nil {
		t.Fatalf("%s: append after recovery: %v", what, err)
	}
	if err := syncLog(l); err != nil {
		t.Fatal(err)
	}
	back := readBatches(t, l, end, end+2, 700)
	if !bytes.Equal(back[0], v) {
		t.Fatalf("%s: read back another batch", what)
	}
	l.Abandon()
}

func seedsFor(i int64) []uint64 {
	return []uint64{0, 1, uint64(i)*7 + 2, uint64(i)*7 + 3, uint64(i)*7 + 4, uint64(i)*7 + 5}
}

// TestCrashAtEveryCall cuts the power before every storage call that changes something and recovers from what may be
// left; then kills recovery itself at every one of its calls and recovers again.
func TestCrashAtEveryCall(t *testing.T) {
	whole := newMemDir(t)
	var s script
	whole.CrashAfter(-1)
	must(t, s.run(whole))
	total := whole.Changes()
	if total < 80 {
		t.Fatalf("only %d storage calls", total)
	}
	s.verify(t, whole.Clone(), "at the end")
	images := 0
	for n := range total {
		m := newMemDir(t)
		m.CrashAfter(n)
		var s script
		// The very last calls remove files that nobody needs; Close does not report them.
		if err := s.run(m); !m.Crashed() || err != nil && !errors.Is(err, vfs.ErrCrashed) {
			t.Fatalf("crash point %d: %v", n, err)
		}
		for _, seed := range seedsFor(n) {
			what := fmt.Sprintf("crash before call %d, seed %d", n, seed)
			im := m.Image(seed)
			s.verify(t, im, what)
			images++
		}
		// Recovery is killed too.
		if n%3 == 0 {
			for k := int64(0); ; k++ {
				im := m.Image(uint64(n)*7 + 3)
				im.CrashAfter(k)
				p := testParams()
				p.Options.SegmentBytes = 1200
				p.RecoveryPoint, p.LogStart = s.recovery, s.start
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
	}
	t.Logf("%d calls, %d images", total, images)
}
