package raftnode

import (
	"io/fs"
	"sync/atomic"
	"syscall"

	"millrace/vfs"
)

// failing makes syncs fail and writes find no space, as the test says.
type failing struct {
	vfs.FS
	fail, full, fullAtomic atomic.Bool
}

func (f *failing) CreateTrunc(name string) (vfs.File, error) { return f.wrap(f.FS.CreateTrunc(name)) }
func (f *failing) Open(name string) (vfs.File, error)        { return f.wrap(f.FS.Open(name)) }

func (f *failing) wrap(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &failingFile{file, f}, nil
}

func (f *failing) WriteFileAtomic(name string, data []byte) error {
	if f.full.Load() || f.fullAtomic.Load() {
		return syscall.ENOSPC
	}
	return f.FS.WriteFileAtomic(name, data)
}

type failingFile struct {
	vfs.File
	f *failing
}

func (f *failingFile) Datasync() error {
	if f.f.fail.Load() {
		return fs.ErrInvalid
	}
	return f.File.Datasync()
}

func (f *failingFile) WriteAt(p []byte, off int64) (int, error) {
	if f.f.full.Load() {
		n, _ := f.File.WriteAt(p[:len(p)/2], off)
		return n, syscall.ENOSPC
	}
	return f.File.WriteAt(p, off)
}
