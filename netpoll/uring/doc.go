// Package uring is the netpoll driver on io_uring. It is compiled under the build tag "uring" only, since the ring package
// it wraps needs the linker flag -checklinkname=0; cmd/millrace is the only importer beside its own tests.
//
// One ring per loop, used by that loop's thread alone (SINGLE_ISSUER, DEFER_TASKRUN): 512 submissions, 4,096
// completions, one submit per turn. Receives of idle connections select a buffer from a ring of provided buffers,
// so that they hold none; the rest of a frame is received into the frame's own buffer. Datasyncs and reads are ring operations;
// appends are written on the loop thread unless the append mode says ring or they begin in a page that must be read first.
// Sends are made at once on the loop thread; only the wait for room in a socket is a ring operation.
//
// It never hands a Go pointer to the kernel beyond a system call: user data are slot numbers, and what submissions
// name lies in mapped memory, or in memory that the operation in its slot keeps alive. It never has two receives of
// one socket in flight. A slot is freed by the one completion that ends its operation.
//
// In flight: file operations are capped below the size of the completion queue; the receives of idle connections are
// not, since an operation held back would be a deaf connection. Should more of them end at once than the queue
// holds, the kernel keeps the rest and hands them over when it is asked for events.
//
// Everything is owned by the loop's thread, but Wake.
//
// Files: driver.go (Driver, open, wait), ring.go (the wrapped ring package and its faults), slots.go, sock.go, file.go, probe.go.
package uring
