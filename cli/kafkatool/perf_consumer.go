package kafkatool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

const (
	consumerPerfHelp  = "This tool is used to verify the consumer performance."
	defaultDateFormat = "yyyy-MM-dd HH:mm:ss:SSS"
)

var consumerPerfTool = &tool{
	name:    "kafka-consumer-perf-test",
	class:   "org.apache.kafka.tools.ConsumerPerformance",
	about:   consumerPerfHelp,
	help:    consumerPerfHelp,
	options: consumerPerfOptions,
	run:     runConsumerPerf,
	fail: func(e *Env, err error) error {
		e.complain("%s", plain(err))
		return Exit(1)
	},
}

func consumerPerfOptions() *jopt.Set {
	return common(jopt.New().
		Str("bootstrap-server", "server to connect to", "REQUIRED: the brokers to ask.").
		Str("topic", "topic", "The topic to read.").
		Str("include", "Java regex (String)", "A regular expression of the topics to read.").
		Long("num-records", "count", "REQUIRED: how many records to read.").
		Long("messages", "count", "Earlier name of --num-records.").
		Str("group", "gid", "The consumer group; without it one of its own, perf-consumer- and a number.").
		Int("fetch-size", "size", "Bytes that an answer may hold of one partition (max.partition.fetch.bytes).").Default("1048576").
		Flag("from-latest", "Without a committed offset begin with the latest record, not the earliest.").
		Int("socket-buffer-size", "size", "Read and left to the kernel, which makes it as large as is needed.").Default("2097152").
		Str("consumer.config", "config file", "Earlier name of --command-config.").
		Str("command-config", "config file", "Properties of the consumer from a file.").
		Str("command-property", "prop1=val1", "A property of Kafka's consumer, which wins over those of files.").
		Flag("print-metrics", "Not supported: metrics are those of Java's consumer.").
		Flag("show-detailed-stats", "A line at each interval instead of one at the end.").
		Long("reporting-interval", "interval_ms", "Milliseconds between two such lines.").Default("5000").
		Add(jopt.Option{Names: []string{"timeout"}, Arg: jopt.Optional, Type: jopt.Long, ArgName: "milliseconds", Default: "10000", Help: "Stop when no record came for so long."}).
		Flag("hide-header", "No line with the names of the columns.").
		Str("date-format", "date format", "How times are shown, a pattern of Java's SimpleDateFormat.").Default(defaultDateFormat))
}

// perfConsuming is one run of the tool. Owned by runConsumerPerf.
type perfConsuming struct {
	c        *consuming
	records  int64
	polled   int // records a poll
	timeout  time.Duration
	interval time.Duration
	detailed bool
	date     javaDate
}

func runConsumerPerf(e *Env, v *jopt.Values) error {
	if err := require(v, "bootstrap-server"); err != nil {
		return err
	}
	if err := requireOne(v, "topic", "include"); err != nil {
		return err
	}
	if err := requireOne(v, "messages", "num-records"); err != nil {
		return err
	}
	if err := exclude(v, "consumer.config", "command-config"); err != nil {
		return err
	}
	renamed(e, v, "Warning: --%s is deprecated. Use --%s instead.", [2]string{"messages", "num-records"}, [2]string{"consumer.config", "command-config"})
	if v.Has("print-metrics") {
		e.complain("%s: --print-metrics is ignored: metrics are those of Java's consumer", e.Name)
	}
	if !v.Has("hide-header") { // it comes before what is wrong with a value
		names := "start.time, end.time, "
		if v.Has("show-detailed-stats") {
			names = "time, threadId, "
		}
		e.println("%sdata.consumed.in.MB, MB.sec, data.consumed.in.nMsg, nMsg.sec, rebalance.time.ms, fetch.time.ms, fetch.MB.sec, fetch.nMsg.sec", names)
		_ = e.Out.Flush()
	}
	p, err := consumerPerfOf(v)
	if err != nil {
		return err
	}
	if p.interval <= 0 {
		return errors.New("Reporting interval must be greater than 0.")
	}
	return p.run(e, v.Str("bootstrap-server"))
}

func consumerPerfOf(v *jopt.Values) (*perfConsuming, error) {
	p := &perfConsuming{detailed: v.Has("show-detailed-stats")}
	var err error
	number := func(name string) int64 {
		n, e := v.Int64(name, 0)
		if err == nil {
			err = e
		}
		return n
	}
	p.records = number("num-records") + number("messages")
	p.interval = time.Duration(number("reporting-interval")) * time.Millisecond
	p.timeout = time.Duration(number("timeout")) * time.Millisecond
	number("fetch-size")
	number("socket-buffer-size")
	if err != nil {
		return nil, err
	}
	if p.date, err = parseJavaDate(v.Str("date-format")); err != nil {
		return nil, err
	}
	p.c, err = perfSubscription(v)
	if err != nil {
		return nil, err
	}
	polled, err := p.c.props.Int("max.poll.records", 500)
	p.polled = int(max(polled, 1))
	return p, err
}

// perfSubscription is what is read and how, in the console consumer's terms.
func perfSubscription(v *jopt.Values) (*consuming, error) {
	props := conn.Properties{}
	for _, f := range []string{"consumer.config", "command-config"} {
		if err := props.LoadFile(v.Str(f)); err != nil {
			return nil, err
		}
	}
	for _, pair := range v.All("command-property") {
		if name, value, _ := strings.Cut(pair, "="); name != "" {
			props[name] = value
		}
	}
	// Kafka's tool sets these whatever a file says.
	props["max.partition.fetch.bytes"] = v.Str("fetch-size")
	props["group.id"] = v.Str("group")
	if !v.Has("group") {
		props["group.id"] = "perf-consumer-" + strconv.Itoa(rand.IntN(100000))
	}
	props.Default("client.id", "perf-consumer-client")
	c := &consuming{props: props, group: props["group.id"], own: true, partition: -1, pattern: v.Str("topic"), start: kgo.NewOffset().AtStart()}
	if v.Has("from-latest") {
		c.start = kgo.NewOffset().AtEnd()
	}
	if v.Has("include") {
		pattern, err := topicPattern(v.Str("include"))
		if err != nil {
			return nil, err
		}
		c.pattern, props["include"] = pattern, "true"
	}
	return c, nil
}

// open joins the group; joined is told how partitions come and go.
func (p *perfConsuming) open(e *Env, bootstrap string, joined *joinClock) (*kgo.Client, error) {
	opts, err := p.c.options()
	if err != nil {
		return nil, err
	}
	a := &adjuster{ready: make(chan struct{})}
	more, err := p.c.groupOptions(a)
	if err != nil {
		return nil, err
	}
	opts = append(append(opts, more...), kgo.OnPartitionsAssigned(joined.assigned), kgo.OnPartitionsRevoked(joined.revoked), kgo.OnPartitionsLost(joined.revoked))
	cl, err := conn.Open(e.Ctx, bootstrap, p.c.props, opts...)
	if err != nil {
		return nil, err
	}
	a.cl = cl
	close(a.ready)
	if err := cl.Ping(e.Ctx); err != nil { // a poll would say nothing of it
		cl.Close()
		return nil, fmt.Errorf("%s: %s", conn.Class(err), plain(err))
	}
	return cl, nil
}

func (p *perfConsuming) run(e *Env, bootstrap string) error {
	begin := time.Now()
	r := &perfReading{p: p, e: e, joins: &joinClock{since: begin}, since: begin}
	cl, err := p.open(e, bootstrap, r.joins)
	if err != nil {
		return err
	}
	err = r.read(cl)
	end, joining := time.Now(), r.joins.total() // before it leaves
	ctx, cancel := context.WithTimeout(context.WithoutCancel(e.Ctx), goodbye)
	defer cancel()
	if p.c.props.Bool("enable.auto.commit", true) {
		_ = cl.CommitMarkedOffsets(ctx) // what was read twice does no harm to a measurement
	}
	_ = cl.LeaveGroupContext(ctx)
	closeWithin(ctx, cl)
	switch {
	case e.Ctx.Err() != nil:
		return Exit(130)
	case err != nil:
		return fmt.Errorf("%s: %s", conn.Class(err), plain(err))
	}
	if r.n < p.records {
		e.println("WARNING: Exiting before consuming the expected number of records: timeout (%d ms) exceeded. You can use the --timeout option to increase the timeout.", p.timeout.Milliseconds())
	}
	if !p.detailed {
		e.println("%s", perfLine(p.date.format(begin)+", "+p.date.format(end), r.sum(), perfSpan{}, end.Sub(begin), joining))
	}
	return nil
}

// poll waits a while for records. An error that does not mend itself is returned.
func poll(ctx context.Context, cl *kgo.Client, most int) (kgo.Fetches, error) {
	slice, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	fetches := cl.PollRecords(slice, most)
	if !fetches.Empty() {
		return fetches, nil
	}
	for _, f := range fetches.Errors() {
		if !kerr.IsRetriable(f.Err) && codeOf(f.Err) != 0 {
			return nil, conn.Code(codeOf(f.Err), nil)
		}
		if ctx.Err() == nil && slice.Err() == nil { // it came at once and would again
			<-slice.Done()
		}
	}
	return nil, ctx.Err()
}
