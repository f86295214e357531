package raftnode

import (
	"errors"
	"log/slog"

	"millrace/controller"
	"millrace/vfs"
)

// DirName is the directory of the metadata log in the first log directory. It is no partition: nothing else may
// open it as one.
const DirName = "__millrace_metadata-0"

// Options say where the metadata lives and who we are.
type Options struct {
	// FS and Dir: the metadata is in Dir/DirName. Dir exists.
	FS  vfs.FS
	Dir string

	// NodeID is node.id. A directory that was founded by another node is refused.
	NodeID int32

	// Incarnation identifies this start of the process; drawn at random by whoever starts it, never zero.
	Incarnation controller.UUID

	// Found is what a new directory is founded with. If the directory was founded before, Found.ClusterID must be
	// empty or equal, else Open fails.
	Found controller.Founding

	// Join founds nothing: a new directory waits, without a vote, until a leader of the cluster adds this node and
	// sends a snapshot. Found.ClusterID says which cluster.
	Join bool

	// MustExist refuses to found: the broker sets it if it finds data that a cluster must know of already (log
	// directories with partitions), so that a lost metadata directory is never replaced by an empty image.
	MustExist bool

	// Direct reads past the page cache and writes all that is kept to new files: after a failed sync the cache may
	// show what the disk lacks.
	Direct bool

	// SnapshotBytes is how much may be written to the log, at least, before a snapshot is taken. Default 1 MiB. It
	// grows with the image, to twice the size of the last snapshot.
	SnapshotBytes int64

	// PendingMax is the most proposals that may wait; beyond it they are refused with CodeRequestTimedOut. Default
	// 16384.
	PendingMax int

	// Fatal is called once, on the runner's goroutine, when the directory is dead (a failed write or sync) or the
	// log cannot be applied: the process must exit. Nothing is acknowledged from then on. Required.
	Fatal func(error)

	// Log gets what is worth telling; default slog.Default().
	Log *slog.Logger
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	if o.SnapshotBytes == 0 {
		o.SnapshotBytes = 1 << 20
	}
	if o.PendingMax == 0 {
		o.PendingMax = 16384
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
}

// Validate says which option is wrong.
func (o *Options) Validate() error {
	switch {
	case o.FS == nil || o.Dir == "":
		return errors.New("raftnode: Options.FS and Dir are required")
	case o.NodeID < 0:
		return errors.New("raftnode: Options.NodeID must not be negative")
	case o.Incarnation == (controller.UUID{}):
		return errors.New("raftnode: Options.Incarnation is required")
	case o.Fatal == nil:
		return errors.New("raftnode: Options.Fatal is required")
	case o.SnapshotBytes < 0 || o.PendingMax < 0:
		return errors.New("raftnode: negative limit")
	}
	return nil
}

// ErrMissing is what Open answers when there is no metadata and MustExist is set.
var ErrMissing = errors.New("raftnode: the metadata directory is missing or empty, but there is data that it must describe; " +
	"restore it from a backup, or start with an empty set of log directories")

// DamageError is what Open answers when the files are damaged in a way that no crash explains. Nothing was
// changed.
type DamageError struct {
	File   string
	Offset int64 // byte position in File
	What   string
}
