// Package netpoll is the event loop: one Loop per core on a locked thread, sockets, file operations, timers,
// a mailbox between loops, and a way to run blocking work elsewhere.
//
// It knows nothing of Kafka: a Handler says how long a frame is and receives whole frames. It never blocks a loop
// on a disk: datasync, cold reads and namespace calls run in the kernel's or in Go's worker threads.
//
// A turn of a loop: wait for completions, run their completers, run the mailbox, run due timers, run the
// turn-end hooks (engine shards write what the turn appended), run the completers of what these wrote on the loop's thread
// and the mailbox and hooks again, flush the sockets, submit once. Completers and handlers never nest: what they cause
// runs later in the same turn or in the next one.
//
// Two drivers stand behind one interface, netpoll/uring and netpoll/epoll; callers cannot tell which one runs.
// The conformance suite in netpoll/drivertest holds for both. Choose picks one for io.engine.
//
// Ownership: everything is owned by its loop's thread, but for what says "any goroutine": Post, PostFunc and Stop of a loop,
// the Group, the buffer pools. A connection lives and dies on one loop.
//
// Invariants:
//   - at most one receive and one wait for room are in flight per connection, none without need;
//   - a descriptor is closed once, by its driver, after everything in flight on it has ended;
//   - an idle connection holds no buffer; a frame that was only announced holds 4 KiB;
//   - a connection is not read while its handler paused it, while it has more unsent bytes than its limit, or
//     while it waits for memory; who waits for memory is served first come, first served;
//   - every message and operation is completed exactly once, on its loop, never from inside the call that began it;
//   - a loop without work sleeps: timers below 1 s are only those that the loop's users set.
//
// LoopOptions.CopyFiles switches sendfile off: file ranges then pass through a piece of memory of the loop's, 64 KiB at a time.
//
// Measured choices (2 processors, kernel 6.18): looking for 50 us before sleeping, but only while it pays, since waking a
// sleeping thread costs 6 us and its latency 20; no yield while looking (8 us for a locked thread); sends, sendfile and
// the rest of big frames by direct nonblocking calls on the loop thread; ring operations where something may wait: idle
// receives, accepts, datasyncs, reads. Buffered ring writes were slower than pwritev at every size, so that
// "auto" appends are written on the loop thread with either driver, but for those that would first read a page from the disk
// (docs/adr/0009).
//
// Files: api.go, op.go, out.go, handler.go, driver.go (the contracts); loop.go (Loop), turn.go (a turn, waiting, looking,
// closing), mailbox.go, timer.go, offload.go (workers), metrics.go; conn.go (Conn), recv.go (frames), send.go (messages),
// cold.go (ranges not in the page cache), connset.go (a loop's connections, the queue for memory), sweep.go (timeouts,
// trimming); group.go (limits, listeners), listener.go (accepting, dealing); fileops.go and sockio.go (what drivers share);
// choose.go.
package netpoll
