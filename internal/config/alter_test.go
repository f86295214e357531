package config

import (
	"maps"
	"testing"
)

func op(kind OpKind, name, value string) Op { return Op{kind, name, &value} }

func del(name string) Op { return Op{OpDelete, name, nil} }

func pair(name, value string) Pair { return Pair{name, &value} }

func wantCode(t *testing.T, what string, err *AlterError, code int16) {
	t.Helper()
	got := int16(0)
	if err != nil {
		got = err.Code
	}
	if got != code {
		t.Errorf("%s: code %d, want %d (%v)", what, got, code, err)
	}
}

func TestAppendAndSubtract(t *testing.T) {
	l := kafkaNode(t)
	set := Set{}
	step := func(want string, o Op) {
		t.Helper()
		next, err := l.AlterTopic(set, []Op{o})
		if err != nil {
			t.Fatalf("%+v: %v", o, err)
		}
		if got := next[o.Name]; got != want {
			t.Errorf("%d %s %s: %q, want %q", o.Kind, o.Name, *o.Value, got, want)
		}
		set = next
	}
	step("delete,compact", op(OpAppend, "cleanup.policy", "compact"))
	step("delete,compact", op(OpAppend, "cleanup.policy", "compact"))
	step("compact", op(OpSubtract, "cleanup.policy", "delete"))
	step("compact", op(OpSubtract, "cleanup.policy", "delete"))
	step("compact,delete", op(OpAppend, "cleanup.policy", "delete,compact"))
	// Nothing is trimmed, each word is removed once, and empty ones at the end do not count.
	step("compact,delete", op(OpSubtract, "cleanup.policy", " delete"))
	step("compact,delete", op(OpAppend, "cleanup.policy", ",,"))
	step("compact, delete", op(OpSet, "cleanup.policy", "compact, delete"))
	step("compact, delete", op(OpSubtract, "cleanup.policy", "delete"))
	step("compact, delete", op(OpAppend, "cleanup.policy", "compact,"))
	step("compact", op(OpSubtract, "cleanup.policy", " delete"))
	const throttled = "leader.replication.throttled.replicas"
	step("0:1", op(OpAppend, throttled, "0:1"))
	step("0:1,1:1", op(OpAppend, throttled, "1:1"))
	step("1:1", op(OpSubtract, throttled, "0:1"))
	step("", op(OpSubtract, throttled, "1:1"))

	before := maps.Clone(set)
	for name, o := range map[string]Op{
		"a bad word": op(OpAppend, "cleanup.policy", "x"), "an empty word": op(OpAppend, "cleanup.policy", ""), "a number": op(OpAppend, "retention.ms", "1"),
		"from a number": op(OpSubtract, "retention.ms", "1"), "an unknown key": op(OpAppend, "no.such.key", "1"),
	} {
		_, err := l.AlterTopic(set, []Op{o})
		wantCode(t, name, err, 40)
	}
	if !maps.Equal(set, before) {
		t.Error("a refused change changed the values")
	}
	// Lists start from the key's default, not from brokers' values.
	next, err := l.With(Set{"log.cleanup.policy": "compact"}, nil).AlterTopic(nil, []Op{op(OpSubtract, "cleanup.policy", "delete")})
	if err != nil || next["cleanup.policy"] != "" {
		t.Errorf("%q, %v", next["cleanup.policy"], err)
	}
	static := &Layers{Static: Set{"log.cleanup.policy": "compact"}}
	if next, err := static.AlterTopic(nil, []Op{op(OpAppend, "cleanup.policy", "compact")}); err != nil || next["cleanup.policy"] != "delete,compact" {
		t.Errorf("%q, %v", next["cleanup.policy"], err)
	}
}

func TestShapeOfOperations(t *testing.T) {
	l := kafkaNode(t)
	for kind := OpSet; kind <= OpSubtract; kind++ {
		_, err := l.AlterTopic(nil, []Op{{kind, "cleanup.policy", nil}})
		want := int16(42)
		if kind == OpDelete {
			want = 0
		}
		wantCode(t, "null", err, want)
	}
	for _, ops := range [][]Op{
		{op(OpSet, "retention.ms", "1000"), op(OpSet, "retention.ms", "2000")},
		{op(OpSet, "retention.ms", "1000"), del("retention.ms")},
		{op(OpAppend, "cleanup.policy", "compact"), op(OpSubtract, "cleanup.policy", "delete")},
	} {
		_, err := l.AlterTopic(nil, ops)
		wantCode(t, "the same key twice", err, 42)
	}
	for _, kind := range []OpKind{4, -1, 127} {
		_, err := l.AlterTopic(nil, []Op{op(kind, "retention.ms", "1")})
		wantCode(t, "an unknown operation on a topic", err, -1)
		_, err = l.AlterBroker([]Op{op(kind, "log.cleaner.backoff.ms", "1")})
		wantCode(t, "an unknown operation on a broker", err, 42)
	}
	set, err := l.AlterTopic(Set{"retention.ms": "5000"}, []Op{op(OpDelete, "retention.ms", "1")})
	if err != nil || len(set) != 0 {
		t.Errorf("delete with a value: %v, %v", set, err)
	}
}

func TestUnknownTopicKeys(t *testing.T) {
	l := kafkaNode(t)
	for _, name := range []string{"no.such.key", "", "RETENTION.MS", "retention.ms ", "log.retention.ms", "num.partitions", "message.format.version"} {
		_, err := l.AlterTopic(nil, []Op{op(OpSet, name, "1")})
		wantCode(t, name, err, 40)
		_, err = l.AlterTopic(nil, []Op{del(name)})
		wantCode(t, name, err, 0)
	}
}

func TestTopicValuesThatContradict(t *testing.T) {
	l := kafkaNode(t)
	for _, c := range []struct {
		a, b Op
		code int16
	}{
		{op(OpSet, "min.compaction.lag.ms", "100"), op(OpSet, "max.compaction.lag.ms", "50"), 40},
		{op(OpSet, "min.compaction.lag.ms", "100"), op(OpSet, "max.compaction.lag.ms", "100"), 0},
		{op(OpSet, "retention.ms", "1000"), op(OpSet, "local.retention.ms", "2000"), 0},
		{op(OpSet, "retention.bytes", "1000"), op(OpSet, "local.retention.bytes", "2000"), 0},
		{op(OpSet, "segment.jitter.ms", "2000"), op(OpSet, "segment.ms", "1000"), 0},
		{op(OpSet, "segment.bytes", "2097152"), op(OpSet, "max.message.bytes", "4194304"), 0},
		{op(OpSet, "remote.storage.enable", "true"), op(OpSet, "cleanup.policy", "compact"), 40},
	} {
		_, err := l.AlterTopic(nil, []Op{c.a, c.b})
		wantCode(t, c.a.Name+" and "+c.b.Name, err, c.code)
	}
}

func TestReplaceAndCreate(t *testing.T) {
	l := kafkaNode(t)
	set, err := l.ReplaceTopic([]Pair{pair("segment.ms", "3000"), pair("flush.ms", "4000")})
	if err != nil || !maps.Equal(set, Set{"segment.ms": "3000", "flush.ms": "4000"}) {
		t.Errorf("%v, %v", set, err)
	}
	if set, err := l.ReplaceTopic(nil); err != nil || len(set) != 0 {
		t.Errorf("replace by nothing: %v, %v", set, err)
	}
	_, err = l.ReplaceTopic([]Pair{pair("no.such.key", "1")})
	wantCode(t, "unknown key", err, 40)
	_, err = l.ReplaceTopic([]Pair{pair("segment.ms", "-1")})
	wantCode(t, "bad value", err, 40)
	_, err = l.ReplaceTopic([]Pair{pair("segment.ms", "1"), pair("segment.ms", "2")})
	wantCode(t, "twice", err, 42)
	_, err = l.ReplaceTopic([]Pair{{"segment.ms", nil}})
	wantCode(t, "null", err, 42)

	_, err = l.CreateTopic([]Pair{{"retention.ms", nil}})
	wantCode(t, "create with null", err, 40)
	_, err = l.CreateTopic([]Pair{pair("retention.ms", "")})
	wantCode(t, "create with nothing", err, 40)
	_, err = l.CreateTopic([]Pair{pair("segment.ms", "1000"), pair("retention.ms", "x")})
	wantCode(t, "create with one good, one bad", err, 40)
	set, err = l.CreateTopic([]Pair{pair("retention.ms", "1000"), pair("retention.ms", "2000")})
	if err != nil || set["retention.ms"] != "2000" {
		t.Errorf("create with a key twice: %v, %v", set, err)
	}
}

func TestBrokerKeysThatCannotChange(t *testing.T) {
	l := kafkaNode(t)
	alter := map[string]func([]Op) (Set, *AlterError){"1": l.AlterBroker, "": l.AlterAllBrokers}
	for name, f := range alter {
		for _, key := range []string{"node.id", "broker.id", "process.roles", "log.dirs", "num.partitions", "auto.create.topics.enable", "delete.topic.enable", "default.replication.factor", "offsets.topic.num.partitions", "log.retention.hours", "advertised.listeners", "io.engine"} {
			_, err := f([]Op{op(OpSet, key, "1")})
			wantCode(t, name+" "+key, err, 42)
			_, err = f([]Op{del(key)})
			wantCode(t, name+" delete "+key, err, 0)
		}
		for _, key := range []string{"zookeeper.connect", "no.such.key"} {
			set, err := f([]Op{op(OpSet, key, "1")})
			wantCode(t, name+" "+key, err, 0)
			if set[key] != "1" {
				t.Errorf("%s %s is not kept: %v", name, key, set)
			}
		}
		_, err := f([]Op{op(OpAppend, "no.such.key", "v")})
		wantCode(t, "append to an unknown key", err, 40)
		_, err = f([]Op{op(OpAppend, "num.partitions", "v")})
		wantCode(t, "append to a number", err, 40)
	}
	for _, key := range []string{"ssl.keystore.location", "ssl.keystore.password", "listeners", "sasl.jaas.config", "listener.name.x.no.such", "listener.name.plaintext.log.retention.ms"} {
		_, err := l.AlterAllBrokers([]Op{op(OpSet, key, "3")})
		wantCode(t, key, err, 42)
	}
	for key, code := range map[string]int16{
		"listener.name.plaintext.max.connections": 0, "listener.name.plaintext.ssl.keystore.location": 0, "listener.name.x.no.such": 0,
		"listener.name.plaintext.num.partitions": 0, "listener.name.plaintext.scram-sha-256.sasl.jaas.config": 0, "ssl.keystore.password": 42,
	} {
		_, err := l.AlterBroker([]Op{op(OpSet, key, "3")})
		wantCode(t, key, err, code)
	}
	for _, key := range []string{"listener.name.plaintext.max.connections", "listener.name.plaintext.num.partitions", "listener.name.plaintext.log.retention.ms"} {
		_, err := l.AlterBroker([]Op{op(OpSet, key, "x")})
		wantCode(t, key+"=x", err, 42)
	}
	set, err := l.AlterBroker([]Op{op(OpAppend, "log.cleanup.policy", "compact")})
	if err != nil || set["log.cleanup.policy"] != "delete,compact" {
		t.Errorf("%v, %v", set, err)
	}
	if set, err := l.AlterBroker([]Op{op(OpSet, "write.caching.default", "true")}); err != nil || !l.With(nil, set).Topic(nil).WriteCaching {
		t.Errorf("write.caching.default: %v", err)
	}
}

func TestRulesBetweenBrokerKeys(t *testing.T) {
	l := kafkaNode(t)
	for _, c := range []struct {
		what string
		ops  []Op
		code int16
	}{
		{"all or nothing", []Op{op(OpSet, "log.cleaner.backoff.ms", "1"), op(OpSet, "log.segment.bytes", "x")}, 42},
		{"local beyond the whole", []Op{op(OpSet, "log.retention.ms", "10"), op(OpSet, "log.local.retention.ms", "20")}, 42},
		{"both without end", []Op{op(OpSet, "log.retention.ms", "-1"), op(OpSet, "log.local.retention.ms", "-1")}, 0},
		{"lag beyond local", []Op{op(OpSet, "log.local.retention.ms", "1000"), op(OpSet, "log.remote.copy.lag.ms", "1001")}, 42},
		{"lag bytes beyond local", []Op{op(OpSet, "log.local.retention.bytes", "1000"), op(OpSet, "log.remote.copy.lag.bytes", "1001")}, 42},
		{"local bytes without end", []Op{op(OpSet, "log.retention.bytes", "1000"), op(OpSet, "log.local.retention.bytes", "-1")}, 42},
		{"local bytes beyond the whole", []Op{op(OpSet, "log.retention.bytes", "1000"), op(OpSet, "log.local.retention.bytes", "2000")}, 42},
		{"compaction lags", []Op{op(OpSet, "log.cleaner.min.compaction.lag.ms", "50"), op(OpSet, "log.cleaner.max.compaction.lag.ms", "5")}, 0},
		{"nobody but some", []Op{op(OpSet, "max.connections.per.ip", "0"), op(OpSet, "max.connections.per.ip.overrides", "1.2.3.4:5")}, 0},
		{"the listeners it has", []Op{op(OpSet, "listeners", "PLAINTEXT://127.0.0.1:19500,CONTROLLER://127.0.0.1:19501")}, 0},
	} {
		_, err := l.AlterBroker(c.ops)
		wantCode(t, c.what, err, c.code)
	}
	// Threads may go to double of what they are now, again and again.
	set, err := l.AlterBroker([]Op{op(OpSet, "num.io.threads", "16")})
	wantCode(t, "double", err, 0)
	_, err = l.With(nil, set).AlterBroker([]Op{op(OpSet, "num.io.threads", "32")})
	wantCode(t, "double again", err, 0)
	_, err = l.AlterBroker([]Op{op(OpSet, "num.io.threads", "32")})
	wantCode(t, "four times", err, 42)
}

func TestMinInsyncOfAllBrokers(t *testing.T) {
	l := kafkaNode(t)
	_, err := l.AlterAllBrokers([]Op{op(OpSet, minInsync, "2")})
	wantCode(t, "set for all", err, 0)
	_, err = l.AlterAllBrokers([]Op{del(minInsync)})
	wantCode(t, "delete for all", err, 40)
	_, err = l.AlterAllBrokers([]Op{op(OpSet, minInsync, "x")})
	wantCode(t, "bad for all", err, 42)
	_, err = l.AlterBroker([]Op{op(OpSet, minInsync, "1")})
	wantCode(t, "set for one", err, 40)
	_, err = l.AlterBroker([]Op{del(minInsync)})
	wantCode(t, "delete for one", err, 40)
	_, err = l.AlterBroker([]Op{op(OpSet, minInsync, "0")})
	wantCode(t, "bad for one", err, 42)
	_, err = l.ReplaceAllBrokers(nil)
	wantCode(t, "replace for all by nothing", err, 40)
	_, err = l.ReplaceAllBrokers([]Pair{pair("log.cleaner.backoff.ms", "5")})
	wantCode(t, "replace for all without it", err, 40)
	set, err := l.ReplaceAllBrokers([]Pair{pair(minInsync, "2"), pair("log.cleaner.backoff.ms", "5")})
	wantCode(t, "replace for all with it", err, 0)
	if l.With(set, nil).Topic(nil).MinInsyncReplicas != 2 {
		t.Error("the new value does not reach topics")
	}
	_, err = l.ReplaceBroker(nil)
	wantCode(t, "replace for one by nothing", err, 0)
	_, err = l.ReplaceBroker([]Pair{pair("num.partitions", "x")})
	wantCode(t, "replace for one with a fixed key", err, 42)
	if got := FormatDefaults(Set{minInsync: " 2 "})[minInsync]; got != "2" {
		t.Errorf("formatted with %q", got)
	}
}

func TestOtherResources(t *testing.T) {
	l := kafkaNode(t)
	for _, c := range []struct {
		ops  []Op
		code int16
	}{
		{[]Op{op(OpSet, "consumer.session.timeout.ms", "44999")}, 40},
		{[]Op{op(OpSet, "consumer.session.timeout.ms", "60000")}, 0},
		{[]Op{op(OpSet, "consumer.session.timeout.ms", "60001")}, 40},
		{[]Op{op(OpSet, "consumer.heartbeat.interval.ms", "15000")}, 0},
		{[]Op{op(OpSet, "consumer.heartbeat.interval.ms", "15001")}, 40},
		{[]Op{op(OpSet, "share.record.lock.duration.ms", "14999")}, 40},
		{[]Op{op(OpSet, "share.record.lock.duration.ms", "60000")}, 0},
		{[]Op{op(OpSet, "share.auto.offset.reset", "by_duration:PT1H")}, 0},
		{[]Op{op(OpSet, "share.auto.offset.reset", "EARLIEST")}, 40},
		{[]Op{op(OpSet, "streams.num.standby.replicas", "3")}, 40},
		{[]Op{op(OpSet, "streams.assignor.name", "x")}, 40},
		{[]Op{op(OpSet, "errors.deadletterqueue.topic.name", "__x")}, 40},
		{[]Op{op(OpSet, "no.such.key", "1")}, 40},
		{[]Op{op(OpSet, "retention.ms", "1")}, 40},
		{[]Op{del("no.such.key")}, 0},
		{[]Op{op(OpAppend, "streams.rack.aware.assignment.tags", "a")}, 40},
	} {
		_, err := l.AlterGroup(nil, c.ops)
		wantCode(t, "group "+c.ops[0].Name, err, c.code)
	}
	for _, c := range []struct {
		op   Op
		code int16
	}{
		{op(OpSet, "interval.ms", "99"), 42}, {op(OpSet, "interval.ms", "100"), 0}, {op(OpSet, "interval.ms", "3600000"), 0}, {op(OpSet, "interval.ms", "3600001"), 42},
		{op(OpSet, "interval.ms", "x"), 40}, {op(OpSet, "match", "x"), 40}, {op(OpSet, "match", "client_id=["), 40}, {op(OpSet, "match", "no_such=1"), 40},
		{op(OpSet, "match", "client_instance_id=x,client_software_name=y"), 0}, {op(OpSet, "metrics", ""), 0}, {op(OpSet, "metrics", "*"), 0},
		{op(OpSet, "no.such.key", "1"), 42}, {del("no.such.key"), 0}, {op(OpAppend, "metrics", "e.f"), 40},
	} {
		_, err := AlterClientMetrics(nil, []Op{c.op})
		wantCode(t, "metrics "+c.op.Name, err, c.code)
	}
	known := func(name string) bool { return name == "kafka" }
	for _, c := range []struct {
		op   Op
		code int16
	}{
		{op(OpSet, "root", "INFO"), 0}, {op(OpSet, "root", "LOUD"), 40}, {op(OpSet, "root", ""), 40}, {op(OpSet, "no.such.logger", "INFO"), 40}, {op(OpSet, "kafka", "WARN"), 0},
		{del("root"), 42}, {del("kafka"), 0}, {op(OpAppend, "root", "INFO"), 42}, {op(OpSubtract, "root", "INFO"), 42}, {Op{OpSet, "root", nil}, 42},
	} {
		wantCode(t, "logger "+c.op.Name, CheckLoggers([]Op{c.op}, known), c.code)
	}
}
