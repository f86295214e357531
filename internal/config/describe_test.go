package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var sourceNames = map[Source]string{FromTopic: "topic", FromBroker: "broker", FromAllBrokers: "all", FromStatic: "static", FromDefault: "default", FromBrokerLogger: "logger", FromClientMetrics: "metrics", FromGroup: "group"}

// line shows an entry: name=value source type [marks] synonyms.
func (e Entry) line() string {
	text := func(s *string) string {
		if s == nil {
			return "null"
		}
		return fmt.Sprintf("%q", *s)
	}
	s := fmt.Sprintf("%s=%s %s %s", e.Name, text(e.Value), sourceNames[e.Source], e.Type)
	if e.ReadOnly {
		s += " read-only"
	}
	if e.Sensitive {
		s += " sensitive"
	}
	for _, syn := range e.Synonyms {
		s += fmt.Sprintf(" < %s=%s %s", syn.Name, text(syn.Value), sourceNames[syn.Source])
	}
	return s
}

func wantLines(t *testing.T, what string, entries []Entry, want ...string) {
	t.Helper()
	var got []string
	for _, e := range entries {
		got = append(got, e.line())
		if e.IsDefault != (e.Source == FromDefault) {
			t.Errorf("%s: %s: IsDefault is %v", what, e.Name, e.IsDefault)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot\n  %s\nwant\n  %s", what, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// The expected lines of this file are what a running Kafka 4.4.0 described.

func TestDescribeTopic(t *testing.T) {
	l := kafkaNode(t)
	wantLines(t, "defaults", l.DescribeTopic(nil, []string{"retention.ms", "segment.bytes", "min.insync.replicas", "flush.ms", "compression.type", "leader.replication.throttled.replicas"}),
		`compression.type="producer" default string < compression.type="producer" default`,
		`flush.ms="9223372036854775807" default long`,
		`leader.replication.throttled.replicas="" default list`,
		`min.insync.replicas="1" all int < min.insync.replicas="1" all < min.insync.replicas="1" default`,
		`retention.ms="604800000" default long`,
		`segment.bytes="1073741824" default int < log.segment.bytes="1073741824" default`)
	wantLines(t, "own values, as parsed", l.DescribeTopic(Set{"retention.ms": " 007 ", "cleanup.policy": "compact, delete", "preallocate": "TRUE", "min.cleanable.dirty.ratio": "5e-1"},
		[]string{"retention.ms", "cleanup.policy", "preallocate", "min.cleanable.dirty.ratio"}),
		`cleanup.policy="compact,delete" topic list < cleanup.policy="compact,delete" topic < log.cleanup.policy="delete" default`,
		`min.cleanable.dirty.ratio="0.5" topic double < min.cleanable.dirty.ratio="0.5" topic < log.cleaner.min.cleanable.ratio="0.5" default`,
		`preallocate="true" topic boolean < preallocate="true" topic < log.preallocate="false" default`,
		`retention.ms="7" topic long < retention.ms="7" topic`)
	wantLines(t, "the value of the default is a value", l.DescribeTopic(Set{"retention.ms": "604800000"}, []string{"retention.ms"}),
		`retention.ms="604800000" topic long < retention.ms="604800000" topic`)
	wantLines(t, "repeated words", l.DescribeTopic(Set{"cleanup.policy": "delete,delete"}, []string{"cleanup.policy"}),
		`cleanup.policy="delete" topic list < cleanup.policy="delete" topic < log.cleanup.policy="delete" default`)
}

func TestDescribeTopicOverDynamicBrokers(t *testing.T) {
	l := kafkaNode(t)
	all := l.With(Set{"log.index.interval.bytes": " 5 ", "log.retention.ms": "700000000"}, nil)
	wantLines(t, "all brokers", all.DescribeTopic(nil, []string{"index.interval.bytes", "retention.ms"}),
		`index.interval.bytes="5" all int < log.index.interval.bytes=" 5 " all < log.index.interval.bytes="4096" default`,
		`retention.ms="700000000" all long < log.retention.ms="700000000" all < log.retention.hours="168" default`)
	one := all.With(nil, Set{"log.index.interval.bytes": "007"})
	wantLines(t, "this broker", one.DescribeTopic(nil, []string{"index.interval.bytes"}),
		`index.interval.bytes="7" broker int < log.index.interval.bytes="007" broker < log.index.interval.bytes=" 5 " all < log.index.interval.bytes="4096" default`)
	wantLines(t, "the topic", one.DescribeTopic(Set{"index.interval.bytes": " 6 "}, []string{"index.interval.bytes"}),
		`index.interval.bytes="6" topic int < index.interval.bytes="6" topic < log.index.interval.bytes="007" broker < log.index.interval.bytes=" 5 " all < log.index.interval.bytes="4096" default`)
	wantLines(t, "broker keys", all.DescribeBroker([]string{"log.retention.ms", "log.retention.hours", "log.retention.minutes"}),
		`log.retention.hours="168" default int read-only < log.retention.hours="168" default`,
		`log.retention.minutes=null default int read-only`,
		`log.retention.ms="700000000" all long < log.retention.ms="700000000" all < log.retention.hours="168" default`)
}

func TestDescribeOverThePropertyFile(t *testing.T) {
	loaded, err := Build("server.properties", []byte(`node.id=1
listeners=PLAINTEXT://127.0.0.1:9092
log.retention.hours=24
log.roll.hours= 12\u0020
log.segment.bytes=2097152
min.insync.replicas=2
log.flush.scheduler.interval.ms=5000
super.users=User:a
log.cleanup.policy=compact
listener.name.plaintext.max.connections=55
log.index.interval.bytes=+0100
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	l := loaded.Layers().With(FormatDefaults(loaded.Static), nil)
	wantLines(t, "topic", l.DescribeTopic(nil, []string{"retention.ms", "segment.ms", "segment.bytes", "min.insync.replicas", "flush.ms", "cleanup.policy", "index.interval.bytes"}),
		`cleanup.policy="compact" static list < log.cleanup.policy="compact" static < log.cleanup.policy="delete" default`,
		`flush.ms="5000" default long`,
		`index.interval.bytes="100" static int < log.index.interval.bytes="+0100" static < log.index.interval.bytes="4096" default`,
		`min.insync.replicas="2" all int < min.insync.replicas="2" all < min.insync.replicas="2" static < min.insync.replicas="1" default`,
		`retention.ms="86400000" default long`,
		`segment.bytes="2097152" static int < log.segment.bytes="2097152" static < log.segment.bytes="1073741824" default`,
		`segment.ms="43200000" default long`)
	wantLines(t, "broker", l.DescribeBroker([]string{"log.roll.hours", "super.users", "node.id", "broker.id", "listener.name.plaintext.max.connections", "ssl.key.password", "log.dirs", "no.such.key"}),
		`broker.id="1" static int read-only < broker.id="1" static < broker.id="-1" default`,
		`listener.name.plaintext.max.connections="55" static int read-only < listener.name.plaintext.max.connections="55" static < max.connections="2147483647" default`,
		`log.dirs="./data" static list read-only < log.dirs="./data" static`,
		`log.roll.hours="12" static int read-only < log.roll.hours="12 " static < log.roll.hours="168" default`,
		`node.id="1" static int read-only < node.id="1" static`,
		`ssl.key.password=null default password sensitive`,
		`super.users=null static unknown read-only sensitive < super.users=null static`)
	created := map[string]string{}
	for _, e := range l.DescribeCreated(Set{"retention.ms": " 007 "}) {
		created[e.Name] = e.line()
	}
	for name, want := range map[string]string{
		"retention.ms":         `retention.ms=" 007 " topic long`,
		"segment.ms":           `segment.ms="43200000" static long`,
		"flush.ms":             `flush.ms="5000" static long`,
		"min.insync.replicas":  `min.insync.replicas="2" all int`,
		"index.interval.bytes": `index.interval.bytes="+0100" static int`,
		"preallocate":          `preallocate="false" default boolean`,
	} {
		if created[name] != want {
			t.Errorf("created: %s, want %s", created[name], want)
		}
	}
	own := l.With(nil, Set{"log.roll.ms": "44"})
	for _, e := range own.DescribeCreated(nil) {
		if e.Name == "segment.ms" && e.line() != `segment.ms="44" broker long` {
			t.Errorf("created with a value of this broker: %s", e.line())
		}
	}
	if len(created) != 37 {
		t.Errorf("%d configs of a new topic", len(created))
	}
}

func TestDescribeBrokerDynamic(t *testing.T) {
	l := kafkaNode(t)
	const key = "log.cleaner.backoff.ms"
	l = l.With(Set{key: "14000", "no.such.key": "v", "leader.replication.throttled.rate": "5"}, Set{key: "13000", "no.such.key": "w"})
	wantLines(t, "broker 1", l.DescribeBroker([]string{key, "no.such.key", "leader.replication.throttled.rate", "follower.replication.throttled.rate"}),
		`leader.replication.throttled.rate="5" all long < leader.replication.throttled.rate="5" all < leader.replication.throttled.rate="9223372036854775807" default`,
		`log.cleaner.backoff.ms="13000" broker long < log.cleaner.backoff.ms="13000" broker < log.cleaner.backoff.ms="14000" all < log.cleaner.backoff.ms="15000" default`,
		`no.such.key=null broker unknown read-only sensitive < no.such.key=null broker < no.such.key=null all`)
	wantLines(t, "all brokers", l.DescribeAllBrokers(nil),
		`leader.replication.throttled.rate="5" all long < leader.replication.throttled.rate="5" all`,
		`log.cleaner.backoff.ms="14000" all long < log.cleaner.backoff.ms="14000" all`,
		`no.such.key=null all unknown read-only sensitive < no.such.key=null all`)
	wantLines(t, "all brokers, one key", l.DescribeAllBrokers([]string{key, "num.partitions"}),
		`log.cleaner.backoff.ms="14000" all long < log.cleaner.backoff.ms="14000" all`)
	wantLines(t, "no value for all brokers", (&Layers{}).DescribeAllBrokers(nil))
}

func TestWhichKeysAreDescribed(t *testing.T) {
	l := kafkaNode(t)
	names := func(entries []Entry) (out []string) {
		for _, e := range entries {
			out = append(out, e.Name)
		}
		return out
	}
	if got := l.DescribeTopic(nil, nil); len(got) != 37 {
		t.Errorf("%d topic keys", len(got))
	}
	if got := l.DescribeBroker(nil); len(got) != 350 {
		t.Errorf("%d broker keys", len(got))
	}
	if got := l.DescribeBroker([]string{}); len(got) != 350 {
		t.Errorf("%d broker keys of the empty list", len(got))
	}
	if got := l.DescribeGroup(nil, nil); len(got) != 21 {
		t.Errorf("%d group keys", len(got))
	}
	for _, c := range []struct {
		ask, want []string
	}{
		{[]string{"retention.ms"}, []string{"retention.ms"}},
		{[]string{"no.such.key"}, nil},
		{[]string{"no.such.key", "retention.ms"}, []string{"retention.ms"}},
		{[]string{"retention.ms", "retention.ms"}, []string{"retention.ms"}},
		{[]string{""}, nil},
		{[]string{"RETENTION.MS"}, nil},
		{[]string{"log.retention.ms"}, nil},
		{[]string{"write.caching"}, []string{"write.caching"}},
	} {
		if got := names(l.DescribeTopic(nil, c.ask)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.ask, got, c.want)
		}
	}
	if got := names(l.DescribeTopic(Set{"write.caching": "true"}, nil)); !slices.Contains(got, "write.caching") || len(got) != 38 {
		t.Errorf("a set key of our own is not described: %d keys", len(got))
	}
	if got := names(l.DescribeBroker([]string{"io.engine", "admin.listen"})); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestDescribeGroupsAndMetrics(t *testing.T) {
	l := kafkaNode(t)
	wantLines(t, "group", l.DescribeGroup(nil, []string{"consumer.session.timeout.ms", "share.auto.offset.reset", "streams.assignor.name"}),
		`consumer.session.timeout.ms="45000" default int < group.consumer.session.timeout.ms="45000" default`,
		`share.auto.offset.reset="latest" default string < share.auto.offset.reset="latest" default`,
		`streams.assignor.name="sticky" default string < group.streams.assignors="sticky" default`)
	wantLines(t, "group with values", l.DescribeGroup(Set{"consumer.heartbeat.interval.ms": "6000", "streams.rack.aware.assignment.tags": "a, b"}, []string{"consumer.heartbeat.interval.ms", "streams.rack.aware.assignment.tags"}),
		`consumer.heartbeat.interval.ms="6000" group int < consumer.heartbeat.interval.ms="6000" group < group.consumer.heartbeat.interval.ms="5000" default`,
		`streams.rack.aware.assignment.tags="a,b" group list < streams.rack.aware.assignment.tags="a,b" group < group.streams.rack.aware.assignment.tags="" default`)
	wantLines(t, "metrics", DescribeClientMetrics(nil, nil), `interval.ms="300000" default int`, `match="" default list`, `metrics="" default list`)
	wantLines(t, "metrics with values", DescribeClientMetrics(Set{"match": "client_id=x.*", "metrics": "a.b,c.d"}, nil),
		`interval.ms="300000" default int`,
		`match="client_id=x.*" metrics list < match="client_id=x.*" metrics`,
		`metrics="a.b,c.d" metrics list < metrics="a.b,c.d" metrics`)
	wantLines(t, "logger", []Entry{LoggerEntry("root", "INFO")}, `root="INFO" logger unknown`)
}
