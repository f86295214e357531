package kafkatool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

const producerHelp = "This tool helps to read data from standard input and publish it to Kafka."

var producerTool = &tool{
	name:    "kafka-console-producer",
	class:   "org.apache.kafka.tools.ConsoleProducer",
	about:   producerHelp,
	help:    producerHelp,
	options: producerOptions,
	run:     runProducer,
	fail: func(e *Env, err error) error {
		e.complain("%s: %s", producerClass(err), plain(err))
		return Exit(1)
	},
}

func producerClass(err error) string {
	var config *configError
	var lineErr *lineError
	var sync *syncError
	switch {
	case errors.As(err, &sync):
		return "java.util.concurrent.ExecutionException: " + conn.Class(sync.err)
	case errors.As(err, &config):
		return "org.apache.kafka.common.config.ConfigException"
	case errors.As(err, &lineErr):
		return "org.apache.kafka.common.KafkaException"
	}
	return conn.Class(err)
}

// syncError is a refusal of a message that was waited for.
type syncError struct{ err error }

func (s *syncError) Error() string { return s.err.Error() }
func (s *syncError) Unwrap() error { return s.err }

// configError is a client property with a value that means nothing.
type configError struct{ name, value, why string }

func (c *configError) Error() string {
	return fmt.Sprintf("Invalid value %s for configuration %s: %s", c.value, c.name, c.why)
}

func producerOptions() *jopt.Set {
	return common(jopt.New().
		Str("topic", "topic", "REQUIRED: the topic to write to.").
		Str("bootstrap-server", "server to connect to", "REQUIRED: brokers as HOST1:PORT1,HOST2:PORT2.").
		Flag("sync", "Send one message at a time and wait for its answer.").
		Add(jopt.Option{Names: []string{"compression-codec"}, Arg: jopt.Optional, ArgName: "compression-codec", Help: "none, gzip, snappy, lz4 or zstd; gzip where no value is given."}).
		Int("batch-size", "size", "Bytes of a batch (batch.size).").Default("16384").
		Int("message-send-max-retries", "", "How often a refused message is sent again (retries).").Default("3").
		Long("retry-backoff-ms", "", "The pause before it is (retry.backoff.ms).").Default("100").
		Long("timeout", "timeout_ms", "How long a message waits for company (linger.ms).").Default("1000").
		Add(jopt.Option{Names: []string{"request-required-acks"}, Arg: jopt.Required, ArgName: "request required acks", Default: "-1", Help: "Whose answers count (acks)."}).
		Int("request-timeout-ms", "request timeout ms", "How long an answer may take.").Default("1500").
		Long("metadata-expiry-ms", "metadata expiration interval", "How old knowledge of topics may get (metadata.max.age.ms).").Default("300000").
		Long("max-block-ms", "max block on send", "How long a send may wait for a topic to be known.").Default("60000").
		Long("max-memory-bytes", "total memory in bytes", "Memory for messages on their way (buffer.memory).").Default("33554432").
		Int("max-partition-memory-bytes", "memory in bytes per partition", "Earlier name of --batch-size.").Default("16384").
		Add(jopt.Option{Names: []string{"line-reader"}, Arg: jopt.Required, ArgName: "reader_class", Default: "org.apache.kafka.tools.LineMessageReader", Help: "Only the reader of lines is there."}).
		Int("socket-buffer-size", "size", "Size of the socket's buffer (send.buffer.bytes).").Default("102400").
		Str("property", "prop", "Earlier name of --reader-property.").
		Str("reader-property", "prop", "How lines are read: parse.key=false, parse.headers=false, ignore.error=false, key.separator=\\t, headers.delimiter=\\t, headers.separator=, headers.key.separator=: null.marker=").
		Str("reader-config", "config file", "The same from a file.").
		Str("producer-property", "producer_prop", "Earlier name of --command-property.").
		Str("command-property", "producer_prop", "A property of Kafka's producer, name=value.").
		Str("producer.config", "config file", "Earlier name of --command-config.").
		Str("command-config", "config file", "Properties of the producer from a file."))
}

// renamed tells of names that are on their way out, as Kafka does, on stdout.
func renamed(e *Env, v *jopt.Values, format string, pairs ...[2]string) {
	for _, p := range pairs {
		if v.Has(p[0]) {
			e.println(format, p[0], p[1])
		}
	}
	_ = e.Out.Flush()
}

// notTogether refuses an old name of an option beside its new one.
func notTogether(v *jopt.Values, words string, pairs ...[2]string) error {
	for _, p := range pairs {
		if v.Has(p[0]) && v.Has(p[1]) {
			return usagef(words, p[0], p[1])
		}
	}
	return nil
}

func runProducer(e *Env, v *jopt.Values) error {
	if err := require(v, "topic"); err != nil {
		return err
	}
	if !v.Has("bootstrap-server") {
		return usagef("Error while validating the bootstrap address\n")
	}
	old := [][2]string{{"property", "reader-property"}, {"producer-property", "command-property"}, {"producer.config", "command-config"}}
	if err := notTogether(v, "Options --%[2]s and --%[1]s cannot be specified together.", old...); err != nil {
		return err
	}
	renamed(e, v, "Warning: --%s is deprecated and will be removed in a future version. Use --%s instead.", old...)
	if v.Has("max-partition-memory-bytes") {
		e.println("Warning: --max-partition-memory-bytes is deprecated and will be removed in Apache Kafka 5.0. Use --batch-size instead.")
		_ = e.Out.Flush()
	}
	for _, o := range []string{"batch-size", "message-send-max-retries", "retry-backoff-ms", "timeout", "request-timeout-ms", "metadata-expiry-ms", "max-block-ms", "max-memory-bytes",
		"max-partition-memory-bytes", "socket-buffer-size"} {
		if _, err := v.Int64(o, 0); err != nil && e.own {
			return err
		} else if err != nil {
			e.complain("%s", err)
			return Exit(1)
		}
	}
	reader, err := lineReaderOf(e, v)
	if err != nil {
		return err
	}
	opts, err := producerClient(v)
	if err != nil {
		return err
	}
	cl, err := conn.Open(e.Ctx, v.Str("bootstrap-server"), opts.props, opts.kgo...)
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := outlasting(e.Ctx, goodbye) // what was read before Ctrl-C is sent, as Kafka's tool does
	defer cancel()
	s := &sender{e: e, ctx: ctx, cl: cl, topic: v.Str("topic")}
	if v.Has("sync") {
		err = s.sync(reader)
	} else {
		err = s.async(reader)
	}
	if e.JSON {
		e.println(`{"sent": %d, "refused": %d}`, s.sent.Load(), s.refused)
	}
	if e.own && err == nil && s.refused > 0 {
		return fmt.Errorf("%d of %d messages refused", s.refused, s.sent.Load()+s.refused)
	}
	return err
}

// producerOpts is a producer's configuration in both languages.
type producerOpts struct {
	props conn.Properties
	kgo   []kgo.Opt
}

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

// merge takes a property from an option: an option that was given wins over a property, a default does not.
func merge(p conn.Properties, v *jopt.Values, option, property string) {
	if v.Has(option) {
		p[property] = v.Str(option)
	} else {
		p.Default(property, v.Str(option))
	}
}

func producerClient(v *jopt.Values) (producerOpts, error) {
	p := conn.Properties{}
	for _, f := range []string{"producer.config", "command-config"} {
		if err := p.LoadFile(v.Str(f)); err != nil {
			return producerOpts{}, err
		}
	}
	for _, o := range []string{"producer-property", "command-property"} {
		for _, pair := range v.All(o) {
			if err := p.Set(pair); err != nil {
				return producerOpts{}, err
			}
		}
	}
	if v.Has("compression-codec") {
		p["compression.type"] = v.Str("compression-codec")
		if p["compression.type"] == "" {
			p["compression.type"] = "gzip"
		}
	}
	for option, property := range map[string]string{"timeout": "linger.ms", "request-required-acks": "acks", "request-timeout-ms": "request.timeout.ms",
		"message-send-max-retries": "retries", "max-block-ms": "max.block.ms", "max-memory-bytes": "buffer.memory", "batch-size": "batch.size"} {
		merge(p, v, option, property)
	}
	if v.Has("max-partition-memory-bytes") {
		p["batch.size"] = v.Str("max-partition-memory-bytes")
	}
	p.Default("client.id", "console-producer")
	opts, err := ProducerOptions(p)
	return producerOpts{p, opts}, err
}

// ProducerOptions translates Kafka's producer properties.
func ProducerOptions(p conn.Properties) ([]kgo.Opt, error) {
	p.Default("compression.type", "none")
	codec, ok := codecs[p["compression.type"]]
	if !ok {
		return nil, &configError{"compression.type", p["compression.type"], "String must be one of: none, gzip, snappy, lz4, zstd"}
	}
	acks, idempotent := kgo.AllISRAcks(), true
	switch strings.ToLower(p["acks"]) {
	case "", "-1", "all":
	case "1":
		acks, idempotent = kgo.LeaderAck(), false
	case "0":
		acks, idempotent = kgo.NoAck(), false
	default:
		return nil, &configError{"acks", p["acks"], "String must be one of: all, -1, 0, 1"}
	}
	idempotent = idempotent && p.Bool("enable.idempotence", true)
	var err error
	number := func(name string, none int64) int64 {
		n, e := p.Int(name, none)
		err = errors.Join(err, e)
		return n
	}
	linger := time.Duration(number("linger.ms", 5)) * time.Millisecond
	memory, retries := number("buffer.memory", 32<<20), number("retries", 1<<31-1)
	request, block := number("max.request.size", 1<<20), time.Duration(number("max.block.ms", 60000))*time.Millisecond
	timeout := time.Duration(number("request.timeout.ms", 30000)) * time.Millisecond
	if err != nil {
		return nil, err
	}
	opts := []kgo.Opt{
		kgo.RequiredAcks(acks), kgo.ProducerBatchCompression(codec), kgo.ProducerLinger(linger), kgo.AllowAutoTopicCreation(),
		kgo.MaxBufferedBytes(int(max(memory, request, 1<<20))), kgo.MaxBufferedRecords(1 << 20), kgo.ProducerBatchMaxBytes(int32(min(request, 1<<30))),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)), kgo.UnknownTopicRetries(int(max(3, min(block, 10*time.Second)/(250*time.Millisecond)))),
		kgo.RecordDeliveryTimeout(max(block, 2*time.Minute)), kgo.ProduceRequestTimeout(max(timeout, time.Second)),
		// A batch that was sent and not answered is always sent again: the producer id makes that safe.
		kgo.RecordRetries(int(min(max(retries, 3), 1<<30))),
	}
	if !idempotent {
		opts = append(opts, kgo.DisableIdempotentWrite())
	}
	return opts, nil
}

// sender writes records to one topic. Owned by runProducer; failed is shared with the client's callbacks.
type sender struct {
	e     *Env
	ctx   context.Context
	cl    *kgo.Client
	topic string
	sent  atomic.Int64

	refused int64 // that were told of

	mu     sync.Mutex
	failed []failure // told in order when the input ends or the list is long
	large  []*kgo.Record
}

type failure struct {
	rec *kgo.Record
	err error
}

func (s *sender) sync(r *lineReader) error {
	p := newProgress(s.e, "sent", 0)
	defer p.done()
	for {
		rec, err := r.next()
		if rec == nil {
			return err
		}
		rec.Topic = s.topic
		if err := s.cl.ProduceSync(s.ctx, rec).FirstErr(); err != nil {
			if code := codeOf(err); code != 0 {
				return &syncError{conn.Code(code, nil)}
			}
			return err
		}
		p.add(1)
		s.sent.Add(1)
	}
}

func (s *sender) async(r *lineReader) error {
	p := newProgress(s.e, "sent", 0)
	defer p.done()
	var readErr error
	for {
		rec, err := r.next()
		if rec == nil {
			readErr = err
			break
		}
		rec.Topic = s.topic
		s.cl.Produce(s.ctx, rec, func(rec *kgo.Record, err error) {
			switch {
			case err == nil:
				p.add(1)
				s.sent.Add(1)
			default:
				s.keep(rec, err)
			}
		})
		s.tell()
	}
	if err := s.cl.Flush(s.ctx); err != nil {
		return errors.Join(readErr, err)
	}
	// A batch is refused as a whole when it is too large; its records get their own chance, as Kafka's producer splits such a batch.
	for _, rec := range s.large {
		again := &kgo.Record{Topic: rec.Topic, Key: rec.Key, Value: rec.Value, Headers: rec.Headers, Timestamp: rec.Timestamp}
		if err := s.cl.ProduceSync(s.ctx, again).FirstErr(); err != nil {
			s.failed = append(s.failed, failure{again, err})
		} else {
			p.add(1)
			s.sent.Add(1)
		}
	}
	s.tell()
	return readErr
}

func (s *sender) keep(rec *kgo.Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, kerr.MessageTooLarge) && len(s.large) < 1<<16 && rec.Partition >= 0 {
		s.large = append(s.large, rec)
		return
	}
	s.failed = append(s.failed, failure{rec, err})
}

// refusedShown is how many refusals a subcommand tells one by one.
const refusedShown = 10

// tell logs the records that were refused.
func (s *sender) tell() {
	s.mu.Lock()
	list := slices.Clone(s.failed)
	s.failed = nil
	s.mu.Unlock()
	const class = "org.apache.kafka.clients.producer.internals.ErrorLoggingCallback"
	for _, f := range list {
		s.refused++
		if s.e.own {
			if s.refused <= refusedShown {
				s.e.complain("millrace: a message to %s, %d bytes long, was refused: %s", s.topic, len(f.rec.Key)+len(f.rec.Value), told(f.err))
			}
			continue
		}
		size := func(b []byte) string {
			if b == nil {
				return "null"
			}
			return fmt.Sprintf("%d bytes", len(b))
		}
		words, name := plain(f.err), conn.Class(f.err)
		if code := codeOf(f.err); code != 0 {
			words, name = conn.Words(code), conn.Class(conn.Code(code, nil))
			if code == kerr.InvalidTopicException.Code {
				words = "Invalid topics: [" + s.topic + "]"
			}
		}
		s.e.logLine("ERROR", fmt.Sprintf("Error when sending message to topic %s with key: %s, value: %s with error:", s.topic, size(f.rec.Key), size(f.rec.Value)), class)
		s.e.complain("%s: %s", name, words)
	}
}

// codeOf is Kafka's error code in an error of the client, or 0.
func codeOf(err error) int16 {
	var ke *kerr.Error
	if errors.As(err, &ke) {
		return ke.Code
	}
	return 0
}
