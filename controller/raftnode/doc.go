// Package raftnode keeps the metadata image of package controller consistent and durable: it drives one
// go.etcd.io/raft node, keeps its log and snapshots in files, and applies what is committed.
//
// It never applies anything that is not committed and durable, and never acknowledges what is not applied. It
// never retries a failed sync: the directory is dead then, and Options.Fatal is told. It has no timer: with one
// voter nothing ticks, so an idle broker is idle.
//
// Two layers. Node is a plain value driven by one owner: Propose and Step put things in, Ready hands out what
// must be written and sent, Persist writes it (blocking calls on vfs only), Advance applies and goes on. Runner
// is the owner in production: one ordinary goroutine that implements controller.Client.
//
// Files, all in one directory:
//
//	00000000000000000000.log   records in Kafka's v2 batches; the name is the first offset in it
//	00000000000000000042.snap  the image at index 42, with a checksum
//	*.new                      a log file whose first sync never ended: removed at the next start
//
// A log file begins with a header record: who we are, hard state, configuration and the snapshot that it builds
// on. The log is never truncated to replace entries: a later record of the same index supersedes. Every write is
// one batch, synced before the next is written, so after a crash at most the last batch of the last file is torn;
// a bad batch anywhere else, and one that no torn write explains, is damage and refuses the start by name and
// offset. When enough has been written since the last snapshot, a new snapshot is written and synced, then a new
// log file that builds on it; the generation before stays, so one damaged snapshot is survived.
//
// Files of this package: options.go; runner.go; node.go; ready.go; disk.go writing; load.go reading; record.go
// and header.go bytes of the log; snapfile.go bytes of a snapshot; logger.go raft's messages.
package raftnode
