// Package harness starts, watches and talks to the broker under test.
//
// A test package gets its broker in one of two ways. With MILLRACE_TEST_ADDR set, the broker that already runs there is used and
// nothing is started; this is how the tests themselves are proved against Apache Kafka. Without it, Main starts `millrace serve` on a
// new directory and stops it at the end. Tests that kill, starve or restart a broker always start their own with Start.
//
// The package holds no opinion about what a broker should answer; it never retries and never hides an error.
//
// State: a Broker is owned by the test that started it, except for its log buffer, which any goroutine may read. A Conn is owned by
// one goroutine at a time.
//
// Files: target.go (which broker), broker.go (the process), procfs.go (memory and descriptors), wire.go (raw frames), batch.go (record
// batches), topics.go (set-up requests), canary.go (an innocent client that must not suffer), dump.go (Kafka's own log reader),
// tools.go (programs a test needs).
package harness
