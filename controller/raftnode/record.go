package raftnode

import (
	"encoding/binary"
	"errors"

	"millrace/segment/batch"

	pb "go.etcd.io/raft/v3/raftpb"
)

// recordKind is the kind of a log record. Numbers are on disk: never reused.
type recordKind uint8

const (
	kindHeader       recordKind = 1 // data: header.go
	kindHardState    recordKind = 2 // index: commit; term: term; data: the vote as a varint
	kindEntry        recordKind = 3 // data: a command, or empty
	kindConfChange   recordKind = 4 // data: raftpb.ConfChange
	kindConfChangeV2 recordKind = 5 // data: raftpb.ConfChangeV2
)

const (
	recordVersion = 1
	recordKeySize = 1 + 1 + 8 + 8
)

var (
	errRecord  = errors.New("malformed record")
	errVersion = errors.New("record of a version or kind that this program does not know: a newer one wrote it")
)

// record is one record of the log. Its key in the batch is version, kind, index, term; its value is data.
type record struct {
	kind  recordKind
	index uint64
	term  uint64
	data  []byte
}

func (r *record) key() (key [recordKeySize]byte) {
	key[0], key[1] = recordVersion, byte(r.kind)
	binary.BigEndian.PutUint64(key[2:], r.index)
	binary.BigEndian.PutUint64(key[10:], r.term)
	return key
}

// parseRecord reads a record; its data aliases value.
func parseRecord(key, value []byte) (record, error) {
	if len(key) < 2 {
		return record{}, errRecord
	}
	if key[0] != recordVersion || key[1] < byte(kindHeader) || key[1] > byte(kindConfChangeV2) {
		return record{}, errVersion
	}
	if len(key) != recordKeySize {
		return record{}, errRecord
	}
	return record{
		kind:  recordKind(key[1]),
		index: binary.BigEndian.Uint64(key[2:]),
		term:  binary.BigEndian.Uint64(key[10:]),
		data:  value,
	}, nil
}

// appendBatch appends one batch with the records, the first of which has offset base.
func appendBatch(dst []byte, base int64, nowMs int64, records []record) []byte {
	var b batch.Builder
	b.Reset(dst, base, int32(records[len(records)-1].term))
	for i := range records {
		key := records[i].key()
		b.Add(nowMs, key[:], records[i].data)
	}
	b.Finish()
	return b.Bytes()
}

// parseBatch calls yield with every record of a batch.
func parseBatch(v batch.View, yield func(*record) error) error {
	it := v.Iter()
	var br batch.Record
	for it.Next(&br) {
		r, err := parseRecord(br.Key, br.Value)
		if err != nil {
			return err
		}
		if err := yield(&r); err != nil {
			return err
		}
	}
	return it.Err()
}

func entryRecord(e *pb.Entry) record {
	kind := kindEntry
	switch e.GetType() {
	case pb.EntryConfChange:
		kind = kindConfChange
	case pb.EntryConfChangeV2:
		kind = kindConfChangeV2
	}
	return record{kind: kind, index: e.GetIndex(), term: e.GetTerm(), data: e.GetData()}
}

// entry is the raft entry of a record of the entry kinds. It aliases the record's data.
func (r *record) entry() *pb.Entry {
	typ := pb.EntryNormal
	switch r.kind {
	case kindConfChange:
		typ = pb.EntryConfChange
	case kindConfChangeV2:
		typ = pb.EntryConfChangeV2
	}
	return &pb.Entry{Type: typ.Enum(), Index: new(r.index), Term: new(r.term), Data: r.data}
}

func hardStateRecord(hs *pb.HardState) record {
	return record{kind: kindHardState, index: hs.GetCommit(), term: hs.GetTerm(), data: binary.AppendUvarint(nil, hs.GetVote())}
}

func (r *record) hardState() (*pb.HardState, error) {
	vote, n := binary.Uvarint(r.data)
	if n <= 0 || n != len(r.data) {
		return nil, errRecord
	}
	return &pb.HardState{Term: new(r.term), Vote: new(vote), Commit: new(r.index)}, nil
}
