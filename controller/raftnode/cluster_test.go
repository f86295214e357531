package raftnode

import (
	"bytes"
	"fmt"
	"testing"

	"millrace/controller"
	"millrace/vfs"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// TestSecondVoter: a node is added, gets a snapshot, takes part, and both have the same image over restarts. It
// shows that nothing in Node stands in a cluster's way.
func TestSecondVoter(t *testing.T) {
	m := emptyMem(t)
	w := newWorld(t, m)
	w.opts.SnapshotBytes = 1
	w.mustOpen()
	for range 100 {
		w.must(&controller.AllocateProducerIDs{Count: 1})
	}
	a := w.r.node
	b := joiner(t, a, RaftID(1, 1))
	nodes := map[uint64]*Node{a.self: a, b.self: b}
	if err := a.raw.ProposeConfChange(&pb.ConfChange{Type: pb.ConfChangeAddNode.Enum(), NodeId: new(b.self)}); err != nil {
		t.Fatal(err)
	}
	step := func() {
		for moved := true; moved; {
			moved = false
			for _, n := range nodes {
				r, ok := n.Ready()
				if !ok {
					continue
				}
				moved = true
				if err := n.Persist(r); err != nil {
					t.Fatal(err)
				}
				for _, msg := range r.Messages() {
					if to := nodes[msg.GetTo()]; to != nil {
						if err := to.Step(proto.Clone(msg).(*pb.Message)); err != nil {
							t.Fatal(err)
						}
					}
					if msg.GetType() == pb.MsgSnap {
						n.raw.ReportSnapshot(msg.GetTo(), 1)
					}
				}
				if _, err := n.Advance(r); err != nil {
					t.Fatal(err)
				}
				if n.SnapshotDue() {
					if err := n.Snapshot(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	for range 30 {
		a.Tick()
		b.Tick()
		step()
	}
	if a.Alone() || len(b.conf.GetVoters()) != 2 {
		t.Fatalf("configuration %v", b.conf)
	}
	for i := range 20 {
		c := controller.Command{Node: 0, Incarnation: w.opts.Incarnation, Counter: w.r.counter + 1 + uint64(i), Body: createTopic(fmt.Sprint("t", i), 1)}
		if err := a.Propose(c.Encode(nil)); err != nil {
			t.Fatal(err)
		}
		step()
	}
	a.Tick()
	step()
	if !bytes.Equal(image(a.Image()), image(b.Image())) || a.Image().TopicCount() != 20 {
		t.Fatalf("images differ, or have %d topics", a.Image().TopicCount())
	}
	opts := b.opts
	again, err := open(opts)
	if err != nil {
		t.Fatal(err)
	}
	for r, ok := again.Ready(); ok; r, ok = again.Ready() {
		if _, err := again.Advance(r); err != nil {
			t.Fatal(err)
		}
	}
	// The last commit index need not be on disk; what is applied is a beginning of what was.
	if again.Image().Index() < b.Image().Index()-2 || again.Image().ClusterID() != testCluster {
		t.Errorf("index %d of %d", again.Image().Index(), b.Image().Index())
	}
}

// joiner is an empty node that a leader of a's cluster can add.
func joiner(t *testing.T, a *Node, id uint64) *Node {
	w := newWorld(t, emptyMem(t))
	w.opts.NodeID = nodeOf(id)
	w.opts.Join = true
	w.opts.EnsureDefaults()
	w.opts.Found.ClusterID = a.image.ClusterID()
	n, err := open(w.opts)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestSnapshotFirst: a snapshot is the first that an empty node hears, and what it is started from later.
func TestSnapshotFirst(t *testing.T) {
	w := newWorld(t, emptyMem(t))
	w.mustOpen()
	w.must(createTopic("a", 1))
	a := w.r.node
	b := joiner(t, a, RaftID(1, 1))
	term, _ := a.Leader()
	snap := (&snapshot{index: a.image.Index(), term: term, conf: &pb.ConfState{Voters: []uint64{a.self}, Learners: []uint64{b.self}}}).meta()
	snap.Data = image(a.image)
	if err := b.Step(&pb.Message{Type: pb.MsgSnap.Enum(), From: new(a.self), To: new(b.self), Term: new(term), Snapshot: snap}); err != nil {
		t.Fatal(err)
	}
	for r, ok := b.Ready(); ok; r, ok = b.Ready() {
		if err := b.Persist(r); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Advance(r); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(image(a.image), image(b.image)) {
		t.Fatal("images differ")
	}
	b.opts.FS = b.opts.FS.(*vfs.Mem).Image(0)
	again, err := open(b.opts)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(image(a.image), image(again.image)) || len(again.conf.GetLearners()) != 1 {
		t.Fatal("images differ after a start")
	}
}
