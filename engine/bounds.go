package engine

import "sync/atomic"

// Bounds are the published ends of a partition at one moment. All are offsets of the next record.
type Bounds struct {
	LogStart int64 // first offset that may be read
	// Written: the write has returned. Replicas read up to here, clients do not.
	Written int64
	// Synced: a datasync that began after the write has returned.
	Synced int64
	// Committed is the high watermark: what clients may read (decisions 2).
	Committed int64
	// Stable is the last stable offset: Committed, or the first offset of the oldest open transaction below it.
	Stable int64
	// LeaderEpoch is -1 until SetLeader published one.
	LeaderEpoch int32
}

// NoEpoch is the leader epoch of a partition that nobody leads here.
const NoEpoch = int32(-1)

// published holds a partition's bounds as atomics. Stored by the owner loop only, in the order view, written, synced,
// committed, stable; loaded by any goroutine in the opposite order, so that what a reader learns late never contradicts
// what it learnt early (committed <= written always holds in a copy).
type published struct {
	epoch     atomic.Int32
	logStart  atomic.Int64
	written   atomic.Int64
	synced    atomic.Int64
	committed atomic.Int64
	stable    atomic.Int64
}

// load copies the bounds. Within one leader epoch all bounds only grow; a change of epoch in between starts it again.
func (b *published) load() Bounds {
	for {
		epoch := b.epoch.Load()
		r := Bounds{LeaderEpoch: epoch}
		r.Stable = b.stable.Load()
		r.Committed = b.committed.Load()
		r.Synced = b.synced.Load()
		r.Written = b.written.Load()
		r.LogStart = b.logStart.Load()
		if b.epoch.Load() == epoch {
			return r
		}
	}
}

// Isolation says up to where a reader may read.
type Isolation uint8

const (
	// ReadUncommitted reads up to Committed, as Kafka's read_uncommitted.
	ReadUncommitted Isolation = iota
	// ReadCommitted reads up to Stable, as Kafka's read_committed.
	ReadCommitted
	// ReadWritten reads up to Written: replicas and debugging, never clients.
	ReadWritten
)

// bound is the end for that isolation.
func (b *Bounds) bound(i Isolation) int64 {
	switch i {
	case ReadCommitted:
		return b.Stable
	case ReadWritten:
		return b.Written
	}
	return b.Committed
}

// End is the offset up to which a reader with that isolation may read.
func (b Bounds) End(i Isolation) int64 { return b.bound(i) }
