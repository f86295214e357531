package clients

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/test/harness"
)

// TestPerfTest: kafka-producer-perf-test sends lines of a payload file, picked by chance, in every codec; all arrive, and only such lines.
func TestPerfTest(t *testing.T) {
	tool := harness.KafkaTool(t, "kafka-producer-perf-test")
	n := lineCount(t)
	lines := map[string]bool{}
	var text bytes.Buffer
	for _, r := range corpus(t, 1000) {
		if len(r.value) > 0 {
			lines[string(r.value)] = true
			text.Write(append(r.value, '\n'))
		}
	}
	payloads := filepath.Join(t.TempDir(), "payloads")
	if err := os.WriteFile(payloads, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, codec := range harness.Codecs {
		t.Run(codec, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Duration(n)*100*time.Microsecond)
			defer cancel()
			topic := harness.Name("perf-" + codec)
			harness.CreateTopic(t, target.Addr, topic, 1)
			defer harness.DeleteTopic(t, target.Addr, topic)
			out, err := exec.CommandContext(ctx, tool, "--bootstrap-server", target.Addr, "--topic", topic, "--num-records", strconv.Itoa(n),
				"--throughput", "-1", "--payload-file", payloads, "--payload-delimiter", `\n`,
				"--command-property", "compression.type="+codec, "acks=all").CombinedOutput()
			if err != nil {
				t.Fatalf("kafka-producer-perf-test: %v\n%s", err, out)
			}
			sent := regexp.MustCompile(`(?m)^(\d+) records sent, .*99.9th`).FindSubmatch(out)
			if sent == nil || string(sent[1]) != strconv.Itoa(n) {
				t.Errorf("kafka-producer-perf-test did not report %d records sent:\n%s", n, out)
			}
			checkLines(t, ctx, topic, n, lines)
		})
	}
}

func checkLines(t *testing.T, ctx context.Context, topic string, n int, lines map[string]bool) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(target.Addr), kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(0)}}))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	var got int64
	for got < int64(n) {
		fetches := cl.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", got, n, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if r.Offset != got || !lines[string(r.Value)] {
				t.Fatalf("record %d has offset %d and value %.100q", got, r.Offset, r.Value)
			}
			got++
		})
	}
}
