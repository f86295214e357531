package kafkatool

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
)

const perfUsage = `usage: kafka-producer-perf-test
       [-h] [--bootstrap-server BOOTSTRAP-SERVER] --topic TOPIC
       --num-records NUM-RECORDS [--payload-delimiter PAYLOAD-DELIMITER]
       --throughput THROUGHPUT
       [--producer-props PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--command-property PROP-NAME=PROP-VALUE [PROP-NAME=PROP-VALUE ...]]
       [--producer.config CONFIG-FILE] [--command-config CONFIG-FILE]
       [--print-metrics] [--transactional-id TRANSACTIONAL-ID]
       [--transaction-duration-ms TRANSACTION-DURATION]
       [--warmup-records WARMUP-RECORDS] [--reporting-interval INTERVAL-MS]
       [--record-key-range KEY-RANGE] [--key-distribution KEY-DISTRIBUTION]
       [--random-seed RANDOM-SEED] (--record-size RECORD-SIZE |
       --payload-file PAYLOAD-FILE | --payload-monotonic)
`

func TestProducerPerfUsage(t *testing.T) {
	if code, out, errs := call(t, nil, producerPerfName); code != 0 || !strings.HasPrefix(out, perfUsage) || errs != "" {
		t.Errorf("without arguments: exit code %d, %q, %q", code, out, errs)
	}
	code, out, errs := call(t, nil, producerPerfName+".sh", "--topic", "t", "--help")
	if code != 1 || !strings.HasPrefix(out, perfUsage) || errs != "" || !strings.Contains(out, "\n  --payload-delimiter PAYLOAD-DELIMITER\n") {
		t.Errorf("--help: exit code %d, %q, %q", code, out, errs)
	}
	for _, l := range strings.Split(out, "\n") {
		if len(l) > argWidth {
			t.Errorf("a line of %d columns: %s", len(l), l)
		}
	}
}

// TestProducerPerfRefusals are calls that Kafka's tool refused, and how it worded that.
func TestProducerPerfRefusals(t *testing.T) {
	const rest = " --topic p --num-records 5 --throughput -1 --bootstrap-server 127.0.0.1:1"
	for args, want := range map[string]string{
		"--topic p --num-records 10 --record-size 10":                                      "argument --throughput is required",
		"--topic p --record-size 10":                                                       "argument --num-records is required",
		"--num-records 5 --throughput -1 --topic":                                          "argument --topic: expected one argument",
		"--topic p --num-records x --record-size 1 --throughput -1":                        `argument --num-records: could not convert 'x' to Long (For input string: "x")`,
		"--topic p --num-records 5 --record-size 1 --throughput 1.5x":                      `argument --throughput: could not convert '1.5x' to Double (For input string: "1.5x")`,
		"--topic p --num-records 0 --record-size 1 --throughput -1 --bootstrap-server b:1": "--num-records should be greater than zero.",
		"--topic p --num-records 5 --record-size 1 --throughput -1":                        "At least one of --bootstrap-server, --command-property, --producer-props, --producer.config or --command-config must be specified.",
		"--topic p --num-records 5 --record-size 1 --throughput 0 --command-property a=b":  "--throughput should be greater than zero, or -1 for as fast as possible.",
		"--record-size 10 --payload-file f" + rest:                                         "argument --payload-file: not allowed with argument --record-size",
		"--nope --record-size 10" + rest:                                                   "unrecognized arguments: '--nope'",
		strings.TrimSpace(rest):                                                            "one of the arguments --record-size --payload-file --payload-monotonic is required",
		"--record-size 0" + rest:                                                           "--record-size should be greater than zero.",
		"--record-size 1 --reporting-interval 0" + rest:                                    "--reporting-interval should be greater than zero.",
		"--record-size 1 --record-key-range 0" + rest:                                      "--record-key-range should be greater than zero.",
		"--record-size 1 --warmup-records 5" + rest:                                        "The value for --warmup-records must be strictly fewer than the number of records in the test, --num-records.",
		"--record-size 1 --key-distribution uniform" + rest:                                "argument --key-distribution: invalid choice: 'uniform' (choose from {none,range,random})",
		"--record-size 1 --record-key-range 3 --random-seed 4" + rest:                      "--key-distribution must be 'range' or 'random' when --record-key-range is specified.",
		"--record-size 1 --key-distribution range" + rest:                                  "--record-key-range must be specified when --key-distribution is 'range'.",
		"--record-size 1 --producer-props --print-metrics" + rest:                          "argument --producer-props: expected at least one argument",
	} {
		code, out, errs := call(t, nil, producerPerfName, strings.Fields(args)...)
		if code != 1 || out != "" || errs != perfUsage+producerPerfName+": error: "+want+"\n" {
			t.Errorf("%s\n  exit code %d, stdout %q\n  got      %q\n  expected %q", args, code, out, strings.TrimPrefix(errs, perfUsage), want)
		}
	}
	for args, want := range map[string]string{
		"--payload-monotonic --command-property nope" + rest:         "Invalid property: nope",
		"--payload-monotonic --transactional-id t" + rest:            "transactions are not supported yet",
		"--payload-monotonic --producer-props acks=2" + rest:         "Invalid value 2 for configuration acks",
		"--payload-file /nosuch" + rest:                              "File does not exist or empty file provided.",
		"--payload-monotonic --command-property batch.size=x" + rest: "batch.size",
	} {
		code, _, errs := call(t, nil, producerPerfName, strings.Fields(args)...)
		if code != 1 || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q, expected one line with %q", args, code, errs, want)
		}
	}
}

func TestProducerPerfArguments(t *testing.T) {
	v, err := producerPerfOptions().parse(strings.Fields("--topic=t --num-records 5 --throughput -1 --producer-props a=b c=d --payload-monotonic --producer-props e=f"))
	if err != nil || strings.Join(v["producer-props"], " ") != "a=b c=d e=f" || v.str("throughput") != "-1" || v.int("reporting-interval") != 5000 || v.str("payload-delimiter") != "\n" {
		t.Errorf("%v, %v", v, err)
	}
	var errs strings.Builder
	old := modernizePerf(&Env{Err: &errs, Out: bufio.NewWriter(io.Discard)}, strings.Fields("--broker-list h:1 --topics t --messages 5 --message-size=7 --batch-size 200 --threads 3 --sync"))
	if got, want := strings.Join(old, " "), "--bootstrap-server=h:1 --topic=t --num-records=5 --record-size=7 --command-property=batch.size=200 --throughput=-1"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if n := strings.Count(errs.String(), "\n"); n != 7 {
		t.Errorf("%d lines tell of 7 old options: %s", n, errs.String())
	}
}

func TestConsumerPerfRefusals(t *testing.T) {
	const b = "--bootstrap-server 127.0.0.1:1 "
	for args, want := range map[string]string{
		"--topic p --num-records 5":                  `Missing required argument "[bootstrap-server]"`,
		b + "--num-records 5":                        "Exactly one of the following arguments is required: [topic], [include]",
		b + "--num-records 5 --topic a --include b":  "Exactly one of the following arguments is required: [topic], [include]",
		b + "--topic p":                              "Exactly one of the following arguments is required: [messages], [num-records]",
		b + "--topic p --num-records 5 --messages 3": "Exactly one of the following arguments is required: [messages], [num-records]",
		b + "--topic p --num-records 5 --consumer.config f --command-config f": `Option "[consumer.config]" can't be used with option "[command-config]"`,
	} {
		code, out, errs := call(t, nil, "kafka-consumer-perf-test", strings.Fields(args)...)
		if code != 1 || out != "" || !strings.HasPrefix(errs, want+"\n") || !strings.Contains(errs, "\n--num-records <Long: count>") {
			t.Errorf("%s: exit code %d, %q, %.200q", args, code, out, errs)
		}
	}
	// What is wrong with a value is told after the header.
	for args, want := range map[string]string{
		"--reporting-interval 0": "Reporting interval must be greater than 0.\n", "--date-format abc": "Illegal pattern character 'b'\n",
		"--fetch-size x": "Cannot parse argument 'x' of option fetch-size\n",
	} {
		code, out, errs := call(t, nil, "kafka-consumer-perf-test", strings.Fields(b+"--topic p --num-records 5 "+args)...)
		if code != 1 || !strings.HasPrefix(out, "start.time, end.time, data") || errs != want {
			t.Errorf("%s: exit code %d, %q, %q", args, code, out, errs)
		}
	}
	code, _, errs := call(t, nil, "kafka-consumer-perf-test", strings.Fields("--broker-list 127.0.0.1:1 --whitelist a --messages 5 --threads 2 --num-fetch-threads=1 --new-consumer")...)
	if code != 1 || strings.Count(errs, "kafka-consumer-perf-test: --") != 5 {
		t.Errorf("old options: exit code %d, %q", code, errs)
	}
}

func TestPerfStatistics(t *testing.T) {
	begin := time.Unix(1000, 0)
	at := func(ms int) time.Time { return begin.Add(time.Duration(ms) * time.Millisecond) }
	var out strings.Builder
	s := newPerfStats(&out, 1000, 500*time.Millisecond, false, begin)
	for i := range 1000 { // a record a millisecond, answered after 1, 2, ... 1000 ms
		s.record(time.Duration(i+1)*time.Millisecond, 1<<10, at(i+1))
	}
	s.summary(at(2000))
	want := "500 records sent, 1000.0 records/sec (0.98 MB/sec), 250.5 ms avg latency, 500.0 ms max latency.\n" +
		"500 records sent, 1000.0 records/sec (0.98 MB/sec), 750.5 ms avg latency, 1000.0 ms max latency.\n" +
		"1000 records sent, 500.000000 records/sec (0.49 MB/sec), 500.50 ms avg latency, 1000.00 ms max latency, 501 ms 50th, 951 ms 95th, 991 ms 99th, 1000 ms 99.9th.\n"
	if out.String() != want {
		t.Errorf("got\n%sexpected\n%s", out.String(), want)
	}

	out.Reset()
	s = newPerfStats(&out, 2, 10*time.Millisecond, true, begin)
	s.record(time.Millisecond, 0, at(10))
	s.hush()
	s.record(time.Millisecond, 0, at(20))
	if want := "In steady state.\n1 records sent, 100.0 records/sec (0.00 MB/sec), 1.0 ms avg latency, 1.0 ms max latency.\n"; out.String() != want {
		t.Errorf("%q, expected %q", out.String(), want)
	}
	out.Reset()
	newPerfStats(&out, 2, time.Second, true, begin).summary(at(1))
	if want := "0 steady state records sent, 0.000000 records/sec (0.00 MB/sec), NaN ms avg latency, 0.00 ms max latency, 0 ms 50th, 0 ms 95th, 0 ms 99th, 0 ms 99.9th.\n"; out.String() != want {
		t.Errorf("%q, expected %q", out.String(), want)
	}

	s = newPerfStats(&out, 3*maxPerfSamples, time.Hour, false, begin)
	for range 3 * maxPerfSamples {
		s.record(0, 0, begin)
	}
	if len(s.samples) != maxPerfSamples {
		t.Errorf("%d samples", len(s.samples))
	}
}

func TestPacer(t *testing.T) {
	begin := time.Unix(1000, 0)
	p := pacer{begin: begin, rate: 100}
	for _, c := range []struct {
		n    int64
		now  time.Duration
		want time.Duration
	}{
		{0, 0, 0}, {1, 0, 10 * time.Millisecond}, {1, 9 * time.Millisecond, 0}, {5, 10 * time.Millisecond, 40 * time.Millisecond},
		{5, time.Second, 0}, {101, time.Second, 10 * time.Millisecond}, // after a second of standing still the hundred that are late go at once
	} {
		if got := p.wait(c.n, begin.Add(c.now)); got != c.want {
			t.Errorf("record %d at %v waits %v, expected %v", c.n, c.now, got, c.want)
		}
	}
	if p.rate = -1; p.wait(1e6, begin) != 0 {
		t.Error("no limit, and it waits")
	}
}

func TestPerfPayloads(t *testing.T) {
	make := func(p perfProducing) *maker { p.topic = "t"; return newMaker(&p) }
	a, b := make(perfProducing{size: 1000, keyKind: "random", keys: 5}), make(perfProducing{size: 1000, keyKind: "random", keys: 5})
	seen := map[byte]bool{}
	for n := range int64(200) {
		r, again := a.record(n), b.record(n)
		if string(r.Value) != string(again.Value) || string(r.Key) != string(again.Key) || len(r.Value) != 1000 || len(r.Key) != 1 || r.Key[0] > '4' {
			t.Fatalf("record %d: %d bytes, key %q; the same seed gave others", n, len(r.Value), r.Key)
		}
		for _, c := range r.Value {
			seen[c] = true
		}
	}
	if len(seen) != 26 || !seen['A'] || !seen['Z'] {
		t.Errorf("letters %v", seen)
	}
	m := make(perfProducing{keyKind: "range", keys: 3})
	if r := m.record(7); string(r.Key) != "1" || string(r.Value) != "7" {
		t.Errorf("key %q, value %q", r.Key, r.Value)
	}
	if r := make(perfProducing{keyKind: "none"}).record(0); r.Key != nil || string(r.Value) != "0" {
		t.Errorf("key %q, value %q", r.Key, r.Value)
	}
	for _, acks := range []string{"all", "1"} { // options that the client refuses together
		p := perfProducing{props: conn.Properties{"acks": acks}, size: 100000}
		opts, err := p.options()
		if err != nil {
			t.Fatal(err)
		}
		cl, err := kgo.NewClient(opts...)
		if err != nil {
			t.Fatalf("acks %s: %v", acks, err)
		}
		cl.Close()
	}
}

func TestCutPayloads(t *testing.T) {
	for _, c := range []struct {
		data, delimiter string
		want            []string
	}{
		{"a\n\nb", "\n", []string{"a", "", "b"}}, {"\na\nb", `\n`, []string{"a", "b"}}, {"a|b", `\|`, []string{"a", "b"}}, {"a1b22c", "[0-9]+", []string{"a", "b", "c"}},
		{"a\nb", "", []string{"a\nb"}}, {"ab", "x*", []string{"ab"}},
	} {
		got, err := cutPayloads([]byte(c.data), c.delimiter)
		var text []string
		for _, b := range got {
			text = append(text, string(b))
		}
		if err != nil || !slices.Equal(text, c.want) {
			t.Errorf("%q at %q: %q, %v, want %q", c.data, c.delimiter, text, err, c.want)
		}
	}
	if _, err := cutPayloads([]byte("a"), "("); err == nil {
		t.Error("a broken expression was taken")
	}
}

func TestPerfLine(t *testing.T) {
	// The numbers of a run of Kafka's tool, whose mebibytes had more digits.
	got := perfLine("a, b", perfSpan{180000, 18000000}, perfSpan{}, 4062*time.Millisecond, 610*time.Millisecond)
	if want := "a, b, 17.1661, 4.2260, 180000, 44313.1462, 610, 3452, 4.9728, 52143.6848"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	got = perfLine("a, 0", perfSpan{56389, 5638900}, perfSpan{20445, 2044500}, 101*time.Millisecond, 0)
	if want := "a, 0, 5.3777, 33.9395, 56389, 355881.1881, 0, 101, 33.9395, 355881.1881"; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if got := perfLine("a, b", perfSpan{}, perfSpan{}, 0, 0); got != "a, b, 0.0000, 0.0000, 0, 0.0000, 0, 0, 0.0000, 0.0000" {
		t.Errorf("nothing at all: %s", got)
	}
}

func TestJoinClock(t *testing.T) {
	begin := time.Unix(1000, 0)
	j := joinClock{since: begin}
	at := func(s int) time.Time { return begin.Add(time.Duration(s) * time.Second) }
	j.change(0, at(1)) // an answer without partitions
	j.change(2, at(2))
	j.change(3, at(4))  // more of them
	j.change(-4, at(5)) // one is left
	if j.take() != 2*time.Second || j.take() != 0 || j.total() != 2*time.Second {
		t.Errorf("%v", j.total())
	}
	j.change(-1, at(7))
	j.change(1, at(10))
	if j.take() != 3*time.Second || j.total() != 5*time.Second {
		t.Errorf("%v", j.total())
	}
}

func TestJavaDate(t *testing.T) {
	at := time.Date(2026, 11, 9, 15, 4, 5, 67e6, time.FixedZone("X", 3600))
	for pattern, want := range map[string]string{
		defaultDateFormat: "2026-11-09 15:04:05:067", "yy/M/d h:mm a": "26/11/9 3:04 PM", "EEE MMM dd, EEEE MMMM": "Mon Nov 09, Monday November",
		"HH 'o''clock' ''S": "15 o'clock '67", "yyyy-MM-dd'T'HH:mm:ss.SSSXXX": "2026-11-09T15:04:05.067+01:00", "Z D": "+0100 313", "": "",
	} {
		d, err := parseJavaDate(pattern)
		if err != nil || d.format(at) != want {
			t.Errorf("%s: %q, %v; expected %q", pattern, d.format(at), err, want)
		}
	}
	for _, pattern := range []string{"b", "yyyy 'open"} {
		if _, err := parseJavaDate(pattern); err == nil {
			t.Errorf("%s was taken", pattern)
		}
	}
}
