// Package cli runs command-line tools from outside, as a person or a script does: Apache Kafka's names and flags and the subcommands of
// millrace.
//
// The scripts under ../../cli/testdata/golden hold what Kafka's own tools said to a Kafka broker, line by line; golden_test.go replays them with
// the tools of this project. With MILLRACE_RECORD=1 and MILLRACE_TEST_TOOLS naming a folder of Kafka's tools they are recorded again.
//
// walkthrough_test.go is the introduction that everybody reads, step by step, with both sets of tools.
// perf_test.go runs the performance tools of both and compares the shape of their lines.
//
// Files: script.go reads, runs and writes scripts; normalize.go takes the variable parts out of output; tools.go finds tools and brokers.
package cli
