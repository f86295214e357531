package raftnode

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"millrace/vfs"
)

const (
	logSuffix  = ".log"
	snapSuffix = ".snap"
	newSuffix  = ".new"
	tmpSuffix  = ".tmp" // of vfs.FS.WriteFileAtomic
)

// disk writes the log. Owned by whoever calls Persist; between open and close nobody else touches the directory.
type disk struct {
	fs          vfs.FS
	parent, dir string
	nowMs       func() int64

	file  vfs.File
	path  string // final name of file
	named bool   // the file has its final name and the directory is synced
	size  int64  // bytes written and synced
	next  int64  // offset of the next record
	buf   []byte

	// gens are the log files, oldest first, each with the index of the snapshot it builds on.
	gens []generation
}

type generation struct {
	base      int64
	snapIndex uint64
}

func logName(base int64) string       { return fmt.Sprintf("%020d%s", base, logSuffix) }
func snapName(index uint64) string    { return fmt.Sprintf("%020d%s", index, snapSuffix) }
func (d *disk) at(name string) string { return filepath.Join(d.dir, name) }

// number reads the number in a file name made by logName or snapName.
func number(name, suffix string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, err == nil
}

// startFile makes the next log file the current one. It gets its final name with the first sync of append, so a
// file that has its name begins with a whole header. The caller closes the file before.
func (d *disk) startFile(snapIndex uint64) error {
	name := logName(d.next)
	f, err := d.fs.CreateTrunc(d.at(name + newSuffix))
	if err != nil {
		return err
	}
	d.file, d.path, d.named, d.size = f, d.at(name), false, 0
	d.gens = append(d.gens, generation{base: d.next, snapIndex: snapIndex})
	return nil
}

// append writes the records as one batch behind what is there and syncs. After an error nothing counts as
// written: the same records may be tried again if the error was one of space.
func (d *disk) append(records []record) error {
	d.buf = appendBatch(d.buf[:0], d.next, d.nowMs(), records)
	if _, err := d.file.WriteAt(d.buf, d.size); err != nil {
		return err
	}
	if err := d.file.Datasync(); err != nil {
		return &syncError{err}
	}
	if !d.named {
		if err := d.name(); err != nil {
			return &syncError{err}
		}
	}
	d.size += int64(len(d.buf))
	d.next += int64(len(records))
	if cap(d.buf) > 1<<20 {
		d.buf = nil
	}
	return nil
}

// name gives the synced file its final name, durably.
func (d *disk) name() error {
	if err := d.fs.Rename(d.path+newSuffix, d.path); err != nil {
		return err
	}
	if err := d.fs.SyncDir(d.dir); err != nil {
		return err
	}
	if len(d.gens) == 1 { // founding: the directory itself is new
		if err := d.fs.SyncDir(d.parent); err != nil {
			return err
		}
	}
	d.named = true
	return nil
}

// rotate writes a snapshot and begins a log file that builds on it with first (the header, then entries). The
// generation before the new one stays, older ones go.
func (d *disk) rotate(snap *snapshot, first []record) error {
	if err := d.fs.WriteFileAtomic(d.at(snapName(snap.index)), snap.encode()); err != nil {
		return err
	}
	return d.newLog(snap.index, first)
}

// newLog begins a log file that builds on the snapshot at snapIndex. After an error other than a syncError the
// current file is the old one, as if nothing had been tried.
func (d *disk) newLog(snapIndex uint64, first []record) error {
	old := *d
	if !d.named && len(d.gens) > 0 { // the current file was never synced: the new one takes its place
		d.gens = d.gens[: len(d.gens)-1 : len(d.gens)-1]
	}
	err := d.startFile(snapIndex)
	if err == nil {
		err = d.append(first)
	}
	if err != nil {
		if d.file != old.file {
			_ = d.file.Close()
		}
		*d = old
		return err
	}
	if old.file != nil {
		_ = old.file.Close() // synced: nothing can be lost
	}
	d.prune()
	return nil
}

// prune removes what is older than the generation before the current one. What it fails to remove stays until the
// next rotation; it is in nobody's way. Log files go durably one after the other, oldest first, so that no crash
// leaves a gap between them.
func (d *disk) prune() {
	for len(d.gens) > 2 {
		if err := d.fs.Remove(d.at(logName(d.gens[0].base))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return
		}
		d.gens = d.gens[1:]
		if len(d.gens) > 2 && d.fs.SyncDir(d.dir) != nil {
			return
		}
	}
	entries, err := d.fs.List(d.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if n, ok := number(e.Name(), snapSuffix); ok && n < d.gens[0].snapIndex {
			_ = d.fs.Remove(d.at(e.Name()))
		}
	}
}

func (d *disk) close() error {
	if d.file == nil {
		return nil
	}
	err := d.file.Close()
	d.file = nil
	return err
}

// syncError marks errors after which the directory is dead.
type syncError struct{ err error }

func (e *syncError) Error() string { return e.err.Error() }
func (e *syncError) Unwrap() error { return e.err }
