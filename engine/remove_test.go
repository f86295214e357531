package engine

import (
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"millrace/segment"
	"millrace/vfs"
)

// slowRemoves is a file system whose removals of directories take a while; it notes how many were under way at once.
type slowRemoves struct {
	vfs.FS
	now, most, done atomic.Int64
}

func (f *slowRemoves) RemoveAll(name string) error {
	n := f.now.Add(1)
	defer f.now.Add(-1)
	for m := f.most.Load(); n > m && !f.most.CompareAndSwap(m, n); m = f.most.Load() {
	}
	time.Sleep(2 * time.Millisecond)
	defer f.done.Add(1)
	return f.FS.RemoveAll(name)
}

// TestDeletedPartitionsAreRemovedAFewAtATime: each removal may hold a thread of the process, and a deleted topic may have ten
// thousand partitions.
func TestDeletedPartitionsAreRemovedAFewAtATime(t *testing.T) {
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
	if most := m.most.Load(); most > 4 {
		t.Errorf("%d removals at once, want at most 4", most)
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
