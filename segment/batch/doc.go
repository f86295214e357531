// Package batch reads and writes Kafka's record batch, format 2 ("magic 2",
// KIP-98), as views over bytes.
//
// It never copies a batch to look at it, never decompresses one (the payload of
// a compressed batch is opaque here) and never decides whether a batch is
// acceptable: package kafka/validate does that with Kafka's error codes.
//
// State: a View aliases the caller's bytes and owns nothing; Iter, Scanner,
// Stream and Builder are owned by the goroutine that made them.
//
// Layout, big endian, offsets from the start of the batch:
//
//	 0  int64   base offset              outside the CRC, stamped on append
//	 8  int32   length                   bytes after this field, >= 49
//	12  int32   partition leader epoch   outside the CRC, stamped on append
//	16  int8    magic, 2
//	17  uint32  CRC-32C of bytes 21..end
//	21  int16   attributes
//	23  int32   last offset delta
//	27  int64   base timestamp           the delete horizon if bit 6 is set
//	35  int64   max timestamp
//	43  int64   producer id              -1: none
//	51  int16   producer epoch           -1: none
//	53  int32   base sequence            -1: none
//	57  int32   record count
//	61  records, compressed as a whole or not at all
//
// Attributes: bits 0-2 codec, 3 LogAppendTime, 4 transactional, 5 control,
// 6 delete horizon set.
//
// A record: varint length of what follows, int8 attributes (0), varlong
// timestamp delta, varint offset delta, varint key length (-1: null), key,
// varint value length (-1: null), value, varint header count, then per header
// varint key length, key, varint value length (-1: null), value. All varints
// are zigzag.
//
// Invariants: a View that Parse or Peek returned holds exactly one whole batch
// (len(v) == v.Size() >= HeaderSize), so accessors need no checks and do not
// panic. A View made by conversion must satisfy the same.
//
// Files: view.go accessors and setters; attributes.go the attribute bits;
// parse.go cutting and checking; scan.go walking batches; varint.go;
// iter.go records and headers; stream.go records that come piece by piece;
// build.go Builder and header encoding;
// marker.go transaction markers.
package batch
