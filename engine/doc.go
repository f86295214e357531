// Package engine is the storage engine: partitions, each owned by one event loop, with a lock-free append queue, group
// commit, published bounds, long polls, idempotent producers, retention and recovery. It is complete without any Kafka
// protocol; the Kafka frontend is one of its clients.
//
//	e, err := engine.Open(engine.Options{Dirs: []string{"data"}})
//	report, err := e.Load(ctx)                     // what was there
//	p, err := e.Ensure(ctx, "greetings", 0)        // find or make, and lead it
//	var b batch.Builder
//	b.Reset(nil, 0, 0)
//	b.Add(time.Now().UnixMilli(), nil, []byte("hello"))
//	r, err := p.AppendWait(ctx, b.Finish(), engine.NeedCommitted) // on disk now
//	bytes, err := p.ReadWait(ctx, r.BaseOffset, 1<<20, engine.ReadUncommitted)
//	err = e.Close(ctx)
//
// Those helpers are for ordinary goroutines. Loop users (the frontend) use the forms below them, which neither block
// nor allocate: Partition.Push with an Append, Plan with a FetchPlan, Wait with a Waiter. Completions come on the
// partition's owner loop and travel home by the caller's own post.
//
// It never parses requests, never checks record contents (whoever pushes has done that), never decides who leads and
// never replicates: leadership comes by SetLeader, and with CommitExternal the committed end by SetCommitted.
//
// Who owns what: everything about a partition's log, its producers, its waiting appends and waiters belongs to the
// owner loop (one shard per loop). Other goroutines see the handle: two queues into it, and published bounds and an
// immutable view out of it. Blocking work (making and removing files, checkpoints, looking up old offsets) runs on
// ordinary goroutines and comes back by post; removals and cleaning run on threads that give way to the loops.
//
// Invariants:
//   - bounds rise in the order view, written, synced, committed, stable; readers load them in the opposite order, and
//     nothing at or above a reader's bound is ever handed out;
//   - committed never passes the first acks=all batch above the synced end, and never falls;
//   - an append is completed exactly once, a waiter woken exactly once per Wait;
//   - one write in flight per partition; everything staged behind a failed write fails with it, and the producer state
//     that it had made is undone;
//   - a datasync that failed kills the log directory: nothing of it is acknowledged any more until a restart;
//   - the bytes that recovery must read again stay below Options.UnsyncedBytesMax per directory.
//
// Files: options.go, errors.go; engine.go the handle, open.go log directories and loops, create.go create and delete,
// load.go start, close.go, closer.go clean stop; dir.go a log directory and its death; partition.go the shared handle, admin.go what
// is done to it; remover.go the end of deleted files; append.go, queue.go the way in; shard.go the turn; stage.go, write.go from queue to disk; sync.go group
// commit and background syncs; fail.go full disks and failing ones; producer.go sequences; bounds.go; waiter.go, park.go
// long polls; plan.go, read.go fetches; lookup.go times and epochs; checkpoint.go recovery points; tick.go retention and
// expiry; clean*.go compaction, background*.go the threads for it; wait.go helpers for ordinary goroutines; stats.go counters.
package engine
