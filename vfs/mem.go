package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Mem is a file system in memory that knows what would survive a power cut. It models the least that POSIX promises:
// file bytes are durable after Datasync, names after SyncDir of their directory, and what was not synced may survive
// in part, in any order (mem_image.go). Any goroutine.
type Mem struct {
	mu    sync.Mutex
	root  *memDir
	names []*nameOp // namespace changes not yet durable, oldest first
	locks map[string]bool
	clock int64

	calls   int64
	limit   int64 // calls that change something before the crash; -1 for none
	changes int64
	crashed bool
	onCall  func(Call)

	total uint64
}

// memDir is a directory: names as processes see them (cur) and as the disk has them (durable).
type memDir struct {
	cur, durable map[string]any // *memDir or *memInode
}

// memInode is a file's content: as processes see it and as the disk has it, and the changes between.
type memInode struct {
	cur, durable []byte
	pending      []dataOp
	mtime        int64
	ahead        int64 // up to here File.Allocate reserved space
}

// space is what the file takes of the capacity.
func (ino *memInode) space() int64 { return max(int64(len(ino.cur)), ino.ahead) }

// dataOp is a write (data) or a truncation (data nil) that is not durable yet.
type dataOp struct {
	off  int64
	data []byte
}

// nameOp is a set of name changes that happen together or not at all.
type nameOp struct {
	parts []namePart
}

type namePart struct {
	dir  *memDir
	name string
	node any // nil: removed
}

// memCapacity is what Usage reports unless SetCapacity says otherwise, in bytes.
const memCapacity = 1 << 40

// NewMem makes an empty file system with a root directory "/"; relative names are taken from there.
func NewMem() *Mem {
	return &Mem{root: newMemDir(), locks: map[string]bool{}, limit: -1, total: memCapacity}
}

func newMemDir() *memDir { return &memDir{cur: map[string]any{}, durable: map[string]any{}} }

// OnCall has fn called before every call, with the file system locked; nil for nobody.
func (m *Mem) OnCall(fn func(Call)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.onCall = fn
}

// CrashAfter lets n more calls that change something (Op.Changes) pass; the next and everything after it fails with
// ErrCrashed and does nothing. Negative: no crash.
func (m *Mem) CrashAfter(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.limit, m.changes = n, 0
}

// Crashed says whether the crash point has been reached.
func (m *Mem) Crashed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.crashed
}

// Changes is the number of changing calls since the start or the last CrashAfter.
func (m *Mem) Changes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changes
}

// Calls is the number of calls made.
func (m *Mem) Calls() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// SetCapacity sets what Usage reports as total and beyond which writes fail with ENOSPC.
func (m *Mem) SetCapacity(bytes uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.total = bytes
}

// LosePending makes the unsynced changes of a file stay visible and never become durable, as after a failed sync that
// marked the pages clean.
func (m *Mem) LosePending(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	ino, err := m.file("sync", name)
	if err != nil {
		return err
	}
	ino.pending = nil
	return nil
}

// enter counts a call; the file system is locked.
func (m *Mem) enter(c Call) error {
	if m.crashed {
		return ErrCrashed
	}
	if m.onCall != nil {
		m.onCall(c)
	}
	m.calls++
	if c.Op.Changes() {
		if m.limit >= 0 && m.changes >= m.limit {
			m.crashed = true
			return ErrCrashed
		}
		m.changes++
	}
	return nil
}

func pathErr(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

func split(name string) []string {
	name = filepath.Clean("/" + name)
	if name == "/" {
		return nil
	}
	return strings.Split(name[1:], "/")
}

// dirOf finds the directory that holds name's last element.
func (m *Mem) dirOf(op, name string) (*memDir, string, error) {
	parts := split(name)
	if len(parts) == 0 {
		return nil, "", pathErr(op, name, fs.ErrInvalid)
	}
	d := m.root
	for _, p := range parts[:len(parts)-1] {
		next, ok := d.cur[p].(*memDir)
		if !ok {
			return nil, "", pathErr(op, name, fs.ErrNotExist)
		}
		d = next
	}
	return d, parts[len(parts)-1], nil
}

func (m *Mem) node(op, name string) (any, error) {
	if len(split(name)) == 0 {
		return m.root, nil
	}
	d, base, err := m.dirOf(op, name)
	if err != nil {
		return nil, err
	}
	n, ok := d.cur[base]
	if !ok {
		return nil, pathErr(op, name, fs.ErrNotExist)
	}
	return n, nil
}

func (m *Mem) file(op, name string) (*memInode, error) {
	n, err := m.node(op, name)
	if err != nil {
		return nil, err
	}
	ino, ok := n.(*memInode)
	if !ok {
		return nil, pathErr(op, name, errors.New("is a directory"))
	}
	return ino, nil
}

// change applies and remembers a namespace change.
func (m *Mem) change(parts ...namePart) {
	for _, p := range parts {
		if p.node == nil {
			delete(p.dir.cur, p.name)
		} else {
			p.dir.cur[p.name] = p.node
		}
	}
	m.names = append(m.names, &nameOp{parts: parts})
}

// Open implements FS.
func (m *Mem) Open(name string) (File, error) { return m.open(name, false, false) }

// OpenRead implements FS.
func (m *Mem) OpenRead(name string) (File, error) { return m.open(name, true, false) }

// OpenDirect implements FS: it reads what is durable.
func (m *Mem) OpenDirect(name string) (File, error) { return m.open(name, true, true) }

func (m *Mem) open(name string, readOnly, direct bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpOpen, Name: name}); err != nil {
		return nil, err
	}
	ino, err := m.file("open", name)
	if err != nil {
		return nil, err
	}
	return &memFile{fs: m, ino: ino, name: name, readOnly: readOnly, direct: direct}, nil
}

// Create implements FS.
func (m *Mem) Create(name string) (File, error) { return m.create(name, true) }

// CreateTrunc implements FS.
func (m *Mem) CreateTrunc(name string) (File, error) { return m.create(name, false) }

func (m *Mem) create(name string, excl bool) (File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpCreate, Name: name}); err != nil {
		return nil, err
	}
	d, base, err := m.dirOf("open", name)
	if err != nil {
		return nil, err
	}
	switch n := d.cur[base].(type) {
	case *memDir:
		return nil, pathErr("open", name, errors.New("is a directory"))
	case *memInode:
		if excl {
			return nil, pathErr("open", name, fs.ErrExist)
		}
		m.truncate(n, 0)
		return &memFile{fs: m, ino: n, name: name}, nil
	}
	ino := &memInode{mtime: m.now()}
	m.change(namePart{d, base, ino})
	return &memFile{fs: m, ino: ino, name: name}, nil
}

func (m *Mem) now() int64 { m.clock++; return m.clock }

// ReadFile implements FS.
func (m *Mem) ReadFile(name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpReadFile, Name: name}); err != nil {
		return nil, err
	}
	ino, err := m.file("open", name)
	if err != nil {
		return nil, err
	}
	return slices.Clone(ino.cur), nil
}

// WriteFileAtomic implements FS by the same steps as OS, each of which is a call of its own.
func (m *Mem) WriteFileAtomic(name string, data []byte) error { return writeFileAtomic(m, name, data) }

// memInfo is a snapshot of a node's attributes.
type memInfo struct {
	name  string
	size  int64
	space int64
	dir   bool
	mtime int64
}

func (i memInfo) Name() string       { return i.name }
func (i memInfo) Size() int64        { return i.size }
func (i memInfo) IsDir() bool        { return i.dir }
func (i memInfo) ModTime() time.Time { return time.UnixMilli(i.mtime) }
func (i memInfo) Sys() any {
	return &syscall.Stat_t{Size: i.size, Blocks: (i.space + statBlock - 1) / statBlock}
}
func (i memInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | dirMode
	}
	return fileMode
}
func (i memInfo) Type() fs.FileMode          { return i.Mode().Type() }
func (i memInfo) Info() (fs.FileInfo, error) { return i, nil }

func infoOf(name string, n any) memInfo {
	if ino, ok := n.(*memInode); ok {
		return memInfo{name: name, size: int64(len(ino.cur)), space: ino.space(), mtime: ino.mtime}
	}
	return memInfo{name: name, dir: true}
}

// Stat implements FS.
func (m *Mem) Stat(name string) (fs.FileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpStat, Name: name}); err != nil {
		return nil, err
	}
	n, err := m.node("stat", name)
	if err != nil {
		return nil, err
	}
	return infoOf(filepath.Base(name), n), nil
}

// List implements FS.
func (m *Mem) List(dir string) ([]fs.DirEntry, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpList, Name: dir}); err != nil {
		return nil, err
	}
	n, err := m.node("open", dir)
	if err != nil {
		return nil, err
	}
	d, ok := n.(*memDir)
	if !ok {
		return nil, pathErr("readdir", dir, errors.New("not a directory"))
	}
	out := make([]fs.DirEntry, 0, len(d.cur))
	for name, n := range d.cur {
		out = append(out, infoOf(name, n))
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// Mkdir implements FS.
func (m *Mem) Mkdir(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.mkdir(name)
}

func (m *Mem) mkdir(name string) error {
	if err := m.enter(Call{Op: OpMkdir, Name: name}); err != nil {
		return err
	}
	d, base, err := m.dirOf("mkdir", name)
	if err != nil {
		return err
	}
	if d.cur[base] != nil {
		return pathErr("mkdir", name, fs.ErrExist)
	}
	m.change(namePart{d, base, newMemDir()})
	return nil
}

// MkdirAll implements FS.
func (m *Mem) MkdirAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	path := ""
	for _, p := range split(name) {
		path += "/" + p
		n, err := m.node("mkdir", path)
		if _, isDir := n.(*memDir); err == nil && isDir {
			continue
		}
		if err := m.mkdir(path); err != nil {
			return err
		}
	}
	return nil
}

// Rename implements FS; an existing file is replaced.
func (m *Mem) Rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpRename, Name: from, To: to}); err != nil {
		return err
	}
	fd, fb, err := m.dirOf("rename", from)
	if err != nil {
		return err
	}
	td, tb, err := m.dirOf("rename", to)
	if err != nil {
		return err
	}
	n := fd.cur[fb]
	if n == nil {
		return pathErr("rename", from, fs.ErrNotExist)
	}
	if d, ok := td.cur[tb].(*memDir); ok && len(d.cur) > 0 {
		return pathErr("rename", to, fs.ErrExist)
	}
	if fd == td && fb == tb {
		return nil
	}
	m.change(namePart{fd, fb, nil}, namePart{td, tb, n})
	return nil
}

// Remove implements FS.
func (m *Mem) Remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpRemove, Name: name}); err != nil {
		return err
	}
	d, base, err := m.dirOf("remove", name)
	if err != nil {
		return err
	}
	switch n := d.cur[base].(type) {
	case nil:
		return pathErr("remove", name, fs.ErrNotExist)
	case *memDir:
		if len(n.cur) > 0 {
			return pathErr("remove", name, errors.New("directory not empty"))
		}
	}
	m.change(namePart{d, base, nil})
	return nil
}

// RemoveAll implements FS.
func (m *Mem) RemoveAll(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpRemoveAll, Name: name}); err != nil {
		return err
	}
	d, base, err := m.dirOf("remove", name)
	if err != nil || d.cur[base] == nil {
		return nil
	}
	m.removeTree(d, base)
	return nil
}

func (m *Mem) removeTree(d *memDir, name string) {
	if sub, ok := d.cur[name].(*memDir); ok {
		for _, n := range sortedKeys(sub.cur) {
			m.removeTree(sub, n)
		}
	}
	m.change(namePart{d, name, nil})
}

// SyncDir implements FS.
func (m *Mem) SyncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpSyncDir, Name: dir}); err != nil {
		return err
	}
	n, err := m.node("open", dir)
	if err != nil {
		return err
	}
	d, ok := n.(*memDir)
	if !ok {
		return pathErr("fsync", dir, errors.New("not a directory"))
	}
	m.settle(func(o *nameOp) bool {
		return slices.ContainsFunc(o.parts, func(p namePart) bool { return p.dir == d })
	})
	return nil
}

// SyncFS implements FS.
func (m *Mem) SyncFS(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpSyncFS, Name: dir}); err != nil {
		return err
	}
	m.settle(func(*nameOp) bool { return true })
	m.walk(m.root, func(ino *memInode) { ino.sync() })
	return nil
}

// settle makes the chosen namespace changes durable, and the earlier ones that touch the same names.
func (m *Mem) settle(chosen func(*nameOp) bool) {
	need := map[namePart]bool{}
	take := make([]bool, len(m.names))
	for i := len(m.names) - 1; i >= 0; i-- {
		o := m.names[i]
		take[i] = chosen(o)
		for _, p := range o.parts {
			take[i] = take[i] || need[namePart{dir: p.dir, name: p.name}]
		}
		if take[i] {
			for _, p := range o.parts {
				need[namePart{dir: p.dir, name: p.name}] = true
			}
		}
	}
	var left []*nameOp
	for i, o := range m.names {
		if !take[i] {
			left = append(left, o)
			continue
		}
		o.apply(func(d *memDir) map[string]any { return d.durable })
	}
	m.names = left
}

func (o *nameOp) apply(in func(*memDir) map[string]any) {
	for _, p := range o.parts {
		if p.node == nil {
			delete(in(p.dir), p.name)
		} else {
			in(p.dir)[p.name] = p.node
		}
	}
}

// walk visits the files that have a name now, in name order.
func (m *Mem) walk(d *memDir, fn func(*memInode)) {
	for _, name := range sortedKeys(d.cur) {
		switch n := d.cur[name].(type) {
		case *memDir:
			m.walk(n, fn)
		case *memInode:
			fn(n)
		}
	}
}

// Usage implements FS.
func (m *Mem) Usage(dir string) (total, free uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpUsage, Name: dir}); err != nil {
		return 0, 0, err
	}
	used := m.usage()
	return m.total, m.total - min(used, m.total), nil
}

func (m *Mem) usage() uint64 {
	var used uint64
	m.walk(m.root, func(ino *memInode) { used += uint64(ino.space()) })
	return used
}

// Lock implements FS; the lock vanishes with a crash image.
func (m *Mem) Lock(name string) (io.Closer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.enter(Call{Op: OpLock, Name: name}); err != nil {
		return nil, err
	}
	key := filepath.Clean("/" + name)
	if m.locks[key] {
		return nil, fmt.Errorf("%w: %s", ErrLocked, name)
	}
	d, base, err := m.dirOf("open", name)
	if err != nil {
		return nil, err
	}
	if d.cur[base] == nil {
		m.change(namePart{d, base, &memInode{mtime: m.now()}})
	}
	m.locks[key] = true
	return &memLock{fs: m, key: key}, nil
}

type memLock struct {
	fs  *Mem
	key string
}

// Close gives the lock up.
func (l *memLock) Close() error {
	l.fs.mu.Lock()
	defer l.fs.mu.Unlock()
	delete(l.fs.locks, l.key)
	return nil
}

// usageIfLimited saves the walk where no capacity was set.
func (m *Mem) usageIfLimited() uint64 {
	if m.total == memCapacity {
		return 0
	}
	return m.usage()
}
