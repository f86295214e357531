package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"millrace/test/harness"
)

// The lines of Kafka's performance tools: numbers with as many digits after the point as theirs.
const (
	windowLine  = `\d+ records sent, \d+\.\d records/sec \(\d+\.\d\d MB/sec\), \d+\.\d ms avg latency, \d+\.\d ms max latency\.`
	summaryTail = `records sent, \d+\.\d{6} records/sec \(\d+\.\d\d MB/sec\), \d+\.\d\d ms avg latency, \d+\.\d\d ms max latency, \d+ ms 50th, \d+ ms 95th, \d+ ms 99th, \d+ ms 99\.9th\.`
	perfTime    = `\d{4}-\d\d-\d\d \d\d:\d\d:\d\d:\d{3}`
	perfColumns = `data.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec`
	perfRates   = `\d+, \d+, \d+\.\d{4}, \d+\.\d{4}`
)

// TestPerformanceTools: the same calls of our tools and of Kafka's say lines of the same shape.
func TestPerformanceTools(t *testing.T) {
	t.Run("own", func(t *testing.T) { measure(t, OwnTools(t), false) })
	t.Run("kafka", func(t *testing.T) {
		measure(t, filepath.Dir(harness.KafkaTool(t, "kafka-producer-perf-test")), true)
	})
}

func measure(t *testing.T, tools string, java bool) {
	r := &Runner{Dir: t.TempDir(), Tools: tools, Bootstrap: BrokerAddr(t), Limit: 2 * time.Minute, Java: java}
	w := &walker{t: t, r: r}
	w.expect("kafka-topics --bootstrap-server $B --create --topic perf --partitions 2", "Created topic perf.")
	if err := os.WriteFile(filepath.Join(r.Dir, "payloads"), []byte("one,two,three"), 0o644); err != nil {
		t.Fatal(err)
	}
	const producer = "kafka-producer-perf-test --topic perf --bootstrap-server $B --throughput "
	w.shape(producer+"-1 --num-records 20000 --record-size 100", `20000 `+summaryTail)
	w.shape(producer+"-1 --num-records 10 --payload-file payloads --payload-delimiter , --record-key-range 2 --key-distribution range",
		`Reading payloads from: .*/payloads`, `Number of records read: 3`, `10 `+summaryTail)
	w.shape("kafka-producer-perf-test --topic perf --throughput -1 --num-records 10 --payload-monotonic --producer-props bootstrap.servers=$B acks=1 batch.size=1000",
		`Option --producer-props has been deprecated and will be removed in a future version\. Use --command-property instead\.`, `10 `+summaryTail)
	w.shape(producer+"2000 --num-records 6000 --record-size 10 --reporting-interval 400 --warmup-records 1000",
		`Warmup first 1000 records\. Steady state results will print after the complete test summary\.`,
		`(?:`+windowLine+`\n)*In steady state\.`, `(?:`+windowLine+`\n)*6000 `+summaryTail, `5000 steady state `+summaryTail)

	const consumer = "kafka-consumer-perf-test --bootstrap-server $B "
	w.shape(consumer+"--topic perf --num-records 26020", `start\.time, end\.time, `+perfColumns, perfTime+", "+perfTime+`, \d+\.\d{4}, \d+\.\d{4}, 26020, \d+\.\d{4}, `+perfRates)
	w.shape(consumer+"--include 'pe.*' --messages 26020 --show-detailed-stats --reporting-interval 1",
		`Warning: --messages is deprecated\. Use --num-records instead\.`, `time, threadId, `+perfColumns, `(?:`+perfTime+`, 0, \d+\.\d{4}, \d+\.\d{4}, \d+, \d+\.\d{4}, `+perfRates+`\n?)+`)
	w.shape(consumer+"--topic perf --num-records 30000 --timeout 4000 --hide-header --date-format HH:mm",
		`WARNING: Exiting before consuming the expected number of records: timeout \(4000 ms\) exceeded\. You can use the --timeout option to increase the timeout\.`,
		`\d\d:\d\d, \d\d:\d\d, \d+\.\d{4}, \d+\.\d{4}, 26020, \d+\.\d{4}, `+perfRates)
	w.say(consumer + "--topic perf --num-records 10 --group measured")
	if got := w.say("kafka-consumer-groups --bootstrap-server $B --describe --group measured --state"); !strings.Contains(strings.Join(got, "\n"), "Empty") {
		t.Errorf("the group that it read in: %q", got)
	}
}

// shape runs a command that must end with 0 and compares its stdout with expressions that line ends join.
func (w *walker) shape(command string, want ...string) {
	w.t.Helper()
	s, err := w.r.Run(Step{Command: command})
	got := strings.Join(s.Stdout, "\n")
	if err != nil || s.Exit != 0 || !regexp.MustCompile(`^`+strings.Join(want, `\n`)+`\n?$`).MatchString(got) {
		w.t.Errorf("%s: %v, exit code %d\n  got\n%s\n  expected\n%s\n  stderr %q", command, err, s.Exit, got, strings.Join(want, "\n"), s.Stderr)
	}
}
