package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// OS is the operating system's file system. Any goroutine; the zero value is ready.
type OS struct{}

const (
	fileMode   = 0o644
	dirMode    = 0o755
	iovMax     = 1024
	ioBytesMax = 1 << 30
)

// osFile is a file of OS. Any goroutine.
type osFile struct {
	fd     int
	name   string
	direct bool
	closed atomic.Bool
}

func openOS(name string, flags int) (*osFile, error) {
	for {
		fd, err := unix.Open(name, flags|unix.O_CLOEXEC, fileMode)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
		return &osFile{fd: fd, name: name}, nil
	}
}

func asFile(f *osFile, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Open implements FS.
func (OS) Open(name string) (File, error) { return asFile(openOS(name, unix.O_RDWR)) }

// OpenRead implements FS.
func (OS) OpenRead(name string) (File, error) { return asFile(openOS(name, unix.O_RDONLY)) }

// OpenDirect implements FS. Where O_DIRECT is not supported the cached pages of the file are dropped instead, as far
// as the kernel lets go of them.
func (OS) OpenDirect(name string) (File, error) {
	f, err := openOS(name, unix.O_RDONLY|unix.O_DIRECT)
	if errors.Is(err, unix.EINVAL) {
		if f, err = openOS(name, unix.O_RDONLY); err == nil {
			_ = unix.Fadvise(f.fd, 0, 0, unix.FADV_DONTNEED)
		}
		return asFile(f, err)
	}
	if err == nil {
		f.direct = true
	}
	return asFile(f, err)
}

// Create implements FS.
func (OS) Create(name string) (File, error) {
	return asFile(openOS(name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL))
}

// CreateTrunc implements FS.
func (OS) CreateTrunc(name string) (File, error) {
	return asFile(openOS(name, unix.O_RDWR|unix.O_CREAT|unix.O_TRUNC))
}

// ReadFile implements FS.
func (OS) ReadFile(name string) ([]byte, error) { return os.ReadFile(name) }

// WriteFileAtomic implements FS. The temporary file is name+".tmp", as Kafka's.
func (o OS) WriteFileAtomic(name string, data []byte) error {
	return writeFileAtomic(o, name, data)
}

func writeFileAtomic(fsys FS, name string, data []byte) error {
	tmp := name + ".tmp"
	f, err := fsys.CreateTrunc(tmp)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(data, 0); err == nil {
		err = f.Datasync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		_ = fsys.Remove(tmp)
		return err
	}
	if err := fsys.Rename(tmp, name); err != nil {
		_ = fsys.Remove(tmp)
		return err
	}
	return fsys.SyncDir(filepath.Dir(name))
}

// Stat implements FS.
func (OS) Stat(name string) (fs.FileInfo, error) { return os.Stat(name) }

// List implements FS.
func (OS) List(dir string) ([]fs.DirEntry, error) { return os.ReadDir(dir) }

// Mkdir implements FS.
func (OS) Mkdir(name string) error { return os.Mkdir(name, dirMode) }

// MkdirAll implements FS.
func (OS) MkdirAll(name string) error { return os.MkdirAll(name, dirMode) }

// Rename implements FS.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove implements FS.
func (OS) Remove(name string) error { return os.Remove(name) }

// RemoveAll implements FS.
func (OS) RemoveAll(name string) error { return os.RemoveAll(name) }

// SyncDir implements FS.
func (OS) SyncDir(dir string) error {
	return onDir(dir, "fsync", unix.Fsync)
}

// SyncFS implements FS.
func (OS) SyncFS(dir string) error {
	return onDir(dir, "syncfs", unix.Syncfs)
}

func onDir(dir, op string, call func(fd int) error) error {
	f, err := openOS(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return err
	}
	err = again(func() error { return call(f.fd) })
	_ = f.Close()
	if err != nil {
		return &fs.PathError{Op: op, Path: dir, Err: err}
	}
	return nil
}

// Usage implements FS; free is what an unprivileged process may still use.
func (OS) Usage(dir string) (total, free uint64, err error) {
	var st unix.Statfs_t
	if err := again(func() error { return unix.Statfs(dir, &st) }); err != nil {
		return 0, 0, &fs.PathError{Op: "statfs", Path: dir, Err: err}
	}
	return st.Blocks * uint64(st.Bsize), st.Bavail * uint64(st.Bsize), nil
}

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

func (f *osFile) fail(op string, err error) error {
	return &fs.PathError{Op: op, Path: f.name, Err: err}
}

// ReadAt implements io.ReaderAt.
func (f *osFile) ReadAt(p []byte, off int64) (int, error) {
	if f.direct {
		return f.readDirect(p, off)
	}
	n := 0
	for n < len(p) {
		m, err := unix.Pread(f.fd, p[n:], off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, f.fail("read", err)
		}
		if m == 0 {
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

// ReadAtNowait implements NowaitReader. File systems that cannot tell answer ErrWouldBlock.
func (f *osFile) ReadAtNowait(p []byte, off int64) (int, error) {
	if f.direct {
		return 0, ErrWouldBlock
	}
	n := 0
	for n < len(p) {
		m, err := unix.Preadv2(f.fd, [][]byte{p[n:]}, off+int64(n), unix.RWF_NOWAIT)
		if err == unix.EINTR {
			continue
		}
		if err == unix.EAGAIN || err == unix.EOPNOTSUPP || err == unix.ENOSYS {
			return n, ErrWouldBlock
		}
		if err != nil {
			return n, f.fail("read", err)
		}
		if m == 0 {
			return n, io.EOF
		}
		n += m
	}
	return n, nil
}

const directAlign = 4096

// readDirect reads whole aligned blocks into an aligned buffer and copies out what was asked.
func (f *osFile) readDirect(p []byte, off int64) (int, error) {
	buf := alignedBuf(min(len(p)+2*directAlign, 1<<20+2*directAlign))
	n := 0
	for n < len(p) {
		at := (off + int64(n)) &^ (directAlign - 1)
		skip := int(off + int64(n) - at)
		want := min((skip+len(p)-n+directAlign-1)&^(directAlign-1), len(buf)&^(directAlign-1))
		m, err := unix.Pread(f.fd, buf[:want], at)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return n, f.fail("read", err)
		}
		if m <= skip {
			return n, io.EOF
		}
		n += copy(p[n:], buf[skip:m])
		if m < want && n < len(p) {
			return n, io.EOF // a direct read is short only at the end of the file
		}
	}
	return n, nil
}

func alignedBuf(n int) []byte {
	b := make([]byte, n+directAlign)
	skip := 0
	if r := int(uintptr(unsafe.Pointer(&b[0])) % directAlign); r != 0 {
		skip = directAlign - r
	}
	return b[skip : skip+n]
}

// WriteAt implements File.
func (f *osFile) WriteAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		m, err := unix.Pwrite(f.fd, p[n:min(len(p), n+ioBytesMax)], off+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err == nil && m == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return n, f.fail("write", err)
		}
		n += m
	}
	return n, nil
}

// WritevAt implements File.
func (f *osFile) WritevAt(bufs [][]byte, off int64) (int64, error) {
	var done int64
	skip := 0 // bytes of bufs[0] that are written already
	for len(bufs) > 0 {
		if skip >= len(bufs[0]) {
			skip -= len(bufs[0])
			bufs = bufs[1:]
			continue
		}
		if skip > 0 {
			// The head of a buffer that a short write cut: by itself, so that the caller's slice stays as it is.
			n, err := f.WriteAt(bufs[0][skip:], off+done)
			done += int64(n)
			if err != nil {
				return done, err
			}
			skip, bufs = 0, bufs[1:]
			continue
		}
		m, err := unix.Pwritev(f.fd, bufs[:min(len(bufs), iovMax)], off+done)
		if err == unix.EINTR {
			continue
		}
		if err == nil && m == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return done, f.fail("writev", err)
		}
		done += int64(m)
		skip = m
	}
	return done, nil
}

// Datasync implements File.
func (f *osFile) Datasync() error {
	if err := again(func() error { return unix.Fdatasync(f.fd) }); err != nil {
		return f.fail("fdatasync", err)
	}
	return nil
}

// Truncate implements File.
func (f *osFile) Truncate(size int64) error {
	if err := again(func() error { return unix.Ftruncate(f.fd, size) }); err != nil {
		return f.fail("truncate", err)
	}
	return nil
}

// Size implements File.
func (f *osFile) Size() (int64, error) {
	var st unix.Stat_t
	if err := again(func() error { return unix.Fstat(f.fd, &st) }); err != nil {
		return 0, f.fail("stat", err)
	}
	return st.Size, nil
}

// Allocate implements File.
func (f *osFile) Allocate(off, n int64) error {
	err := again(func() error { return unix.Fallocate(f.fd, unix.FALLOC_FL_KEEP_SIZE, off, n) })
	if err != nil {
		return f.fail("fallocate", err) // EOPNOTSUPP and ENOSYS are errors.ErrUnsupported
	}
	return nil
}

// Name implements File.
func (f *osFile) Name() string { return f.name }

// Fd implements File.
func (f *osFile) Fd() int { return f.fd }

// Close implements File. A second Close fails with fs.ErrClosed and touches no descriptor.
func (f *osFile) Close() error {
	if f.closed.Swap(true) {
		return f.fail("close", fs.ErrClosed)
	}
	// Linux releases the descriptor even when close reports EINTR; it must not be repeated.
	if err := unix.Close(f.fd); err != nil && err != unix.EINTR {
		return f.fail("close", err)
	}
	return nil
}

// Lock implements FS.
func (OS) Lock(name string) (io.Closer, error) {
	f, err := openOS(name, unix.O_RDWR|unix.O_CREAT)
	if err != nil {
		return nil, err
	}
	if err := lockOFD(f.fd); err != nil {
		_ = f.Close()
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("%w: %s", ErrLocked, name)
		}
		return nil, &fs.PathError{Op: "lock", Path: name, Err: err}
	}
	return f, nil
}
