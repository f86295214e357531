package engine

import (
	"millrace/netpoll"
	"millrace/vfs"
)

// FileRange is a piece of a segment file that holds whole batches (the last one may be cut off by a byte limit, as in
// Kafka). Published bytes never change, so it stays valid until the plan's Ref is released.
type FileRange struct {
	File vfs.File
	Off  int64
	Len  int64
}

// FetchPlan is the answer to one partition of a fetch. The caller owns and reuses it.
type FetchPlan struct {
	// Range is empty (Len 0) when the offset is at the end. It never crosses a segment: one fetch stops there, as in
	// Kafka.
	Range FileRange
	// FirstOffset is the base offset of the first batch in Range, which may be below the offset asked for; -1 if empty.
	FirstOffset int64
	// Bounds are those that the plan was made with, valid on every error but ErrOffline and ErrDeleted.
	Bounds Bounds
	// Ref keeps the file open. Not nil if and only if Len > 0; the caller releases it once.
	Ref netpoll.Releaser
}
