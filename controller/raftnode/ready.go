package raftnode

import (
	"fmt"

	"millrace/controller"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// Ready is one step of work: Persist it, then send Messages, then Advance it. One at a time.
type Ready struct {
	rd      raft.Ready
	records []record
	snap    *snapshot // one that a leader sent
}

// Messages are for other nodes, to be sent after Persist.
func (r *Ready) Messages() []*pb.Message { return r.rd.Messages }

// Outcome is what Advance applied: the images before and after, what changed, and the results of all commands
// that were applied, in order.
type Outcome struct {
	Old, New *controller.Image
	Changes  []controller.Change
	Results  []Applied
}

// Applied is one command's result.
type Applied struct {
	Node        int32
	Incarnation controller.UUID
	Counter     uint64
	Result      controller.Result
}

// Ready returns the next step of work, or false if there is none. A step's records are written and synced by
// Persist if it has entries or messages; what has neither (a vote for ourselves, a commit index) waits in memory
// for the next write, because nobody can have seen it.
func (n *Node) Ready() (*Ready, bool) {
	if n.inFlight || !n.raw.HasReady() {
		return nil, false
	}
	r := &Ready{rd: n.raw.Ready()}
	n.inFlight = true
	if !raft.IsEmptyHardState(r.rd.HardState) {
		n.held = append(n.held, hardStateRecord(r.rd.HardState))
	}
	for _, e := range r.rd.Entries {
		n.held = append(n.held, entryRecord(e))
	}
	if s := r.rd.Snapshot; !raft.IsEmptySnap(s) {
		m := s.GetMetadata()
		r.snap = &snapshot{index: m.GetIndex(), term: m.GetTerm(), conf: m.GetConfState(), image: s.GetData()}
	}
	n.heldSync = n.heldSync || r.rd.MustSync
	if len(r.rd.Entries) > 0 || len(r.rd.Messages) > 0 && n.heldSync || r.snap != nil {
		r.records, n.held, n.heldSync = n.held, nil, false
	}
	return r, true
}

// Persist makes the step durable. It makes blocking calls on the file system and touches nothing that Step and
// Propose touch, so they may go on meanwhile on the owner's side. If it fails for want of space it may be called
// again with the same step; after any other error the directory is dead.
func (n *Node) Persist(r *Ready) error {
	if r.snap != nil {
		h := n.header(r.snap, r.rd.HardState)
		first := []record{h.record()}
		for _, rec := range r.records {
			if rec.kind != kindHeader { // of a founding that nothing was written of yet
				first = append(first, rec)
			}
		}
		return n.disk.rotate(r.snap, first)
	}
	if len(r.records) == 0 {
		return nil
	}
	return n.disk.append(r.records)
}

// header is that of a file which builds on snap.
func (n *Node) header(snap *snapshot, hs *pb.HardState) *header {
	if raft.IsEmptyHardState(hs) {
		hs, _, _ = n.store.InitialState()
	}
	return &header{raftID: n.self, clusterID: n.image.ClusterID(), hardState: hs, snapIndex: snap.index, snapTerm: snap.term, conf: snap.conf}
}

// Advance ends the step: what it made durable counts, and what is committed is applied. An error means that the
// log holds what this program cannot apply: the node must not go on.
func (n *Node) Advance(r *Ready) (*Outcome, error) {
	n.cost += entriesSize(r.rd.Entries)
	if !raft.IsEmptyHardState(r.rd.HardState) {
		if err := n.store.SetHardState(r.rd.HardState); err != nil {
			return nil, err
		}
	}
	out := &Outcome{Old: n.image}
	if r.snap != nil {
		if err := n.install(r); err != nil {
			return nil, err
		}
	}
	if err := n.store.Append(r.rd.Entries); err != nil {
		return nil, err
	}
	if err := n.apply(r.rd.CommittedEntries, out); err != nil {
		return nil, err
	}
	n.raw.Advance(r.rd)
	n.inFlight = false
	out.New = n.image
	return out, nil
}

// install replaces the image by a leader's snapshot. Subscribers get the new image without changes: they compare.
func (n *Node) install(r *Ready) error {
	im, err := controller.DecodeImage(r.snap.image)
	if err != nil {
		return err
	}
	if err := n.store.ApplySnapshot(r.snap.meta()); err != nil {
		return err
	}
	n.image, n.conf = im, proto.Clone(r.snap.conf).(*pb.ConfState)
	n.store.image, n.store.conf = n.image, n.conf
	n.cost, n.snapBytes = 0, int64(len(r.snap.image))
	return nil
}

func (n *Node) apply(entries []*pb.Entry, out *Outcome) error {
	if len(entries) == 0 {
		return nil
	}
	b := controller.NewBuilder(n.image)
	for _, e := range entries {
		if err := n.applyEntry(b, e, out); err != nil {
			return fmt.Errorf("raftnode: entry %d: %w", e.GetIndex(), err)
		}
	}
	n.image, out.Changes = b.Done()
	n.store.image, n.store.conf = n.image, n.conf
	n.cost += changeCost * int64(len(out.Changes))
	return nil
}

func (n *Node) applyEntry(b *controller.Builder, e *pb.Entry, out *Outcome) error {
	switch e.GetType() {
	case pb.EntryConfChange:
		var cc pb.ConfChange
		if err := proto.Unmarshal(e.GetData(), &cc); err != nil {
			return err
		}
		n.conf = n.raw.ApplyConfChange(&cc)
	case pb.EntryConfChangeV2:
		var cc pb.ConfChangeV2
		if err := proto.Unmarshal(e.GetData(), &cc); err != nil {
			return err
		}
		n.conf = n.raw.ApplyConfChange(&cc)
	default:
		if len(e.GetData()) > 0 { // a leader's first entry is empty
			cmd, err := controller.DecodeCommand(e.GetData())
			if err != nil {
				return err
			}
			if res, ok := b.Apply(e.GetIndex(), &cmd); ok {
				out.Results = append(out.Results, Applied{cmd.Node, cmd.Incarnation, cmd.Counter, res})
			}
			return nil
		}
	}
	b.SetIndex(e.GetIndex())
	return nil
}

// changeCost is what one change costs at replay, in the time that so many bytes of commands take.
const changeCost = 256

// SnapshotDue tells whether enough was written since the last snapshot.
func (n *Node) SnapshotDue() bool {
	return !n.inFlight && n.cost > max(n.opts.SnapshotBytes, 2*n.snapBytes)
}

// deferSnapshot puts off a snapshot that failed until as much has been written again.
func (n *Node) deferSnapshot() { n.cost = 0 }

// Snapshot writes a snapshot of all that is applied and begins a new log file. Like Persist it blocks; an error
// for want of space changes nothing, after any other the directory is dead. No Ready may be in flight.
func (n *Node) Snapshot() error {
	index := n.image.Index()
	snap := &snapshot{index: index, conf: proto.Clone(n.conf).(*pb.ConfState)}
	term, err := n.store.Term(index)
	if err != nil {
		return err
	}
	snap.term, snap.image = term, controller.AppendImage(nil, n.image)
	first, err := n.firstRecords(snap)
	if err != nil {
		return err
	}
	if err := n.disk.rotate(snap, first); err != nil {
		return err
	}
	n.held, n.heldSync = nil, false // all of it is in the header and the entries
	n.cost, n.snapBytes = 0, int64(len(snap.image))
	if _, err := n.store.CreateSnapshot(index, snap.conf, nil); err != nil {
		return err
	}
	return n.store.Compact(index)
}

// rewrite begins a new log file with all that was read, on the snapshot there is.
func (n *Node) rewrite() error {
	s, err := n.store.MemoryStorage.Snapshot()
	if err != nil {
		return err
	}
	m := s.GetMetadata()
	snap := &snapshot{index: m.GetIndex(), term: m.GetTerm(), conf: m.GetConfState(), image: controller.AppendImage(nil, n.image)}
	first, err := n.firstRecords(snap)
	if err != nil {
		return err
	}
	return n.disk.rotate(snap, first)
}

// firstRecords begin a log file on snap: the header and the entries behind it.
func (n *Node) firstRecords(snap *snapshot) ([]record, error) {
	hs, _, err := n.store.InitialState()
	if err != nil {
		return nil, err
	}
	h := n.header(snap, nil)
	// The commit index is only ever written together with something else: it may lag behind what is applied.
	h.hardState = &pb.HardState{Term: hs.Term, Vote: hs.Vote, Commit: new(max(hs.GetCommit(), snap.index))}
	first := []record{h.record()}
	last, err := n.store.LastIndex()
	if err != nil || last <= snap.index {
		return first, err
	}
	entries, err := n.store.Entries(snap.index+1, last+1, 1<<62)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		first = append(first, entryRecord(e))
	}
	return first, nil
}
