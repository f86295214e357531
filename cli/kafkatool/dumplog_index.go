package kafkatool

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"millrace/segment/batch"
)

// headAt reads the header of the batch at pos.
func headAt(f *os.File, pos int64) (batch.View, error) {
	head := make([]byte, batch.HeaderSize)
	if _, err := f.ReadAt(head, pos); err != nil {
		return nil, err
	}
	return batch.View(head), nil
}

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// shape checks the size of an index file.
func (d *dump) shape(path string, data []byte, entry int) error {
	if len(data)%entry != 0 {
		return fmt.Errorf("Index file %s is corrupt, found %d bytes which is neither positive nor a multiple of %d", path, len(data), entry)
	}
	return nil
}

func (d *dump) index(path string, base int64) error {
	data, err := readAll(path)
	if err != nil {
		return err
	}
	if d.sanity {
		if err := d.shape(path, data, 8); err != nil {
			return err
		}
		d.e.println("%s passed sanity check.", path)
		return nil
	}
	f, err := openLog(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for i := 0; i+8 <= len(data); i += 8 {
		rel, pos := binary.BigEndian.Uint32(data[i:]), int64(binary.BigEndian.Uint32(data[i+4:]))
		offset := base + int64(rel)
		if rel == 0 && i > 0 {
			return nil // the rest is room that was reserved
		}
		if v, err := headAt(f, pos); err == nil && v.LastOffset() != offset {
			d.remember("Mismatches in :"+absolute(path), "Index offset: %d, log offset: %d", offset, v.LastOffset())
		} else if err != nil {
			if i == 0 && rel == 0 && pos == 0 {
				return nil
			}
			return fmt.Errorf("%s names position %d, which the log does not have", path, pos)
		}
		if !d.verifyOnly {
			d.e.println("offset: %d position: %d", offset, pos)
		}
	}
	return nil
}

func (d *dump) timeIndex(path string, base int64) error {
	data, err := readAll(path)
	if err != nil {
		return err
	}
	if d.sanity {
		if err := d.shape(path, data, 12); err != nil {
			return err
		}
		d.e.println("%s passed sanity check.", path)
		return nil
	}
	f, err := openLog(path)
	if err != nil {
		return err
	}
	defer f.Close()
	pos, before := int64(0), int64(-1)
	for i := 0; i+12 <= len(data); i += 12 {
		ms, rel := int64(binary.BigEndian.Uint64(data[i:])), binary.BigEndian.Uint32(data[i+8:])
		offset := base + int64(rel)
		if rel == 0 && i > 0 {
			return nil
		}
		top := int64(-1)
		for {
			v, err := headAt(f, pos)
			if err != nil || v.Size() < batch.HeaderSize || v.BaseOffset() > offset {
				break
			}
			pos += int64(v.Size())
			if v.LastOffset() >= offset {
				top = v.MaxTimestamp()
				break
			}
		}
		switch {
		case top < 0:
			d.remember("Found timestamp mismatch in :"+absolute(path), "Index timestamp: %d, log timestamp: %d", ms, int64(-1))
		case top != ms:
			d.remember("Found timestamp mismatch in :"+absolute(path), "Index timestamp: %d, log timestamp: %d", ms, top)
		}
		if before >= ms {
			d.remember("Found out of order timestamp in :"+absolute(path), "Index timestamp: %d, Previously indexed timestamp: %d", ms, before)
		}
		before = ms
		if !d.verifyOnly {
			d.e.println("timestamp: %d offset: %d", ms, offset)
		}
	}
	return nil
}

// snapshot shows a producer snapshot: int16 version, uint32 CRC-32C of the rest, int32 count, then 46 bytes per producer.
func (d *dump) snapshot(path string) error {
	data, err := readAll(path)
	if err != nil {
		return err
	}
	if len(data) < 10 || binary.BigEndian.Uint16(data) != 1 {
		return fmt.Errorf("Snapshot file '%s' is corrupt", path)
	}
	if crc32.Checksum(data[6:], crc32.MakeTable(crc32.Castagnoli)) != binary.BigEndian.Uint32(data[2:]) {
		return fmt.Errorf("Snapshot is corrupt (CRC is no longer valid). Stored crc: %d", binary.BigEndian.Uint32(data[2:]))
	}
	const entry = 46
	n := int(binary.BigEndian.Uint32(data[6:]))
	if n > (len(data)-10)/entry {
		return fmt.Errorf("Snapshot file '%s' is corrupt", path)
	}
	for i := range n {
		b := data[10+i*entry:]
		be := binary.BigEndian
		sequence, offset, delta := int32(be.Uint32(b[10:])), int64(be.Uint64(b[14:])), int32(be.Uint32(b[22:]))
		ms, coordinator, txn := int64(be.Uint64(b[26:])), int32(be.Uint32(b[34:])), int64(be.Uint64(b[38:]))
		first := "OptionalLong.empty"
		if txn >= 0 {
			first = fmt.Sprintf("OptionalLong[%d]", txn)
		}
		line := fmt.Sprintf("producerId: %d producerEpoch: %d coordinatorEpoch: %d currentTxnFirstOffset: %s lastTimestamp: %d ",
			int64(be.Uint64(b)), int16(be.Uint16(b[8:])), coordinator, first, ms)
		if offset >= 0 {
			line += fmt.Sprintf("firstSequence: %d lastSequence: %d lastOffset: %d offsetDelta: %d timestamp: %d",
				batch.AddSequence(sequence, -delta), sequence, offset, delta, ms)
		}
		d.e.println("%s", line)
	}
	return nil
}

// txnIndex shows aborted transactions: int16 version and four int64.
func (d *dump) txnIndex(path string) error {
	data, err := readAll(path)
	if err != nil {
		return err
	}
	be := binary.BigEndian
	for i := 0; i+34 <= len(data); i += 34 {
		b := data[i:]
		d.e.println("version: %d producerId: %d firstOffset: %d lastOffset: %d lastStableOffset: %d", be.Uint16(b), be.Uint64(b[2:]), be.Uint64(b[10:]), be.Uint64(b[18:]), be.Uint64(b[26:]))
	}
	return nil
}
