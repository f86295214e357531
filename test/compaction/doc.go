// Package compaction tests the log cleaner from outside: many updates of few keys in every codec, while the broker cleans, is killed and
// starts again. What must hold: the last value of each key is there, offsets only rise, a read at any offset finds the next record that is
// left, the files shrink, and producers beside the cleaner do not wait for it.
//
// Files: compaction_test.go the course of the test; writer_test.go the load and what it must find again; probe_test.go latency of a producer.
package compaction
