// Package codec packs and unpacks the record bytes of batches: gzip, snappy,
// lz4 and zstd, as Kafka's Java client frames them. The broker needs it where
// it must look into compressed batches (produce checks, ListOffsets by time,
// compaction, recompression), and the tools do.
//
// What it never does: believe a length that the input claims. Every decoder
// has a hard cap on its output, memory grows with what was really unpacked,
// and windows that would need much memory ahead of time are bounded, so a bomb
// stops at the cap.
//
// Decompress appends to a buffer; a Reader unpacks and a Writer packs piece by
// piece, for what need not be held as a whole. Claim is what an input says of
// its size. Decompress and Reader take their decoders from pools: in
// steady state neither allocates, where the destination has room.
//
// State: the pools are for any goroutine. A Reader belongs to whoever made it
// until Close.
//
// Invariants:
//   - what Compress returns, Decompress gives back;
//   - a decoder never returns more than its cap, and says ErrTooLarge if there
//     was more;
//   - what can only be unpacked at once is bounded, and beyond a few megabytes
//     there is one such input in the process at a time;
//   - bytes that break the format are ErrCorrupt, never a panic.
//
// Files:
//
//	codec.go    Type, errors, Decompress, Compress
//	reader.go   Reader and its pools
//	writer.go   Writer
//	claim.go    Claim
//	whole.go    bounds of what is unpacked at once
//	gzip.go     gzip
//	snappy.go   snappy in xerial framing; raw snappy can be read
//	lz4.go      lz4 frames, xxh32.go their checksum
//	zstd.go     zstd
package codec
