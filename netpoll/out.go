package netpoll

import "millrace/vfs"

// Releaser gives up one reference to something that an outgoing segment points into.
type Releaser interface {
	Release()
}

// Seg is one piece of an outgoing message: memory, or a range of a file. What is not in the page cache is read off the loop
// before it is sent.
type Seg struct {
	Mem []byte // used when File is nil

	File vfs.File
	Off  int64
	Len  int64

	// Ref is released when the segment has been sent or given up. May be nil.
	Ref Releaser
}

// Out is one message to a peer: segments sent in order, without others between them. Taken from Loop.NewOut,
// handed to Conn.Send, and recycled by the loop when done. Owned by the connection's loop.
type Out struct {
	Segs []Seg
	// Done is told when the last byte has been handed to the kernel, or err != nil when the connection ended
	// first. May be nil.
	Done OutCompleter
	// Tag is the sender's own.
	Tag uint64

	next *Out
	seg  int
	off  int64
	size int64
}

// OutCompleter is told, on the connection's loop, what became of a message.
type OutCompleter interface {
	OutDone(o *Out, err error)
}
