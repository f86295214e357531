package crash

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

// TestFullDiskOnTmpfs and TestFullDiskOnExt4 (DF1, report B65): on a full disk produce answers 56, reads go on, a restart works, and when
// space is there again produce goes on without a restart. Nothing acknowledged is lost.
func TestFullDiskOnTmpfs(t *testing.T) { fullDisk(t, newTmpfs(t, 96)) }

// TestFullDiskOnExt4 is TestFullDiskOnTmpfs on a file system that allocates late.
func TestFullDiskOnExt4(t *testing.T) { fullDisk(t, newExt4(t, 96)) }

func fullDisk(t *testing.T, disk *smallDisk) {
	b := start(t, filepath.Join(disk.dir, "data"))
	const topic = "full"
	harness.CreateTopic(t, b.Addr, topic, 1, "segment.bytes", "4194304", "retention.ms", "-1")
	w := &recordWriter{t: t, b: b, topic: topic}
	for range 20 {
		if code := w.write(64 << 10); code != 0 {
			t.Fatalf("with space left: error %d", code)
		}
	}
	ballast := disk.fill()
	w.untilRefused(t)
	w.readAll()
	for range 3 { // it stays refused and readable
		if code := w.write(64 << 10); code != 56 {
			t.Errorf("on the full disk: error %d, want 56", code)
		}
	}
	b.Kill()
	restartOnFullDisk(t, b, w)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := b.WaitReady(15 * time.Second); err != nil {
		t.Fatalf("after space came back: %v", err)
	}
	for deadline := time.Now().Add(15 * time.Second); w.write(64<<10) != 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("15 s after space came back produce is still refused")
		}
	}
	for range 20 {
		if code := w.write(64 << 10); code != 0 {
			t.Fatalf("after space came back: error %d", code)
		}
	}
	w.readAll()
	if err := b.Stop(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	cleanDump(t, b, "after a full disk", topic)
}

// restartOnFullDisk starts the broker while nothing can be written. It serves, or it stays, says why, and waits for space.
func restartOnFullDisk(t *testing.T, b *harness.Broker, w *recordWriter) {
	t.Helper()
	before := len(b.Logs())
	if err := b.LaunchNoWait(); err != nil {
		t.Fatal(err)
	}
	if err := b.WaitReady(5 * time.Second); err != nil {
		if log := b.Logs(); !b.Alive() || !strings.Contains(log[min(before, len(log)):], "no space") {
			t.Fatalf("restart on the full disk: %v", err)
		}
		t.Log("restart on the full disk: the broker waits for space, and says so")
		return
	}
	w.readAll()
	if code := w.write(64 << 10); code != 56 && code != 0 {
		t.Errorf("after a restart on the full disk: error %d, want 56", code)
	}
}

// recordWriter writes records one at a time to partition 0 with acks=all and remembers which were acknowledged where. Owned by the test.
type recordWriter struct {
	t     *testing.T
	b     *harness.Broker
	topic string
	seq   int64
	acked map[int64]int64 // offset to sequence
	no    map[int64]bool  // sequences that were refused
}

// write sends the next record padded to size and returns the error code.
func (w *recordWriter) write(size int) int16 {
	w.t.Helper()
	c, err := harness.Dial(w.b.Addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	seq := w.seq
	w.seq++
	body := value(w.topic, 0, seq)
	body = append(body, make([]byte, max(0, size-len(body)))...)
	p, err := harness.ProduceOne(c, w.topic, 0, harness.NewBatch(harness.Record{Timestamp: time.Now().UnixMilli(), Value: body}).Bytes())
	if err != nil {
		w.t.Fatalf("produce: %v", err)
	}
	if w.acked == nil {
		w.acked, w.no = map[int64]int64{}, map[int64]bool{}
	}
	if p.ErrorCode == 0 {
		if old, twice := w.acked[p.BaseOffset]; twice {
			w.t.Fatalf("offset %d acknowledged for record %d and for %d", p.BaseOffset, old, seq)
		}
		w.acked[p.BaseOffset] = seq
	} else {
		w.no[seq] = true
	}
	return p.ErrorCode
}

// untilRefused writes until the answer is 56; other errors fail the test.
func (w *recordWriter) untilRefused(t *testing.T) {
	t.Helper()
	for range 5000 {
		switch code := w.write(64 << 10); code {
		case 0:
		case 56:
			return
		default:
			t.Fatalf("on the full disk: error %d, want 56", code)
		}
	}
	t.Fatal("the full disk took 5000 records")
}

// readAll fetches the whole partition: every acknowledged record at its offset, no refused one.
func (w *recordWriter) readAll() {
	w.t.Helper()
	c, err := harness.Dial(w.b.Addr)
	if err != nil {
		w.t.Fatal(err)
	}
	defer c.Close()
	end, err := endOf(w.b.Addr, w.topic, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	found := 0
	for at := int64(0); at < end; {
		resp, err := c.Do(harness.Fetch(1000, 1, 8<<20, harness.FetchFrom{Topic: w.topic, Offset: at, Max: 8 << 20}))
		if err != nil {
			w.t.Fatalf("fetch at %d: %v", at, err)
		}
		p := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
		heads := harness.Heads(p.RecordBatches)
		if p.ErrorCode != 0 || len(heads) == 0 {
			w.t.Fatalf("fetch at %d of %d: error %d, %d batches", at, end, p.ErrorCode, len(heads))
		}
		for _, h := range heads {
			if len(h.Data) < h.Size {
				break
			}
			seq := w.sequence(h)
			if want, ok := w.acked[h.BaseOffset]; ok {
				if found++; want != seq {
					w.t.Fatalf("offset %d holds record %d, acknowledged for %d", h.BaseOffset, seq, want)
				}
			}
			if w.no[seq] {
				w.t.Fatalf("offset %d holds record %d, which was refused", h.BaseOffset, seq)
			}
			at = h.LastOffset + 1
		}
	}
	if found != len(w.acked) {
		w.t.Fatalf("%d of %d acknowledged records are there", found, len(w.acked))
	}
}

// sequence reads the record's number out of a batch of one record.
func (w *recordWriter) sequence(h harness.BatchHead) int64 {
	w.t.Helper()
	records := h.Data[61:]
	for range 5 { // length, attributes, time delta, offset delta, key length: varints all
		_, n := binary.Varint(records)
		records = records[max(n, 1):]
	}
	_, n := binary.Varint(records)
	if n <= 0 || len(records) < n+8 {
		w.t.Fatalf("batch at offset %d does not decode", h.BaseOffset)
	}
	return int64(binary.BigEndian.Uint64(records[n:]))
}
