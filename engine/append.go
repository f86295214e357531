package engine

import (
	"millrace/netpoll"
	"millrace/segment/batch"
)

// Need says what an append waits for.
type Need uint8

const (
	// NeedNone asks for nothing (acks=0). The completer is still told, when the write has returned, so that an error
	// can close the connection and the buffers can be reused.
	NeedNone Need = iota
	// NeedWritten waits until the write has returned (acks=1): the bytes are in the page cache of this node.
	NeedWritten
	// NeedCommitted waits until the batch is committed (acks=all). With CommitLocal that is a datasync shared with
	// other appends, unless the topic has write caching.
	NeedCommitted
)

// Append is one batch on its way into a partition: an intrusive struct that the caller pools, lent to the engine from
// Push until AppendDone. The caller fills the upper part.
//
// Length, CRC, attributes and timestamps of the batch are final before Push; the owner writes bytes 0-7 (base offset)
// and 12-15 (leader epoch) of Batch and nothing else (decisions 19). One batch, checked by the caller: its CRC,
// its record count and that lastOffsetDelta+1 records are in it are not looked at again.
type Append struct {
	Batch batch.View
	// Ref is one reference to the memory under Batch; it is released when the bytes are no longer needed, which may
	// be before AppendDone (the write has returned) and never after it. May be nil.
	Ref  netpoll.Releaser
	Need Need
	// LeaderEpoch is the epoch that the sender believes in, -1 for any.
	LeaderEpoch int32
	// Done is told once, on the partition's owner loop.
	Done AppendCompleter

	// Results, valid in AppendDone.

	// BaseOffset and LastOffset of the batch; of the first copy if it is a duplicate; -1 on error.
	BaseOffset, LastOffset int64
	// AppendTimeMs is the batch's max timestamp if it has the LogAppendTime attribute or is a duplicate, else -1.
	AppendTimeMs int64
	// LogStart is the log start offset at completion.
	LogStart int64
	// Duplicate tells that the batch was there already and nothing was appended.
	Duplicate bool
	// Err is nil or one of the package's errors. On error nothing of this batch is or becomes visible, but for
	// ErrOffline, ErrDeleted and ErrClosed, which may also end an append that was written already: they leave it open.
	Err error

	next   *Append // queue of the partition, then one of the owner's lists
	part   *Partition
	end    int64 // LastOffset+1 once staged
	cum    int64 // bytes appended to the partition up to and with this batch
	strict bool  // counts as acks=all for the rule of decisions 2
	seq    *producer
}

// AppendCompleter is told, on the partition's owner loop, what became of an append. It must not block; an answer that
// belongs to another loop is posted there (one post per request: the completer counts its open partitions).
type AppendCompleter interface {
	AppendDone(a *Append)
}

// Partition is the partition the append was pushed to.
func (a *Append) Partition() *Partition { return a.part }
