package raftnode

import (
	"millrace/controller"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// store is what raft reads its log from: the entries since the last snapshot, in memory. The snapshot that it gives
// raft for another node is of the newest applied state, so that it names a node that was only just added. Owned by
// the node's owner.
type store struct {
	*raft.MemoryStorage
	image *controller.Image
	conf  *pb.ConfState // at image's index
}

func newStore(l *loaded, image *controller.Image) (*store, error) {
	s := &store{MemoryStorage: raft.NewMemoryStorage(), image: image, conf: l.snap.conf}
	if err := s.ApplySnapshot(l.snap.meta()); err != nil {
		return nil, err
	}
	if err := s.SetHardState(l.hardState); err != nil {
		return nil, err
	}
	return s, s.Append(l.entries)
}

// meta is the snapshot without its data.
func (s *snapshot) meta() *pb.Snapshot {
	return &pb.Snapshot{Metadata: &pb.SnapshotMetadata{
		Index: new(s.index), Term: new(s.term), ConfState: proto.Clone(s.conf).(*pb.ConfState),
	}}
}

// Snapshot implements raft.Storage: it is called when a follower needs one.
func (s *store) Snapshot() (*pb.Snapshot, error) {
	index := s.image.Index()
	term, err := s.Term(index)
	if err != nil {
		return nil, err
	}
	snap := (&snapshot{index: index, term: term, conf: s.conf}).meta()
	snap.Data = controller.AppendImage(nil, s.image)
	return snap, nil
}
