package raftnode

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// A snapshot file: magic (8 bytes, the last is the version), CRC-32C of all that follows, then index, term,
// configuration and image.
var snapMagic = [8]byte{'m', 'r', 's', 'n', 'a', 'p', 0, 1}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// snapshot is the state up to index.
type snapshot struct {
	index uint64
	term  uint64
	conf  *pb.ConfState
	image []byte // controller.AppendImage
}

var (
	errSnapMagic = errors.New("not a snapshot, or of a version that this program does not know")
	errSnapCRC   = errors.New("checksum mismatch")
)

func (s *snapshot) encode() []byte {
	conf, err := proto.Marshal(s.conf)
	if err != nil {
		panic(err) // a message of ours without required fields
	}
	b := append(snapMagic[:len(snapMagic):len(snapMagic)], 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, s.index)
	b = binary.BigEndian.AppendUint64(b, s.term)
	b = appendBytes(b, conf)
	b = append(b, s.image...)
	binary.BigEndian.PutUint32(b[8:], crc32.Checksum(b[12:], castagnoli))
	return b
}

// parseSnapshot reads a snapshot file; the image aliases b.
func parseSnapshot(b []byte) (*snapshot, error) {
	if len(b) < 28 || [8]byte(b) != snapMagic {
		return nil, errSnapMagic
	}
	if crc32.Checksum(b[12:], castagnoli) != binary.BigEndian.Uint32(b[8:]) {
		return nil, errSnapCRC
	}
	s := &snapshot{index: binary.BigEndian.Uint64(b[12:]), term: binary.BigEndian.Uint64(b[20:]), conf: new(pb.ConfState)}
	conf, image, ok := cutBytes(b[28:])
	if !ok || proto.Unmarshal(conf, s.conf) != nil {
		return nil, errRecord
	}
	s.image = image
	return s, nil
}
