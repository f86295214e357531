// Package producer is the producer model that Kafka's users are taught, as code: a record accumulator with a queue of batches
// per partition, a sender that drains ready nodes and makes one request per broker, and a network client over one selector that
// keeps a bounded number of requests in flight per broker. Its settings carry Kafka's names and its rules are Kafka's.
//
// Application and sender share one thread here, turn by turn, so that what is measured is the model and not the hand-over
// between two threads: records that became due while the sender worked are appended before its next turn, and an application
// without a given rate gets as much time as the sender's last turn took.
//
// It never retries: an answer with an error makes the run a failed one. It resolves leaders once, before the load begins.
//
// Everything is owned by the loop that runs the load; the accumulator sees time only as an argument.
//
// Invariants: a batch belongs to exactly one of queue, request in flight, or pool; memory handed out never exceeds
// buffer.memory; a partition's batches leave in the order in which they were opened, at most one per request.
//
// Files: options.go (settings), pool.go (buffer.memory), batch.go (one batch), accumulator.go (queues, ready, drain), metadata.go
// (leaders), client.go (selector and connections), request.go (one request), load.go (application, sender and poll).
package producer
