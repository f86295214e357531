// Package bugs holds one test for each class of fault that users of other Kafka-compatible brokers reported; each is named after what it
// checks, and its comment carries the number of the report. They talk to the running broker only; those that need a broker of their own
// (crashes, full disks, few descriptors) are in package crash, floods and foreign protocols in package hostile.
//
// Files: listoffsets_test.go, fetch_test.go, session_test.go, retention_test.go, apiversions_test.go, idempotence_test.go, topics_test.go,
// logdirs_test.go, badbatch_test.go, compression_test.go.
package bugs
