// Package validate checks the records of a produce request the way Kafka does,
// in Kafka's order and with its error codes, and makes a good batch final: after
// it only base offset and leader epoch are stamped.
//
// It knows one batch and the values of its topic's configuration. It does not
// know topics, partitions, producers' sequences, transactions or acks; those
// checks stand before or behind it.
//
// The order, as Apache Kafka 4.4.0 was seen to answer:
//
//  1. Rules, before the check of acks: no whole batch 87, illegal size or magic
//     2, magic 0 and 1 87, zstd below version 7 76, a second batch 87. Bytes
//     behind the batch that hold no whole batch are cut off.
//  2. Header: base offset not 0 87, larger than max.message.bytes 10, checksum
//     2, unassigned codec 76, count and last offset delta 87, control batch 87,
//     producer id without sequence 87.
//  3. Records: the one walk over the records (decompressed if need be): shape
//     87, null key on a compacted topic 87, timestamps 32; the last two name
//     each bad record. Then max timestamp, timestamp type and CRC are put right
//     in place, or the records are compressed anew for compression.type, and
//     the size is checked again (10, and 18 against segment.bytes).
//
// Where Kafka answers its "unexpected error" (-1) this package says what is
// wrong: 87 for records that do not decompress and for compressed records whose
// offsets are not 0, 1, 2..., 76 for an unassigned codec. It also refuses
// compressed records whose length prefix does not fit their content, some of
// which Kafka lets through. Offsets of uncompressed records are taken as they
// are, as Kafka takes them.
//
// State: a Checker is owned by its loop or worker. Topic is immutable once
// published.
//
// max.decompressed.message.bytes bounds each record of a compressed batch, not
// the batch, and is asked before all else about a record: 87 for the whole
// batch, no record named. A batch that decompresses to 2 GiB or more is refused
// (10), which Kafka does not do; no client can have held it.
//
// Invariants: nothing is allocated in steady state for a batch that is accepted
// and keeps its codec, unless it is large. The memory of a Checker does not
// follow what a batch decompresses to. The bytes of a refused batch are
// unchanged.
//
// Files: rules.go the checks of the request's shape and of the header; walk.go
// the loop over records; records.go what surrounds it; stream.go the same for
// large batches, piece by piece; rewrite.go stamping and recompressing.
package validate
