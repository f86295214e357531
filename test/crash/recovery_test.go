package crash

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/test/harness"
)

var scannedInLog = regexp.MustCompile(`scanned_bytes"?[=:](\d+)`)

// scanned is how many bytes of logs the last start read again, as the broker said.
func scanned(t *testing.T, b *harness.Broker) int64 {
	t.Helper()
	deadline := time.Now().Add(5 * time.Second)
	for {
		if all := scannedInLog.FindAllStringSubmatch(b.Logs(), -1); len(all) > 0 {
			n, err := strconv.ParseInt(all[len(all)-1][1], 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		if time.Now().After(deadline) {
			t.Fatal("the broker does not say how much it scanned")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// sized is a batch of one record of n bytes that do not compress.
func sized(n int) []byte {
	value := make([]byte, n)
	for i := range value {
		value[i] = byte(rand.Uint32())
	}
	return harness.NewBatch(harness.Record{Timestamp: time.Now().UnixMilli(), Value: value}).Bytes()
}

// produceAll sends one batch to each of the first n partitions of a topic in one request.
func produceAll(t *testing.T, addr, topic string, n int, records []byte) {
	t.Helper()
	req := harness.Produce(topic, 0, -1, records)
	for i := 1; i < n; i++ {
		p := kmsg.NewProduceRequestTopicPartition()
		p.Partition, p.Records = int32(i), records
		req.Topics[0].Partitions = append(req.Topics[0].Partitions, p)
	}
	resp, err := harness.Once(addr, req)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range resp.(*kmsg.ProduceResponse).Topics[0].Partitions {
		if p.ErrorCode != 0 {
			t.Fatalf("produce to %s-%d: error %d", topic, p.Partition, p.ErrorCode)
		}
	}
}

// sealedFiles are the files of a partition with a suffix, without the one of the newest segment, oldest first.
func sealedFiles(t *testing.T, dir, suffix string) []string {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(logs) < 3 {
		t.Fatalf("%s has %d segments, %v", dir, len(logs), err)
	}
	var out []string
	for _, l := range logs[:len(logs)-1] {
		out = append(out, strings.TrimSuffix(l, ".log")+suffix)
	}
	return out
}

// segmentOf is the path of a segment's files without suffix.
func segmentOf(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

// TestOnlyTheDamagedIndexIsRebuilt (B63): after kill -9 with one index broken and others missing, only their segments are read again, beside
// what lies above the recovery points; the start is as quick as ever.
func TestOnlyTheDamagedIndexIsRebuilt(t *testing.T) {
	const partitions, segments, perSegment, batch, tail = 200, 4, 4, 8 << 10, 10
	b := start(t, filepath.Join(t.TempDir(), "data"))
	harness.CreateTopic(t, b.Addr, "many", partitions)
	for range segments {
		harness.TopicConfig(t, b.Addr, "many", "segment.ms", "1")
		time.Sleep(5 * time.Millisecond)
		produceAll(t, b.Addr, "many", partitions, sized(batch))
		harness.TopicConfig(t, b.Addr, "many", "segment.ms", "604800000")
		for range perSegment - 1 {
			produceAll(t, b.Addr, "many", partitions, sized(batch))
		}
	}
	if err := b.Stop(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	relaunch(t, b)
	if n := scanned(t, b); n != 0 {
		t.Errorf("%d bytes read again after a clean stop", n)
	}
	produceAll(t, b.Addr, "many", tail, sized(batch))
	b.Kill()

	dir := func(i int) string { return filepath.Join(b.Dir, fmt.Sprintf("many-%d", i)) }
	broken := []string{sealedFiles(t, dir(0), ".index")[0], sealedFiles(t, dir(1), ".index")[0], sealedFiles(t, dir(2), ".timeindex")[0]}
	damaged := int64(0)
	for i, file := range broken {
		log, err := os.Stat(segmentOf(file) + ".log")
		if err != nil {
			t.Fatal(err)
		}
		damaged += log.Size()
		if i == 0 {
			err = os.WriteFile(file, []byte(strings.Repeat("garbage!", 500)), 0o644)
		} else {
			err = os.Remove(file)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	snapshots, _ := filepath.Glob(filepath.Join(dir(3), "*.snapshot"))
	for _, s := range snapshots {
		if err := os.Remove(s); err != nil {
			t.Fatal(err)
		}
		break
	}
	others := map[string]time.Time{}
	for i := range partitions {
		for _, suffix := range []string{".index", ".timeindex"} {
			for _, file := range sealedFiles(t, dir(i), suffix) {
				rebuilt := func(b string) bool { return segmentOf(b) == segmentOf(file) }
				if info, err := os.Stat(file); err == nil && !slices.ContainsFunc(broken, rebuilt) {
					others[file] = info.ModTime()
				}
			}
		}
	}
	var times startTimes
	relaunch(t, b)
	times.add(b.ReadyAfter)
	times.check(t)
	n := scanned(t, b)
	t.Logf("%d bytes read again, %d in the damaged segments, %d bytes in all", n, damaged, partitions*segments*perSegment*batch)
	if most := damaged + tail*(batch+1000); n > most {
		t.Errorf("%d bytes read again, want at most %d", n, most)
	}
	for i := range partitions {
		want := int64(segments * perSegment)
		if i < tail {
			want++
		}
		if end, err := endOf(b.Addr, "many", int32(i)); err != nil || end != want {
			t.Fatalf("many-%d ends at %d, want %d: %v", i, end, want, err)
		}
	}
	for i := range 4 { // the damaged ones find their records by offset and by time
		if off, code, err := harness.EndOffset(b.Addr, "many", int32(i), 1); err != nil || code != 0 || off != 0 {
			t.Errorf("many-%d: time 1 is at offset %d (error %d, %v)", i, off, code, err)
		}
		for from := range int64(segments * perSegment) {
			resp, err := harness.Once(b.Addr, harness.Fetch(100, 1, 1<<20, harness.FetchFrom{Topic: "many", Partition: int32(i), Offset: from, Max: 1000}))
			if err != nil {
				t.Fatal(err)
			}
			p := resp.(*kmsg.FetchResponse).Topics[0].Partitions[0]
			if heads := harness.Heads(p.RecordBatches); p.ErrorCode != 0 || len(heads) == 0 || heads[0].BaseOffset != from {
				t.Fatalf("many-%d: fetch at %d: error %d, %d batches", i, from, p.ErrorCode, len(heads))
			}
		}
	}
	for file, before := range others {
		if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(before) {
			t.Errorf("%s was written anew: %v", file, err)
		}
	}
}

var unrecoveredMetric = regexp.MustCompile(`(?m)^millrace_engine_unrecovered_bytes\{[^}]*\} (\S+)$`)

// caughtUp waits until no more than most bytes lie above the recovery points: the broker does not wait for a disk that is
// slower than its clients.
func caughtUp(t *testing.T, b *harness.Broker, most int64) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get("http://" + b.Admin + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		all := unrecoveredMetric.FindAllSubmatch(text, -1)
		if len(all) == 0 {
			t.Fatal("no metric says how much lies above the recovery points")
		}
		sum := 0.0
		for _, m := range all {
			n, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += n
		}
		if int64(sum) <= most {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%.0f bytes lie above the recovery points after a minute, want at most %d", sum, most)
		}
	}
}

// TestStartWithMuchKept (decision of the design: after kill -9 no more than 256 MB are read again, whatever is kept): a gigabyte here,
// MILLRACE_RECOVERY_GB otherwise.
func TestStartWithMuchKept(t *testing.T) {
	gigabytes := amount(t, "MILLRACE_RECOVERY_GB", 1)
	const partitions, batch = 8, 128 << 10
	b := start(t, filepath.Join(t.TempDir(), "data"))
	harness.CreateTopic(t, b.Addr, "kept", partitions, "max.message.bytes", "2097152")
	c, err := harness.Dial(b.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Timeout = time.Minute
	records, written := sized(batch), int64(0)
	ends := make([]int64, partitions)
	for i := 0; written < int64(gigabytes)<<30; i++ {
		p := int32(i % partitions)
		resp, err := c.Do(harness.Produce("kept", p, 1, records))
		if err != nil {
			t.Fatal(err)
		}
		if code := resp.(*kmsg.ProduceResponse).Topics[0].Partitions[0].ErrorCode; code != 0 {
			t.Fatalf("produce: error %d", code)
		}
		ends[p]++
		written += batch
	}
	const most = 256 << 20
	caughtUp(t, b, most)
	b.Kill()
	relaunch(t, b)
	var times startTimes
	times.add(b.ReadyAfter)
	times.check(t)
	n := scanned(t, b)
	t.Logf("%d MiB kept, %d MiB read again, ready after %v", written>>20, n>>20, b.ReadyAfter)
	if n > most {
		t.Errorf("%d MiB read again, want at most %d", n>>20, int64(most)>>20)
	}
	for p, want := range ends {
		if end, err := endOf(b.Addr, "kept", int32(p)); err != nil || end != want {
			t.Errorf("kept-%d ends at %d, want %d: %v", p, end, want, err)
		}
	}
}
