// Package kafkatool is Apache Kafka's command-line tools under their own names: the same flags, the same lines on the same stream, the same exit
// codes as Kafka 4.4.0, so that a script, a runbook or a reader of an introduction does not notice the difference. What is left out on purpose is
// the Java stack trace behind an error.
//
// It shares no state between calls and starts nothing that outlives one; a tool runs in the goroutine that called Run until the Env's context ends.
// Output is judged line by line against recordings of Kafka's tools (testdata/golden in the parent folder, replayed by test/cli).
//
// Files: frame.go the environment and how a tool ends; registry.go names; old.go flags of earlier versions; admin.go requests that several tools
// make; print.go tables and Java's log lines; topics*.go, producer*.go, consumer*.go, groups*.go, configs*.go, offsets.go, deleterecords.go,
// logdirs.go, apiversions.go, dumplog*.go, server.go one tool each; perf_producer.go, perf_send.go and perf_stats.go kafka-producer-perf-test with
// perf_args.go, its own kind of command line; perf_consumer.go, perf_read.go and perf_date.go kafka-consumer-perf-test; own.go what the subcommands
// of this program call instead; interrupt.go input that Ctrl-C ends.
package kafkatool
