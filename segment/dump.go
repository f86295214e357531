package segment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"millrace/segment/batch"
	"millrace/vfs"
)

// DumpOptions say how much of a file Dump shows and checks.
type DumpOptions struct {
	// Records prints each record, decompressing where needed (Kafka's --deep-iteration).
	Records bool
	// Data prints keys and values too (--print-data-log). Implies Records.
	Data bool
	// Quiet prints only what is wrong.
	Quiet bool
}

// DumpResult counts what Dump saw.
type DumpResult struct {
	Batches, Records, Entries int64
	// Problems are findings in words, in file order.
	Problems []string
}

// dumper is one Dump. Owned by it.
type dumper struct {
	fs   vfs.FS
	w    io.Writer
	o    DumpOptions
	res  DumpResult
	path string
}

// Dump prints one file of a partition or log directory to w and checks it, against the .log beside it where it has one.
// The kind is told by the name, as everywhere. The error is about reading or a name that says nothing; what is wrong with
// the content is in Problems. It reads only.
func Dump(fsys vfs.FS, path string, o DumpOptions, w io.Writer) (DumpResult, error) {
	d := &dumper{fs: fsys, w: w, o: o, path: path}
	d.o.Records = o.Records || o.Data
	name := filepath.Base(path)
	d.say("Dumping %s", path)
	err := d.dump(name)
	return d.res, err
}

func (d *dumper) dump(name string) error {
	switch {
	case name == LeaderEpochFile:
		return d.text(func(b []byte) (string, error) {
			e, err := parseEpochs(b)
			return fmt.Sprintf("%d epochs: %v", len(e), e), err
		})
	case strings.HasSuffix(name, "-offset-checkpoint"):
		return d.text(func(b []byte) (string, error) {
			e, err := parseOffsets(b)
			return fmt.Sprintf("%d partitions: %v", len(e), e), err
		})
	case name == PartitionMetaFile:
		return d.text(func(b []byte) (string, error) {
			id, err := parsePartitionMeta(b)
			return "topic id " + FormatID(id), err
		})
	case name == MetaFile:
		return d.text(func(b []byte) (string, error) {
			m, err := parseMeta(b)
			return fmt.Sprintf("cluster %s node %d directory %s", m.ClusterID, m.NodeID, m.DirectoryID), err
		})
	}
	offset, suffix, ok := parseFileName(name)
	if !ok {
		return fmt.Errorf("%w: %s names no file of a log", ErrFormat, name)
	}
	switch suffix {
	case suffixLog:
		return d.log(offset)
	case suffixIndex:
		return d.index(offset)
	case suffixTimeIndex:
		return d.timeIndex(offset)
	case suffixSnapshot:
		return d.producers(func(b []byte) ([]ProducerEntry, error) { return decodeSnapshot(b) })
	case suffixWindow:
		return d.producers(func(b []byte) ([]ProducerEntry, error) { return decodeWindow(b, offset) })
	case suffixSum:
		return d.text(func(b []byte) (string, error) {
			s, err := decodeSum(b)
			return fmt.Sprintf("%+v", s), err
		})
	case suffixDamage:
		return d.text(func(b []byte) (string, error) {
			l, err := parseDamage(b)
			return fmt.Sprintf("%d damaged ranges: %+v", len(l), l), err
		})
	}
	return fmt.Errorf("%w: %s names no file of a log that can be shown", ErrFormat, name)
}

func (d *dumper) say(format string, args ...any) {
	if !d.o.Quiet {
		fmt.Fprintf(d.w, format+"\n", args...)
	}
}

func (d *dumper) problem(format string, args ...any) {
	p := fmt.Sprintf(format, args...)
	d.res.Problems = append(d.res.Problems, p)
	fmt.Fprintf(d.w, "PROBLEM: %s\n", p)
}

func (d *dumper) text(parse func([]byte) (string, error)) error {
	data, err := d.fs.ReadFile(d.path)
	if err != nil {
		return err
	}
	s, err := parse(data)
	if err != nil {
		d.problem("%v", err)
		return nil
	}
	d.say("%s", s)
	return nil
}

func (d *dumper) producers(parse func([]byte) ([]ProducerEntry, error)) error {
	data, err := d.fs.ReadFile(d.path)
	if err != nil {
		return err
	}
	entries, err := parse(data)
	if err != nil {
		d.problem("%v", err)
		return nil
	}
	for i := range entries {
		e := &entries[i]
		d.res.Entries++
		last, _ := e.Last()
		d.say("producerId: %d producerEpoch: %d coordinatorEpoch: %d currentTxnFirstOffset: %d lastTimestamp: %d firstSequence: %d lastSequence: %d lastOffset: %d batches: %d",
			e.ProducerID, e.Epoch, e.CoordinatorEpoch, e.TxnFirstOffset, e.Timestamp, batch.AddSequence(last.LastSequence, -last.OffsetDelta), last.LastSequence, last.LastOffset, e.Count)
	}
	return nil
}

// openScan opens a log for reading batch by batch.
func (d *dumper) openScan(base int64) (*logScan, io.Closer, error) {
	f, err := d.fs.OpenRead(fileName(filepath.Dir(d.path), base, suffixLog))
	if err != nil {
		return nil, nil, err
	}
	size, err := f.Size()
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return &logScan{r: f, size: size}, f, nil
}

func (d *dumper) log(base int64) error {
	sc, f, err := d.openScan(base)
	if err != nil {
		return err
	}
	defer f.Close()
	d.say("Log starting offset: %d", base)
	end, epoch := base, int32(-1)
	var h uint64
	sum := d.sumBeside(base)
	sc.follower = d.nextSegment(base)
	for pos := int64(0); pos < sc.size; {
		v, err := sc.next(pos, base, end, epoch)
		if err != nil {
			if !errors.Is(err, errBatch) {
				return err
			}
			q, ferr := sc.findValid(pos+1, end)
			if ferr != nil {
				return ferr
			}
			if q < 0 {
				d.problem("%d invalid bytes at the end of %s: %v", sc.size-pos, filepath.Base(d.path), err)
				return nil
			}
			d.problem("%d invalid bytes at %d: %v", q-pos, pos, err)
			pos, epoch = q, -1
			continue
		}
		d.batch(pos, v)
		h = chain(h, v)
		pos += int64(len(v))
		end, epoch = v.LastOffset()+1, max(epoch, v.LeaderEpoch())
		if sum != nil && pos == sum.Pos && sum.Chained && h != sum.Chain {
			d.problem("the digest of the first %d bytes is %016x, the side file says %016x", pos, h, sum.Chain)
		}
	}
	d.say("%d batches, end offset %d", d.res.Batches, end)
	return nil
}

// nextSegment is the base offset of the segment behind this one, 0 if there is none.
func (d *dumper) nextSegment(base int64) (next int64) {
	list, err := d.fs.List(filepath.Dir(d.path))
	if err != nil {
		return 0
	}
	for _, e := range list {
		if o, suffix, ok := parseFileName(e.Name()); ok && suffix == suffixLog && o > base && (next == 0 || o < next) {
			next = o
		}
	}
	return next
}

func (d *dumper) sumBeside(base int64) *sum {
	data, err := d.fs.ReadFile(fileName(filepath.Dir(d.path), base, suffixSum))
	if err != nil {
		return nil
	}
	s, err := decodeSum(data)
	if err != nil {
		d.problem("%v", err)
		return nil
	}
	return &s
}

func (d *dumper) batch(pos int64, v batch.View) {
	a := v.Attributes()
	d.res.Batches++
	d.say("baseOffset: %d lastOffset: %d count: %d baseSequence: %d lastSequence: %d producerId: %d producerEpoch: %d partitionLeaderEpoch: %d isTransactional: %v isControl: %v deleteHorizonMs: %s position: %d maxTimestamp: %d size: %d magic: %d compresscodec: %s crc: %d isvalid: true",
		v.BaseOffset(), v.LastOffset(), v.Count(), v.BaseSequence(), v.LastSequence(), v.ProducerID(), v.ProducerEpoch(), v.LeaderEpoch(),
		a.Transactional(), a.Control(), horizon(v), pos, v.MaxTimestamp(), v.Size(), v.Magic(), a.Codec(), v.CRC())
	if !d.o.Records {
		return
	}
	section, err := recordSection(v)
	if err != nil {
		d.problem("batch %d: %v", v.BaseOffset(), err)
		return
	}
	it := batch.NewIter(section, v.Count())
	var r batch.Record
	for it.Next(&r) {
		d.res.Records++
		d.record(v, &r)
	}
	if err := it.Err(); err != nil {
		d.problem("batch %d: %v", v.BaseOffset(), err)
	}
}

func horizon(v batch.View) string {
	if v.Attributes().DeleteHorizon() {
		return fmt.Sprint(v.BaseTimestamp())
	}
	return "OptionalLong.empty"
}

func (d *dumper) record(v batch.View, r *batch.Record) {
	if d.o.Quiet {
		return
	}
	line := fmt.Sprintf("| offset: %d timestamp: %d keySize: %d valueSize: %d headers: %d",
		v.BaseOffset()+int64(r.OffsetDelta), v.TimestampOf(r.TimestampDelta), sizeOf(r.Key), sizeOf(r.Value), r.HeaderCount)
	if v.Attributes().Control() {
		if m, ok := batch.ParseMarker(v); ok {
			line += fmt.Sprintf(" commit: %v coordinatorEpoch: %d", m.Commit, m.CoordinatorEpoch)
		}
	} else if d.o.Data {
		line += fmt.Sprintf(" key: %q payload: %q", r.Key, r.Value)
	}
	d.say("%s", line)
}

func sizeOf(b []byte) int {
	if b == nil {
		return -1
	}
	return len(b)
}

func (d *dumper) index(base int64) error {
	data, err := d.fs.ReadFile(d.path)
	if err != nil {
		return err
	}
	sc, f, err := d.openScan(base)
	if err != nil {
		return err
	}
	defer f.Close()
	entries, err := decodeIndex(data, sc.size)
	if err != nil {
		d.problem("%v", err)
		return nil
	}
	for _, e := range entries {
		d.res.Entries++
		d.say("offset: %d position: %d", base+int64(e.last), e.pos)
		h, err := sc.head(int64(e.pos))
		if err != nil {
			d.problem("index entry for offset %d: %v", base+int64(e.last), err)
		} else if h.LastOffset() != base+int64(e.last) {
			d.problem("index offset: %d, log offset: %d at position %d", base+int64(e.last), h.LastOffset(), e.pos)
		}
	}
	return nil
}

func (d *dumper) timeIndex(base int64) error {
	data, err := d.fs.ReadFile(d.path)
	if err != nil {
		return err
	}
	times, err := decodeTimeIndex(data)
	if err != nil {
		d.problem("%v", err)
		return nil
	}
	sc, f, err := d.openScan(base)
	if err != nil {
		return err
	}
	defer f.Close()
	pos, top := int64(0), int64(-1)
	for _, e := range times {
		d.res.Entries++
		d.say("timestamp: %d offset: %d", e.ts, base+int64(e.rel))
		for found := false; !found; {
			h, err := sc.head(pos)
			if err != nil || h.BaseOffset() > base+int64(e.rel) {
				d.problem("no batch ends at offset %d, which the time index names", base+int64(e.rel))
				break
			}
			top = max(top, h.MaxTimestamp())
			if found = h.LastOffset() == base+int64(e.rel); found && (h.MaxTimestamp() != e.ts || top != e.ts) {
				d.problem("time index says %d for offset %d, the log %d (largest so far %d)", e.ts, base+int64(e.rel), h.MaxTimestamp(), top)
			}
			if !found {
				pos += int64(h.Size())
			}
		}
	}
	return nil
}

// Verify checks every file of a partition directory without printing more than what is wrong. It reads only.
func Verify(fsys vfs.FS, dir string, o DumpOptions) (DumpResult, error) {
	var total DumpResult
	list, err := fsys.List(dir)
	if err != nil {
		return total, err
	}
	o.Quiet = true
	for _, e := range list {
		if e.IsDir() {
			continue
		}
		var out bytes.Buffer
		res, err := Dump(fsys, filepath.Join(dir, e.Name()), o, &out)
		if errors.Is(err, ErrFormat) {
			continue // a file that says nothing to us
		}
		if err != nil {
			return total, err
		}
		total.Batches += res.Batches
		total.Records += res.Records
		total.Entries += res.Entries
		for _, p := range res.Problems {
			total.Problems = append(total.Problems, e.Name()+": "+p)
		}
	}
	return total, nil
}
