package vfs

import (
	"io"
	"io/fs"
	"strings"
	"sync"
	"time"
)

// Fault is what happens to one call; the zero value lets it pass.
type Fault struct {
	// Err is returned instead of the call's result.
	Err error
	// Short has a write put this many bytes down before it fails with Err; a negative value none.
	Short int64
	// After carries the call out in full and then reports Err (a sync that worked and says it did not).
	After bool
	// Delay stalls the call before anything else.
	Delay time.Duration
}

// Faulty wraps a file system and fails calls as its rules say. Any goroutine.
type Faulty struct {
	inner FS

	mu    sync.Mutex
	rules []func(Call) Fault
	hits  int64
}

// NewFaulty wraps inner with no rules.
func NewFaulty(inner FS) *Faulty { return &Faulty{inner: inner} }

// Inner is the file system underneath.
func (f *Faulty) Inner() FS { return f.inner }

// Rule adds a rule; the first that answers a fault wins. Rules are called one at a time.
func (f *Faulty) Rule(rule func(Call) Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = append(f.rules, rule)
}

// Clear drops all rules.
func (f *Faulty) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rules = nil
}

// Hits is the number of faults injected.
func (f *Faulty) Hits() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hits
}

// FailNth fails the n-th call (from 1) of kind op on names containing part ("" for any), once.
func (f *Faulty) FailNth(op Op, part string, n int, err error) {
	f.Rule(func(c Call) Fault {
		if c.Op != op || !strings.Contains(c.Name, part) {
			return Fault{}
		}
		if n--; n == 0 {
			return Fault{Err: err, Short: -1}
		}
		return Fault{}
	})
}

// FailAll fails every call of kind op on names containing part.
func (f *Faulty) FailAll(op Op, part string, err error) {
	f.Rule(func(c Call) Fault {
		if c.Op != op || !strings.Contains(c.Name, part) {
			return Fault{}
		}
		return Fault{Err: err, Short: -1}
	})
}

// ask finds the fault for a call and serves its delay.
func (f *Faulty) ask(c Call) Fault {
	f.mu.Lock()
	var hit Fault
	for _, r := range f.rules {
		if hit = r(c); hit != (Fault{}) {
			f.hits++
			break
		}
	}
	f.mu.Unlock()
	if hit.Delay > 0 {
		time.Sleep(hit.Delay)
	}
	return hit
}

// do runs a call that has no partial outcome.
func (f *Faulty) do(c Call, call func() error) error {
	hit := f.ask(c)
	if hit.Err == nil {
		return call()
	}
	if hit.After {
		_ = call()
	}
	return hit.Err
}

func (f *Faulty) open(op Op, name string, call func(string) (File, error)) (File, error) {
	var file File
	err := f.do(Call{Op: op, Name: name}, func() (err error) {
		file, err = call(name)
		return err
	})
	if err != nil {
		if file != nil {
			_ = file.Close()
		}
		return nil, err
	}
	return &faultyFile{File: file, fs: f}, nil
}

// Open implements FS.
func (f *Faulty) Open(name string) (File, error) { return f.open(OpOpen, name, f.inner.Open) }

// OpenRead implements FS.
func (f *Faulty) OpenRead(name string) (File, error) { return f.open(OpOpen, name, f.inner.OpenRead) }

// OpenDirect implements FS.
func (f *Faulty) OpenDirect(name string) (File, error) {
	return f.open(OpOpen, name, f.inner.OpenDirect)
}

// Create implements FS.
func (f *Faulty) Create(name string) (File, error) { return f.open(OpCreate, name, f.inner.Create) }

// CreateTrunc implements FS.
func (f *Faulty) CreateTrunc(name string) (File, error) {
	return f.open(OpCreate, name, f.inner.CreateTrunc)
}

// ReadFile implements FS.
func (f *Faulty) ReadFile(name string) (b []byte, err error) {
	err = f.do(Call{Op: OpReadFile, Name: name}, func() (err error) { b, err = f.inner.ReadFile(name); return err })
	return b, err
}

// WriteFileAtomic implements FS: first asked as one call, then step by step through the rules.
func (f *Faulty) WriteFileAtomic(name string, data []byte) error {
	return f.do(Call{Op: OpWriteFileAtomic, Name: name, Len: int64(len(data))}, func() error {
		return writeFileAtomic(f, name, data)
	})
}

// Stat implements FS.
func (f *Faulty) Stat(name string) (i fs.FileInfo, err error) {
	err = f.do(Call{Op: OpStat, Name: name}, func() (err error) { i, err = f.inner.Stat(name); return err })
	return i, err
}

// List implements FS.
func (f *Faulty) List(dir string) (l []fs.DirEntry, err error) {
	err = f.do(Call{Op: OpList, Name: dir}, func() (err error) { l, err = f.inner.List(dir); return err })
	return l, err
}

// Mkdir implements FS.
func (f *Faulty) Mkdir(name string) error {
	return f.do(Call{Op: OpMkdir, Name: name}, func() error { return f.inner.Mkdir(name) })
}

// MkdirAll implements FS.
func (f *Faulty) MkdirAll(name string) error {
	return f.do(Call{Op: OpMkdir, Name: name}, func() error { return f.inner.MkdirAll(name) })
}

// Rename implements FS.
func (f *Faulty) Rename(from, to string) error {
	return f.do(Call{Op: OpRename, Name: from, To: to}, func() error { return f.inner.Rename(from, to) })
}

// Remove implements FS.
func (f *Faulty) Remove(name string) error {
	return f.do(Call{Op: OpRemove, Name: name}, func() error { return f.inner.Remove(name) })
}

// RemoveAll implements FS.
func (f *Faulty) RemoveAll(name string) error {
	return f.do(Call{Op: OpRemoveAll, Name: name}, func() error { return f.inner.RemoveAll(name) })
}

// SyncDir implements FS.
func (f *Faulty) SyncDir(dir string) error {
	return f.do(Call{Op: OpSyncDir, Name: dir}, func() error { return f.inner.SyncDir(dir) })
}

// SyncFS implements FS.
func (f *Faulty) SyncFS(dir string) error {
	return f.do(Call{Op: OpSyncFS, Name: dir}, func() error { return f.inner.SyncFS(dir) })
}

// Lock implements FS.
func (f *Faulty) Lock(name string) (c io.Closer, err error) {
	err = f.do(Call{Op: OpLock, Name: name}, func() (err error) { c, err = f.inner.Lock(name); return err })
	return c, err
}

// Usage implements FS.
func (f *Faulty) Usage(dir string) (total, free uint64, err error) {
	err = f.do(Call{Op: OpUsage, Name: dir}, func() (err error) { total, free, err = f.inner.Usage(dir); return err })
	return total, free, err
}

// faultyFile is a file of Faulty. It has no descriptor, so that drivers come by its methods. Any goroutine.
type faultyFile struct {
	File
	fs *Faulty
}

func (f *faultyFile) Fd() int { return -1 }

func (f *faultyFile) ReadAt(p []byte, off int64) (n int, err error) {
	c := Call{Op: OpReadAt, Name: f.Name(), Off: off, Len: int64(len(p))}
	err = f.fs.do(c, func() (err error) { n, err = f.File.ReadAt(p, off); return err })
	return n, err
}

func (f *faultyFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.write(OpWriteAt, [][]byte{p}, off)
	return int(n), err
}

func (f *faultyFile) WritevAt(bufs [][]byte, off int64) (int64, error) {
	return f.write(OpWritevAt, bufs, off)
}

func (f *faultyFile) write(op Op, bufs [][]byte, off int64) (int64, error) {
	var size int64
	for _, b := range bufs {
		size += int64(len(b))
	}
	hit := f.fs.ask(Call{Op: op, Name: f.Name(), Off: off, Len: size})
	if hit.Err == nil {
		return f.File.WritevAt(bufs, off)
	}
	keep := hit.Short
	if hit.After {
		keep = size
	}
	keep = min(keep, size)
	var n int64
	for _, b := range bufs {
		if n >= keep {
			break
		}
		m, err := f.File.WriteAt(b[:min(int64(len(b)), keep-n)], off+n)
		n += int64(m)
		if err != nil {
			return n, err
		}
	}
	return n, hit.Err
}

func (f *faultyFile) Datasync() error {
	return f.fs.do(Call{Op: OpDatasync, Name: f.Name()}, f.File.Datasync)
}

func (f *faultyFile) Truncate(size int64) error {
	return f.fs.do(Call{Op: OpTruncate, Name: f.Name(), Off: size}, func() error { return f.File.Truncate(size) })
}

func (f *faultyFile) Allocate(off, n int64) error {
	return f.fs.do(Call{Op: OpAllocate, Name: f.Name(), Off: off, Len: n}, func() error { return f.File.Allocate(off, n) })
}

func (f *faultyFile) Size() (n int64, err error) {
	err = f.fs.do(Call{Op: OpSize, Name: f.Name()}, func() (err error) { n, err = f.File.Size(); return err })
	return n, err
}

func (f *faultyFile) Close() error {
	return f.fs.do(Call{Op: OpClose, Name: f.Name()}, f.File.Close)
}
