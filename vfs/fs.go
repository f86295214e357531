package vfs

import (
	"io"
	"io/fs"
)

// File is an open file. Methods may be called from any goroutine; two writers never write the same range.
// All offsets and lengths are bytes.
type File interface {
	io.ReaderAt

	// WriteAt writes all of p at off, as io.WriterAt: n < len(p) only with an error.
	WriteAt(p []byte, off int64) (n int, err error)

	// WritevAt writes the buffers one after the other, starting at off. A short write is continued; n < sum of
	// lengths only with an error.
	WritevAt(bufs [][]byte, off int64) (n int64, err error)

	// Datasync makes all bytes and the size durable (fdatasync). After an error nothing may be assumed about
	// any earlier unsynced write, on this or any other descriptor.
	Datasync() error

	// Truncate sets the size.
	Truncate(size int64) error

	// Size is the current size in bytes.
	Size() (int64, error)

	// Allocate reserves blocks for [off, off+n) without changing the size (FALLOC_FL_KEEP_SIZE). File systems
	// that cannot do it answer errors.ErrUnsupported.
	Allocate(off, n int64) error

	// Name is the path the file was opened with.
	Name() string

	// Fd is the descriptor, or -1 when there is none (memory and fault-injecting files).
	Fd() int

	Close() error
}

// FS is a file system namespace. Every method may block; none is called on a loop thread.
type FS interface {
	// Open opens an existing file for reading and writing.
	Open(name string) (File, error)
	// OpenRead opens an existing file for reading only.
	OpenRead(name string) (File, error)
	// OpenDirect opens an existing file for reading past the page cache (O_DIRECT) where the file system can;
	// used after a failed sync, when the cache may show bytes that the disk lacks. Reads need no alignment.
	OpenDirect(name string) (File, error)
	// Create makes a new empty file for reading and writing; it fails with fs.ErrExist when there is one.
	Create(name string) (File, error)
	// CreateTrunc makes a new file or empties an existing one.
	CreateTrunc(name string) (File, error)

	ReadFile(name string) ([]byte, error)
	// WriteFileAtomic replaces name durably: temporary file, sync, rename, directory sync. After a crash the
	// old or the new content is there, never a mixture.
	WriteFileAtomic(name string, data []byte) error

	Stat(name string) (fs.FileInfo, error)
	// List returns the names (not paths) in dir, sorted.
	List(dir string) ([]fs.DirEntry, error)
	Mkdir(name string) error
	MkdirAll(name string) error
	Rename(from, to string) error
	Remove(name string) error
	RemoveAll(name string) error
	// SyncDir makes creations, renames and removals in dir durable.
	SyncDir(dir string) error
	// SyncFS makes everything in the file system that holds dir durable (syncfs).
	SyncFS(dir string) error

	// Lock takes the lock file of a log directory (decisions.md: an OFD record lock, which a real Kafka on the
	// same directory respects and is held off by). It fails with ErrLocked when another process holds it.
	Lock(name string) (io.Closer, error)

	// Usage reports the total and the free bytes of the file system that holds dir.
	Usage(dir string) (total, free uint64, err error)
}
