// Package sink holds the floors: servers that do only the part of a broker's work that cannot be left out, so that a broker's
// figure has something to be a ratio of. All speak enough of Kafka's protocol for the generator (and for plain producers) to
// use them as if they were a broker.
//
//   - null: cuts frames, answers, stores nothing; a Fetch gets the first batch it saw, again and again with fresh offsets
//   - write: receives and makes, per turn of the loop and partition, one vectored write to new files that stay, so writes have
//     the sizes a broker's have; data is synced in the background once older than
//     1 s or beyond 256 MB (or never, or each turn before the answers). A Fetch is answered by sendfile from these files: the
//     read floor. On kept data it first finds partitions and log ends, and reads what lies above the recovery points: the
//     start floor
//   - echo: a goroutine per connection over net.Conn, answering the same frames as null
//
// They check nothing: the spoiled batch of a measured run is not refused here, and no one may believe what they store.
//
// A connection and its buffers are owned by one loop; topics are shared, their counters atomic. Invariant: the offsets given
// out for one partition never overlap.
//
// Files: server.go (options, listening, topics), loop.go (the epoll loop), conn.go (one connection), handle.go (requests),
// fetch.go (answers with data), files.go (partition files and syncing), kept.go (data that a start
// finds), echo.go (the echo floor).
package sink
