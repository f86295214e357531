package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"millrace/test/harness"
)

// TestWalkthrough is what an introduction to Kafka has its reader do on one broker, with the tools of this project and with Kafka's own.
func TestWalkthrough(t *testing.T) {
	t.Run("own", func(t *testing.T) { walk(t, OwnTools(t), false) })
	t.Run("kafka", func(t *testing.T) {
		walk(t, filepath.Dir(harness.KafkaTool(t, "kafka-topics")), true)
	})
}

func walk(t *testing.T, tools string, java bool) {
	r := &Runner{Dir: t.TempDir(), Tools: tools, Bootstrap: BrokerAddr(t), Limit: 2 * time.Minute, Java: java}
	w := &walker{t: t, r: r}
	w.usages()
	w.topics()
	w.messages()
	w.groups()
	w.pattern()
	w.unicastAndMulticast()
}

type walker struct {
	t *testing.T
	r *Runner
}

// say runs a command that must end with 0 and returns its stdout without notes on renamed options.
func (w *walker) say(command string) []string {
	w.t.Helper()
	s, err := w.r.Run(Step{Command: command})
	if err != nil {
		w.t.Fatalf("%s: %v", command, err)
	}
	if s.Exit != 0 {
		w.t.Fatalf("%s: exit code %d\n%s\n%s", command, s.Exit, strings.Join(s.Stdout, "\n"), strings.Join(s.Stderr, "\n"))
	}
	return slices.DeleteFunc(s.Stdout, func(l string) bool { return strings.Contains(l, "is deprecated and will be removed") })
}

func (w *walker) expect(command string, want ...string) {
	w.t.Helper()
	if got := w.say(command); !slices.Equal(got, want) {
		w.t.Errorf("%s\n  expected %q\n  got      %q", command, want, got)
	}
}

// usages: every tool without arguments prints its usage and ends with 1.
func (w *walker) usages() {
	for _, tool := range []string{"kafka-topics", "kafka-console-producer", "kafka-console-consumer", "kafka-consumer-groups", "kafka-configs"} {
		s, err := w.r.Run(Step{Command: tool + " < /dev/null"})
		if err != nil || s.Exit != 1 || len(s.Stdout) != 0 || !slices.Contains(s.Stderr, "{USAGE}") {
			w.t.Errorf("%s without arguments: %v, exit code %d, stdout %q, stderr %q", tool, err, s.Exit, s.Stdout, s.Stderr)
		}
	}
}

// topics: create, list, describe; a topic that a producer creates.
func (w *walker) topics() {
	w.expect("kafka-topics --create --bootstrap-server $B --replication-factor 1 --partitions 1 --topic test", "Created topic test.")
	w.expect("kafka-topics --list --bootstrap-server $B --exclude-internal", "test")
	w.expect("kafka-topics --describe --bootstrap-server $B --topic test",
		"Topic: test\tTopicId: {ID}\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: min.insync.replicas=1",
		"\tTopic: test\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\tElr: \tLastKnownElr: ")
	w.expect("echo made by writing | kafka-console-producer --bootstrap-server $B --topic made")
	w.expect("kafka-topics --list --bootstrap-server $B --exclude-internal", "made", "test")
	w.expect("kafka-console-consumer --bootstrap-server $B --topic made --from-beginning --max-messages 1", "made by writing")
}

// messages: from a keyboard and from a file; a consumer sees new lines at once.
func (w *walker) messages() {
	consumer := w.r.Begin(w.t, "kafka-console-consumer", "--bootstrap-server", w.r.Bootstrap, "--topic", "test", "--from-beginning", "--consumer-property", "group.id=test1")
	keyboard := w.r.Begin(w.t, "kafka-console-producer", "--bootstrap-server", w.r.Bootstrap, "--topic", "test")
	fmt.Fprintln(keyboard.In, "This is a message")
	consumer.Wait("This is a message")
	fmt.Fprintln(keyboard.In, "This is another message")
	consumer.Wait("This is a message", "This is another message")
	_ = keyboard.In.Close()
	if err := os.WriteFile(filepath.Join(w.r.Dir, "file-input.txt"), []byte("all streams lead to kafka\nhello kafka streams\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.expect("kafka-console-producer --bootstrap-server $B --topic test < file-input.txt")
	consumer.Wait("This is a message", "This is another message", "all streams lead to kafka", "hello kafka streams")
	w.expect("kafka-console-consumer --bootstrap-server $B --topic test --from-beginning --timeout-ms $WAIT",
		"This is a message", "This is another message", "all streams lead to kafka", "hello kafka streams")
	w.member(consumer)
	consumer.End()
}

// member: the group of a running consumer is listed and described with its offsets, its member and where that is.
func (w *walker) member(consumer *Process) {
	if got := w.say("kafka-consumer-groups --bootstrap-server $B --list"); !slices.Contains(got, "test1") {
		w.t.Errorf("groups: %q", got)
	}
	row := regexp.MustCompile(`^test1 +test +0 +4 +4 +0 +console-consumer-\{UUID\} +/127\.0\.0\.1 +console-consumer$`)
	waitFor(w.t, "commit of all four messages", func() (string, bool) {
		got := w.say("kafka-consumer-groups --bootstrap-server $B --describe --group test1")
		ok := len(got) == 3 && got[0] == "" && strings.Join(strings.Fields(got[1]), " ") == "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID" &&
			row.MatchString(got[2])
		return strings.Join(got, "\n"), ok
	})
}

// groups: without members the offsets stay, and lag grows with what is written.
func (w *walker) groups() {
	w.expect("printf '5\\n6\\n7\\n' | kafka-console-producer --bootstrap-server $B --topic test")
	waitFor(w.t, "lag of an empty group", func() (string, bool) {
		got := w.say("kafka-consumer-groups --bootstrap-server $B --describe --group test1")
		if len(got) != 3 {
			return strings.Join(got, "\n"), false
		}
		return got[2], strings.Join(strings.Fields(got[2]), " ") == "test1 test 0 4 7 3 - - -"
	})
	// It goes on where it stopped.
	w.expect("kafka-console-consumer --bootstrap-server $B --topic test --group test1 --max-messages 3", "5", "6", "7")
}

// pattern: several topics by a regular expression.
func (w *walker) pattern() {
	w.expect("kafka-topics --create --bootstrap-server $B --topic test-2", "Created topic test-2.")
	w.expect("echo in the second | kafka-console-producer --bootstrap-server $B --topic test-2")
	got := w.say("kafka-console-consumer --bootstrap-server $B --include 'test|test-2' --from-beginning --max-messages 8")
	slices.Sort(got)
	want := []string{"5", "6", "7", "This is a message", "This is another message", "all streams lead to kafka", "hello kafka streams", "in the second"}
	if !slices.Equal(got, want) {
		w.t.Errorf("two topics by pattern: %q, expected %q", got, want)
	}
}

// unicastAndMulticast: two members of one group share the messages, another group gets all.
func (w *walker) unicastAndMulticast() {
	w.expect("kafka-topics --create --bootstrap-server $B --topic shared --partitions 2", "Created topic shared.")
	begin := func(group string) *Process {
		return w.r.Begin(w.t, "kafka-console-consumer", "--bootstrap-server", w.r.Bootstrap, "--topic", "shared", "--from-beginning", "--group", group)
	}
	first, second, other := begin("queue"), begin("queue"), begin("everything")
	waitFor(w.t, "a partition for each member", func() (string, bool) {
		got := w.say("kafka-consumer-groups --bootstrap-server $B --describe --group queue --members")
		n := 0
		for _, l := range got {
			if f := strings.Fields(l); len(f) == 5 && f[0] == "queue" && f[4] == "1" {
				n++
			}
		}
		return strings.Join(got, "\n"), n == 2
	})
	var lines strings.Builder
	var want []string
	for i := range 40 {
		v := fmt.Sprintf("message-%02d", i)
		want = append(want, v)
		fmt.Fprintf(&lines, "key%d:%s\n", i, v)
	}
	if err := os.WriteFile(filepath.Join(w.r.Dir, "shared.txt"), []byte(lines.String()), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.expect("kafka-console-producer --bootstrap-server $B --topic shared --property parse.key=true --property key.separator=: < shared.txt")
	waitFor(w.t, "all messages in both groups", func() (string, bool) {
		a, b, all := first.Lines(), second.Lines(), other.Lines()
		return fmt.Sprintf("%d + %d, %d", len(a), len(b), len(all)), len(a)+len(b) >= len(want) && len(all) >= len(want)
	})
	time.Sleep(500 * time.Millisecond) // one that comes twice comes now
	a, b, all := first.Lines(), second.Lines(), other.Lines()
	if len(a) == 0 || len(b) == 0 {
		w.t.Errorf("one member got everything: %d and %d messages", len(a), len(b))
	}
	for name, got := range map[string][]string{"unicast": append(slices.Clone(a), b...), "multicast": all} {
		slices.Sort(got)
		if !slices.Equal(got, want) {
			w.t.Errorf("%s: %q", name, got)
		}
	}
	for _, p := range []*Process{first, second, other} {
		p.End()
	}
}

// TestFirstGeneration is the same road with the flags of introductions to Kafka 1.x, which Kafka's own tools have given up.
func TestFirstGeneration(t *testing.T) {
	w := &walker{t: t, r: &Runner{Dir: t.TempDir(), Tools: OwnTools(t), Bootstrap: BrokerAddr(t), Limit: time.Minute}}
	told := func(command, note string, want ...string) {
		t.Helper()
		s, err := w.r.Run(Step{Command: command})
		if err != nil || s.Exit != 0 || !slices.Equal(s.Stdout, want) {
			t.Errorf("%s: %v, exit code %d\n  expected %q\n  got      %q\n  stderr   %q", command, err, s.Exit, want, s.Stdout, s.Stderr)
		}
		n := 0
		for _, l := range s.Stderr {
			if strings.Contains(l, note) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d lines of stderr tell of %s: %q", command, n, note, s.Stderr)
		}
	}
	told("kafka-topics.sh --create --zookeeper localhost:2181 --replication-factor 1 --partitions 1 --topic test", "--zookeeper", "Created topic test.")
	told("kafka-topics.sh --list --zookeeper localhost:2181 --exclude-internal", "--zookeeper", "test")
	told("printf 'one\\ntwo\\n' | kafka-console-producer.sh --broker-list $B --topic test", "--broker-list")
	told("kafka-console-consumer.sh --zookeeper localhost:2181 --topic test --from-beginning --max-messages 2", "--zookeeper", "one", "two")
	told("kafka-console-consumer.sh --new-consumer --bootstrap-server $B --topic test --from-beginning --max-messages 2", "--new-consumer", "one", "two")
	told("kafka-console-consumer.sh --bootstrap-server $B --whitelist 'te.*' --from-beginning --max-messages 2", "--whitelist", "one", "two")
	told("kafka-consumer-groups.sh --new-consumer --bootstrap-server $B --list | grep -c console-consumer", "--new-consumer", "3")
	told("kafka-consumer-groups.sh --zookeeper localhost:2181 --list | grep -c console-consumer", "--zookeeper", "3")
	told("kafka-console-consumer.sh --zookeeper=localhost:2181/chroot --topic test --from-beginning --max-messages 2 --delete-consumer-offsets", "--delete-consumer-offsets", "one", "two")
	told("echo three | kafka-console-producer.sh --broker-list $B --topic test --new-producer", "--new-producer")
	told("kafka-configs.sh --zookeeper localhost:2181 --entity-type topics --entity-name test --alter --add-config retention.ms=3600000", "--zookeeper", "Completed updating config for topic test.")
	told("kafka-get-offsets.sh --broker-list $B --topic test", "--broker-list", "test:0:3")
	told("kafka-topics.sh --alter --zookeeper localhost:2181 --topic test --partitions 2 --force", "--zookeeper")
	told("kafka-topics.sh --zookeeper --describe --topic test | grep -c Leader:", "--zookeeper", "2")
	told("kafka-log-dirs.sh --zookeeper localhost:2181 --describe --topic-list test | grep -c test-1", "--zookeeper", "1")
	told("kafka-broker-api-versions.sh --broker-list $B | grep -c 'Produce('", "--broker-list", "1")
	told("kafka-topics.sh --delete --zookeeper localhost:2181 --topic test", "--zookeeper")
}

// TestServerScripts: kafka-server-start -daemon returns at once, its output is in a file, and kafka-server-stop ends the broker cleanly.
func TestServerScripts(t *testing.T) {
	port, err := harness.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	r := &Runner{Dir: t.TempDir(), Tools: OwnTools(t), Bootstrap: fmt.Sprintf("127.0.0.1:%d", port), Limit: time.Minute}
	// Properties of the first generation: broker.id and zookeeper.connect. A number that no other test's broker has, for the stop.
	const id = 90417
	text := fmt.Sprintf("broker.id=%d\nlisteners=PLAINTEXT://127.0.0.1:%d\nlog.dirs=%s\nzookeeper.connect=localhost:2181\nadmin.listen=none\nreserved.broker.max.id=100000\n", id, port, filepath.Join(r.Dir, "data"))
	if err := os.WriteFile(filepath.Join(r.Dir, "server.properties"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	stop := fmt.Sprintf("kafka-server-stop.sh --node-id=%d", id)
	t.Cleanup(func() { _, _ = r.Run(Step{Command: stop}) })
	r.check(t, []answer{
		{"kafka-server-start.sh", 1, none, "USAGE: kafka-server-start.sh [-daemon] server.properties [--override property=value]*"},
		{"kafka-server-start.sh -daemon nosuch.properties", 1, none, "nosuch.properties"},
		{stop, 1, []string{"No kafka server to stop"}, ""},
		{"kafka-server-start.sh -daemon server.properties", 0, none, ""},
		{"kafka-topics.sh --bootstrap-server $B --create --topic t --partitions 1", 0, []string{"Created topic t."}, ""}, // it waits for the broker
		{stop, 0, none, ""},
	})
	log := filepath.Join(r.Dir, "logs", "kafkaServer.out")
	waitFor(t, "a clean stop", func() (string, bool) {
		data, err := os.ReadFile(log)
		return fmt.Sprintf("%s %v", data, err), strings.Contains(string(data), "stopped cleanly")
	})
	r.check(t, []answer{{stop, 1, []string{"No kafka server to stop"}, ""}, {"millrace log verify data/t-0", 0, []string{"data/t-0: 0 batches, 0 records, 0 problems"}, ""}})
}
