package kafkatool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"millrace/cli/conn"
)

const producerPerfName = "kafka-producer-perf-test"

var producerPerfTool = &tool{name: producerPerfName, script: runProducerPerf}

func producerPerfOptions() *argSet {
	return &argSet{
		prog:  producerPerfName,
		about: "Sends records as fast as the broker takes them, or at a given rate, and tells how many they were and how long the broker took to answer.",
		options: []argOption{
			{name: "bootstrap-server", meta: "BOOTSTRAP-SERVER", kind: argText, help: "The brokers to ask. It wins over bootstrap.servers among the properties."},
			{name: "topic", meta: "TOPIC", kind: argText, must: true, help: "The topic to write to."},
			{name: "num-records", meta: "NUM-RECORDS", kind: argLong, must: true, help: "How many records to send."},
			{name: "payload-delimiter", meta: "PAYLOAD-DELIMITER", kind: argText, def: "\n", help: "What stands between the payloads in the file of --payload-file."},
			{name: "throughput", meta: "THROUGHPUT", kind: argDouble, must: true, help: "Records a second; -1 is as fast as possible."},
			{name: "producer-props", meta: "PROP-NAME=PROP-VALUE", kind: argList, help: "Earlier name of --command-property."},
			{name: "command-property", meta: "PROP-NAME=PROP-VALUE", kind: argList, help: "Properties of Kafka's producer, such as linger.ms=10 batch.size=32768. They win over those of files."},
			{name: "producer.config", meta: "CONFIG-FILE", kind: argText, help: "Earlier name of --command-config."},
			{name: "command-config", meta: "CONFIG-FILE", kind: argText, help: "Properties of the producer from a file."},
			{name: "print-metrics", kind: argFlag, help: "Not supported: they are those of Java's producer."},
			{name: "transactional-id", meta: "TRANSACTIONAL-ID", kind: argText, help: "Not supported yet."},
			{name: "transaction-duration-ms", meta: "TRANSACTION-DURATION", kind: argLong, help: "Not supported yet."},
			{name: "warmup-records", meta: "WARMUP-RECORDS", kind: argLong, def: "0", help: "So many records go first; the others have a summary of their own besides."},
			{name: "reporting-interval", meta: "INTERVAL-MS", kind: argLong, def: "5000", help: "Milliseconds between two lines that tell how it goes."},
			{name: "record-key-range", meta: "KEY-RANGE", kind: argLong, help: "Keys are the numbers from 0 to KEY-RANGE - 1."},
			{name: "key-distribution", meta: "KEY-DISTRIBUTION", kind: argText, def: "none", choices: []string{"none", "range", "random"}, help: "Records have no keys, each key in turn, or one by chance."},
			{name: "random-seed", meta: "RANDOM-SEED", kind: argLong, def: "0", help: "Where chance begins; the same number gives the same records."},
			{name: "record-size", meta: "RECORD-SIZE", kind: argInt, group: true, help: "Bytes of a record: letters by chance."},
			{name: "payload-file", meta: "PAYLOAD-FILE", kind: argText, group: true, help: "Records are taken from this file by chance."},
			{name: "payload-monotonic", kind: argFlag, group: true, help: "Records are the numbers from 0 on."},
		},
	}
}

// perfProducing is one run of the tool. Owned by runProducerPerf.
type perfProducing struct {
	topic     string
	records   int64
	warmup    int64
	rate      float64
	interval  int64 // milliseconds
	size      int   // of a record by chance; 0 is payloads or numbers
	payloads  [][]byte
	keys      int64
	keyKind   string
	seed      int64
	props     conn.Properties
	bootstrap string
}

func runProducerPerf(e *Env, args []string) int {
	set := producerPerfOptions()
	args = modernizePerf(e, args)
	if len(args) == 0 {
		set.helpTo(e.Out)
		return 0
	}
	refuse := func(err error) int {
		_ = e.Out.Flush()
		set.usage(e.Err)
		e.complain("%s: error: %s", set.prog, err)
		return 1
	}
	v, err := set.parse(args)
	if errors.Is(err, errHelp) {
		set.helpTo(e.Out)
		return 1
	}
	if err == nil {
		err = checkProducerPerf(v)
	}
	if err != nil {
		return refuse(err)
	}
	p, err := producerPerfOf(e, v)
	if err == nil {
		err = p.run(e)
	}
	var x Exit
	switch {
	case err == nil:
		return 0
	case errors.As(err, &x):
		return int(x)
	}
	e.complain("%s: %s", producerClass(err), plain(err))
	return 1
}

// checkProducerPerf refuses values and combinations that mean nothing.
func checkProducerPerf(v argValues) error {
	for _, n := range []string{"num-records", "record-size", "reporting-interval", "record-key-range", "transaction-duration-ms"} {
		if v.has(n) && v.int(n) <= 0 {
			return fmt.Errorf("--%s should be greater than zero.", n)
		}
	}
	if rate, _ := strconv.ParseFloat(v.str("throughput"), 64); rate == 0 {
		return errors.New("--throughput should be greater than zero, or -1 for as fast as possible.")
	}
	places, any := []string{"bootstrap-server", "command-property", "producer-props", "producer.config", "command-config"}, false
	for _, n := range places {
		any = any || v.has(n)
	}
	keyed := v.str("key-distribution") != "none"
	switch warmup := v.int("warmup-records"); {
	case !any:
		return fmt.Errorf("At least one of --%s or --%s must be specified.", strings.Join(places[:4], ", --"), places[4])
	case warmup < 0:
		return errors.New("The value for --warmup-records must not be negative.")
	case warmup >= v.int("num-records"):
		return errors.New("The value for --warmup-records must be strictly fewer than the number of records in the test, --num-records.")
	case v.has("record-key-range") && !keyed:
		return errors.New("--key-distribution must be 'range' or 'random' when --record-key-range is specified.")
	case keyed && !v.has("record-key-range"):
		return fmt.Errorf("--record-key-range must be specified when --key-distribution is '%s'.", v.str("key-distribution"))
	}
	return nil
}

func producerPerfOf(e *Env, v argValues) (*perfProducing, error) {
	p := &perfProducing{topic: v.str("topic"), records: v.int("num-records"), warmup: v.int("warmup-records"), interval: v.int("reporting-interval"),
		size: int(v.int("record-size")), keys: v.int("record-key-range"), keyKind: v.str("key-distribution"), seed: v.int("random-seed"), props: conn.Properties{}}
	p.rate, _ = strconv.ParseFloat(v.str("throughput"), 64)
	for _, pair := range [][2]string{{"producer-props", "command-property"}, {"producer.config", "command-config"}} {
		if v.has(pair[0]) {
			e.println("Option --%s has been deprecated and will be removed in a future version. Use --%s instead.", pair[0], pair[1])
		}
	}
	if v.has("payload-file") {
		if err := p.readPayloads(e, v.str("payload-file"), v.str("payload-delimiter")); err != nil {
			return nil, err
		}
	}
	_ = e.Out.Flush()
	for _, f := range []string{"producer.config", "command-config"} {
		if err := p.props.LoadFile(v.str(f)); err != nil {
			return nil, err
		}
	}
	for _, o := range []string{"producer-props", "command-property"} {
		for _, pair := range v[o] {
			if p.props.Set(pair) != nil {
				return nil, fmt.Errorf("Invalid property: %s", pair)
			}
		}
	}
	if v.has("transactional-id") || v.has("transaction-duration-ms") || p.props["transactional.id"] != "" {
		e.complain("%s: transactions are not supported yet: --transactional-id, --transaction-duration-ms and transactional.id must be left out", e.Name)
		return nil, Exit(1)
	}
	if v.has("print-metrics") {
		e.complain("%s: --print-metrics is ignored: metrics are those of Java's producer", e.Name)
	}
	p.bootstrap = p.props["bootstrap.servers"]
	if v.has("bootstrap-server") {
		p.bootstrap = v.str("bootstrap-server")
	}
	p.props.Default("client.id", "perf-producer-client")
	return p, nil
}

// readPayloads cuts a file into records.
func (p *perfProducing) readPayloads(e *Env, name, delimiter string) error {
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	e.println("Reading payloads from: %s", name)
	data, err := os.ReadFile(name)
	if err != nil || len(data) == 0 {
		return errors.New("File does not exist or empty file provided.")
	}
	if p.payloads, err = cutPayloads(data, delimiter); err != nil {
		return err
	}
	for n := len(p.payloads); n > 1 && len(p.payloads[n-1]) == 0; n-- { // what follows the last delimiter is no record
		p.payloads = p.payloads[:n-1]
	}
	e.println("Number of records read: %d", len(p.payloads))
	return nil
}

// cutPayloads cuts at a delimiter as Java's Scanner does: it is a regular expression, written \n for the end of a line, and
// one at the very beginning is passed over.
func cutPayloads(data []byte, delimiter string) ([][]byte, error) {
	if delimiter == "" {
		return [][]byte{data}, nil
	}
	if delimiter == `\n` {
		delimiter = "\n"
	}
	re, err := regexp.Compile(delimiter)
	if err != nil {
		return nil, fmt.Errorf("--payload-delimiter: %w", err)
	}
	var out [][]byte
	for {
		at := re.FindIndex(data)
		if at == nil || at[1] == 0 { // an empty match cuts nothing
			return append(out, data), nil
		}
		if at[0] > 0 || len(out) > 0 {
			out = append(out, data[:at[0]])
		}
		data = data[at[1]:]
	}
}

// oldPerf is what options of Kafka 0.8 to 3.x are called today; "" is nothing.
var oldPerf = map[string]struct {
	today string
	flag  bool   // takes no argument
	as    string // a producer property
}{
	"broker-list": {today: "--bootstrap-server"}, "topics": {today: "--topic"}, "messages": {today: "--num-records"}, "message-size": {today: "--record-size"},
	"batch-size": {as: "batch.size"}, "request-num-acks": {as: "acks"}, "request-timeout-ms": {as: "request.timeout.ms"},
	"threads": {}, "producer-num-retries": {as: "retries"}, "producer-retry-backoff-ms": {as: "retry.backoff.ms"}, "sync": {flag: true},
	"new-producer": {flag: true}, "old-producer": {flag: true}, "show-detailed-stats": {flag: true}, "hide-header": {flag: true},
}

// modernizePerf rewrites options that the producer's test had in earlier versions, and says so in one line each.
func modernizePerf(e *Env, args []string) []string {
	var out []string
	rate, old := false, false
	for i := 0; i < len(args); i++ {
		name, value, inline := strings.Cut(strings.TrimPrefix(args[i], "--"), "=")
		rate = rate || name == "throughput"
		o, ok := oldPerf[name]
		if !ok || !strings.HasPrefix(args[i], "--") {
			out = append(out, args[i])
			continue
		}
		if !o.flag && !inline && i+1 < len(args) && isArgument(args[i+1]) {
			i++
			value = args[i]
		}
		old = old || o.today != "" && name != "broker-list"
		switch {
		case o.today != "":
			out = append(out, o.today+"="+value)
			e.complain("%s: --%s is called %s today", producerPerfName, name, o.today)
		case o.as != "":
			out = append(out, "--command-property="+o.as+"="+value)
			e.complain("%s: --%s is written --command-property %s=%s today", producerPerfName, name, o.as, value)
		default:
			e.complain("%s: --%s is ignored, it means nothing today", producerPerfName, name)
		}
	}
	if old && !rate { // it was optional, and no limit
		out = append(out, "--throughput=-1")
	}
	return out
}
