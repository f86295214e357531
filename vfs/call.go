package vfs

import "errors"

// Op names one kind of storage call; Mem records them, Faulty decides by them.
type Op uint8

// The calls, those of File first.
const (
	OpReadAt Op = iota + 1
	OpWriteAt
	OpWritevAt
	OpDatasync
	OpTruncate
	OpAllocate
	OpSize
	OpClose
	OpOpen
	OpCreate
	OpReadFile
	OpWriteFileAtomic
	OpStat
	OpList
	OpMkdir
	OpRename
	OpRemove
	OpRemoveAll
	OpSyncDir
	OpSyncFS
	OpLock
	OpUsage
)

var opNames = [...]string{
	OpReadAt: "read", OpWriteAt: "write", OpWritevAt: "writev", OpDatasync: "datasync", OpTruncate: "truncate",
	OpAllocate: "allocate", OpSize: "size", OpClose: "close", OpOpen: "open", OpCreate: "create",
	OpReadFile: "readfile", OpWriteFileAtomic: "writefile", OpStat: "stat", OpList: "list", OpMkdir: "mkdir",
	OpRename: "rename", OpRemove: "remove", OpRemoveAll: "removeall", OpSyncDir: "syncdir", OpSyncFS: "syncfs",
	OpLock: "lock", OpUsage: "usage",
}

// String is the call's name.
func (o Op) String() string {
	if int(o) < len(opNames) && opNames[o] != "" {
		return opNames[o]
	}
	return "unknown"
}

// Changes says whether the call can change what is stored or what of it is durable.
func (o Op) Changes() bool {
	switch o {
	case OpWriteAt, OpWritevAt, OpDatasync, OpTruncate, OpCreate, OpWriteFileAtomic, OpMkdir, OpRename, OpRemove,
		OpRemoveAll, OpSyncDir, OpSyncFS:
		return true
	}
	return false
}

// Call is one storage call.
type Call struct {
	Op   Op
	Name string
	// To is the new name of a rename.
	To       string
	Off, Len int64
}

var (
	// ErrLocked: another process (or another holder in this one) has the lock file; wrapped with its path.
	ErrLocked = errors.New("vfs: log directory is in use by another process")
	// ErrCrashed: the in-memory file system has reached its crash point.
	ErrCrashed = errors.New("vfs: crashed")
	// ErrWouldBlock: a read that must not block would have to.
	ErrWouldBlock = errors.New("vfs: read would block")
)

// NowaitReader is implemented by files that can read only what is in memory.
type NowaitReader interface {
	// ReadAtNowait is ReadAt, but ErrWouldBlock instead of waiting for a disk.
	ReadAtNowait(p []byte, off int64) (int, error)
}
