package segment

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

// damagedDir is a log of several segments, checkpointed in the middle of the last one, whose files a test spoils.
type damagedDir struct {
	t     *testing.T
	m     *vfs.Mem
	model model
	rp    int64
	bases []int64
	prod  loader
}

func newDamagedDir(t *testing.T) *damagedDir {
	t.Helper()
	d := &damagedDir{t: t, m: newMemDir(t)}
	l := mustCreate(t, d.m, testParams())
	add := func(n int) {
		for range n {
			v := producerBatch(l.End(), 0, 3, 0, int32(l.End()), 4, 1000+10*l.End())
			must(t, appendAll(l, d.prod.entries(), v))
			d.model.add(v)
			d.prod.apply(v)
		}
	}
	add(60)
	for l.pub.pos > 1500 || l.pub.pos < 800 {
		add(1)
	}
	l.Checkpoint(d.prod.entries())
	must(t, runJobs(l))
	d.rp = l.RecoveryPoint()
	add(3)
	for _, s := range l.view.Load().segs {
		d.bases = append(d.bases, s.base)
	}
	d.m = d.m.Clone()
	return d
}

func (d *damagedDir) name(base int64, suffix string) string { return fileName(testDir, base, suffix) }

// spoil changes a file's bytes.
func (d *damagedDir) spoil(base int64, suffix string, fn func([]byte) []byte) {
	d.t.Helper()
	name := d.name(base, suffix)
	data, err := d.m.ReadFile(name)
	must(d.t, err)
	must(d.t, d.m.WriteFileAtomic(name, fn(data)))
}

func (d *damagedDir) open() (*Log, Report, *loader, error) {
	p := testParams()
	p.RecoveryPoint = d.rp
	ld := &loader{}
	p.Producers = ld
	l, rep, err := Open(d.m, p)
	return l, rep, ld, err
}

func (d *damagedDir) mustOpen() (*Log, Report, *loader) {
	d.t.Helper()
	l, rep, ld, err := d.open()
	must(d.t, err)
	return l, rep, ld
}

// checkProducers compares with the state that the batches below end give.
func (d *damagedDir) checkProducers(ld *loader, end int64) {
	d.t.Helper()
	var want loader
	for _, b := range d.model.batches {
		if b.LastOffset() < end {
			want.apply(b)
		}
	}
	if got := ld.state[3]; got.Batches != want.state[3].Batches || got.Count != want.state[3].Count {
		d.t.Fatalf("producer state %+v, want %+v", got, want.state[3])
	}
}

func (d *damagedDir) active() int64 { return d.bases[len(d.bases)-1] }

// TestTornTail cuts the file in the last batch at every byte, zero-fills the rest, fills it with noise (TF1, TF2).
func TestTornTail(t *testing.T) {
	base := newDamagedDir(t)
	last := base.model.batches[len(base.model.batches)-1]
	whole, err := base.m.ReadFile(base.name(base.active(), suffixLog))
	must(t, err)
	good := len(whole) - len(last)
	rng := rand.New(rand.NewPCG(1, 1))
	kinds := map[string]func(keep int) []byte{
		"cut":  func(keep int) []byte { return whole[:good+keep] },
		"zero": func(keep int) []byte { return append(bytes.Clone(whole[:good+keep]), make([]byte, 5000)...) },
		"noise": func(keep int) []byte {
			b := bytes.Clone(whole[:good+keep])
			for range 5000 {
				b = append(b, byte(rng.IntN(256)))
			}
			return b
		},
	}
	for kind, make := range kinds {
		for keep := range len(last) {
			d := *base
			d.m = base.m.Clone()
			d.spoil(d.active(), suffixLog, func([]byte) []byte { return make(keep) })
			if bytes.HasPrefix(make(keep), whole) {
				continue // the last byte happened to be what follows
			}
			l, rep, ld := d.mustOpen()
			if l.End() != last.BaseOffset() || len(rep.Damage) != 0 || rep.CutFile != "" {
				t.Fatalf("%s %d: end %d, want %d: %+v", kind, keep, l.End(), last.BaseOffset(), rep)
			}
			md := model{base.model.batches[:len(base.model.batches)-1]}
			md.check(t, l, 0)
			d.checkProducers(ld, l.End())
			if keep > 0 && l.ActiveBase() != l.End() {
				t.Fatalf("%s %d: a cut file is appended to", kind, keep)
			}
			if keep > 0 {
				size, err := d.m.Stat(d.name(d.active(), suffixLog))
				must(t, err)
				if size.Size() != int64(good) {
					t.Fatalf("%s %d: %d bytes left of %d", kind, keep, size.Size(), good)
				}
			}
			// Again: recovery of the recovered does nothing.
			d.rp = l.RecoveryPoint()
			l, rep, _ = d.mustOpen()
			if rep.CutBytes != 0 || l.End() != last.BaseOffset() {
				t.Fatalf("%s %d: second start: %+v", kind, keep, rep)
			}
		}
	}
}

// TestBadBatchAboveRecoveryPoint: the log ends there whatever follows, and what follows is kept aside.
func TestBadBatchAboveRecoveryPoint(t *testing.T) {
	d := newDamagedDir(t)
	n := len(d.model.batches)
	bad := d.model.batches[n-2]
	tail := len(d.model.batches[n-2]) + len(d.model.batches[n-1])
	var kept []byte
	d.spoil(d.active(), suffixLog, func(b []byte) []byte {
		b[len(b)-tail+70] ^= 4
		kept = bytes.Clone(b[len(b)-tail:])
		return b
	})
	l, rep, _ := d.mustOpen()
	if l.End() != bad.BaseOffset() || rep.CutFile == "" || rep.CutBytes != int64(tail) {
		t.Fatalf("end %d, want %d: %+v", l.End(), bad.BaseOffset(), rep)
	}
	got, err := d.m.ReadFile(rep.CutFile)
	if err != nil || !bytes.Equal(got, kept) {
		t.Fatalf("cut file %s: %v", rep.CutFile, err)
	}
}

// TestDamageBelowRecoveryPoint flips one bit in every byte of a batch below the recovery point, in the segment that is
// scanned and its side file gone: reported, not cut, not served, and the batches around it are (TF3-5).
func TestDamageBelowRecoveryPoint(t *testing.T) {
	base := newDamagedDir(t)
	must(t, base.m.Remove(base.name(base.active(), suffixSum)))
	whole, err := base.m.ReadFile(base.name(base.active(), suffixLog))
	must(t, err)
	first, _, err := batch.Parse(whole)
	must(t, err)
	second, _, err := batch.Parse(whole[len(first):])
	must(t, err)
	for i := range len(second) {
		d := *base
		d.m = base.m.Clone()
		d.spoil(d.active(), suffixLog, func(b []byte) []byte { b[len(first)+i] ^= 1 << (i % 8); return b })
		l, rep, _ := d.mustOpen()
		if l.End() != d.model.end() || rep.CutBytes != 0 {
			t.Fatalf("byte %d: end %d: %+v", i, l.End(), rep)
		}
		if len(rep.Damage) != 1 || rep.Damage[0].Pos != int64(len(first)) || rep.Damage[0].Len != int64(len(second)) {
			t.Fatalf("byte %d: %+v", i, rep)
		}
		for round := range 2 {
			v := l.View()
			if _, err := v.FindBlocking(second.BaseOffset()); !errors.Is(err, ErrDamaged) {
				t.Fatalf("byte %d: damaged batch found: %v", i, err)
			}
			p, err := v.FindBlocking(first.BaseOffset())
			must(t, err)
			r, err := v.SliceBlocking(p, 1<<20, l.End(), true)
			if err != nil || r.Len != int64(len(first)) {
				t.Fatalf("byte %d: served %d bytes up to the damage: %v", i, r.Len, err)
			}
			v.Release()
			readBatches(t, l, second.LastOffset()+1, l.End(), 600)
			if round == 0 {
				d.rp = l.RecoveryPoint() // remembered over the next start
				l, rep, _ = d.mustOpen()
				if len(rep.Damage) == 0 {
					t.Fatalf("byte %d: damage forgotten", i)
				}
			}
		}
	}
}

// TestFlippedHeaderInTail flips each bit of each header field of the batches above the recovery point: a flip is either
// found, or was in the epoch of the very last batch, which nothing else covers.
func TestFlippedHeaderInTail(t *testing.T) {
	base := newDamagedDir(t)
	n := len(base.model.batches)
	last, prev := base.model.batches[n-1], base.model.batches[n-2]
	for _, back := range []int{len(last), len(last) + len(prev)} {
		for bit := range batch.HeaderSize * 8 {
			d := *base
			d.m = base.m.Clone()
			d.spoil(d.active(), suffixLog, func(b []byte) []byte { b[len(b)-back+bit/8] ^= 1 << (bit % 8); return b })
			l, _, _ := d.mustOpen()
			want := d.model.end() - 4
			if back > len(last) {
				want -= 4
			}
			epochOfLast := back == len(last) && bit/8 >= 12 && bit/8 < 16
			if l.End() != want && !epochOfLast {
				t.Fatalf("byte %d bit %d of the batch %d from the end: end %d, want %d", bit/8, bit%8, back, l.End(), want)
			}
		}
	}
}

// TestSpoiledSideFiles damages each derived file in turn: the log reads the same, producers come back exactly, and no
// segment is read that has not lost something (TF6, TF9, TF10; B63).
func TestSpoiledSideFiles(t *testing.T) {
	damage := map[string]func([]byte) []byte{
		"removed": nil,
		"empty":   func(b []byte) []byte { return nil },
		"cut":     func(b []byte) []byte { return b[:len(b)/2] },
		"flipped": func(b []byte) []byte { b[len(b)/3] ^= 0x10; return b },
		"noise":   func(b []byte) []byte { return bytes.Repeat([]byte{0xa5}, len(b)) },
	}
	base := newDamagedDir(t)
	var names []string
	list, err := base.m.List(testDir)
	must(t, err)
	for _, e := range list {
		if !strings.HasSuffix(e.Name(), suffixLog) && e.Name() != PartitionMetaFile {
			names = append(names, e.Name())
		}
	}
	if len(names) < 10 {
		t.Fatalf("%v", names)
	}
	for _, name := range names {
		for kind, fn := range damage {
			d := *base
			d.m = base.m.Clone()
			path := filepath.Join(testDir, name)
			if fn == nil {
				must(t, d.m.Remove(path))
			} else {
				data, err := d.m.ReadFile(path)
				must(t, err)
				if len(data) == 0 {
					continue
				}
				must(t, d.m.WriteFileAtomic(path, fn(data)))
			}
			l, rep, ld, err := d.open()
			what := fmt.Sprintf("%s %s", name, kind)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if len(rep.Damage) != 0 || rep.CutBytes != 0 || len(rep.RebuiltIndexes) > 1 {
				t.Fatalf("%s: %+v", what, rep)
			}
			d.model.check(t, l, 0)
			d.checkProducers(ld, l.End())
			if e := l.Epochs().Entries(); len(e) != 1 || e[0] != (EpochEntry{0, 0}) {
				t.Fatalf("%s: epochs %v", what, e)
			}
			if rep.ScannedBytes > 2*4096+2048 {
				t.Fatalf("%s: %d bytes read", what, rep.ScannedBytes)
			}
			for ts := int64(1000); ts < 1000+10*l.End(); ts += 997 {
				o, _ := lookup(t, l, ts, 0, l.End())
				if want := modelTime(&d.model, ts); o != want {
					t.Fatalf("%s: time %d: offset %d, want %d", what, ts, o, want)
				}
			}
			for o := int64(0); o < l.End(); o += 3 {
				v := l.View()
				p, err := v.FindBlocking(o)
				if err != nil || p.Offset != o-o%4 {
					t.Fatalf("%s: offset %d found at %d: %v", what, o, p.Offset, err)
				}
				v.Release()
			}
		}
	}
}

func modelTime(m *model, ts int64) int64 {
	for _, b := range m.batches {
		if b.MaxTimestamp() >= ts {
			return b.BaseOffset() + max(0, ts-b.BaseTimestamp())
		}
	}
	return -1
}

// TestStaleCheckpoints: recovery points and log starts that are ahead, behind or unknown never cut a good log (TF11, B61).
func TestStaleCheckpoints(t *testing.T) {
	base := newDamagedDir(t)
	for _, rp := range []int64{0, 1, base.bases[1], base.bases[2] + 3, base.rp, base.model.end(), base.model.end() + 1, 1 << 50} {
		d := *base
		d.m = base.m.Clone()
		d.rp = rp
		l, rep, ld := d.mustOpen()
		if rep.CutBytes != 0 || len(rep.Damage) != 0 {
			t.Fatalf("recovery point %d: %+v", rp, rep)
		}
		d.model.check(t, l, 0)
		d.checkProducers(ld, l.End())
	}
	// A log that ends below its start is set aside, not served.
	p := testParams()
	p.LogStart = base.model.end() + 100
	l, rep, err := Open(base.m.Clone(), p)
	must(t, err)
	if l.Start() != p.LogStart || l.End() != p.LogStart || rep.CutFile == "" {
		t.Fatalf("%d-%d %+v", l.Start(), l.End(), rep)
	}
}

// TestCleanMarkOnUncleanData: a clean mark whose end does not fit is not believed (TF12).
func TestCleanMarkOnUncleanData(t *testing.T) {
	d := newDamagedDir(t)
	d.spoil(d.active(), suffixLog, func(b []byte) []byte { return b[:len(b)-10] })
	p := testParams()
	p.Clean, p.CleanEnd, p.RecoveryPoint = true, d.model.end(), d.rp
	l, rep, err := Open(d.m, p)
	must(t, err)
	if l.End() != d.model.end()-4 || len(rep.Notes) == 0 {
		t.Fatalf("end %d: %+v", l.End(), rep)
	}
}

// TestMisplacedFiles: segments swapped, removed, a directory of another topic (TF7, TF8, TF13).
func TestMisplacedFiles(t *testing.T) {
	t.Run("another topic id", func(t *testing.T) {
		d := newDamagedDir(t)
		p := testParams()
		p.TopicID[0]++
		if _, _, err := Open(d.m, p); !errors.Is(err, ErrTopicID) {
			t.Fatal(err)
		}
	})
	t.Run("middle segment removed", func(t *testing.T) {
		d := newDamagedDir(t)
		must(t, d.m.Remove(d.name(d.bases[1], suffixLog)))
		l, _, _ := d.mustOpen()
		if l.End() != d.model.end() {
			t.Fatalf("end %d", l.End())
		}
		v := l.View()
		defer v.Release()
		if p, err := v.FindBlocking(d.bases[1]); err != nil || p.Offset != d.bases[2] {
			t.Fatalf("%+v %v", p, err)
		}
	})
	t.Run("segments swapped", func(t *testing.T) {
		d := newDamagedDir(t)
		a, b, c := d.name(d.bases[1], suffixLog), d.name(d.bases[2], suffixLog), testDir+"/x"
		must(t, d.m.Rename(a, c))
		must(t, d.m.Rename(b, a))
		must(t, d.m.Rename(c, b))
		l, _, _ := d.mustOpen()
		v := l.View()
		defer v.Release()
		for _, o := range []int64{d.bases[1], d.bases[1] + 5, d.bases[2], d.bases[2] + 5} {
			p, err := v.FindBlocking(o)
			if err == nil && p.Offset != o-o%4 {
				t.Fatalf("offset %d answered with batch %d", o, p.Offset)
			}
			if err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
		}
	})
	t.Run("all segments removed", func(t *testing.T) {
		d := newDamagedDir(t)
		for _, b := range d.bases {
			must(t, d.m.Remove(d.name(b, suffixLog)))
		}
		l, rep, _ := d.mustOpen()
		if l.End() < d.rp || len(rep.Damage) == 0 {
			t.Fatalf("a log that lost its files began anew at %d: %+v", l.End(), rep)
		}
	})
}

// TestLostSync: after a failed sync the page cache shows what the disk lacks; a direct start does not believe it (DF5).
func TestLostSync(t *testing.T) {
	d := newDamagedDir(t)
	must(t, d.m.LosePending(d.name(d.active(), suffixLog)))
	p := testParams()
	p.RecoveryPoint, p.Direct = d.rp, true
	l, rep, err := Open(d.m, p)
	must(t, err)
	if l.End() != d.rp {
		t.Fatalf("end %d, durable up to %d: %+v", l.End(), d.rp, rep)
	}
	md := model{d.model.batches}
	md.truncate(d.rp)
	md.check(t, l, 0)
	must(t, appendAll(l, nil, testBatch(l.End(), 1, 2, 1, 20)))
	must(t, syncLog(l))
	im := d.m.Image(0)
	p.RecoveryPoint, p.Direct = l.RecoveryPoint(), false
	end := l.SyncedEnd()
	l, _, err = Open(im, p)
	must(t, err)
	if l.End() != end {
		t.Fatalf("end %d after power cut, synced %d", l.End(), end)
	}
}

// TestFullDiskAtStart: recovery must not need space that is not there (B65).
func TestFullDiskAtStart(t *testing.T) {
	d := newDamagedDir(t)
	n := len(d.model.batches)
	tail := len(d.model.batches[n-2]) + len(d.model.batches[n-1])
	d.spoil(d.active(), suffixLog, func(b []byte) []byte { b[len(b)-tail+70] ^= 4; return b })
	f := vfs.NewFaulty(d.m)
	f.Rule(func(c vfs.Call) vfs.Fault {
		if c.Op == vfs.OpWriteAt && c.Len > 0 || c.Op == vfs.OpWritevAt {
			return vfs.Fault{Err: syscall.ENOSPC, Short: -1}
		}
		return vfs.Fault{}
	})
	p := testParams()
	p.RecoveryPoint = d.rp
	l, rep, err := Open(f, p)
	if err != nil {
		t.Fatalf("%v (%+v)", err, rep)
	}
	if l.End() != d.model.batches[n-2].BaseOffset() {
		t.Fatalf("end %d: %+v", l.End(), rep)
	}
	readBatches(t, l, 0, l.End(), 1000)
	f.Clear()
	must(t, appendAll(l, nil, testBatch(l.End(), 1, 2, 1, 20)))
	must(t, l.Close(nil))
}

// TestFaultsInJobs fails each storage call of a life once, with EIO: no crash of ours, and what was acknowledged is there
// after the restart (DF3, DF13).
func TestFaultsInJobs(t *testing.T) {
	whole := newMemDir(t)
	var s script
	must(t, s.run(whole))
	total := int(whole.Changes())
	for _, cause := range []error{syscall.EIO, syscall.ENOSPC} {
		for n := range total {
			m := newMemDir(t)
			f := vfs.NewFaulty(m)
			left := n
			f.Rule(func(c vfs.Call) vfs.Fault {
				if !c.Op.Changes() || c.Op == vfs.OpWriteFileAtomic {
					return vfs.Fault{}
				}
				if left--; left == -1 {
					return vfs.Fault{Err: cause, Short: 60}
				}
				return vfs.Fault{}
			})
			var s script
			err := s.run(f)
			if err != nil && !errors.Is(err, cause) && !errors.Is(err, ErrClosed) && !strings.Contains(err.Error(), "cannot roll") && !strings.Contains(err.Error(), "bytes may be lost") {
				t.Fatalf("call %d: %v", n, err)
			}
			s.verify(t, m.Clone(), fmt.Sprintf("%v at call %d (%v), killed", cause, n, err))
			s.verify(t, m.Image(0), fmt.Sprintf("%v at call %d (%v), power cut", cause, n, err))
		}
	}
}
