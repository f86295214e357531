// Package netpoll is the event loop: one Loop per core on a locked thread, sockets, file operations, timers,
// a mailbox between loops, and a way to run blocking work elsewhere.
//
// It knows nothing of Kafka: a Handler says how long a frame is and receives whole frames. It never blocks a loop
// on a disk: datasync, cold reads and namespace calls run in the kernel's or in Go's worker threads.
//
// A turn of a loop: wait for completions, run their completers, run the mailbox, run due timers, run the
// turn-end hooks (engine shards write what the turn appended), flush the sockets, submit once. Completers and
// handlers never nest: what they cause runs later in the same turn or in the next one.
//
// Two drivers stand behind one interface, netpoll/uring and netpoll/epoll; callers cannot tell which one runs.
// The conformance suite in netpoll/drivertest holds for both.
package netpoll
