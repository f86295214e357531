package drivertest

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// osFile is a real file. Any goroutine.
type osFile struct {
	*os.File
	syncs atomic.Int64
}

func tempFile(t *testing.T) *osFile {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return &osFile{File: f}
}

func (f *osFile) WritevAt(bufs [][]byte, off int64) (int64, error) { return writevAt(f, bufs, off) }
func (f *osFile) Datasync() error                                  { f.syncs.Add(1); return unix.Fdatasync(int(f.File.Fd())) }
func (f *osFile) Allocate(int64, int64) error                      { return nil }
func (f *osFile) Fd() int                                          { return int(f.File.Fd()) }
func (f *osFile) Size() (int64, error) {
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return st.Size(), nil
}

func writevAt(f io.WriterAt, bufs [][]byte, off int64) (n int64, err error) {
	for _, b := range bufs {
		k, err := f.WriteAt(b, off+n)
		n += int64(k)
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// memFile has no descriptor, so a driver must call its methods. Any goroutine.
type memFile struct {
	mu    sync.Mutex
	b     []byte
	syncs int
	delay time.Duration // of a datasync
	err   error         // of everything
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, f.err
	}
	if off >= int64(len(f.b)) {
		return 0, io.EOF
	}
	n := copy(p, f.b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return 0, f.err
	}
	if need := off + int64(len(p)); need > int64(len(f.b)) {
		f.b = append(f.b, make([]byte, need-int64(len(f.b)))...)
	}
	return copy(f.b[off:], p), nil
}

func (f *memFile) WritevAt(bufs [][]byte, off int64) (int64, error) { return writevAt(f, bufs, off) }

func (f *memFile) Datasync() error {
	time.Sleep(f.delay)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	return f.err
}

func (f *memFile) Truncate(n int64) error      { f.b = f.b[:n]; return nil }
func (f *memFile) Size() (int64, error)        { return int64(len(f.b)), nil }
func (f *memFile) Allocate(int64, int64) error { return nil }
func (f *memFile) Name() string                { return "mem" }
func (f *memFile) Fd() int                     { return -1 }
func (f *memFile) Close() error                { return nil }
