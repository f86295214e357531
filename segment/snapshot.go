package segment

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

const (
	snapshotVersion   = 1
	snapshotHeader    = 2 + 4 + 4
	snapshotEntrySize = 8 + 2 + 4 + 8 + 4 + 8 + 4 + 8
	windowVersion     = 1
	windowHeader      = 4 + 2 + 8 + 4
	windowEntryMin    = 8 + 2 + 4 + 8 + 8 + 1
	windowBatchSize   = 4 + 4 + 8 + 8
)

var (
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
	windowMagic = [4]byte{'M', 'R', 'P', 'W'}
)

// encodeSnapshot is Kafka's .snapshot (ProducerStateManager, version 1).
func encodeSnapshot(entries []ProducerEntry) []byte {
	be := binary.BigEndian
	b := make([]byte, 0, snapshotHeader+len(entries)*snapshotEntrySize)
	b = be.AppendUint16(b, snapshotVersion)
	b = be.AppendUint32(b, 0)
	b = be.AppendUint32(b, uint32(len(entries)))
	for i := range entries {
		e := &entries[i]
		last, ok := e.Last()
		if !ok {
			last = ProducerBatch{LastSequence: -1, LastOffset: -1}
		}
		b = be.AppendUint64(b, uint64(e.ProducerID))
		b = be.AppendUint16(b, uint16(e.Epoch))
		b = be.AppendUint32(b, uint32(last.LastSequence))
		b = be.AppendUint64(b, uint64(last.LastOffset))
		b = be.AppendUint32(b, uint32(last.OffsetDelta))
		b = be.AppendUint64(b, uint64(e.Timestamp))
		b = be.AppendUint32(b, uint32(e.CoordinatorEpoch))
		b = be.AppendUint64(b, uint64(e.TxnFirstOffset))
	}
	be.PutUint32(b[2:], crc32.Checksum(b[6:], castagnoli))
	return b
}

// decodeSnapshot reads Kafka's .snapshot. Each producer comes with one batch at most.
func decodeSnapshot(b []byte) ([]ProducerEntry, error) {
	be := binary.BigEndian
	if len(b) < snapshotHeader {
		return nil, fmt.Errorf("%w: snapshot of %d bytes", ErrFormat, len(b))
	}
	if v := be.Uint16(b); v != snapshotVersion {
		return nil, fmt.Errorf("%w: snapshot version %d", ErrFormat, v)
	}
	if be.Uint32(b[2:]) != crc32.Checksum(b[6:], castagnoli) {
		return nil, fmt.Errorf("%w: snapshot checksum", ErrFormat)
	}
	n := int64(int32(be.Uint32(b[6:])))
	if n < 0 || n*snapshotEntrySize != int64(len(b)-snapshotHeader) {
		return nil, fmt.Errorf("%w: snapshot of %d bytes says %d entries", ErrFormat, len(b), n)
	}
	out := make([]ProducerEntry, n)
	b = b[snapshotHeader:]
	for i := range out {
		e := &out[i]
		e.ProducerID = int64(be.Uint64(b))
		e.Epoch = int16(be.Uint16(b[8:]))
		e.Timestamp = int64(be.Uint64(b[26:]))
		e.CoordinatorEpoch = int32(be.Uint32(b[34:]))
		e.TxnFirstOffset = int64(be.Uint64(b[38:]))
		last := ProducerBatch{
			LastSequence: int32(be.Uint32(b[10:])),
			LastOffset:   int64(be.Uint64(b[14:])),
			OffsetDelta:  int32(be.Uint32(b[22:])),
			Timestamp:    e.Timestamp,
		}
		if last.LastOffset >= 0 {
			e.Batches[0], e.Count = last, 1
		}
		b = b[snapshotEntrySize:]
	}
	return out, nil
}

// encodeWindow is our side file of a snapshot: the same producers with up to five batches each.
func encodeWindow(entries []ProducerEntry, offset int64) []byte {
	be := binary.BigEndian
	b := append([]byte(nil), windowMagic[:]...)
	b = be.AppendUint16(b, windowVersion)
	b = be.AppendUint64(b, uint64(offset))
	b = be.AppendUint32(b, uint32(len(entries)))
	for i := range entries {
		e := &entries[i]
		b = be.AppendUint64(b, uint64(e.ProducerID))
		b = be.AppendUint16(b, uint16(e.Epoch))
		b = be.AppendUint32(b, uint32(e.CoordinatorEpoch))
		b = be.AppendUint64(b, uint64(e.Timestamp))
		b = be.AppendUint64(b, uint64(e.TxnFirstOffset))
		b = append(b, byte(e.Count))
		for _, x := range e.Batches[:e.Count] {
			b = be.AppendUint32(b, uint32(x.LastSequence))
			b = be.AppendUint32(b, uint32(x.OffsetDelta))
			b = be.AppendUint64(b, uint64(x.LastOffset))
			b = be.AppendUint64(b, uint64(x.Timestamp))
		}
	}
	return appendDigest(b)
}

// decodeWindow reads the side file of the snapshot of that offset.
func decodeWindow(b []byte, offset int64) ([]ProducerEntry, error) {
	be := binary.BigEndian
	b, ok := cutDigest(b)
	if !ok || len(b) < windowHeader || [4]byte(b) != windowMagic {
		return nil, fmt.Errorf("%w: producer window digest", ErrFormat)
	}
	if v := be.Uint16(b[4:]); v != windowVersion {
		return nil, fmt.Errorf("%w: producer window version %d", ErrFormat, v)
	}
	if got := int64(be.Uint64(b[6:])); got != offset {
		return nil, fmt.Errorf("%w: producer window of offset %d, not %d", ErrFormat, got, offset)
	}
	n := int64(be.Uint32(b[14:]))
	b = b[windowHeader:]
	if n > int64(len(b)/windowEntryMin) {
		return nil, fmt.Errorf("%w: producer window says %d entries", ErrFormat, n)
	}
	out := make([]ProducerEntry, n)
	for i := range out {
		if len(b) < windowEntryMin {
			return nil, fmt.Errorf("%w: producer window is cut off", ErrFormat)
		}
		e := &out[i]
		e.ProducerID = int64(be.Uint64(b))
		e.Epoch = int16(be.Uint16(b[8:]))
		e.CoordinatorEpoch = int32(be.Uint32(b[10:]))
		e.Timestamp = int64(be.Uint64(b[14:]))
		e.TxnFirstOffset = int64(be.Uint64(b[22:]))
		e.Count = int(b[30])
		b = b[windowEntryMin:]
		if e.Count > ProducerWindow || e.Count*windowBatchSize > len(b) {
			return nil, fmt.Errorf("%w: producer window of %d batches", ErrFormat, e.Count)
		}
		for j := range e.Count {
			e.Batches[j] = ProducerBatch{
				LastSequence: int32(be.Uint32(b)), OffsetDelta: int32(be.Uint32(b[4:])),
				LastOffset: int64(be.Uint64(b[8:])), Timestamp: int64(be.Uint64(b[16:])),
			}
			b = b[windowBatchSize:]
		}
	}
	if len(b) != 0 {
		return nil, fmt.Errorf("%w: %d bytes behind the producer window", ErrFormat, len(b))
	}
	return out, nil
}
