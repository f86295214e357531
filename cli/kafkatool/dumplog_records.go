package kafkatool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"millrace/internal/codec"
	"millrace/segment/batch"
)

// maxSection bounds what a batch may unpack to.
const maxSection = 1 << 30

func (d *dump) log(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := min(info.Size(), d.maxBytes)
	r := bufio.NewReaderSize(io.LimitReader(f, size), 1<<20)
	p := newProgress(d.e, "bytes read", size)
	defer p.done()
	pos, last := int64(0), int64(-1)
	for {
		v, err := nextBatch(r, size-pos)
		if err != nil {
			break // what follows is no whole batch; told below
		}
		if err := d.batch(path, pos, v, &last); err != nil {
			return err
		}
		pos += int64(len(v))
		p.add(int64(len(v)))
		if d.e.Ctx.Err() != nil {
			return d.e.Ctx.Err()
		}
	}
	if left := size - pos; left > 0 && d.maxBytes >= info.Size() {
		d.e.println("Found %d invalid bytes at the end of %s", left, baseName(path))
	}
	return nil
}

func baseName(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

var errNoBatch = errors.New("no whole batch")

// nextBatch reads a batch without judging its checksum.
func nextBatch(r *bufio.Reader, left int64) (batch.View, error) {
	head, err := r.Peek(batch.HeaderSize)
	if err != nil {
		return nil, errNoBatch
	}
	v := batch.View(head)
	if v.Magic() != 2 || int64(v.Size()) < batch.HeaderSize || int64(v.Size()) > left {
		return nil, errNoBatch
	}
	buf := make([]byte, v.Size())
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, errNoBatch
	}
	return batch.View(buf), nil
}

func (d *dump) batch(path string, pos int64, v batch.View, last *int64) error {
	valid := v.CRC() == v.ComputeCRC()
	a := v.Attributes()
	horizon := "OptionalLong.empty"
	if a.DeleteHorizon() {
		horizon = fmt.Sprintf("OptionalLong[%d]", v.BaseTimestamp())
	}
	d.e.println("baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d producerId: %d producerEpoch: %d partitionLeaderEpoch: %d isTransactional: %v isControl: %v deleteHorizonMs: %s position: %d %s: %d size: %d magic: %d compresscodec: %s crc: %d isvalid: %v",
		v.BaseOffset(), v.LastOffset(), v.Count(), v.BaseSequence(), v.LastSequence(), v.ProducerID(), v.ProducerEpoch(), v.LeaderEpoch(),
		a.Transactional(), a.Control(), horizon, pos, timeKind(a), v.MaxTimestamp(), v.Size(), v.Magic(), a.Codec(), v.CRC(), valid)
	if !d.deep {
		d.gap(path, v.BaseOffset(), *last)
		*last = v.LastOffset()
		return nil
	}
	section := v.Payload()
	if c := a.Codec(); c != batch.None {
		var err error
		if section, err = codec.Decompress(nil, codec.Type(c), section, maxSection); err != nil {
			return fmt.Errorf("batch at offset %d: %w", v.BaseOffset(), err)
		}
	}
	it := batch.NewIter(section, v.Count())
	var r batch.Record
	for it.Next(&r) {
		offset := v.BaseOffset() + int64(r.OffsetDelta)
		d.gap(path, offset, *last)
		*last = offset
		d.record(v, &r, offset)
	}
	if err := it.Err(); err != nil {
		return fmt.Errorf("batch at offset %d: %w", v.BaseOffset(), err)
	}
	return nil
}

// gap notes that an offset does not follow the one before; a compacted log has such places.
func (d *dump) gap(path string, offset, last int64) {
	if d.deep && offset != last+1 { // Kafka's tool says so of the first offset of every later segment too
		d.remember("Non-consecutive offsets in "+path, "%d is followed by %d", last, offset)
	}
}

func timeKind(a batch.Attributes) string {
	if a.LogAppendTime() {
		return "LogAppendTime"
	}
	return "CreateTime"
}

func (d *dump) record(v batch.View, r *batch.Record, offset int64) {
	var b strings.Builder
	b.WriteString("|")
	if !d.skipMeta || !d.data {
		sequence := int32(-1)
		if v.BaseSequence() >= 0 {
			sequence = batch.AddSequence(v.BaseSequence(), r.OffsetDelta)
		}
		fmt.Fprintf(&b, " offset: %d %s: %d keySize: %s valueSize: %s sequence: %d headerKeys: [%s]", offset, timeKind(v.Attributes()),
			v.TimestampOf(r.TimestampDelta), sizeText(r.Key), sizeText(r.Value), sequence, headerKeys(r))
	}
	switch {
	case v.Attributes().Control():
		if m, ok := batch.ParseMarker(v); ok {
			kind := "ABORT"
			if m.Commit {
				kind = "COMMIT"
			}
			fmt.Fprintf(&b, " endTxnMarker: %s coordinatorEpoch: %d", kind, m.CoordinatorEpoch)
		}
	case d.offsets:
		key, value := offsetsRecord(r.Key, r.Value)
		b.WriteString(" key: " + key + " payload: " + value)
	case d.data:
		if r.Key != nil {
			b.WriteString(" key: " + string(r.Key))
		}
		if r.Value != nil {
			b.WriteString(" payload: " + string(r.Value))
		}
	}
	d.e.println("%s", b.String())
}

func sizeText(b []byte) string {
	if b == nil {
		return "-1"
	}
	return strconv.Itoa(len(b))
}

func headerKeys(r *batch.Record) string {
	var keys []string
	it := r.Headers()
	var h batch.Header
	for it.Next(&h) {
		keys = append(keys, string(h.Key))
	}
	return strings.Join(keys, ",")
}
