package raftnode

import (
	"encoding/binary"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// header is the first record of every log file. Its record's index and term are those of the snapshot on which
// the file builds: the entries behind it are in this file or in later ones.
type header struct {
	raftID    uint64
	clusterID string
	hardState *pb.HardState
	snapIndex uint64
	snapTerm  uint64
	// conf is the configuration at snapIndex.
	conf *pb.ConfState
	// founding is the image of the first snapshot; only in the first file, later ones have a snapshot file.
	founding []byte
}

func (h *header) record() record {
	conf, err := proto.Marshal(h.conf)
	if err != nil {
		panic(err) // a message of ours without required fields
	}
	var d []byte
	d = binary.BigEndian.AppendUint64(d, h.raftID)
	d = binary.AppendUvarint(d, h.hardState.GetTerm())
	d = binary.AppendUvarint(d, h.hardState.GetVote())
	d = binary.AppendUvarint(d, h.hardState.GetCommit())
	d = appendBytes(d, []byte(h.clusterID))
	d = appendBytes(d, conf)
	d = appendBytes(d, h.founding)
	return record{kind: kindHeader, index: h.snapIndex, term: h.snapTerm, data: d}
}

// header reads the header of a record of that kind. It copies.
func (r *record) header() (*header, error) {
	h := &header{snapIndex: r.index, snapTerm: r.term, conf: new(pb.ConfState)}
	b := r.data
	if len(b) < 8 {
		return nil, errRecord
	}
	h.raftID, b = binary.BigEndian.Uint64(b), b[8:]
	var state [3]uint64
	for i := range state {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errRecord
		}
		state[i], b = v, b[n:]
	}
	h.hardState = &pb.HardState{Term: new(state[0]), Vote: new(state[1]), Commit: new(state[2])}
	var parts [3][]byte
	for i := range parts {
		var ok bool
		if parts[i], b, ok = cutBytes(b); !ok {
			return nil, errRecord
		}
	}
	h.clusterID, h.founding = string(parts[0]), append([]byte(nil), parts[2]...)
	if len(b) != 0 || proto.Unmarshal(parts[1], h.conf) != nil {
		return nil, errRecord
	}
	return h, nil
}

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func cutBytes(b []byte) (part, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)-size) {
		return nil, nil, false
	}
	b = b[size:]
	return b[:n:n], b[n:], true
}

// RaftID is the raft id of a node whose metadata directory was founded for the incarnation-th time (from 1).
func RaftID(nodeID int32, incarnation uint32) uint64 {
	return uint64(nodeID+1)<<32 | uint64(incarnation)
}

// nodeOf is the node.id in a raft id.
func nodeOf(raftID uint64) int32 { return int32(raftID>>32) - 1 }
