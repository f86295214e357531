package segment

import (
	"errors"
	"fmt"
	"io"
	"math/bits"

	"millrace/segment/batch"
)

// scanBufBytes is how much of a file recovery reads at a time.
const scanBufBytes = 1 << 20

// errBatch marks bytes that are no batch, as against a failed read.
var errBatch = errors.New("segment: no valid batch")

// logScan reads a log file whole batch by whole batch. Owned by the goroutine that made it.
type logScan struct {
	r    io.ReaderAt
	size int64
	buf  []byte
	at   int64
	n    int
	// read is the number of bytes read from the file.
	read int64
	// chunk is how much is read at a time; 0 for scanBufBytes.
	chunk int64
	// follower is the base offset of the segment behind this one; 0 if there is none.
	follower int64
}

// fill makes at least want bytes from pos available, fewer only at the end of the file.
func (f *logScan) fill(pos int64, want int) ([]byte, error) {
	if pos >= f.size {
		return nil, nil
	}
	want = int(min(int64(want), f.size-pos))
	if pos < f.at || pos+int64(want) > f.at+int64(f.n) {
		chunk := f.chunk
		if chunk <= 0 {
			chunk = scanBufBytes
		}
		n := int(min(max(int64(want), chunk), f.size-pos))
		if len(f.buf) < n {
			f.buf = make([]byte, n)
		}
		m, err := f.r.ReadAt(f.buf[:n], pos)
		if err != nil && !errors.Is(err, io.EOF) {
			f.n = 0
			return nil, err
		}
		f.at, f.n = pos, m
		f.read += int64(m)
	}
	return f.buf[pos-f.at : f.n], nil
}

// head is the header of the batch at pos; the whole batch lies in the file.
func (f *logScan) head(pos int64) (batch.View, error) {
	b, err := f.fill(pos, batch.HeaderSize)
	if err != nil {
		return nil, err
	}
	if len(b) < batch.HeaderSize {
		return nil, fmt.Errorf("%w at %d: %v", errBatch, pos, batch.ErrShort)
	}
	v := batch.View(b[:batch.HeaderSize])
	size, err := batch.PeekSize(b)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w at %d: %v", errBatch, pos, err)
	case pos+int64(size) > f.size:
		return nil, fmt.Errorf("%w at %d: %v", errBatch, pos, batch.ErrTruncated)
	case v.Magic() != batch.Magic:
		return nil, fmt.Errorf("%w at %d: %v", errBatch, pos, batch.ErrMagic)
	case v.LastOffsetDelta() < 0 || v.Count() < 0 || v.BaseOffset() < 0:
		return nil, fmt.Errorf("%w at %d: impossible header", errBatch, pos)
	}
	return v, nil
}

// batch is the batch at pos, its CRC checked; valid until the next call.
func (f *logScan) batch(pos int64) (batch.View, error) {
	h, err := f.head(pos)
	if err != nil {
		return nil, err
	}
	b, err := f.fill(pos, h.Size())
	if err != nil {
		return nil, err
	}
	v, _, err := batch.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%w at %d: %v", errBatch, pos, err)
	}
	return v, nil
}

// next is the batch at pos if it can follow what came before: offsets go on at end or above, and the epoch does not
// fall. Kafka's CRC covers neither base offset nor epoch, so a jump up is believed only if the batch or the segment behind
// agrees, and, where there is none, if it is more than one flipped bit. base is the segment's base offset.
func (f *logScan) next(pos, base, end int64, epoch int32) (batch.View, error) {
	v, err := f.batch(pos)
	if err != nil {
		return nil, err
	}
	first, last, e, size := v.BaseOffset(), v.LastOffset(), v.LeaderEpoch(), int64(v.Size())
	if first < end || !offsetsFit(base, first, last) {
		return nil, fmt.Errorf("%w at %d: offsets %d-%d behind %d", errBatch, pos, first, last, end)
	}
	if e < epoch && e != batch.NoLeaderEpoch {
		return nil, fmt.Errorf("%w at %d: epoch %d behind %d", errBatch, pos, e, epoch)
	}
	if first == end && e == epoch {
		return v, nil
	}
	n, err := f.head(pos + size)
	switch {
	case err != nil && !errors.Is(err, errBatch):
		return nil, err
	case err != nil && f.follower > 0:
		// Compaction leaves gaps; a flipped bit moves the batch past where the next segment begins, for it filled the room.
		if last >= f.follower {
			return nil, fmt.Errorf("%w at %d: offsets %d-%d, the next segment begins at %d", errBatch, pos, first, last, f.follower)
		}
	case err != nil:
		if first > end && bits.OnesCount64(uint64(first^end)) == 1 {
			return nil, fmt.Errorf("%w at %d: offset %d instead of %d", errBatch, pos, first, end)
		}
	case n.BaseOffset() >= end && n.BaseOffset() <= last && first > end:
		return nil, fmt.Errorf("%w at %d: offset %d, the next batch has %d", errBatch, pos, first, n.BaseOffset())
	case n.LeaderEpoch() >= epoch && n.LeaderEpoch() < e:
		return nil, fmt.Errorf("%w at %d: epoch %d, the next batch has %d", errBatch, pos, e, n.LeaderEpoch())
	}
	return f.batch(pos) // head may have moved the buffer
}

// findValid looks for the next place behind from where a batch with a good CRC begins whose offsets can follow end;
// -1 if there is none. The bytes checksummed are bounded, so that a hostile file cannot make it run away.
func (f *logScan) findValid(from, end int64) (pos int64, err error) {
	budget := 4*(f.size-from) + 1<<20
	for pos := from; pos+batch.HeaderSize <= f.size; {
		b, err := f.fill(pos, batch.HeaderSize)
		if err != nil {
			return -1, err
		}
		i := candidate(b)
		if i < 0 {
			pos += int64(max(len(b)-batch.HeaderSize+1, 1))
			continue
		}
		pos += int64(i)
		h, err := f.head(pos)
		if err != nil && !errors.Is(err, errBatch) {
			return -1, err
		}
		if err == nil && h.BaseOffset() >= end {
			if budget -= int64(h.Size()); budget < 0 {
				return -1, nil
			}
			if _, err = f.batch(pos); err == nil {
				return pos, nil
			}
			if !errors.Is(err, errBatch) {
				return -1, err
			}
		}
		pos++
	}
	return -1, nil
}

// candidate is where in b a header may begin: a magic byte at the right place and a base offset that is not negative.
func candidate(b []byte) int {
	const magicAt = 16
	for i := 0; i+batch.HeaderSize <= len(b); i++ {
		if b[i+magicAt] == batch.Magic && b[i] < 0x80 {
			return i
		}
	}
	return -1
}
