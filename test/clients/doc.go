// Package clients proves that real clients write and read real text through the broker, byte for byte.
//
// TestMatrix lets every client of the table write the same lines, with keys and headers, in every codec, partition by partition, and
// lets the client itself and others read them back. Each partition must hold exactly the lines in the order sent: counts, offsets, and a
// running hash over keys, values and headers.
//
// The lines come from text that the machine has: Go's source tree and the changelogs under /usr/share/doc. MILLRACE_LINES sets how many
// (20,000 by default, 1,000,000 for the full run); MILLRACE_READERS=all lets every client read every other's data.
//
// Files: corpus_test.go (lines), job_test.go (what a client is given and how its reading is judged), matrix_test.go (the matrix and its
// table), one file per client, perftest_test.go (kafka-producer-perf-test), and scripts for the Python clients under py/.
package clients
