// Package segment keeps one partition's log in one directory, in Kafka's own files: record batches in .log, sparse
// .index and .timeindex, producer .snapshot, leader-epoch-checkpoint, partition.metadata, plus side files of ours
// that Kafka's tools ignore (docs/formats.md draws every byte).
//
// It never does I/O on a loop thread: Log stages batches and hands out values that its owner carries out. Write is
// one vectored write, SyncSet the files to datasync, Job anything that may block (making files, sealing,
// checkpointing, renaming, removing, cutting). Reads are plans: a View finds positions in memory or says ErrCold.
// It does not import netpoll, knows nothing of requests, and decides nothing about acknowledgement.
//
// Who owns what: Log is owned by its loop. View and Segment are immutable to readers but for the tail's published
// length, which one writer raises with an atomic store. Jobs touch only what they captured and what their owner
// leaves alone meanwhile; at most one job per lane runs at a time.
//
// Invariants:
//   - published bytes never change: nothing is written over, and a file cut below its published end is never
//     appended to again (the log goes on in a new file);
//   - .log files hold whole batches and nothing else below the published end;
//   - offsets grow along the log; epochs do not fall;
//   - the synced end passes a roll only when the older file and the new file's name are durable;
//   - the recovery point never passes the synced end; below it nothing is cut at start, above it the first bad
//     batch ends the log;
//   - index, time index, snapshot, epoch file and side files are caches: each can be rebuilt from .log.
//
// One Log, seen from its owner (engine):
//
//	switch l.Stage(v) { case Staged: ...; case StageRoll: roll when l.CanRoll(); ... }
//	if w := l.TakeWrite(); w != nil { submit w } ... l.WriteDone(w, n, err)
//	if s := l.BeginSync(); s != nil { datasync each s.Files } ... l.SyncDone(s, err)
//	for j := l.TakeJob(); j != nil; j = l.TakeJob() { offload j.Run } ... l.JobDone(j, err)
//
// Compaction (clean*.go) runs beside: BeginClean, Cleaning.Run on a goroutine of its own, Replace for each finished group,
// EndClean. clean.go what is dirty; cleanmap.go keys; cleanrun.go the passes; cleanbatch.go what stays of a batch;
// cleantxn.go aborted transactions; cleanfile.go the files and their swap.
//
// Files, by what they are about. Formats: names.go, rootfiles.go, offsets.go, meta.go, snapshot.go, indexfile.go, sum.go,
// damage.go, digest.go. In memory: segment.go, view.go, memindex.go, state.go, epochs.go. The life of a log: log.go,
// append.go, roll.go, sync.go, checkpoint.go, retention.go, truncate.go, jobs.go, close.go, laterfs.go. Reads: find.go, times.go, section.go.
// Start: open.go, dirscan.go, scan.go, recover.go, replay.go, finish.go, report.go. Tools: dump.go.
package segment
