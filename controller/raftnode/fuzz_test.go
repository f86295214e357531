package raftnode

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"millrace/controller"
	"millrace/segment/batch"
	"millrace/vfs"

	pb "go.etcd.io/raft/v3/raftpb"
)

func TestRecordsSurviveTheirBytes(t *testing.T) {
	hs := &pb.HardState{Term: new(uint64(7)), Vote: new(uint64(1) << 40), Commit: new(uint64(9))}
	h := &header{raftID: RaftID(3, 1), clusterID: testCluster, hardState: hs, snapIndex: 5, snapTerm: 2, conf: &pb.ConfState{Voters: []uint64{1, 2}, Learners: []uint64{3}}, founding: []byte("image")}
	in := []record{h.record(), hardStateRecord(hs), {kind: kindEntry, index: 10, term: 7, data: []byte("x")}, {kind: kindConfChangeV2, index: 11, term: 7}}
	v, rest, err := batch.Parse(appendBatch([]byte("before"), 42, 1000, in)[6:])
	if err != nil || len(rest) != 0 || v.BaseOffset() != 42 || v.LeaderEpoch() != 7 || v.Count() != 4 {
		t.Fatalf("%v, %d bytes left", err, len(rest))
	}
	var out []record
	if err := parseBatch(v, func(r *record) error { out = append(out, *r); return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range in {
		if in[i].kind != out[i].kind || in[i].index != out[i].index || in[i].term != out[i].term || !bytes.Equal(in[i].data, out[i].data) {
			t.Errorf("record %d: %+v, want %+v", i, out[i], in[i])
		}
	}
	got, err := out[0].header()
	if err != nil || !bytes.Equal(got.record().data, in[0].data) || nodeOf(got.raftID) != 3 {
		t.Errorf("header %+v, %v", got, err)
	}
	ghs, err := out[1].hardState()
	if err != nil || ghs.GetVote() != hs.GetVote() || ghs.GetTerm() != 7 || ghs.GetCommit() != 9 {
		t.Errorf("hard state %v, %v", ghs, err)
	}
}

func TestSnapshotSurvivesItsBytes(t *testing.T) {
	s := &snapshot{index: 9, term: 3, conf: &pb.ConfState{Voters: []uint64{1}}, image: []byte("image")}
	b := s.encode()
	got, err := parseSnapshot(b)
	if err != nil || !bytes.Equal(got.encode(), b) || got.index != 9 || string(got.image) != "image" {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range b {
		c := bytes.Clone(b)
		c[i] ^= 1
		if _, err := parseSnapshot(c); err == nil {
			t.Errorf("byte %d flipped: accepted", i)
		}
		if _, err := parseSnapshot(b[:i]); err == nil {
			t.Errorf("cut to %d bytes: accepted", i)
		}
	}
}

func FuzzSnapshotFile(f *testing.F) {
	f.Add((&snapshot{index: 9, term: 3, conf: &pb.ConfState{Voters: []uint64{1}}, image: []byte("image")}).encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := parseSnapshot(b); err == nil {
			if again, err := parseSnapshot(s.encode()); err != nil || !bytes.Equal(again.image, s.image) {
				t.Fatal("not stable")
			}
		}
	})
}

// FuzzRecord takes any key and value through all that reads them.
func FuzzRecord(f *testing.F) {
	hs := &pb.HardState{Term: new(uint64(7)), Vote: new(uint64(1)), Commit: new(uint64(9))}
	h := &header{raftID: RaftID(3, 1), clusterID: "c", hardState: hs, conf: &pb.ConfState{Voters: []uint64{1}}}
	for _, r := range []record{h.record(), hardStateRecord(hs), {kind: kindEntry, index: 1, term: 1, data: []byte("x")}} {
		key := r.key()
		f.Add(key[:], r.data)
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		r, err := parseRecord(key, value)
		if err != nil {
			return
		}
		switch r.kind {
		case kindHeader:
			if h, err := r.header(); err == nil {
				again := h.record()
				if _, err := again.header(); err != nil {
					t.Fatal(err)
				}
			}
		case kindHardState:
			_, _ = r.hardState()
		default:
			if e := entryRecord(r.entry()); e.kind != r.kind || e.index != r.index || e.term != r.term || !bytes.Equal(e.data, r.data) {
				t.Fatal("entry differs")
			}
		}
	})
}

// FuzzLogFile replaces the log of a small directory by any bytes: the start is refused or works, and works again;
// it never panics.
func FuzzLogFile(f *testing.F) {
	m := vfs.NewMem()
	if err := m.MkdirAll("/data"); err != nil {
		f.Fatal(err)
	}
	w := newWorld(f, m)
	w.mustOpen()
	w.must(createTopic("a", 1))
	path := filepath.Join("/data", DirName, logName(0))
	content, err := m.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(content)
	f.Add(content[:len(content)-3])
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		for rest := b; ; { // checksums would stop nearly all of it
			v, more, err := batch.Peek(rest)
			if err != nil {
				break
			}
			v.UpdateCRC()
			rest = more
		}
		m := vfs.NewMem()
		if err := m.MkdirAll(filepath.Join("/data", DirName)); err != nil {
			t.Fatal(err)
		}
		if err := m.WriteFileAtomic(path, b); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, m)
		w.opts.Found = controller.Founding{}
		r, err := Open(w.opts)
		if err != nil {
			return
		}
		if err := r.turn(); err != nil {
			return
		}
		if _, err := Open(w.opts); err != nil && errors.Is(err, errRecord) {
			t.Fatalf("what was good is bad after a start: %v", err)
		}
	})
}
