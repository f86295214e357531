package raftnode

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"millrace/controller"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// Node is a raft node with its files and the image made from its log. It has no goroutine, clock or lock: all
// methods belong to its one owner, but for Persist (see there).
type Node struct {
	opts  Options
	self  uint64
	raw   *raft.RawNode
	store *store
	disk  *disk

	image *controller.Image
	conf  *pb.ConfState

	// held are records of earlier Readies that needed no sync of their own; they go with the next write.
	held []record
	// heldSync: one of them must be durable before anybody else hears of it.
	heldSync bool
	// cost is what replaying the log since the last snapshot would take: its bytes, and what commands changed.
	cost      int64
	snapBytes int64
	inFlight  bool
}

// open reads or founds the directory and applies what is known to be committed. With one voter that need not be
// all: the rest follows once the node leads.
func open(opts Options) (*Node, error) {
	d := &disk{fs: opts.FS, parent: opts.Dir, dir: filepath.Join(opts.Dir, DirName), nowMs: func() int64 { return time.Now().UnixMilli() }}
	l, err := load(d, opts.Direct, opts.Log)
	if err != nil {
		return nil, err
	}
	n := &Node{opts: opts, disk: d}
	if l == nil {
		if opts.MustExist {
			return nil, fmt.Errorf("%s: %w", d.dir, ErrMissing)
		}
		if l, err = n.found(); err != nil {
			return nil, err
		}
	} else if err := n.resume(l); err != nil {
		return nil, err
	}
	if err := n.start(l); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// found begins a new directory. Nothing is durable until the first Persist that syncs.
func (n *Node) found() (*loaded, error) {
	if n.opts.Found.ClusterID == "" {
		return nil, errors.New("raftnode: a new metadata directory needs a cluster id")
	}
	if err := n.opts.FS.Mkdir(n.disk.dir); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	id := RaftID(n.opts.NodeID, 1)
	// Index 1 is a snapshot that exists from the start, so that a node that joins later cannot mistake an empty
	// log for the beginning.
	snap := &snapshot{index: 1, term: 1, conf: &pb.ConfState{Voters: []uint64{id}}}
	if n.opts.Join {
		snap = &snapshot{conf: &pb.ConfState{}}
	}
	b := controller.NewBuilder(controller.NewImage(n.opts.Found))
	b.SetIndex(snap.index)
	im, _ := b.Done()
	snap.image = controller.AppendImage(nil, im)
	hs := &pb.HardState{Term: new(snap.term), Vote: new(uint64(0)), Commit: new(snap.index)}
	h := &header{raftID: id, clusterID: n.opts.Found.ClusterID, hardState: hs, snapIndex: snap.index, snapTerm: snap.term, conf: snap.conf, founding: snap.image}
	if err := n.disk.startFile(snap.index); err != nil {
		return nil, err
	}
	n.held = append(n.held, h.record())
	return &loaded{raftID: id, clusterID: n.opts.Found.ClusterID, snap: snap, hardState: hs}, nil
}

// resume makes the files that were read ready to be written.
func (n *Node) resume(l *loaded) error {
	d := n.disk
	switch {
	case nodeOf(l.raftID) != n.opts.NodeID:
		return fmt.Errorf("raftnode: %s belongs to node.id %d, but node.id is %d", d.dir, nodeOf(l.raftID), n.opts.NodeID)
	case n.opts.Found.ClusterID != "" && n.opts.Found.ClusterID != l.clusterID:
		return fmt.Errorf("raftnode: %s belongs to cluster %s, but the cluster id is %s", d.dir, l.clusterID, n.opts.Found.ClusterID)
	}
	for _, name := range l.litter {
		if err := d.fs.Remove(d.at(name)); err != nil {
			return err
		}
	}
	d.gens, d.next, d.named = l.gens, l.next, true
	d.path, d.size = d.at(l.names[len(l.names)-1]), l.end
	f, err := d.fs.Open(d.path)
	if err != nil {
		return err
	}
	d.file = f
	if l.torn > 0 {
		n.opts.Log.Warn("metadata log: cut the end of a write that was never finished", "file", d.path, "at", l.end, "bytes", l.torn)
		if err := f.Truncate(l.end); err != nil {
			return err
		}
		if err := f.Datasync(); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) start(l *loaded) error {
	im, err := controller.DecodeImage(l.snap.image)
	if err != nil {
		return err
	}
	if im.ClusterID() != l.clusterID || im.Index() != l.snap.index {
		return &DamageError{File: n.disk.dir, What: "snapshot and log do not belong together"}
	}
	if n.store, err = newStore(l, im); err != nil {
		return err
	}
	n.self, n.image, n.conf = l.raftID, im, proto.Clone(l.snap.conf).(*pb.ConfState)
	n.cost, n.snapBytes = entriesSize(l.entries), int64(len(l.snap.image))
	n.raw, err = raft.NewRawNode(&raft.Config{
		ID: n.self, ElectionTick: 10, HeartbeatTick: 1, Storage: n.store, Applied: l.snap.index,
		MaxSizePerMsg: 1 << 20, MaxCommittedSizePerReady: 64 << 20, MaxInflightMsgs: 64,
		CheckQuorum: true, PreVote: true, Logger: logger{n.opts.Log},
	})
	if err != nil {
		return err
	}
	if n.opts.Direct {
		if err := n.rewrite(); err != nil {
			return err
		}
	}
	return nil
}

func entriesSize(entries []*pb.Entry) (size int64) {
	for _, e := range entries {
		size += int64(recordKeySize + len(e.GetData()))
	}
	return size
}

// Image is the state up to the last applied entry.
func (n *Node) Image() *controller.Image { return n.image }

// Leader tells whether this node leads and in which term.
func (n *Node) Leader() (term uint64, leads bool) {
	st := n.raw.BasicStatus()
	return st.GetTerm(), st.RaftState == raft.StateLeader
}

// Alone tells whether this node is the only member: its own vote decides, nothing needs to tick.
func (n *Node) Alone() bool {
	c := n.conf
	return len(c.GetVoters()) == 1 && c.GetVoters()[0] == n.self && len(c.GetLearners()) == 0 &&
		len(c.GetVotersOutgoing()) == 0 && len(c.GetLearnersNext()) == 0
}

// Campaign starts an election if this node is alone, does not lead and has nothing else to do: no election is under
// way, and all that is known to be committed is applied. Call it every turn until it leads.
func (n *Node) Campaign() error {
	st := n.raw.BasicStatus()
	if st.RaftState == raft.StateLeader || !n.Alone() || st.Applied < st.GetCommit() || n.inFlight || n.raw.HasReady() {
		return nil
	}
	return n.raw.Campaign()
}

// Propose puts a command into the log. Raft may refuse it (raft.ErrProposalDropped) or lose it without a word:
// propose again until its result is seen.
func (n *Node) Propose(command []byte) error { return n.raw.Propose(command) }

// Step takes a message of another node. It may be called while a Ready is in flight.
func (n *Node) Step(m *pb.Message) error { return n.raw.Step(m) }

// Tick moves raft's clock; not needed while Alone.
func (n *Node) Tick() { n.raw.Tick() }

// Close closes the files. Everything acknowledged is durable already.
func (n *Node) Close() error { return n.disk.close() }
