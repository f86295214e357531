package netpoll

import "millrace/vfs"

// OpKind says what a file operation does.
type OpKind uint8

// The hot file operations.
const (
	// OpWritev writes Iov at Off. Whether it runs inline on the loop thread or as a ring op is the loop's
	// append mode and the driver's business; either way Done is called later, never inside Submit.
	OpWritev OpKind = iota + 1
	// OpRead reads into Iov[0] at Off; N may be short at the end of the file.
	OpRead
	// OpDatasync makes the file's bytes and size durable.
	OpDatasync
)

// Op is one file operation: an intrusive struct owned by the caller, lent to the loop from Submit until Done.
// Buffers named by Iov must be off the Go heap (bufpool) or kept alive and unmoved by the Op itself: heap slices
// reachable from Iov are safe, since the Op is reachable from the loop until it completes.
type Op struct {
	Kind OpKind
	File vfs.File
	Off  int64
	Iov  [][]byte
	// Rested: what the operation touches may have left the page cache. A write asks for the page that it begins in, which would
	// have to be read first; a read is not tried on the loop.
	Rested bool

	// Results, valid in OpDone.
	N   int64
	Err error

	Done OpCompleter

	// Driver's use while the op is in flight.
	next   *Op
	Driver DriverOp
}

// DriverOp is scratch space for the driver that carries the op.
type DriverOp struct {
	Next *Op
}

// OpCompleter is told, on the loop that submitted it, that an op has ended.
type OpCompleter interface {
	OpDone(op *Op)
}
