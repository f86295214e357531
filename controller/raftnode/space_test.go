package raftnode

import (
	"testing"
	"time"

	"millrace/controller"
)

// TestNoSpace: changes wait while the disk is full and go on once there is room; nothing is refused or lost.
func TestNoSpace(t *testing.T) {
	m := emptyMem(t)
	f := &failing{FS: m}
	w := newWorld(t, f)
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	w.r.Start()
	answers := make(chan controller.Result, 2)
	w.r.Propose(createTopic("a", 1), func(r controller.Result) { answers <- r })
	<-answers
	f.full.Store(true)
	w.r.Propose(createTopic("b", 1), func(r controller.Result) { answers <- r })
	select {
	case r := <-answers:
		t.Fatalf("answered on a full disk: %v", r)
	case <-time.After(50 * time.Millisecond):
	}
	f.full.Store(false)
	if r := <-answers; r.Topics[0].Code != 0 {
		t.Error(r)
	}
	if err := w.r.Stop(); err != nil {
		t.Fatal(err)
	}
	w = w.again(m.Image(0))
	w.mustOpen()
	if w.r.Image().Topic("a") == nil || w.r.Image().Topic("b") == nil {
		t.Error("lost")
	}
}

// TestStopOnFullDisk does not hang.
func TestStopOnFullDisk(t *testing.T) {
	f := &failing{FS: emptyMem(t)}
	w := newWorld(t, f)
	if err := w.open(); err != nil {
		t.Fatal(err)
	}
	f.full.Store(true)
	got := false
	w.r.Propose(createTopic("a", 1), func(r controller.Result) { got = r.Code == controller.CodeUnknownServerError })
	w.r.Start()
	if err := w.r.Stop(); err != nil || !got {
		t.Errorf("%v, answered %t", err, got)
	}
	if w.dead != nil {
		t.Errorf("a full disk is no dead directory: %v", w.dead)
	}
}

// TestSnapshotWithoutSpace: the log goes on growing, commands are answered.
func TestSnapshotWithoutSpace(t *testing.T) {
	m := emptyMem(t)
	f := &failing{FS: m}
	w := newWorld(t, f)
	w.opts.SnapshotBytes = 1
	w.mustOpen()
	f.fullAtomic.Store(true)
	for range 50 {
		w.must(&controller.AllocateProducerIDs{Count: 1})
	}
	files := len(list(t, m))
	f.fullAtomic.Store(false)
	for range 50 {
		w.must(&controller.AllocateProducerIDs{Count: 1})
	}
	if len(list(t, m)) <= files {
		t.Error("no snapshot once there is space")
	}
	w = w.again(m.Image(0))
	w.mustOpen()
	if n := w.r.Image().NextProducerID(); n != 100 {
		t.Error(n)
	}
}
