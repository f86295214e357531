package vfs

import (
	"io"
	"io/fs"
	"slices"
	"syscall"
)

// memFile is an open file of Mem. Any goroutine; guarded by the file system's lock.
type memFile struct {
	fs               *Mem
	ino              *memInode
	name             string
	readOnly, direct bool
	closed           bool
}

// enter locks the file system and counts the call; on error it is unlocked again.
func (f *memFile) enter(op Op, off, n int64) error {
	f.fs.mu.Lock()
	err := f.fs.enter(Call{Op: op, Name: f.name, Off: off, Len: n})
	if err == nil && f.closed {
		err = pathErr(op.String(), f.name, fs.ErrClosed)
	}
	if err != nil {
		f.fs.mu.Unlock()
	}
	return err
}

// ReadAt implements io.ReaderAt.
func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.enter(OpReadAt, off, int64(len(p))); err != nil {
		return 0, err
	}
	defer f.fs.mu.Unlock()
	data := f.ino.cur
	if f.direct {
		data = f.ino.durable
	}
	if off >= int64(len(data)) {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	n := copy(p, data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// ReadAtNowait implements NowaitReader: memory never waits.
func (f *memFile) ReadAtNowait(p []byte, off int64) (int, error) { return f.ReadAt(p, off) }

// WriteAt implements File.
func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.enter(OpWriteAt, off, int64(len(p))); err != nil {
		return 0, err
	}
	defer f.fs.mu.Unlock()
	n, err := f.write(p, off)
	return n, err
}

// WritevAt implements File; it is one call.
func (f *memFile) WritevAt(bufs [][]byte, off int64) (int64, error) {
	var size int64
	for _, b := range bufs {
		size += int64(len(b))
	}
	if err := f.enter(OpWritevAt, off, size); err != nil {
		return 0, err
	}
	defer f.fs.mu.Unlock()
	n, err := f.write(slices.Concat(bufs...), off)
	return int64(n), err
}

func (f *memFile) write(p []byte, off int64) (int, error) {
	if f.readOnly {
		return 0, pathErr("write", f.name, syscall.EBADF)
	}
	if grow := off + int64(len(p)) - f.ino.space(); grow > 0 {
		if used := f.fs.usageIfLimited(); used+uint64(grow) > f.fs.total {
			fit := max(int64(len(p))-grow+int64(f.fs.total-min(used, f.fs.total)), 0)
			p = p[:min(fit, int64(len(p)))]
			f.put(p, off)
			return len(p), pathErr("write", f.name, syscall.ENOSPC)
		}
	}
	f.put(p, off)
	return len(p), nil
}

func (f *memFile) put(p []byte, off int64) {
	if len(p) == 0 {
		return
	}
	op := dataOp{off: off, data: slices.Clone(p)}
	f.ino.pending = append(f.ino.pending, op)
	f.ino.cur = op.apply(f.ino.cur)
	f.ino.mtime = f.fs.now()
}

// apply carries the change out on b.
func (o *dataOp) apply(b []byte) []byte {
	if o.data == nil {
		return resize(b, o.off)
	}
	b = resize(b, max(int64(len(b)), o.off+int64(len(o.data))))
	copy(b[o.off:], o.data)
	return b
}

func resize(b []byte, n int64) []byte {
	if n <= int64(len(b)) {
		clear(b[n:])
		return b[:n]
	}
	old := len(b)
	b = slices.Grow(b, int(n)-old)[:n]
	clear(b[old:])
	return b
}

// sync makes the pending changes durable. What LosePending gave up never gets there.
func (ino *memInode) sync() {
	for i := range ino.pending {
		ino.durable = ino.pending[i].apply(ino.durable)
	}
	ino.pending = nil
}

// Datasync implements File.
func (f *memFile) Datasync() error {
	if err := f.enter(OpDatasync, 0, 0); err != nil {
		return err
	}
	defer f.fs.mu.Unlock()
	f.ino.sync()
	return nil
}

// Truncate implements File.
func (f *memFile) Truncate(size int64) error {
	if err := f.enter(OpTruncate, size, 0); err != nil {
		return err
	}
	defer f.fs.mu.Unlock()
	if f.readOnly {
		return pathErr("truncate", f.name, syscall.EBADF)
	}
	f.fs.truncate(f.ino, size)
	return nil
}

func (m *Mem) truncate(ino *memInode, size int64) {
	op := dataOp{off: size}
	ino.pending = append(ino.pending, op)
	ino.cur = op.apply(ino.cur)
	ino.ahead = 0
	ino.mtime = m.now()
}

// Size implements File.
func (f *memFile) Size() (int64, error) {
	if err := f.enter(OpSize, 0, 0); err != nil {
		return 0, err
	}
	defer f.fs.mu.Unlock()
	if f.direct {
		return int64(len(f.ino.durable)), nil
	}
	return int64(len(f.ino.cur)), nil
}

// Allocate implements File.
func (f *memFile) Allocate(off, n int64) error {
	if err := f.enter(OpAllocate, off, n); err != nil {
		return err
	}
	defer f.fs.mu.Unlock()
	if grow := off + n - f.ino.space(); grow > 0 && f.fs.usageIfLimited()+uint64(grow) > f.fs.total {
		return pathErr("fallocate", f.name, syscall.ENOSPC)
	}
	f.ino.ahead = max(f.ino.ahead, off+n)
	return nil
}

// Name implements File.
func (f *memFile) Name() string { return f.name }

// Fd implements File.
func (f *memFile) Fd() int { return -1 }

// Close implements File.
func (f *memFile) Close() error {
	if err := f.enter(OpClose, 0, 0); err != nil {
		return err
	}
	defer f.fs.mu.Unlock()
	f.closed = true
	return nil
}
