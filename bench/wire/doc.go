// Package wire holds the few pieces of Kafka's protocol that a load generator and a measuring floor need on their hot path:
// record batches that are encoded once and stamped per send, Produce requests as scatter lists, and cursors over answers.
//
// It never decodes records, never allocates per request and never touches a socket. Everything that is not hot goes through kmsg.
//
// Invariants: a batch's CRC is always valid after Stamp (unless it was spoiled on purpose); a ProduceSlot belongs to one
// request in flight and is not changed before that request has been written completely.
//
// Files: cursor.go (reading), batch.go (batch bodies and headers), crc.go (joining checksums), produce.go (requests and
// answers), serve.go (the server's side of Produce, for sinks).
package wire
