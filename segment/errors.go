package segment

import "errors"

// Sentinels of this package; environment errors are wrapped as they come.
var (
	// ErrCold: the answer needs a read that may block; ask the Blocking variant off the loop.
	ErrCold = errors.New("segment: not in memory")
	// ErrOutOfRange: the offset lies below the first segment or above the written end.
	ErrOutOfRange = errors.New("segment: offset out of range")
	// ErrDamaged: bytes below the recovery point do not form valid batches.
	ErrDamaged = errors.New("segment: damaged")
	// ErrClosed: the log was closed or retired.
	ErrClosed = errors.New("segment: closed")
	// ErrTopicID: partition.metadata names another topic id.
	ErrTopicID = errors.New("segment: directory belongs to another topic id")
	// ErrFormat: a file is not in the format its name promises (length, version, CRC, order).
	ErrFormat = errors.New("segment: bad file format")
)
