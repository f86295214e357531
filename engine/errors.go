package engine

import "errors"

// What an append, a read or an administrative call can answer. The Kafka frontend maps each to a Kafka error code in
// one table; the codes are named here for orientation only. Compare with errors.Is.
var (
	// ErrNotLeader: no leader epoch has been published for this partition yet, or leadership was given up (6).
	ErrNotLeader = errors.New("engine: not leader")
	// ErrFenced: the leader epoch given is older than the partition's (74).
	ErrFenced = errors.New("engine: fenced leader epoch")
	// ErrUnknownEpoch: the leader epoch given is newer than the partition's (75).
	ErrUnknownEpoch = errors.New("engine: unknown leader epoch")

	// ErrOutOfOrderSequence: a gap, a duplicate older than the five batches remembered, or an overlap that is not an
	// exact resend (45).
	ErrOutOfOrderSequence = errors.New("engine: out of order sequence")
	// ErrInvalidProducerEpoch: the producer epoch is older than the one known (47).
	ErrInvalidProducerEpoch = errors.New("engine: invalid producer epoch")
	// ErrTooManyProducers: the bound on remembered producers of this partition is reached (retriable).
	ErrTooManyProducers = errors.New("engine: too many producers")

	// ErrBatchTooLarge: the batch is larger than a segment may be (18).
	ErrBatchTooLarge = errors.New("engine: batch larger than a segment")
	// ErrInvalidBatch: not exactly one batch, or counts that cannot be appended (87).
	ErrInvalidBatch = errors.New("engine: invalid batch")

	// ErrOutOfRange: the offset lies below the log start or above the end that the reader may see (1).
	ErrOutOfRange = errors.New("engine: offset out of range")
	// ErrCold: the answer needs a read from disk; ask again with the blocking form, off the loop.
	ErrCold = errors.New("engine: not in memory")
	// ErrCorrupt: damaged bytes were met below the recovery point; they are never served (2).
	ErrCorrupt = errors.New("engine: corrupt data")

	// ErrOffline: the partition's log directory died; only a restart brings it back (56).
	ErrOffline = errors.New("engine: log directory offline")
	// ErrStorageFull: no space (or quota) left; nothing was appended; appends are accepted again when space returns (56).
	ErrStorageFull = errors.New("engine: storage full")

	// ErrDeleted: the partition is being deleted (3).
	ErrDeleted = errors.New("engine: partition deleted")
	// ErrExists: a partition of that name is there already (36).
	ErrExists = errors.New("engine: partition exists")
	// ErrTopicID: a partition of that name is there with another topic id (103).
	ErrTopicID = errors.New("engine: inconsistent topic id")
	// ErrName: the topic name or the index cannot be a directory name (17).
	ErrName = errors.New("engine: illegal partition name")
	// ErrClosed: the engine was closed; what was not answered yet may or may not have been appended.
	ErrClosed = errors.New("engine: closed")
)
