package clients

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"millrace/test/harness"
)

var target harness.Target

func TestMain(m *testing.M) { os.Exit(harness.Main(m, &target, "group.initial.rebalance.delay.ms=0")) }

// clients lists who takes part, in the order of the printed table.
var clients = []*client{&franz, &saramaClient, &kafkaGo, &confluentGo, &kcat, &confluentPython, &aiokafka, &kafkajs, &console}

// fastReaders take turns as second and third reader of each topic.
var fastReaders = []*client{&franz, &saramaClient, &kafkaGo, &confluentGo, &kcat}

// TestMatrix: every client writes the corpus in every codec; it reads its own data back, and so do at least two others.
func TestMatrix(t *testing.T) {
	records := corpus(t, lineCount(t))
	table := &resultTable{}
	defer table.print(t)
	turn := 0
	for _, c := range clients {
		if c.need != nil {
			if why := c.need(); why != "" {
				t.Run(c.name, func(t *testing.T) { harness.Missing(t, "%s", why) })
				continue
			}
		}
		for _, codec := range harness.Codecs {
			readers := readersOf(c, turn)
			turn++
			t.Run(c.name+"/"+codec, func(t *testing.T) { cell(t, c, codec, readers, records, table) })
		}
	}
}

// readersOf returns the client itself and two or more others.
func readersOf(c *client, turn int) []*client {
	readers := []*client{c}
	if os.Getenv("MILLRACE_READERS") == "all" {
		for _, other := range clients {
			if other != c && (other.need == nil || other.need() == "") {
				readers = append(readers, other)
			}
		}
		return readers
	}
	for i := 0; len(readers) < 3; i++ {
		other := fastReaders[(turn+i)%len(fastReaders)]
		if other != c && (other.need == nil || other.need() == "") {
			readers = append(readers, other)
		}
	}
	return readers
}

// cell is one producer and codec with its readers.
func cell(t *testing.T, c *client, codec string, readers []*client, records []record, table *resultTable) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(len(records))*100*time.Microsecond*time.Duration(len(readers)))
	defer cancel()
	n := partitions
	if c.partitions != 0 {
		n = c.partitions
	}
	j := &job{ctx: ctx, addr: target.Addr, topic: harness.Name(c.name + "-" + codec), codec: codec, partitions: n, records: records, dir: t.TempDir()}
	harness.CreateTopic(t, target.Addr, j.topic, n)
	defer harness.DeleteTopic(t, target.Addr, j.topic)
	want := expected(c, records, n)
	begin := time.Now()
	if err := c.produce(j); err != nil {
		table.add(c.name, codec, "FAILED", nil)
		t.Fatalf("producing: %v", err)
	}
	took := time.Since(begin)
	for p := range n {
		end, code, err := harness.EndOffset(j.addr, j.topic, int32(p), -1)
		if err != nil || code != 0 {
			t.Fatalf("end of partition %d: error %d, %v", p, code, err)
		}
		if end != want.next[p] {
			t.Errorf("partition %d ends at %d after producing %d records", p, end, want.next[p])
		}
		j.end = append(j.end, end)
	}
	var read []string
	for _, r := range readers {
		begin := time.Now()
		got := newReading(n)
		err := r.consume(j, got)
		if err == nil {
			err = got.equals(want)
		}
		if err != nil {
			t.Errorf("written by %s with %s, read by %s: %v", c.name, codec, r.name, err)
			read = append(read, r.name+" FAILED")
			continue
		}
		read = append(read, fmt.Sprintf("%s %.1fs", r.name, time.Since(begin).Seconds()))
	}
	checkCodec(t, c, j, codec)
	table.add(c.name, codec, fmt.Sprintf("%.1fs", took.Seconds()), read)
}

// resultTable collects one line per cell. Any goroutine.
type resultTable struct {
	mu    sync.Mutex
	lines []string
}

func (r *resultTable) add(client, codec, produced string, read []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, fmt.Sprintf("%s\t%s\t%s\t%s", client, codec, produced, strings.Join(read, ", ")))
}

func (r *resultTable) print(t *testing.T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := tabwriter.NewWriter(os.Stdout, 2, 8, 2, ' ', 0)
	fmt.Fprintf(w, "producer\tcodec\twritten in\tread back equal by\n")
	for _, l := range r.lines {
		fmt.Fprintln(w, l)
	}
	w.Flush()
}
