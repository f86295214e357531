package config

import (
	"bufio"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// accepted is one line of testdata/accepts_*.txt: how a running Kafka judged
// the values of one key.
type accepted struct {
	key  string
	code map[string]int16 // by value; 0 is accepted
}

func readAccepts(t *testing.T, path string) []*accepted {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var values []string
	byKey := map[string]*accepted{}
	var all []*accepted
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "values "); ok {
			values = quoted(t, rest)
			continue
		}
		fields := strings.SplitN(line+" ", " ", 4)
		code, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(line)
		}
		a := byKey[fields[0]]
		if a == nil {
			a = &accepted{key: fields[0], code: map[string]int16{}}
			byKey[fields[0]] = a
			all = append(all, a)
			for _, v := range values {
				a.code[v] = 0
			}
		}
		named := quoted(t, fields[3])
		for _, v := range values {
			if slices.Contains(named, v) != (fields[2] == "only") {
				if fields[2] != "refused" || slices.Contains(named, v) {
					a.code[v] = int16(code)
				}
			}
		}
	}
	if lines.Err() != nil || len(values) == 0 || len(all) == 0 {
		t.Fatal(path, lines.Err())
	}
	return all
}

func quoted(t *testing.T, s string) []string {
	t.Helper()
	var out []string
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		prefix, err := strconv.QuotedPrefix(s)
		if err != nil {
			t.Fatal(s)
		}
		text, err := strconv.Unquote(prefix)
		if err != nil {
			t.Fatal(prefix)
		}
		out, s = append(out, text), s[len(prefix):]
	}
	return out
}

// kafkaNode is the broker the values were tried on.
func kafkaNode(t *testing.T) *Layers {
	t.Helper()
	loaded, err := Build("server.properties", []byte(`process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:19501
listeners=PLAINTEXT://127.0.0.1:19500,CONTROLLER://127.0.0.1:19501
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
log.dirs=data
group.initial.rebalance.delay.ms=0
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Layers().With(FormatDefaults(loaded.Static), nil)
}

func checkAccepts(t *testing.T, path string, try func(key, value string) *AlterError) {
	t.Helper()
	keys := 0
	for _, a := range readAccepts(t, path) {
		keys++
		for value, want := range a.code {
			err := try(a.key, value)
			got := int16(0)
			if err != nil {
				got = err.Code
				if err.Message == "" {
					t.Errorf("%s=%q: refused without a text", a.key, value)
				}
			}
			if got != want {
				t.Errorf("%s=%q: code %d, Kafka says %d (%v)", a.key, value, got, want, err)
			}
		}
	}
	t.Logf("%d keys", keys)
}

func setOp(key, value string) []Op { return []Op{{OpSet, key, &value}} }

func TestTopicAcceptsWhatKafkaAccepts(t *testing.T) {
	l := kafkaNode(t)
	checkAccepts(t, "testdata/accepts_topic.txt", func(key, value string) *AlterError {
		_, err := l.AlterTopic(nil, setOp(key, value))
		return err
	})
}

func TestBrokerAcceptsWhatKafkaAccepts(t *testing.T) {
	l := kafkaNode(t)
	checkAccepts(t, "testdata/accepts_broker.txt", func(key, value string) *AlterError {
		_, err := l.AlterBroker(setOp(key, value))
		return err
	})
	checkAccepts(t, "testdata/accepts_all_brokers.txt", func(key, value string) *AlterError {
		_, err := l.AlterAllBrokers(setOp(key, value))
		return err
	})
}

func TestGroupsAndMetricsAcceptWhatKafkaAccepts(t *testing.T) {
	l := kafkaNode(t)
	checkAccepts(t, "testdata/accepts_others.txt", func(key, value string) *AlterError {
		if _, ok := Lookup(Group, key); ok {
			_, err := l.AlterGroup(nil, setOp(key, value))
			return err
		}
		_, err := AlterClientMetrics(nil, setOp(key, value))
		return err
	})
}
