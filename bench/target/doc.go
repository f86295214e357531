// Package target starts, pins, restarts and stops what is measured: Millrace by its binary, Apache Kafka by a command that the
// user names, floors by our own binary, and anything else by its address. It also makes and drops topics.
//
// It tunes nothing that is not stated in Options: a target runs with its defaults but for the address, the directory, the
// engine, the number of loops and (Millrace) cubic as congestion control. Kafka cannot be told: it takes the machine's.
//
// A Target is immutable; an Instance belongs to the runner's goroutine.
//
// Files: target.go (what can be measured), instance.go (a running one), topic.go (topics and readiness).
package target
