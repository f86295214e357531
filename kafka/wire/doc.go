// Package wire turns frames of the Kafka protocol into values and back.
//
// Produce and Fetch have hand-written codecs that look at a request through
// views and write answers into the caller's slice, without allocating. Every
// other API goes through kmsg, behind DecodeRequest, which first walks the body
// against its schema: what Kafka refuses (a null where none may be, a known tag
// at a version without it, a count that the bytes cannot hold) is refused
// before anything is allocated.
//
// The package knows bytes only. It never looks at topics, logs or sessions,
// never decides about duplicates, and writes to no connection.
//
// State: views alias the frame they were parsed from and are owned by whoever
// owns the frame. ProduceReply and FetchReply are owned by the caller and meant
// to be reused. Tables are immutable.
//
// Invariants:
//   - After Parse returned nil a view's iterators cannot fail: Parse walked the
//     whole body.
//   - No count is believed: each is checked against the bytes that are left
//     divided by the smallest size of an element.
//   - Bytes behind a body are ignored, as Kafka ignores them.
//   - A reply's size is known when it is finished, though the records of a
//     fetch are not in the buffer (they are gaps, filled from files).
//
// Files: apis.go keys, version ranges and flexible versions; errorcode.go the
// error table; header.go request and response headers and frames; reader.go the
// cursor; append.go the primitives of replies; produce_request.go,
// produce_reply.go, fetch_request.go, fetch_reply.go the hot codecs; schema.go
// and schemas.go the shapes of requests; decode.go the strict decoder for cold
// APIs.
package wire
