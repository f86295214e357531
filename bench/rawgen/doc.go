// Package rawgen loads a Kafka broker at a small fraction of the broker's own cost: it speaks the protocol over raw sockets,
// sends batches that were encoded once, checks every answer and throws fetched bytes away in the kernel.
//
// A producer is one epoll loop over C connections with D requests in flight each, as fast as answers come (closed loop) or
// at a given rate (open loop). In the open loop each request has an intended send time and its latency counts from that time,
// so a broker that stalls cannot hide it by stalling the sender (coordinated omission); how late the generator itself was is a
// histogram of its own. A consumer is one thread per connection with one Fetch in flight.
//
// It never retries and never hides an error: any code but 0 is counted and makes the result a failed one.
//
// Invariants checked: answers come in order of requests; base offsets of one partition grow by at least what was sent; one
// spoiled batch per run is refused; fetched batches follow each other without a gap, and sampled ones have a right checksum.
//
// Files: socket.go (raw sockets), result.go (what a run yields), produce.go (options), loop.go (the producer's loop),
// sender.go (one connection), bad.go (the spoiled batch), call.go (one request over a blocking connection),
// fetch.go and stream.go (the consumer), e2e.go (producer and consumers together), crowd.go (idle long polls).
package rawgen
