package segment

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"millrace/segment/batch"
)

// chainHead is what of each batch enters the digest: base offset, length, leader epoch, magic and the CRC, which stands
// for all the rest. Kafka's CRC leaves the fields before it out.
const chainHead = 21

// chain extends the digest of a segment by one batch.
func chain(h uint64, v batch.View) uint64 {
	var b [8 + chainHead]byte
	binary.BigEndian.PutUint64(b[:], h)
	copy(b[8:], v[:chainHead])
	return xxhash.Sum64(b[:])
}

// sum is the content of a segment's .sum side file: what was durable of it when it was written. Written after the log
// and its indexes were synced; recovery scans from there. A plain value.
type sum struct {
	TopicID   [16]byte
	Partition int32
	Base      int64

	Pos     int64 // bytes of the log covered
	End     int64 // offset behind them
	Batches int64
	Chain   uint64 // digest of the batches' heads, see chain
	Chained bool   // Chain covers the segment from its start

	FirstTs     int64 // max timestamp of the first batch, for the age of the segment; -1 unknown
	MaxTs       int64
	MaxTsOffset int64 // last offset of the first batch that has it
	Since       int64 // bytes since the last index entry

	IndexEntries, TimeEntries int64
	IndexHash, TimeHash       uint64 // xxhash64 of the index files' bytes

	// Snapshot is the offset of the snapshot that still was the producer state at End; -1: no producers.
	Snapshot int64
	// Sealed: nothing is ever appended to this file.
	Sealed bool
}

const (
	sumVersion = 1
	sumSize    = 4 + 2 + 2 + 16 + 4 + 15*8
)

var sumMagic = [4]byte{'M', 'R', 'S', 'U'}

func (s *sum) encode() []byte {
	be := binary.BigEndian
	b := make([]byte, 0, sumSize+8)
	b = append(b, sumMagic[:]...)
	b = be.AppendUint16(b, sumVersion)
	var flags uint16
	if s.Chained {
		flags |= 1
	}
	if s.Sealed {
		flags |= 2
	}
	b = be.AppendUint16(b, flags)
	b = append(b, s.TopicID[:]...)
	b = be.AppendUint32(b, uint32(s.Partition))
	for _, v := range []int64{
		s.Base, s.Pos, s.End, s.Batches, int64(s.Chain), s.FirstTs, s.MaxTs, s.MaxTsOffset, s.Since,
		s.IndexEntries, s.TimeEntries, int64(s.IndexHash), int64(s.TimeHash), s.Snapshot, 0,
	} {
		b = be.AppendUint64(b, uint64(v))
	}
	return appendDigest(b)
}

func decodeSum(b []byte) (s sum, err error) {
	be := binary.BigEndian
	b, ok := cutDigest(b)
	if !ok || len(b) != sumSize || [4]byte(b) != sumMagic {
		return s, fmt.Errorf("%w: segment sum", ErrFormat)
	}
	if v := be.Uint16(b[4:]); v != sumVersion {
		return s, fmt.Errorf("%w: segment sum version %d", ErrFormat, v)
	}
	flags := be.Uint16(b[6:])
	s.Chained, s.Sealed = flags&1 != 0, flags&2 != 0
	copy(s.TopicID[:], b[8:])
	s.Partition = int32(be.Uint32(b[24:]))
	b = b[28:]
	chain, ih, th := int64(0), int64(0), int64(0)
	for _, p := range []*int64{
		&s.Base, &s.Pos, &s.End, &s.Batches, &chain, &s.FirstTs, &s.MaxTs, &s.MaxTsOffset, &s.Since,
		&s.IndexEntries, &s.TimeEntries, &ih, &th, &s.Snapshot,
	} {
		*p = int64(be.Uint64(b))
		b = b[8:]
	}
	s.Chain, s.IndexHash, s.TimeHash = uint64(chain), uint64(ih), uint64(th)
	if s.Pos < 0 || s.End < s.Base || s.Batches < 0 || s.IndexEntries < 0 || s.TimeEntries < 0 || s.Since < 0 ||
		s.Base < 0 || s.Pos > 1<<31-1 || s.Batches*batch.HeaderSize > s.Pos {
		return sum{}, fmt.Errorf("%w: segment sum", ErrFormat)
	}
	return s, nil
}

// checkIndexes compares the bytes of the index files with the digests. Longer files are well: what is behind was
// written after the side file.
func (s *sum) checkIndexes(idx, tix []byte) error {
	n, m := s.IndexEntries*indexEntrySize, s.TimeEntries*timeEntrySize
	if int64(len(idx)) < n || int64(len(tix)) < m ||
		xxhash.Sum64(idx[:n]) != s.IndexHash || xxhash.Sum64(tix[:m]) != s.TimeHash {
		return fmt.Errorf("%w: index digest", ErrFormat)
	}
	return nil
}

func (s *sum) setDigests(idx, tix []byte) {
	s.IndexHash, s.TimeHash = xxhash.Sum64(idx), xxhash.Sum64(tix)
}
