package kafkatool

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

const defaultFormatter = "org.apache.kafka.tools.consumer.DefaultMessageFormatter"

// formatter shows records; the real ones are the default, the logging, the silent one and those of the offsets topic.
type formatter interface {
	write(w *bufio.Writer, r *kgo.Record) error
}

func formatterOf(v *jopt.Values) (formatter, error) {
	p := conn.Properties{}
	if err := p.LoadFile(v.Str("formatter-config")); err != nil {
		return nil, err
	}
	for _, o := range []string{"property", "formatter-property"} {
		for _, pair := range v.All(o) {
			if err := p.Set(pair); err != nil {
				return nil, err
			}
		}
	}
	if v.Has("key-deserializer") {
		p["key.deserializer"] = v.Str("key-deserializer")
	}
	if v.Has("value-deserializer") {
		p["value.deserializer"] = v.Str("value-deserializer")
	}
	name := v.Str("formatter")
	name = name[strings.LastIndexAny(name, ".$")+1:]
	switch name {
	case "DefaultMessageFormatter", "LoggingMessageFormatter": // the log lines of the latter are below the level that Kafka's tools show
		return newPlainFormatter(p)
	case "NoOpMessageFormatter":
		return silent{}, nil
	case "OffsetsMessageFormatter":
		return &offsetsFormatter{offsets: true}, nil
	case "GroupMetadataMessageFormatter":
		return &offsetsFormatter{}, nil
	}
	return nil, fmt.Errorf("%s is a Java class, it cannot be used here", v.Str("formatter"))
}

// plainFormatter is Kafka's DefaultMessageFormatter. Immutable.
type plainFormatter struct {
	timestamp, key, offset, delivery, epoch, partition, headers, value bool
	keySep, lineSep, headerSep, null                                   string
	keyOf, valueOf, headerOf                                           func([]byte) (string, error)
}

func newPlainFormatter(p conn.Properties) (*plainFormatter, error) {
	get := func(name, none string) string {
		if v, ok := p[name]; ok {
			return v
		}
		return none
	}
	f := &plainFormatter{
		timestamp: p.Bool("print.timestamp", false), key: p.Bool("print.key", false), offset: p.Bool("print.offset", false),
		delivery: p.Bool("print.delivery", false), epoch: p.Bool("print.epoch", false), partition: p.Bool("print.partition", false), headers: p.Bool("print.headers", false),
		value: p.Bool("print.value", true), keySep: get("key.separator", "\t"), lineSep: get("line.separator", "\n"),
		headerSep: get("headers.separator", ","), null: get("null.literal", "null"),
	}
	var err error
	if f.keyOf, err = deserializer(p["key.deserializer"]); err != nil {
		return nil, err
	}
	if f.valueOf, err = deserializer(p["value.deserializer"]); err != nil {
		return nil, err
	}
	f.headerOf, err = deserializer(p["headers.deserializer"])
	return f, err
}

// deserializer reads bytes as a Java class of that name would and shows what it made of them.
func deserializer(class string) (func([]byte) (string, error), error) {
	number := func(name string, size int, show func([]byte) string) func([]byte) (string, error) {
		return func(b []byte) (string, error) {
			if len(b) != size {
				return "", fmt.Errorf("Size of data received by %sDeserializer is not %d", name, size)
			}
			return show(b), nil
		}
	}
	switch name := path.Ext("." + class); strings.TrimPrefix(name, ".") {
	case "", "StringDeserializer", "ByteArrayDeserializer", "BytesDeserializer", "ByteBufferDeserializer":
		return func(b []byte) (string, error) { return string(b), nil }, nil
	case "IntegerDeserializer":
		return number("Integer", 4, func(b []byte) string { return strconv.Itoa(int(int32(binary.BigEndian.Uint32(b)))) }), nil
	case "LongDeserializer":
		return number("Long", 8, func(b []byte) string { return strconv.FormatInt(int64(binary.BigEndian.Uint64(b)), 10) }), nil
	case "ShortDeserializer":
		return number("Short", 2, func(b []byte) string { return strconv.Itoa(int(int16(binary.BigEndian.Uint16(b)))) }), nil
	case "DoubleDeserializer":
		return number("Double", 8, func(b []byte) string { return javaFloat(math.Float64frombits(binary.BigEndian.Uint64(b)), 64) }), nil
	case "FloatDeserializer":
		return number("Float", 4, func(b []byte) string {
			return javaFloat(float64(math.Float32frombits(binary.BigEndian.Uint32(b))), 32)
		}), nil
	case "BooleanDeserializer":
		return number("Boolean", 1, func(b []byte) string { return strconv.FormatBool(b[0] != 0) }), nil
	case "UUIDDeserializer":
		return func(b []byte) (string, error) { return string(b), nil }, nil
	}
	return nil, fmt.Errorf("%s is a Java class, it cannot be used here", class)
}

// javaFloat shows whole numbers with ".0", as Java does.
func javaFloat(v float64, bits int) string {
	s := strconv.FormatFloat(v, 'f', -1, bits)
	if !strings.ContainsAny(s, ".NI") {
		s += ".0"
	}
	return s
}

func (f *plainFormatter) write(w *bufio.Writer, r *kgo.Record) error {
	var key, value string
	var err error
	if f.key {
		if key, err = f.show(r.Key, f.keyOf); err != nil {
			return err
		}
	}
	if f.value {
		if value, err = f.show(r.Value, f.valueOf); err != nil {
			return err
		}
	}
	first := true
	put := func(s string) {
		if !first {
			_, _ = w.WriteString(f.keySep)
		}
		first = false
		_, _ = w.WriteString(s)
	}
	if f.timestamp {
		put(timestampOf(r))
	}
	if f.partition {
		put("Partition:" + strconv.Itoa(int(r.Partition)))
	}
	if f.offset {
		put("Offset:" + strconv.FormatInt(r.Offset, 10))
	}
	if f.delivery {
		put("Delivery:NOT_PRESENT") // of share groups
	}
	if f.epoch {
		put("Epoch:NOT_PRESENT") // what Kafka's tool shows: it drops the epoch on the way
	}
	if f.headers {
		s, err := f.headerText(r)
		if err != nil {
			return err
		}
		put(s)
	}
	if f.key {
		put(key)
	}
	if f.value {
		put(value)
	}
	if !first { // nothing to show is no line
		_, _ = w.WriteString(f.lineSep)
	}
	return nil
}

func (f *plainFormatter) show(b []byte, of func([]byte) (string, error)) (string, error) {
	if b == nil {
		return f.null, nil
	}
	return of(b)
}

func (f *plainFormatter) headerText(r *kgo.Record) (string, error) {
	if len(r.Headers) == 0 {
		return "NO_HEADERS", nil
	}
	var b strings.Builder
	for i, h := range r.Headers {
		if i > 0 {
			b.WriteString(f.headerSep)
		}
		s, err := f.show(h.Value, f.headerOf)
		if err != nil {
			return "", err
		}
		b.WriteString(h.Key + ":" + s)
	}
	return b.String(), nil
}

func timestampOf(r *kgo.Record) string {
	ms := r.Timestamp.UnixMilli()
	switch r.Attrs.TimestampType() {
	case 0:
		return "CreateTime:" + strconv.FormatInt(ms, 10)
	case 1:
		return "LogAppendTime:" + strconv.FormatInt(ms, 10)
	}
	return "NO_TIMESTAMP"
}

type silent struct{}

func (silent) write(*bufio.Writer, *kgo.Record) error { return nil }
