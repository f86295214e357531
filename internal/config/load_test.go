package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shipped is what Kafka's own config/server.properties sets.
const shipped = `process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
`

func TestKafkasOwnFile(t *testing.T) {
	l, err := Build("server.properties", []byte(shipped), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Count(shipped, "\n"); len(l.Findings) != want || len(l.Warnings) != 0 {
		t.Errorf("%d findings for %d lines, warnings %q", len(l.Findings), want, l.Warnings)
	}
	for i, f := range l.Findings {
		if f.Line != i+1 || f.File != "server.properties" || f.Verdict == Refused {
			t.Errorf("%s", f)
		}
		if (f.Verdict == Used) != (f.Why == "") {
			t.Errorf("%s", f)
		}
	}
	b := l.Broker
	want := Listener{Endpoint{"PLAINTEXT", "", 9092}, "PLAINTEXT", Endpoint{"PLAINTEXT", "localhost", 9092}}
	if b.NodeID != 1 || len(b.Listeners) != 1 || b.Listeners[0] != want || len(b.ControllerListeners) != 1 || !slices.Equal(b.LogDirs, []string{"/tmp/kraft-combined-logs"}) {
		t.Errorf("%+v", b)
	}
}

func TestNoFile(t *testing.T) {
	l, err := Load("", nil)
	if err != nil {
		t.Fatal(err)
	}
	b := l.Broker
	if b.NodeID != 0 || len(b.Listeners) != 1 || b.Listeners[0].Address() != "localhost:9092" || !slices.Equal(b.LogDirs, []string{"./data"}) ||
		b.AdminListen != "127.0.0.1:9644" || !b.AdminDefault || b.IOEngine != "auto" || b.NumLoops != 0 || !b.AutoCreateTopics || b.NumPartitions != 1 ||
		b.SocketRequestMaxBytes != 104857600 || b.ConnectionsMaxIdleMs != 600000 || b.Dynamic.MaxConnections != 1<<31-1 || b.Groups.OffsetsPartitions != 50 {
		t.Errorf("%+v", b)
	}
	if l.Static["process.roles"] != "broker,controller" || l.Static["node.id"] != "0" || l.Static["broker.id"] != "0" {
		t.Errorf("%v", l.Static)
	}
	// With a file Kafka's default holds: all addresses.
	l, err = Build("x.properties", []byte("node.id=3\n"), nil)
	if err != nil || l.Broker.Listeners[0].Address() != ":9092" || l.Broker.NodeID != 3 {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestOverridesWin(t *testing.T) {
	path := filepath.Join(t.TempDir(), "server.properties")
	if err := os.WriteFile(path, []byte("node.id=1\nlog.segment.bytes=oops\nnum.loops=1\nlog.dirs=a,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Load(path, []string{"node.id=7", "log.segment.bytes=2097152", "num.loops = 2", "admin.listen=none", "listeners=PLAINTEXT://127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	b := l.Broker
	if b.NodeID != 7 || b.NumLoops != 2 || b.AdminListen != "" || b.AdminDefault || !slices.Equal(b.LogDirs, []string{"a", "b"}) || l.Layers().Topic(nil).SegmentBytes != 2097152 || b.Listeners[0].Port != 0 {
		t.Errorf("%+v", b)
	}
	for _, f := range l.Findings {
		if f.Key == "num.loops" && (f.File != "--override" || f.Line != 0) {
			t.Errorf("%s", f)
		}
	}
	if _, err := Load(filepath.Join(t.TempDir(), "missing"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestRepeatedKeys(t *testing.T) {
	l, err := Build("f", []byte("num.partitions=x\nnode.id=1\nnum.partitions=3\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if l.Broker.NumPartitions != 3 || len(l.Findings) != 2 || len(l.Warnings) != 1 || !strings.Contains(l.Warnings[0], "f:3") || !strings.Contains(l.Warnings[0], "line 1") {
		t.Errorf("%v %q", l.Findings, l.Warnings)
	}
}

func TestWhatStopsTheStart(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string // parts of the error
	}{
		{"log.segment.bytes=1", []string{"f:1: log.segment.bytes: ", "at least 1048576"}},
		{"\n\nio.engine=kqueue", []string{"f:3: io.engine: ", "auto, uring, epoll"}},
		{"log.segment.byte=1048576", []string{"f:1: log.segment.byte ", "did you mean log.segment.bytes?"}},
		{"Log.Dirs=x", []string{"did you mean log.dirs?"}},
		{"retention.ms=1", []string{"f:1: retention.ms ", "log.retention.ms"}},
		{"no.such.key.at.all=1", []string{"f:1: no.such.key.at.all ", "docs/configuration.md"}},
		{`a=\u12`, []string{"f:1: ", "four hexadecimal digits"}},
		{"a.b=1\nlog.segment.bytes=x", []string{"f:1: a.b ", "f:2: log.segment.bytes: "}},
		{"authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer", []string{"f:1: authorizer.class.name", "refused", "no authorizer"}},
		{"listeners=SASL_SSL://:9092", []string{"f:1: listeners: SASL_SSL", "not built yet"}},
		{"listeners=EXTERNAL://:9092\nlistener.security.protocol.map=EXTERNAL:SSL", []string{"f:1: listeners: EXTERNAL wants SSL"}},
		{"listeners=EXTERNAL://:9092", []string{"f:1: listeners: EXTERNAL has no protocol", "EXTERNAL:PLAINTEXT"}},
		{"security.inter.broker.protocol=SSL", []string{"f:1: security.inter.broker.protocol=SSL is refused"}},
		{"create.topic.policy.class.name=a.B", []string{"refused"}},
		{"remote.log.storage.system.enable=true", []string{"refused"}},
		{"config.providers=file", []string{"refused"}},
		{"process.roles=controller", []string{"f:1: process.roles", "broker,controller"}},
		{"node.id=1\ncontroller.quorum.voters=1@a:1,2@b:1,3@c:1", []string{"f:2: controller.quorum.voters names node 2", "not built yet"}},
		{"controller.quorum.bootstrap.servers=a:1,b:1", []string{"f:1: controller.quorum.bootstrap.servers"}},
		{"node.id=1\nbroker.id=2", []string{"f:2: broker.id is 2"}},
		{"listeners=PLAINTEXT://:9092,PLAINTEXT://:9093", []string{"f:1: listeners: PLAINTEXT is listed twice"}},
		{"listeners=A://:9092,B://:9092\nlistener.security.protocol.map=A:PLAINTEXT,B:PLAINTEXT", []string{"f:1: listeners: A and B share"}},
		{"listeners=localhost:9092", []string{"f:1: listeners: ", "NAME://HOST:PORT"}},
		{"advertised.listeners=PLAINTEXT://0.0.0.0:9092", []string{"f:1: advertised.listeners: ", "0.0.0.0"}},
		{"advertised.listeners=X://a:9092", []string{"f:1: advertised.listeners: X is not in listeners"}},
		{"listeners=CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER", []string{"f:1: listeners: there is none for clients"}},
		{"log.retention.ms=0", []string{"f:1: log.retention.ms is 0"}},
		{"log.cleaner.dedupe.buffer.size=1", []string{"f:1: log.cleaner.dedupe.buffer.size"}},
		{"zookeeper.metadata.migration.enable=true", []string{"refused"}},
		{"sasl.jaas.config=secret\nssl.key.password=hunter2\nnode.id=x", []string{"f:3: node.id"}},
	} {
		_, err := Build("f", []byte(c.text), nil)
		var problems Problems
		if !errors.As(err, &problems) {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %q does not say %q", c.text, err, part)
			}
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("a secret is in %q", err)
		}
	}
	for _, o := range []string{"x", "=1", ""} {
		if _, err := Build("", nil, []string{o}); err == nil || !strings.Contains(err.Error(), "key=value") {
			t.Errorf("override %q: %v", o, err)
		}
	}
}

func TestKeysOfOthersAreAccepted(t *testing.T) {
	text := `broker.id=4
zookeeper.connect=zk:2181
zookeeper.session.timeout.ms=1
host.name=h
port=9092
log.dir=d
inter.broker.protocol.version=3.0
log.message.format.version=2.8
listener.name.plaintext.ssl.keystore.password=hunter2
listener.name.plaintext.max.connections=5
confluent.metrics.reporter.bootstrap.servers=x
ssl.keystore.location=/x
ssl.keystore.password=hunter2
super.users=User:a
bootstrap.servers=x
some.plugin.password=
authorizer.class.name=
broker.rack=
security.inter.broker.protocol=PLAINTEXT
`
	_, err := Build("f", []byte(text), nil)
	if err == nil || !strings.Contains(err.Error(), "some.plugin.password") {
		t.Fatal(err)
	}
	l, err := Build("f", []byte(strings.Replace(text, "some.plugin.password", "plugin.password", 1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range l.Findings {
		used := f.Key == "broker.id" || f.Key == "log.dir"
		if (f.Verdict == Used) != used {
			t.Errorf("%s", f)
		}
		if strings.Contains(f.String(), "hunter2") {
			t.Errorf("a secret is in %q", f)
		}
	}
	if l.Broker.NodeID != 4 || !slices.Equal(l.Broker.LogDirs, []string{"d"}) || l.Broker.Rack != "" {
		t.Errorf("%+v", l.Broker)
	}
	for _, e := range l.Layers().DescribeBroker(nil) {
		if e.Value != nil && strings.Contains(*e.Value, "hunter2") {
			t.Errorf("%s shows a secret", e.Name)
		}
	}
}

func TestListenerForms(t *testing.T) {
	l, err := Build("f", []byte("listeners=plaintext://[::1]:9092, OUT://0.0.0.0:9093\nlistener.security.protocol.map=PLAINTEXT:PLAINTEXT,out:plaintext\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	one, two := l.Broker.Listeners[0], l.Broker.Listeners[1]
	if one.Name != "PLAINTEXT" || one.Host != "::1" || one.Address() != "[::1]:9092" || one.String() != "PLAINTEXT://[::1]:9092" || one.Advertised.Host != "::1" {
		t.Errorf("%+v", one)
	}
	if two.Host != "0.0.0.0" || two.Advertised.Host != "" || two.Advertised.Port != 9093 {
		t.Errorf("%+v", two)
	}
}

func TestTypedTopicConfig(t *testing.T) {
	l, err := Build("f", []byte("log.retention.minutes=2\nlog.roll.hours=3\nlog.roll.jitter.ms=9\nlog.flush.scheduler.interval.ms=11\nlog.segment.bytes=2000000\ncompression.type=lz4\nwrite.caching.default=true\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := l.Layers().Topic(Set{"cleanup.policy": "compact,delete", "message.timestamp.type": "LogAppendTime", "retention.bytes": "-5", "compression.gzip.level": "3"})
	want := TopicConfig{
		RetentionMs: 120_000, RetentionBytes: -5, SegmentBytes: 2_000_000, SegmentMs: 3 * hourMs, SegmentJitterMs: 9, SegmentIndexBytes: 10485760, IndexIntervalBytes: 4096,
		FileDeleteDelayMs: 60000, Compact: true, Delete: true, DeleteRetentionMs: 86400000, MinCleanableDirtyRatio: 0.5, MaxCompactionLagMs: 1<<63 - 1,
		MaxMessageBytes: 1048588, MaxDecompressedBytes: 2147483639, Codec: 3, GzipLevel: 3, Lz4Level: 9, ZstdLevel: 3, LogAppendTime: true,
		TimestampBeforeMaxMs: 1<<63 - 1, TimestampAfterMaxMs: 3600000, MinInsyncReplicas: 1, FlushMessages: 1<<63 - 1, FlushMs: 11, WriteCaching: true,
	}
	if *c != want {
		t.Errorf("got  %+v\nwant %+v", *c, want)
	}
	if c := l.Layers().Topic(Set{"write.caching": "false", "retention.ms": "nonsense of a later version", "compression.type": "producer"}); c.WriteCaching || c.RetentionMs != 120_000 || c.Codec != KeepCodec {
		t.Errorf("%+v", c)
	}
	g := l.Layers().Group(Set{"consumer.session.timeout.ms": "50000"})
	if g.ConsumerSessionTimeoutMs != 50000 || g.ConsumerHeartbeatIntervalMs != 5000 || g.StreamsAssignor != "sticky" || g.ShareReadCommitted {
		t.Errorf("%+v", g)
	}
}

// FuzzBuild feeds files of any kind.
func FuzzBuild(f *testing.F) {
	f.Add([]byte(shipped))
	f.Add([]byte("listeners=A://[::1]:1,B://:2\nlistener.security.protocol.map=A:PLAINTEXT"))
	f.Add([]byte("controller.quorum.voters=1@a:1\nmax.connections.per.ip.overrides=a:1,b:2\nadmin.listen=:1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Build("f", data, nil)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("an error without a text")
			}
			return
		}
		if len(l.Broker.Listeners) == 0 || len(l.Broker.LogDirs) == 0 {
			t.Fatalf("%+v", l.Broker)
		}
		l.Layers().DescribeBroker(nil)
		l.Layers().Topic(nil)
	})
}

// TestInternalKeysOfKafka: a property file may set them; they are described only then.
func TestInternalKeysOfKafka(t *testing.T) {
	file := filepath.Join(t.TempDir(), "server.properties")
	text := "node.id=1\nlog.initial.task.delay.ms=500\nproducer.id.expiration.check.interval.ms=1000\nserver.max.startup.time.ms=60000\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]Verdict{}
	for _, f := range loaded.Findings {
		verdicts[f.Key] = f.Verdict
	}
	for key, want := range map[string]Verdict{"log.initial.task.delay.ms": Used, "producer.id.expiration.check.interval.ms": Used, "server.max.startup.time.ms": Ignored} {
		if got, ok := verdicts[key]; !ok || got != want {
			t.Errorf("%s: %s, %v", key, got, ok)
		}
	}
	l := Layers{Static: loaded.Static}
	described := map[string]bool{}
	for _, e := range l.DescribeBroker(nil) {
		described[e.Name] = true
	}
	if !described["log.initial.task.delay.ms"] || described["internal.metadata.log.segment.bytes"] {
		t.Errorf("described: %v, %v", described["log.initial.task.delay.ms"], described["internal.metadata.log.segment.bytes"])
	}
}
