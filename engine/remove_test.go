package engine

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"millrace/segment"
	"millrace/vfs"
)

// slowRemoves is a file system whose removals of segments and directories take a while, or with a gate until they are let
// through one by one; it notes how many were under way at once, and which files are open.
type slowRemoves struct {
	vfs.FS
	gate            chan struct{} // nil: only slow
	now, most, done atomic.Int64

	mu   sync.Mutex
	open map[string]int // by the directory that a file was opened in
}

func newSlowRemoves(gate chan struct{}) *slowRemoves {
	return &slowRemoves{FS: vfs.NewMem(), gate: gate, open: map[string]int{}}
}

func (f *slowRemoves) slow(remove func(string) error, name string) error {
	n := f.now.Add(1)
	defer f.now.Add(-1)
	for m := f.most.Load(); n > m && !f.most.CompareAndSwap(m, n); m = f.most.Load() {
	}
	if f.gate != nil {
		<-f.gate
	} else {
		time.Sleep(2 * time.Millisecond)
	}
	defer f.done.Add(1)
	return remove(name)
}

func (f *slowRemoves) RemoveAll(name string) error { return f.slow(f.FS.RemoveAll, name) }

func (f *slowRemoves) Remove(name string) error {
	if strings.HasSuffix(name, ".log.deleted") || strings.HasSuffix(name, ".log") && strings.Contains(name, segment.DeletedDirSuffix) {
		return f.slow(f.FS.Remove, name)
	}
	return f.FS.Remove(name)
}

func (f *slowRemoves) count(dir string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[dir] += n
}

// openIn is the number of files open that were opened in a directory.
func (f *slowRemoves) openIn(dir string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.open[dir]
}

// countedFile tells the file system when it is closed.
type countedFile struct {
	vfs.File
	fs  *slowRemoves
	dir string
}

func (f *countedFile) Close() error {
	f.fs.count(f.dir, -1)
	return f.File.Close()
}

func (f *slowRemoves) counted(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	c := &countedFile{file, f, filepath.Dir(file.Name())}
	f.count(c.dir, 1)
	return c, nil
}

func (f *slowRemoves) Open(name string) (vfs.File, error)     { return f.counted(f.FS.Open(name)) }
func (f *slowRemoves) OpenRead(name string) (vfs.File, error) { return f.counted(f.FS.OpenRead(name)) }
func (f *slowRemoves) OpenDirect(name string) (vfs.File, error) {
	return f.counted(f.FS.OpenDirect(name))
}
func (f *slowRemoves) Create(name string) (vfs.File, error) { return f.counted(f.FS.Create(name)) }
func (f *slowRemoves) CreateTrunc(name string) (vfs.File, error) {
	return f.counted(f.FS.CreateTrunc(name))
}

// waiting counts the segments that retention gave up and nobody removed yet.
func waiting(t *testing.T, f vfs.FS, dir string) int {
	t.Helper()
	files, err := f.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if strings.HasSuffix(f.Name(), ".log.deleted") {
			n++
		}
	}
	return n
}

// TestDeletedPartitionsAreRemovedOneAtATime: each removal holds a thread of the process, and a deleted topic may have ten
// thousand partitions.
func TestDeletedPartitionsAreRemovedOneAtATime(t *testing.T) {
	m := newSlowRemoves(nil)
	o := testOptions(m)
	c := *DefaultConfig()
	c.FileDeleteDelayMs = 1
	o.Config = &c
	e, _ := start(t, o)
	const parts = 60
	for i := range parts {
		mustAppend(t, ensure(t, e, "a", int32(i)), NeedWritten, mkBatch("x"))
	}
	for i := range int32(parts) {
		if _, err := call(t, func(done func(int, error)) { e.Delete(e.Lookup("a", i), func(err error) { done(0, err) }) }); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all are removed", func() bool { return m.done.Load() == 2*parts }) // a segment and the directory
	if most := m.most.Load(); most > 1 {
		t.Errorf("%d removals at once, want 1", most)
	}
	left, err := m.List("/data")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range left {
		if strings.HasSuffix(f.Name(), segment.DeletedDirSuffix) {
			t.Errorf("%s is still there", f.Name())
		}
	}
}

// retentionOptions delete all but a few kilobytes, every 5 ms and without a delay.
func retentionOptions(fs vfs.FS) Options {
	o := testOptions(fs)
	o.InitialTaskDelayMs, o.RetentionCheckMs = 1, 5
	c := *DefaultConfig()
	c.SegmentBytes, c.RetentionBytes, c.FileDeleteDelayMs = 1000, 3000, 0
	o.Config = &c
	return o
}

// fillUntilWaiting appends to partitions of topic a until each has segments that wait for their removal.
func fillUntilWaiting(t *testing.T, e *Engine, f vfs.FS, parts int32) {
	t.Helper()
	for i := range parts {
		p := ensure(t, e, "a", i)
		eventually(t, "segments that wait", func() bool {
			mustAppend(t, p, NeedCommitted, mkBatch(strings.Repeat("x", 300)))
			return waiting(t, f, p.path) >= 3
		})
	}
}

// TestSegmentsAreRemovedOneAtATime: retention gives up segments of all partitions at the same moment. While one is being
// removed the logs roll, seal and sync.
func TestSegmentsAreRemovedOneAtATime(t *testing.T) {
	m := newSlowRemoves(make(chan struct{}))
	e, _ := start(t, retentionOptions(m))
	const parts = 40 // more than a loop has workers
	fillUntilWaiting(t, e, m, parts)
	if done := m.done.Load(); done != 0 {
		t.Fatalf("%d removals went past the gate", done)
	}
	p := ensure(t, e, "a", 0)
	from := p.Bounds().LogStart
	eventually(t, "retention goes on", func() bool {
		mustAppend(t, p, NeedCommitted, mkBatch(strings.Repeat("y", 300)))
		return p.Bounds().LogStart > from
	})
	close(m.gate)
	eventually(t, "all are removed", func() bool {
		left := 0
		for i := range int32(parts) {
			left += waiting(t, m, ensure(t, e, "a", i).path)
		}
		return left == 0
	})
	if most := m.most.Load(); most != 1 {
		t.Errorf("%d removals at once, want 1", most)
	}
}

// stopLetting stops the engine and lets the removal under way through once the stop has begun and meanwhile has returned.
func stopLetting(t *testing.T, e *Engine, m *slowRemoves, meanwhile func()) {
	t.Helper()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop(t, e)
	}()
	<-e.stop
	meanwhile()
	m.gate <- struct{}{}
	<-stopped
}

// TestStopLeavesRemovals: a stop waits for the removal under way and leaves the others to the next start, which does not
// wait for them either.
func TestStopLeavesRemovals(t *testing.T) {
	m := newSlowRemoves(make(chan struct{}))
	e, _ := start(t, retentionOptions(m))
	fillUntilWaiting(t, e, m, 3)
	stopLetting(t, e, m, func() {})
	if done := m.done.Load(); done != 1 {
		t.Errorf("the stop waited for %d removals, want 1", done)
	}
	dir := filepath.Join("/data", "a-")
	left := func() int { return waiting(t, m, dir+"0") + waiting(t, m, dir+"1") + waiting(t, m, dir+"2") }
	before := left()
	if before < 8 {
		t.Fatalf("%d segments are left, want those that waited", before)
	}
	e, _ = start(t, retentionOptions(m))
	mustAppend(t, ensure(t, e, "a", 1), NeedCommitted, mkBatch("z"))
	if now := left(); now < before {
		t.Fatalf("%d segments are left, there were %d", now, before)
	}
	close(m.gate)
	eventually(t, "what the stop left is removed", func() bool { return left() == 0 })
}

// TestDeletionDoesNotWaitForRemovals: a partition whose segments wait for their removal is deleted while another's file takes
// for ever; none of its files stays open.
func TestDeletionDoesNotWaitForRemovals(t *testing.T) {
	m := newSlowRemoves(make(chan struct{}))
	e, _ := start(t, retentionOptions(m))
	defer close(m.gate)
	fillUntilWaiting(t, e, m, 3)
	eventually(t, "a removal under way", func() bool { return m.now.Load() == 1 })
	for i := range int32(3) {
		p := e.Lookup("a", i)
		if i == 0 { // its own removal is the one under way
			continue
		}
		if _, err := call(t, func(done func(int, error)) { e.Delete(p, func(err error) { done(0, err) }) }); err != nil {
			t.Fatal(err)
		}
		eventually(t, "all files are closed", func() bool { return m.openIn(p.path) == 0 })
	}
}

// TestStopEndsDeletions: a partition that is being deleted has its new name when the stop is over, though one of its files was
// being removed when the stop began.
func TestStopEndsDeletions(t *testing.T) {
	m := newSlowRemoves(make(chan struct{}))
	e, _ := start(t, retentionOptions(m))
	fillUntilWaiting(t, e, m, 1)
	eventually(t, "a removal under way", func() bool { return m.now.Load() == 1 })
	deleted := make(chan error, 1)
	e.Delete(e.Lookup("a", 0), func(err error) { deleted <- err })
	eventually(t, "the deletion begins", func() bool { return e.Lookup("a", 0) == nil })
	stopLetting(t, e, m, func() {
		time.Sleep(20 * time.Millisecond)
		if _, clean, err := segment.ReadCleanMark(m, "/data"); clean || err != nil {
			t.Errorf("marked clean %v (%v) beside a deletion under way", clean, err)
		}
	})
	if err := <-deleted; err != nil {
		t.Fatal(err)
	}
	if _, err := m.Stat("/data/a-0"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of the deleted partition has its old name: %v", err)
	}
}

// TestStopLeavesDeletedPartitions: a stop waits for one file of the directories of deleted partitions.
func TestStopLeavesDeletedPartitions(t *testing.T) {
	m := newSlowRemoves(make(chan struct{}))
	o := testOptions(m)
	c := *DefaultConfig()
	c.SegmentBytes, c.FileDeleteDelayMs = 1000, 1
	o.Config = &c
	e, _ := start(t, o)
	const parts = 5
	for i := range int32(parts) {
		p := ensure(t, e, "a", i)
		for range 20 {
			mustAppend(t, p, NeedCommitted, mkBatch(strings.Repeat("x", 300)))
		}
		if _, err := call(t, func(done func(int, error)) { e.Delete(p, func(err error) { done(0, err) }) }); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "a first removal", func() bool { return m.now.Load() == 1 })
	left := func() (dirs, logs int) {
		files, err := m.List("/data")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), segment.DeletedDirSuffix) {
				continue
			}
			dirs++
			in, err := m.List(filepath.Join("/data", f.Name()))
			if err != nil {
				continue // removed meanwhile
			}
			for _, f := range in {
				if strings.HasSuffix(f.Name(), ".log") {
					logs++
				}
			}
		}
		return dirs, logs
	}
	_, before := left()
	stopLetting(t, e, m, func() {})
	if dirs, logs := left(); dirs != parts || logs != before-1 {
		t.Errorf("%d directories with %d segments are left, want %d with %d", dirs, logs, parts, before-1)
	}
	close(m.gate)
	start(t, o)
	eventually(t, "what the stop left is removed", func() bool { dirs, _ := left(); return dirs == 0 })
}
