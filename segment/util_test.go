package segment

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

const testDir = "/d/t-0"

var testID = [16]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func testOptions() Options {
	o := DefaultOptions()
	o.SegmentBytes = 4096
	o.IndexIntervalBytes = 200
	return o
}

func testParams() Params {
	return Params{Dir: testDir, Topic: "t", Partition: 0, TopicID: testID, Options: testOptions(), NowMs: 1_000_000, CleanEnd: -1}
}

func newMemDir(t testing.TB) *vfs.Mem {
	t.Helper()
	m := vfs.NewMem()
	must(t, m.Mkdir("/d"))
	must(t, m.SyncDir("/"))
	return m
}

func mustCreate(t testing.TB, fsys vfs.FS, p Params) *Log {
	t.Helper()
	l, err := Create(fsys, p)
	must(t, err)
	return l
}

// record values say what they are, so that reads can be checked.
func value(offset int64, size int) []byte {
	b := fmt.Appendf(nil, "v%d.", offset)
	for len(b) < size {
		b = append(b, byte('a'+len(b)%26))
	}
	return b
}

// testBatch is a batch of n records at offset, timestamps ts, ts+1, ...
func testBatch(offset int64, epoch int32, n int, ts int64, size int) batch.View {
	var b batch.Builder
	b.Reset(nil, offset, epoch)
	for i := range n {
		b.Add(ts+int64(i), []byte("k"), value(offset+int64(i), size))
	}
	return b.Finish()
}

func producerBatch(offset int64, epoch int32, pid int64, pepoch int16, seq int32, n int, ts int64) batch.View {
	var b batch.Builder
	b.Reset(nil, offset, epoch)
	b.SetProducer(pid, pepoch, seq)
	for i := range n {
		b.Add(ts+int64(i), nil, value(offset+int64(i), 20))
	}
	return b.Finish()
}

// runJobs carries out everything that may run.
func runJobs(l *Log) error {
	for j := l.TakeJob(); j != nil; j = l.TakeJob() {
		j.Run()
		l.JobDone(j)
		if j.Err != nil {
			return j.Err
		}
	}
	return nil
}

// appendAll appends batches as the engine would, rolling where asked.
func appendAll(l *Log, producers []ProducerEntry, vs ...batch.View) error {
	for _, v := range vs {
		for {
			r := l.Stage(v)
			if r == Staged {
				break
			}
			if err := flush(l); err != nil {
				return err
			}
			if err := runJobs(l); err != nil {
				return err
			}
			if r == StageBusy {
				return fmt.Errorf("log is busy")
			}
			if r == StageRoll {
				if !l.CanRoll() {
					return fmt.Errorf("cannot roll")
				}
				l.Roll(producers)
			}
		}
	}
	if err := flush(l); err != nil {
		return err
	}
	return runJobs(l)
}

func flush(l *Log) error {
	for w := l.TakeWrite(); w != nil; w = l.TakeWrite() {
		n, err := w.File.WritevAt(w.Iov, w.Off)
		if !l.WriteDone(w, n, err) {
			return fmt.Errorf("write failed: %w", err)
		}
	}
	return nil
}

func syncLog(l *Log) error {
	s := l.BeginSync()
	if s == nil {
		return nil
	}
	var first error
	for _, f := range s.Files {
		if err := f.Datasync(); err != nil && first == nil {
			first = err
		}
	}
	l.SyncDone(s, first)
	return first
}

// readBatches reads the log's published bytes from offset to bound through views, as fetches would.
func readBatches(t testing.TB, l *Log, offset, bound int64, maxBytes int64) [][]byte {
	t.Helper()
	v := l.View()
	defer v.Release()
	var out [][]byte
	for offset < bound {
		p, err := v.Find(offset)
		if err == ErrCold {
			p, err = v.FindBlocking(offset)
		}
		if err != nil {
			t.Fatalf("find %d: %v", offset, err)
		}
		r, err := v.Slice(p, maxBytes, bound, true)
		if err == ErrCold {
			r, err = v.SliceBlocking(p, maxBytes, bound, true)
		}
		if err != nil {
			t.Fatalf("slice at %d: %v", offset, err)
		}
		if r.Len == 0 {
			t.Fatalf("nothing at offset %d below %d (position %d, size %d)", offset, bound, p.Pos, p.Size)
		}
		b := make([]byte, r.Len)
		if _, err := r.File.ReadAt(b, r.Off); err != nil {
			t.Fatalf("read %d at %d: %v", r.Len, r.Off, err)
		}
		n := 0
		s := batch.NewScanner(b, true)
		for s.Next() {
			n++
			x := s.View()
			if x.BaseOffset() >= bound {
				t.Fatalf("batch %d served at or above bound %d", x.BaseOffset(), bound)
			}
			if x.LastOffset() < offset {
				continue
			}
			out = append(out, bytes.Clone(x))
			offset = x.LastOffset() + 1
		}
		if n == 0 {
			t.Fatalf("no whole batch in %d bytes at offset %d: %v", r.Len, offset, s.Err())
		}
	}
	return out
}

// model remembers batches for comparison. Owned by one test.
type model struct {
	batches []batch.View
}

func (m *model) add(v batch.View) { m.batches = append(m.batches, batch.View(bytes.Clone(v))) }

func (m *model) end() int64 {
	if len(m.batches) == 0 {
		return 0
	}
	return m.batches[len(m.batches)-1].LastOffset() + 1
}

func (m *model) truncate(offset int64) {
	for len(m.batches) > 0 && m.batches[len(m.batches)-1].LastOffset() >= offset {
		m.batches = m.batches[:len(m.batches)-1]
	}
}

// check compares the log from start on with the model.
func (m *model) check(t testing.TB, l *Log, start int64) {
	t.Helper()
	if l.End() != m.end() && !(len(m.batches) == 0) {
		t.Fatalf("end %d, want %d", l.End(), m.end())
	}
	got := readBatches(t, l, start, l.WrittenEnd(), 1000)
	var want [][]byte
	for _, b := range m.batches {
		if b.LastOffset() >= start {
			want = append(want, b)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d batches from %d, want %d", len(got), start, len(want))
	}
	for i := range got {
		if !bytes.Equal(got[i], want[i]) {
			t.Fatalf("batch %d differs: %d, want %d", i, batch.View(got[i]).BaseOffset(), batch.View(want[i]).BaseOffset())
		}
	}
}

// fillLog appends n batches of random shape.
func fillLog(t testing.TB, l *Log, m *model, rng *rand.Rand, n int) {
	t.Helper()
	for range n {
		v := testBatch(l.End(), 0, 1+rng.IntN(5), 1000+l.End()*10, rng.IntN(150))
		m.add(v)
		must(t, appendAll(l, nil, v))
	}
}

// loader collects producer state as the engine would.
type loader struct {
	loaded  []ProducerEntry
	offset  int64
	loads   int
	replays []int64
	state   map[int64]ProducerEntry
}

func (p *loader) Load(e []ProducerEntry, offset int64) {
	p.loaded, p.offset, p.loads = e, offset, p.loads+1
	p.state = map[int64]ProducerEntry{}
	for _, x := range e {
		p.state[x.ProducerID] = x
	}
}

func (p *loader) Replay(v batch.View) {
	p.replays = append(p.replays, v.BaseOffset())
	p.apply(v)
}

func (p *loader) apply(v batch.View) {
	if p.state == nil {
		p.state = map[int64]ProducerEntry{}
	}
	if !v.HasProducerID() {
		return
	}
	e, ok := p.state[v.ProducerID()]
	if !ok {
		e = ProducerEntry{ProducerID: v.ProducerID(), CoordinatorEpoch: -1, TxnFirstOffset: -1}
	}
	e.Epoch, e.Timestamp = v.ProducerEpoch(), v.MaxTimestamp()
	if e.Count == ProducerWindow {
		copy(e.Batches[:], e.Batches[1:])
		e.Count--
	}
	e.Batches[e.Count] = ProducerBatch{v.LastSequence(), v.LastOffsetDelta(), v.LastOffset(), v.MaxTimestamp()}
	e.Count++
	p.state[v.ProducerID()] = e
}

func (p *loader) entries() []ProducerEntry {
	out := []ProducerEntry{}
	for id := int64(0); len(out) < len(p.state); id++ {
		if e, ok := p.state[id]; ok {
			out = append(out, e)
		}
	}
	return out
}
