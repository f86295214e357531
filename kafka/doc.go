// Package kafka is the protocol frontend: it cuts Kafka's frames, answers each API key at the versions of Apache
// Kafka 4.4.0, and turns requests into calls of the engine and the node.
//
// # Where state lives
//
// A conn and its requests are owned by the loop of their connection. Nothing here owns a partition: produce pushes
// engine.Appends onto the partitions' queues and is told of the end by one post home; fetch reads the published
// bounds and views and plans file ranges itself. Fetch sessions are shared between loops and locked one by one.
//
// # Order of answers
//
// Requests of one connection are handled in order. Only consecutive Produce requests overlap, and their answers
// still leave in order (conn.go). A connection whose request waits is not read further than a few frames.
//
// # What it never does
//
// It never blocks a loop: handlers that must wait (a proposal, a directory listing, a cold index) answer later
// through request.respondLater. It never trusts a count, a length or a checksum of the peer.
//
// Files: frontend.go (entry), conn.go (order and pipelining), request.go (one request), dispatch.go (the table of
// APIs), reply.go (answers), then one file per API: produce*.go, fetch*.go, listoffsets.go, metadata.go, ...
// errors.go holds the one table from the engine's errors to Kafka's codes.
package kafka
