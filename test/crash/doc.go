// Package crash proves that what the broker acknowledged survives: kill -9, kills during recovery, clean stops under load, power cuts, full
// disks, failing syncs and a shortage of file descriptors. Every test starts brokers of its own from the harness.
//
// The load is made of strict producers (producer_test.go), one for each partition: an idempotent one pipelines five batches with acks=all
// and sends what was not answered again after a crash, in order, with the same sequences; a plain one uses acks=1 and never sends twice.
// Each value can be recomputed from its sequence, so that the verifier (verify_test.go) needs no copy of what was sent. It reads behind the
// load, and everything once more at the end: nothing acknowledged may be missing, doubled, moved to another offset or changed, and nothing
// once read may ever read differently. At the end Apache Kafka's own DumpLogSegments must find nothing wrong in any file.
//
// MILLRACE_ROUNDS sets the number of crashes (15 by default; 500 is the full run), MILLRACE_SEED repeats a run's choices,
// MILLRACE_START_LIMIT bounds the time from exec to the first answer after a crash (default 3 s).
//
// Tests: kill_test.go, powercut_test.go, fulldisk_test.go, descriptors_test.go, syncfail_test.go, restart_test.go, stop_test.go. What they share: load_test.go,
// producer_test.go, verify_test.go, disk_test.go.
package crash
