package engine

import (
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"millrace/segment"
	"millrace/vfs"
)

// slowRemoves is a file system whose removals of segments and directories take a while, or with a gate until they are let
// through one by one; it notes how many were under way at once.
type slowRemoves struct {
	vfs.FS
	gate            chan struct{} // nil: only slow
	now, most, done atomic.Int64
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
	if strings.HasSuffix(name, ".log.deleted") {
		return f.slow(f.FS.Remove, name)
	}
	return f.FS.Remove(name)
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
	m := &slowRemoves{FS: vfs.NewMem()}
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
	eventually(t, "all are removed", func() bool { return m.done.Load() == parts })
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
	m := &slowRemoves{FS: vfs.NewMem(), gate: make(chan struct{})}
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

// TestStopLeavesRemovals: a stop waits for the removal under way and leaves the others to the next start, which does not
// wait for them either.
func TestStopLeavesRemovals(t *testing.T) {
	m := &slowRemoves{FS: vfs.NewMem(), gate: make(chan struct{})}
	e, _ := start(t, retentionOptions(m))
	fillUntilWaiting(t, e, m, 3)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop(t, e)
	}()
	<-e.stop
	m.gate <- struct{}{}
	<-stopped
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

// TestStopLeavesDeletedPartitions is the same for directories of deleted partitions.
func TestStopLeavesDeletedPartitions(t *testing.T) {
	m := &slowRemoves{FS: vfs.NewMem(), gate: make(chan struct{})}
	o := testOptions(m)
	c := *DefaultConfig()
	c.FileDeleteDelayMs = 1
	o.Config = &c
	e, _ := start(t, o)
	const parts = 5
	for i := range int32(parts) {
		p := ensure(t, e, "a", i)
		if _, err := call(t, func(done func(int, error)) { e.Delete(p, func(err error) { done(0, err) }) }); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "a first removal", func() bool { return m.now.Load() == 1 })
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		stop(t, e)
	}()
	<-e.stop
	m.gate <- struct{}{}
	<-stopped
	left := func() (n int) {
		files, err := m.List("/data")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if strings.HasSuffix(f.Name(), segment.DeletedDirSuffix) {
				n++
			}
		}
		return n
	}
	if n := left(); n != parts-1 {
		t.Errorf("%d directories are left, want %d", n, parts-1)
	}
	close(m.gate)
	start(t, o)
	eventually(t, "what the stop left is removed", func() bool { return left() == 0 })
}
