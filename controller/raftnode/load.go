package raftnode

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"

	"millrace/segment/batch"
	"millrace/vfs"

	pb "go.etcd.io/raft/v3/raftpb"
)

// loaded is what the files of a directory say.
type loaded struct {
	raftID    uint64
	clusterID string
	snap      *snapshot
	hardState *pb.HardState
	entries   []*pb.Entry // from snap.index+1 on, without gaps
	torn      int64       // bytes cut from the last file

	names  []string // log files, oldest first
	litter []string // files that were never finished
	gens   []generation
	next   int64 // offset of the next record
	end    int64 // good bytes in the last file
}

// load reads the directory and changes nothing in it. It returns nil if there is no metadata at all.
func load(d *disk, direct bool, log *slog.Logger) (*loaded, error) {
	entries, err := d.fs.List(d.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := &loaded{}
	var snaps []uint64
	for _, e := range entries {
		if _, ok := number(e.Name(), logSuffix); ok {
			l.names = append(l.names, e.Name())
		} else if n, ok := number(e.Name(), snapSuffix); ok {
			snaps = append(snaps, n)
		} else if strings.HasSuffix(e.Name(), newSuffix) || strings.HasSuffix(e.Name(), tmpSuffix) {
			l.litter = append(l.litter, e.Name())
		}
	}
	if len(l.names) == 0 {
		if len(snaps) > 0 {
			return nil, &DamageError{File: d.dir, What: "there are snapshots, but no log"}
		}
		return nil, nil
	}
	for i := len(snaps) - 1; i >= 0 && l.snap == nil; i-- {
		name := d.at(snapName(snaps[i]))
		b, err := read(d.fs, name, direct)
		if err != nil {
			return nil, err
		}
		if l.snap, err = parseSnapshot(b); err != nil {
			log.Error("metadata snapshot is damaged, going back to the one before", "file", name, "error", err)
		}
	}
	for i, name := range l.names {
		if err := l.file(d, name, i == len(l.names)-1, direct); err != nil {
			return nil, err
		}
	}
	return l, l.finish(d)
}

// file reads one log file.
func (l *loaded) file(d *disk, name string, last, direct bool) error {
	path := d.at(name)
	base, _ := number(name, logSuffix)
	if len(l.gens) == 0 {
		l.next = int64(base)
	} else if l.next != int64(base) {
		return &DamageError{File: path, What: fmt.Sprintf("the log before ends at offset %d: a file is missing", l.next)}
	}
	b, err := read(d.fs, path, direct)
	if err != nil {
		return err
	}
	s := batch.NewScanner(b, true)
	for s.Next() {
		if err := l.batch(s.View(), s.Pos() == 0); err != nil {
			if errors.Is(err, errVersion) {
				return fmt.Errorf("raftnode: %s, byte %d: %w", path, s.Pos(), err)
			}
			return &DamageError{File: path, Offset: int64(s.Pos()), What: err.Error()}
		}
	}
	l.end = int64(s.End())
	rest := b[s.End():]
	if len(rest) == 0 && s.End() > 0 {
		return nil
	}
	if s.End() == 0 || !last || !torn(rest, l.end, l.next) {
		what := "the file is empty"
		if s.Err() != nil {
			what = s.Err().Error()
		}
		return &DamageError{File: path, Offset: l.end, What: what}
	}
	l.torn = int64(len(rest))
	return nil
}

// batch takes in one batch; the first of a file begins with the header.
func (l *loaded) batch(v batch.View, first bool) error {
	if v.BaseOffset() != l.next {
		return fmt.Errorf("offset %d where %d is due", v.BaseOffset(), l.next)
	}
	n := 0
	err := parseBatch(v, func(r *record) error {
		n++
		if (r.kind == kindHeader) != (first && n == 1) {
			return errors.New("a header is missing or in the wrong place")
		}
		return l.record(r)
	})
	l.next = v.NextOffset()
	return err
}

func (l *loaded) record(r *record) (err error) {
	switch r.kind {
	case kindHeader:
		return l.header(r)
	case kindHardState:
		l.hardState, err = r.hardState()
		return err
	}
	e := r.entry()
	if n := len(l.entries); n > 0 {
		at := int64(e.GetIndex()) - int64(l.entries[0].GetIndex())
		if at < 0 || at > int64(n) {
			return fmt.Errorf("entry %d behind entry %d", e.GetIndex(), l.entries[n-1].GetIndex())
		}
		l.entries = l.entries[:at] // superseded, if there are any
	}
	l.entries = append(l.entries, e)
	return nil
}

func (l *loaded) header(r *record) error {
	h, err := r.header()
	if err != nil {
		return err
	}
	if len(l.gens) > 0 && (h.raftID != l.raftID || h.clusterID != l.clusterID) {
		return errors.New("the header is of another node or cluster")
	}
	l.raftID, l.clusterID, l.hardState = h.raftID, h.clusterID, h.hardState
	l.gens = append(l.gens, generation{base: l.next, snapIndex: h.snapIndex})
	if l.snap == nil && h.founding != nil {
		l.snap = &snapshot{index: h.snapIndex, term: h.snapTerm, conf: h.conf, image: h.founding}
	}
	// What is behind the snapshot comes again in this file: take it from here, so that no gap can hide between files.
	if n := len(l.entries); n > 0 {
		first, last := l.entries[0].GetIndex(), l.entries[n-1].GetIndex()
		if h.snapIndex < first || h.snapIndex > last {
			l.entries = nil
		} else {
			l.entries = l.entries[:h.snapIndex-first+1]
		}
	}
	return nil
}

// finish brings snapshot, hard state and entries together.
func (l *loaded) finish(d *disk) error {
	first := d.at(l.names[0])
	if l.snap == nil || l.snap.index < l.gens[0].snapIndex {
		return &DamageError{File: first, What: fmt.Sprintf("it builds on the snapshot at %d, which is missing or damaged", l.gens[0].snapIndex)}
	}
	if n := len(l.entries); n > 0 {
		from := l.entries[0].GetIndex()
		if from > l.snap.index+1 {
			return &DamageError{File: first, What: fmt.Sprintf("entries begin at %d, the snapshot ends at %d", from, l.snap.index)}
		}
		l.entries = l.entries[min(l.snap.index+1-from, uint64(n)):]
	}
	last := l.snap.index + uint64(len(l.entries))
	hs := l.hardState
	if hs.GetCommit() > last {
		return &DamageError{File: d.at(l.names[len(l.names)-1]), Offset: l.end, What: fmt.Sprintf("entries up to %d are committed, but the log ends at %d", hs.GetCommit(), last)}
	}
	hs.Commit = new(max(hs.GetCommit(), l.snap.index))
	hs.Term = new(max(hs.GetTerm(), l.snap.term))
	return nil
}

// torn tells whether the bytes at the end of the last file can be what is left of one unsynced write: cut short,
// or whole but with sectors that never reached the disk (they read as zeros), and nothing valid behind. at is
// their position, next the offset due there.
func torn(rest []byte, at, next int64) bool {
	for i := 1; i+batch.HeaderSize <= len(rest); i++ {
		if rest[i+16] != batch.Magic {
			continue
		}
		if v, _, err := batch.Peek(rest[i:]); err == nil && v.BaseOffset() >= next && v.ComputeCRC() == v.CRC() {
			return false
		}
	}
	if len(rest) >= batch.HeaderSize && batch.View(rest).ComputeCRC() == batch.View(rest).CRC() {
		return false // all of it is there but for its length or version
	}
	size, err := batch.PeekSize(rest)
	if err != nil {
		return zeroSector(rest, at) || len(rest) < batch.Overhead
	}
	if size > len(rest) {
		return true
	}
	return size == len(rest) && zeroSector(rest, at)
}

const sectorSize = 512

// zeroSector tells whether a sector, or what b has of it, is all zeros.
func zeroSector(b []byte, at int64) bool {
	for len(b) > 0 {
		n := min(int(sectorSize-at%sectorSize), len(b))
		zero := true
		for _, c := range b[:n] {
			zero = zero && c == 0
		}
		if zero {
			return true
		}
		b, at = b[n:], at+int64(n)
	}
	return false
}

// read reads a whole file, past the page cache if direct.
func read(fsys vfs.FS, name string, direct bool) ([]byte, error) {
	if !direct {
		return fsys.ReadFile(name)
	}
	f, err := fsys.OpenDirect(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); n < len(b) {
		return nil, err
	}
	return b, nil
}
