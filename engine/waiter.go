package engine

import "sync/atomic"

// WakeReason says why a waiter was woken.
type WakeReason uint8

const (
	// WakeData: the bytes asked for may be there now; plan again.
	WakeData WakeReason = iota
	// WakeChanged: leader epoch or log start changed; plan again, the offset may be out of range now.
	WakeChanged
	// WakeGone: the partition went offline, is being deleted, or the engine closes.
	WakeGone
	// WakeCancelled: Cancel was called.
	WakeCancelled
)

// Waiter is a long poll that waits for bytes of one partition: an intrusive struct that the caller pools. It is lent to
// the engine from Wait until WaiterWake, which comes exactly once per Wait, whatever happens.
type Waiter struct {
	// Bound is the end (Bounds.End of Isolation) that the caller saw when it found too few bytes.
	Bound int64
	// Missing is how many bytes beyond Bound would satisfy the caller; values below 1 act as 1.
	Missing int64
	// LeaderEpoch is what the caller saw in Bounds; another one at arrival wakes at once.
	LeaderEpoch int32
	// LogStart is what the caller saw in Bounds; another one at arrival wakes at once.
	LogStart  int64
	Isolation Isolation
	Wake      WaiterCompleter

	// Reason is valid in WaiterWake.
	Reason WakeReason

	state      atomic.Int32
	arriveNext *Waiter
	cancelNext *Waiter
	prev, next *Waiter
	parked     bool
	part       *Partition
	wakeAt     int64 // wake when this many bytes of the partition lie below the bound
}

// WaiterCompleter is told, on the partition's owner loop, that a waiter is no longer parked. It must not block.
type WaiterCompleter interface {
	WaiterWake(w *Waiter)
}

// States of a waiter.
const (
	waiterIdle int32 = iota
	waiterPosted
	waiterCancelling
)
