package engine

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"millrace/segment"
	"millrace/vfs"
)

// TestManyLogsShareTheSyncsOfAStop: a clean stop of many logs syncs the file system a few times and no file of a partition,
// and the next start finds everything without reading a log again.
func TestManyLogsShareTheSyncsOfAStop(t *testing.T) {
	m := vfs.NewMem()
	f := vfs.NewFaulty(m)
	var counting atomic.Bool
	var own, whole atomic.Int64
	f.Rule(func(c vfs.Call) vfs.Fault {
		switch {
		case !counting.Load():
		case c.Op == vfs.OpSyncFS:
			whole.Add(1)
		case (c.Op == vfs.OpDatasync || c.Op == vfs.OpSyncDir) && strings.Contains(c.Name, "/many-"):
			own.Add(1)
		}
		return vfs.Fault{}
	})
	o := testOptions(f)
	o.UnsyncedAgeMaxMs = 3_600_000 // no background sync on a slow machine
	e, _ := start(t, o)
	const parts = 40
	for i := range parts {
		for s := range int32(7) {
			mustAppend(t, ensure(t, e, "many", int32(i)), NeedWritten, idBatch(int64(i), 0, s, strconv.Itoa(int(s))))
		}
	}
	counting.Store(true)
	stop(t, e)
	if own.Load() != 0 || whole.Load() == 0 || whole.Load() > 5 {
		t.Errorf("%d syncs of partitions' own files and %d of the file system, want none and at most 5", own.Load(), whole.Load())
	}
	e2, r := start(t, testOptions(m.Image(0))) // what a power cut right after leaves
	if r.ScannedBytes != 0 || r.Unclean != 0 || len(r.Notes)+len(r.Damage)+len(r.Failed) > 0 {
		t.Errorf("after the stop: %+v", r)
	}
	for i := range parts {
		p := ensure(t, e2, "many", int32(i))
		if n := len(readAll(t, p, ReadUncommitted)); n != 7 {
			t.Fatalf("%s: %d records of 7", p, n)
		}
		for s := int32(2); s < 7; s++ {
			if r := mustAppend(t, p, NeedCommitted, idBatch(int64(i), 0, s, strconv.Itoa(int(s)))); !r.Duplicate || r.BaseOffset != int64(s) {
				t.Fatalf("%s: resend of %d: %+v", p, s, r)
			}
		}
	}
}

// TestStopOfManyLogsFails: each sync of the file system and a rename in between fail in turn; the stop says so, nothing is
// marked clean, and nothing is lost that must not be.
func TestStopOfManyLogsFails(t *testing.T) {
	broken := errors.New("broken disk")
	for _, c := range []struct {
		op   vfs.Op
		part string
		n    int
	}{{vfs.OpSyncFS, "", 1}, {vfs.OpSyncFS, "", 2}, {vfs.OpSyncFS, "", 3}, {vfs.OpRename, ".index.tmp", 2}, {vfs.OpRename, ".sum.tmp", 2}, {vfs.OpCreate, ".snapshot.tmp", 1}} {
		m := vfs.NewMem()
		f := vfs.NewFaulty(m)
		o := testOptions(f)
		o.SyncFSAbove, o.UnsyncedAgeMaxMs = 2, 3_600_000 // the stop makes the first sync of the file system
		e, _ := start(t, o)
		for i := range 4 {
			mustAppend(t, ensure(t, e, "a", int32(i)), []Need{NeedCommitted, NeedWritten}[i%2], idBatch(int64(i), 0, 0, "x"))
		}
		f.FailNth(c.op, c.part, c.n, broken)
		if err := e.Close(ctxOf(t)); !errors.Is(err, broken) {
			t.Errorf("%v %d of %q: the stop says %v", c.op, c.n, c.part, err)
		}
		left := m.Clone()
		if _, err := left.Stat("/data/" + segment.CleanMarkFile); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v %d of %q: marked clean, %v", c.op, c.n, c.part, err)
		}
		e2, r := start(t, testOptions(left))
		if len(r.Failed)+len(r.Damage) > 0 {
			t.Errorf("%v %d of %q: %+v", c.op, c.n, c.part, r)
		}
		for i := range 4 {
			n := len(readAll(t, ensure(t, e2, "a", int32(i)), ReadUncommitted))
			if n != 1 && (i%2 == 0 || c.op != vfs.OpSyncFS) { // after a failed sync only what was synced before is sure
				t.Errorf("%v %d of %q: a-%d holds %d records", c.op, c.n, c.part, i, n)
			}
		}
	}
}
