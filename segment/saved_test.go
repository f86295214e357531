package segment

import (
	"testing"

	"millrace/vfs"
)

// savedLog is a log with a checkpoint of all that it holds, left as by kill -9.
func savedLog(t *testing.T, batches int) (*vfs.Mem, *model, *loader, int64) {
	t.Helper()
	m, have, producers := newMemDir(t), &model{}, &loader{}
	p := testParams()
	p.Options.SegmentBytes = 1200
	l := mustCreate(t, m, p)
	for range batches {
		v := producerBatch(l.End(), 1, 5, 0, int32(l.End()), 3, 1000+l.End())
		must(t, appendAll(l, producers.entries(), v))
		have.add(v)
		producers.apply(v)
	}
	must(t, syncLog(l))
	l.AssignEpoch(7) // a leader that has written nothing yet
	l.Checkpoint(producers.entries())
	must(t, runJobs(l))
	if l.RecoveryPoint() != l.End() {
		t.Fatalf("recovery point %d, end %d", l.RecoveryPoint(), l.End())
	}
	end := l.End()
	l.Abandon()
	return m, have, producers, end
}

// reopen starts on it after kill -9 and says how many changing calls that took.
func reopen(t *testing.T, m *vfs.Mem, point int64, have *model, producers *loader) (*Log, int64) {
	t.Helper()
	p := testParams()
	p.Options.SegmentBytes = 1200
	p.RecoveryPoint = point
	got := &loader{}
	p.Producers = got
	before := m.Changes()
	l, rep, err := Open(m, p)
	must(t, err)
	changes := m.Changes() - before
	have.check(t, l, 0)
	if len(rep.Damage) > 0 || rep.CutBytes > 0 || l.End() != have.end() || l.SyncedEnd() != have.end() || l.RecoveryPoint() != have.end() {
		t.Errorf("ends at %d, synced %d, recovery point %d, want %d: %+v", l.End(), l.SyncedEnd(), l.RecoveryPoint(), have.end(), rep)
	}
	if g, w := len(got.state), len(producers.state); g != w || w > 0 && got.state[5] != producers.state[5] {
		t.Errorf("producers %v, want %v", got.state, producers.state)
	}
	return l, changes
}

// TestAStartOnASavedLogWritesNothing: after kill -9, a log of which a checkpoint has saved all costs no change of the disk, and
// goes on as any other.
func TestAStartOnASavedLogWritesNothing(t *testing.T) {
	for _, batches := range []int{0, 1, 3, 40} { // 40: with sealed segments
		m, have, producers, end := savedLog(t, batches)
		for n := range 3 {
			l, changes := reopen(t, m, end, have, producers)
			if changes != 0 && (n > 0 || batches < 40) { // the first one removes the file that the next segment was to have
				t.Errorf("%d batches: %d changes of the disk", batches, changes)
			}
			l.Abandon()
		}
		l, _ := reopen(t, m, end, have, producers)
		for range 5 {
			v := producerBatch(l.End(), 9, 5, 0, int32(l.End()), 3, 1000+l.End())
			must(t, appendAll(l, producers.entries(), v))
			have.add(v)
			producers.apply(v)
		}
		must(t, syncLog(l))
		l.Abandon()
		l, changes := reopen(t, m.Clone(), end, have, producers)
		if e := l.Epochs().entries; changes == 0 || len(e) == 0 || e[len(e)-1].Epoch != 9 || e[len(e)-1].Start != end {
			t.Errorf("%d batches and five: %d changes, epochs %v", batches, changes, e)
		}
		l.Abandon()
	}
}

// TestAStartSavesWhatIsNotSaved: whatever of it is missing is put right, and the start after that writes nothing.
func TestAStartSavesWhatIsNotSaved(t *testing.T) {
	remove := func(part string) func(*testing.T, *vfs.Mem) {
		return func(t *testing.T, m *vfs.Mem) {
			t.Helper()
			list, err := m.List(testDir)
			must(t, err)
			found := false
			for i := len(list) - 1; i >= 0 && !found; i-- { // of the last segment
				if name := list[i].Name(); len(name) >= len(part) && name[len(name)-len(part):] == part {
					must(t, m.Remove(testDir+"/"+name))
					found = true
				}
			}
			if !found {
				t.Fatalf("no file %s", part)
			}
		}
	}
	extend := func(part string) func(*testing.T, *vfs.Mem) {
		return func(t *testing.T, m *vfs.Mem) {
			t.Helper()
			list, err := m.List(testDir)
			must(t, err)
			last := ""
			for _, e := range list {
				if name := e.Name(); len(name) >= len(part) && name[len(name)-len(part):] == part {
					last = name
				}
			}
			f, err := m.Open(testDir + "/" + last)
			must(t, err)
			n, err := f.Size()
			must(t, err)
			_, err = f.WriteAt(make([]byte, 12), n)
			must(t, err)
			must(t, f.Close())
		}
	}
	for name, hurt := range map[string]func(*testing.T, *vfs.Mem){
		"no index": remove(suffixIndex), "no time index": remove(suffixTimeIndex), "no side file": remove(suffixSum), "no epochs": remove(LeaderEpochFile),
		"a longer index": extend(suffixIndex), "a longer time index": extend(suffixTimeIndex), "half a batch": extend(suffixLog),
	} {
		for _, batches := range []int{0, 3, 40} {
			m, have, producers, end := savedLog(t, batches)
			hurt(t, m)
			p := testParams()
			p.Options.SegmentBytes, p.RecoveryPoint, p.Producers = 1200, end, &loader{}
			before := m.Changes()
			l, _, err := Open(m, p)
			must(t, err)
			have.check(t, l, 0)
			if m.Changes() == before {
				t.Errorf("%s, %d batches: nothing was saved", name, batches)
			}
			l.Abandon()
			if name == "half a batch" || name == "no side file" && batches > 0 {
				continue // it goes on in a new segment; the producers were replayed, and only the engine's next checkpoint saves them
			}
			l, changes := reopen(t, m, end, have, producers)
			if changes != 0 {
				t.Errorf("%s, %d batches: the second start makes %d changes", name, batches, changes)
			}
			l.Abandon()
		}
	}
}

// TestPowerCutAfterAStartThatWroteNothing: kill -9, a start that takes the log as it is, more batches of which some are synced,
// and then the power goes: what was synced is there, once, with its producers, at the start after that and at the next.
func TestPowerCutAfterAStartThatWroteNothing(t *testing.T) {
	for _, batches := range []int{0, 3, 36} {
		m, have, producers, end := savedLog(t, batches)
		// Left over from something that went wrong, above the end: a start must remove it for good.
		stray := ProducerEntry{ProducerID: 5, Epoch: 3, Count: 1, CoordinatorEpoch: -1, TxnFirstOffset: -1}
		must(t, writeSnapshot(m, testDir, []ProducerEntry{stray}, end+3))
		must(t, m.SyncDir(testDir))
		l, _ := reopen(t, m, end, have, producers)
		synced := end
		for n := range 4 { // beyond the stray's offset, and without a new segment, which would sync the directory
			v := producerBatch(l.End(), 9, 5, 0, int32(l.End()), 3, 1000+l.End())
			must(t, appendAll(l, producers.entries(), v))
			have.add(v)
			if n < 3 {
				must(t, syncLog(l))
				synced = l.SyncedEnd()
			}
		}
		l.Abandon()
		for seed := range uint64(20) {
			im := m.Image(seed)
			for range 2 {
				p := testParams()
				p.Options.SegmentBytes, p.RecoveryPoint = 1200, end
				got := &loader{}
				p.Producers = got
				l, rep, err := Open(im, p)
				must(t, err)
				if l.End() < synced || len(rep.Damage) > 0 {
					t.Fatalf("%d batches, seed %d: ends at %d, synced %d: %+v", batches, seed, l.End(), synced, rep)
				}
				want, left := &loader{}, &model{}
				for _, b := range have.batches {
					if b.LastOffset() < l.End() {
						left.add(b)
						want.apply(b)
					}
				}
				left.check(t, l, 0)
				if got.state[5] != want.state[5] {
					t.Fatalf("%d batches, seed %d: producer %+v, want %+v", batches, seed, got.state[5], want.state[5])
				}
				l.Abandon()
			}
		}
	}
}
