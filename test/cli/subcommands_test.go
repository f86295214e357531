package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// answer is what a call of a subcommand must come to. Immutable.
type answer struct {
	command string
	exit    int
	stdout  []string // nil: anything
	stderr  string   // a part of the one line there; "" where stderr must be empty
}

func own(t *testing.T) *Runner {
	return &Runner{Dir: t.TempDir(), Tools: OwnTools(t), Bootstrap: BrokerAddr(t), Limit: time.Minute}
}

func (r *Runner) check(t *testing.T, list []answer) {
	t.Helper()
	for _, a := range list {
		s, err := r.Run(Step{Command: a.command})
		if err != nil {
			t.Errorf("%s: %v", a.command, err)
			continue
		}
		lines := 0
		if a.stderr != "" {
			lines = 1
		}
		if s.Exit != a.exit || len(s.Stderr) != lines || lines == 1 && !strings.Contains(s.Stderr[0], a.stderr) || a.stdout != nil && !slices.Equal(s.Stdout, a.stdout) {
			t.Errorf("%s\n  exit code %d, expected %d\n  stdout %q, expected %q\n  stderr %q, expected one line with %q", a.command, s.Exit, a.exit, s.Stdout, a.stdout, s.Stderr, a.stderr)
		}
	}
}

// none is a stdout that must be empty.
var none = []string{}

// TestSubcommandsRefuse: a bad value ends with 1 and one line that says what is meant, something that is not there with 4, no broker with 3.
func TestSubcommandsRefuse(t *testing.T) {
	r := own(t)
	r.check(t, []answer{
		{"millrace topic create a -p 2 --replication-factor 1", 0, []string{"a"}, ""},
		{"millrace topic create b --replicas 1 -p 1", 0, []string{"b"}, ""},
		{"millrace topic create c --replication-factor 3", 1, none, "target replication factor of 3 cannot be reached because only 1 broker(s) are registered"},
		{"millrace topic create c -p 0", 1, none, "non-positive"},
		{"millrace topic create c -p x", 1, none, `"x" for "-p, --partitions" flag: not a number`},
		{"millrace topic create a", 1, none, "topic a: Topic 'a' already exists."},
		{"millrace topic create a --if-not-exists", 0, []string{"a"}, ""},
		{"millrace topic describe nope", 4, none, "topic nope: not found"},
		{"millrace topic alter nope -p 3", 4, none, "topic nope: not found"},
		{"millrace topic alter nope -c retention.ms=5", 4, none, "topic nope: not found"},
		{"millrace topic create c -c x -b 127.0.0.1:1", 1, none, "is not NAME=VALUE"},
		{"millrace topic alter a -b 127.0.0.1:1", 1, none, "nothing to change"},
		{"millrace topic alter a -p -1 -b 127.0.0.1:1", 1, none, "a number of partitions is meant"},
		{"millrace topic delete nope", 4, none, "topic nope: not found"},
		{"millrace topic delete nope --if-exists", 0, none, ""},
		{"millrace topic list -o xml", 1, none, "text and json are known"},
		{"millrace topic list --timeout 0s", 1, none, "--timeout"},
		{"millrace topic list -b nowhere", 1, none, "HOST:PORT is meant"},
		{"millrace topic list -b 127.0.0.1:1", 3, none, "no broker"},
		{"millrace topic list -X security.protocol=SSL", 3, none, "is TLS switched on at one end only?"},
		{"millrace topc", 1, none, "did you mean topic?"},
		{"echo x | millrace produce a -z lzma", 1, none, "none, gzip, snappy, lz4, zstd are known"},
		{"echo x | millrace produce a --acks 7", 1, none, "all, 1 and 0 are known"},
		{"millrace produce a -f nope", 4, none, "nope: not found"},
		{"echo x | millrace produce a -k :", 1, none, "No key separator found on line number 1"},
		{"millrace consume nope", 4, none, "topic nope: not found"},
		{"millrace consume a -p 9", 4, none, "it has 2 partitions"},
		{"millrace consume a -p 0 --from rubbish", 1, none, "start, end or an offset is meant"},
		{"millrace consume", 1, none, "usage: millrace consume TOPIC"},
		{"millrace consume a --from 7 -b 127.0.0.1:1", 1, none, "which -p names"},
		{"millrace consume a -n 0", 1, none, "a number of messages is meant"},
		{"millrace consume a -g g -p 0", 1, none, "cannot stand together"},
		{"millrace consume 'a(' --regex", 1, none, "invalid regex"},
		{"millrace group describe nope", 4, none, "group nope: not found"},
		{"millrace group delete nope", 4, none, "group nope: not found"},
		{"millrace group delete nope --if-exists", 0, none, ""},
		{"millrace config describe broker/7", 4, none, "broker 7: not found; brokers: 1"},
		{"millrace config set broker/7 log.retention.ms=5", 4, none, "broker 7: not found"},
		{"millrace config describe broker/x", 1, none, "named by its number"},
		{"millrace config describe topic/nope", 4, none, "topic nope: not found"},
		{"millrace config get topic/a nope", 4, none, "key nope: not found"},
		{"millrace config set topic/a nope=1", 1, none, "nope"},
		{"millrace config get topic/a -b 127.0.0.1:1", 1, none, "name the keys to show"},
		{"millrace config set topic/a -b 127.0.0.1:1", 1, none, "nothing to set"},
		{"millrace config check nope", 4, none, "nope: not found"},
		{"millrace log dump nope", 4, none, "nope: not found"},
		{"millrace log verify nope", 4, none, "nope: not found"},
		{"millrace log verify .", 1, none, "holds no .log file"},
		{"mkdir p-0 && touch p-0/00000000000000000000.log && millrace log verify p-0 nope", 4, []string{"p-0: 0 batches, 0 records, 0 problems"}, "nope: not found"},
	})
	for _, where := range []string{"topic describe a", "cluster health", "cluster info"} {
		s, err := r.Run(Step{Command: "millrace " + where})
		if err != nil || s.Exit != 0 || strings.Contains(strings.Join(s.Stdout, "\n"), "1 brokers") || strings.Contains(strings.Join(s.Stdout, "\n"), "OFFSETS") {
			t.Errorf("%s: %v, %d, %q", where, err, s.Exit, s.Stdout)
		}
	}
}

// TestRefusedMessages: unlike Kafka's tool the subcommand ends with 1 where a message was not stored.
func TestRefusedMessages(t *testing.T) {
	r := own(t)
	s, err := r.Run(Step{Command: "echo x | millrace produce a/b -o json"})
	if err != nil || s.Exit != 1 || !slices.Equal(s.Stdout, []string{`{"sent": 0, "refused": 1}`}) || len(s.Stderr) != 2 || !strings.Contains(s.Stderr[0], "invalid topic") ||
		s.Stderr[1] != "millrace: 1 of 1 messages refused" {
		t.Errorf("%v, exit code %d, %q, %q", err, s.Exit, s.Stdout, s.Stderr)
	}
}

// TestSeek: every kind of place, what is refused before the broker is asked, a group that is not there and one that is in use.
func TestSeek(t *testing.T) {
	r := own(t)
	table := func(rows ...string) []string {
		return append([]string{"TOPIC  PARTITION  OFFSET  NEW-OFFSET"}, rows...)
	}
	const notDone = "nothing was changed"
	r.check(t, []answer{
		{"millrace topic create a -p 1", 0, nil, ""},
		{"millrace topic create empty -p 1", 0, nil, ""},
		{"seq 10 | millrace produce a", 0, none, ""},
		{"millrace consume a --from start -g g -n 4", 0, []string{"1", "2", "3", "4"}, "Processed a total of 4 messages"},
		{"millrace group seek nope --to start", 4, none, "group nope: not found"},
		{"millrace group seek nope --to start -t a --execute", 4, none, "group nope: not found"},
		{"millrace group seek g", 1, none, "--to"},
		{"millrace group seek g --to rubbish -b 127.0.0.1:1", 1, none, "it takes start, end, current, an offset, +N or -N messages, a time"},
		{"millrace group seek g --to 2020-01-01 -b 127.0.0.1:1", 1, none, "is none of what is known"},
		{"millrace group seek g --to P1X -b 127.0.0.1:1", 1, none, "is none of what is known"},
		{"millrace group seek g --to +x -b 127.0.0.1:1", 1, none, "is no number of messages"},
		{"millrace group seek g --to 99999999999999999999 -b 127.0.0.1:1", 1, none, "too large"},
		{"millrace group seek g --to start -t nope", 4, none, "topic nope: not found"},
		{"millrace group seek g --to start -t a:7", 4, none, "partition a-7: not found"},
		{"millrace group seek g --to +1 -t empty", 1, none, "no current committed offset"},
		{"millrace group seek g --to end", 0, table("a      0          4       10"), notDone},
		{"millrace group seek g --to +3", 0, table("a      0          4       7"), notDone},
		{"millrace group seek g --to -3", 0, table("a      0          4       1"), notDone},
		{"millrace group seek g --to 6", 0, table("a      0          4       6"), notDone},
		{"millrace group seek g --to 2020-01-01T00:00:00.000", 0, table("a      0          4       0"), notDone},
		{"millrace group seek g --to PT1H", 0, table("a      0          4       0"), notDone},
		{"millrace group seek g --to 2 --execute", 0, table("a      0          4       2"), ""},
		{"millrace group seek g --to start -t empty --execute", 0, table("empty  0          -       0"), ""},
		{"millrace consume a -g g -n 1", 0, []string{"3"}, "Processed a total of 1 messages"},
	})
	s, err := r.Run(Step{Command: "millrace group seek g --to 5 -t a -o json --execute"})
	var got struct {
		Group      string
		Executed   bool
		Partitions []struct {
			Topic     string
			Partition int
			From      *int64
			To        int64
		}
	}
	if err != nil || s.Exit != 0 || json.Unmarshal([]byte(strings.Join(s.Stdout, "\n")), &got) != nil || got.Group != "g" || !got.Executed || len(got.Partitions) != 1 ||
		got.Partitions[0].To != 5 || got.Partitions[0].From == nil || *got.Partitions[0].From != 3 {
		t.Errorf("JSON: %v, exit code %d, %q, %q", err, s.Exit, s.Stdout, s.Stderr)
	}
	r.inUse(t)
}

// inUse: the offsets of a group with a member stay, and a partition without a commit has a lag that nobody knows.
func (r *Runner) inUse(t *testing.T) {
	member := r.Begin(t, "millrace", "consume", "a", "-g", "busy", "-X", "enable.auto.commit=false")
	waitFor(t, "a member", func() (string, bool) {
		s, _ := r.Run(Step{Command: "millrace group describe busy"})
		text := strings.Join(s.Stdout, "\n")
		return text, s.Exit == 0 && strings.Contains(text, "Stable, 1 member, lag -\n") && len(s.Stdout) == 3 && strings.HasPrefix(strings.Join(strings.Fields(s.Stdout[2]), " "), "a 0 - 10 - ")
	})
	r.check(t, []answer{
		{"millrace group seek busy --to start -t a --execute", 1, none, "group busy is in use (Stable, members: 1)"},
		{"millrace group delete busy", 1, none, "not empty"},
		{"kafka-consumer-groups --bootstrap-server $B --group busy --reset-offsets --to-earliest --topic a --execute", 0, []string{"",
			"Error: Assignments can only be reset if the group 'busy' is inactive, but the current state is Stable.", "", "GROUP           TOPIC           PARTITION  NEW-OFFSET"}, ""},
		{"kafka-consumer-groups --bootstrap-server $B --group nope --reset-offsets --to-datetime rubbish --topic a --execute", 0, []string{"",
			"Error: Executing consumer group command failed due to ParseException: Error parsing timestamp. It does not contain a 'T' according to ISO8601 format"},
			"RuntimeException: ParseException: Error parsing timestamp."},
	})
	member.End()
}

// TestJSON: what -o json prints is JSON.
func TestJSON(t *testing.T) {
	r := own(t)
	for _, command := range []string{
		"topic create a -p 1", "topic list", "topic describe a", "config get topic/a retention.ms", "config describe topic/a", "config describe brokers", "config check --override node.id=1",
		"cluster info", "cluster health", "group list", "version", "produce a -f /dev/null",
	} {
		s, err := r.Run(Step{Command: "millrace " + command + " -o json"})
		if err != nil || s.Exit != 0 || len(s.Stderr) > 0 || !json.Valid([]byte(strings.Join(s.Stdout, "\n"))) {
			t.Errorf("%s: %v, exit code %d, %q, %q", command, err, s.Exit, s.Stdout, s.Stderr)
		}
	}
	s, err := r.Run(Step{Command: `printf 'k\tv "1"\n' | millrace produce a -k '\t' && printf '\377\n' | millrace produce a && millrace consume a --from start -n 2 -o json`})
	if err != nil || s.Exit != 0 || len(s.Stdout) != 2 {
		t.Fatalf("%v, exit code %d, %q, %q", err, s.Exit, s.Stdout, s.Stderr)
	}
	for i, want := range []string{`"key":"k","value":"v \"1\""}`, `"key":null,"value":null,"valueBase64":"/w=="}`} {
		if !json.Valid([]byte(s.Stdout[i])) || !strings.HasPrefix(s.Stdout[i], fmt.Sprintf(`{"topic":"a","partition":0,"offset":%d,`, i)) || !strings.HasSuffix(s.Stdout[i], want) {
			t.Errorf("message %d: %s, expected %s", i, s.Stdout[i], want)
		}
	}
	if s, err = r.Run(Step{Command: "millrace group list"}); err != nil || len(s.Stdout) != 1 {
		t.Errorf("a reader without a group left one: %v, %q", err, s.Stdout)
	}
}

// TestEnds: Ctrl-C ends a producer that waits for somebody to type, what was typed before it is there; a reader of the output that goes away ends
// the writer without words.
func TestEnds(t *testing.T) {
	r := own(t)
	r.check(t, []answer{{"millrace topic create a -p 1", 0, nil, ""}})
	for i, tool := range [][]string{{"millrace", "produce", "a"}, {"kafka-console-producer", "--bootstrap-server", r.Bootstrap, "--topic", "a"}} {
		p := r.Begin(t, tool[0], tool[1:]...)
		fmt.Fprintln(p.In, "typed")
		time.Sleep(500 * time.Millisecond) // it has been read by then
		_ = syscall.Kill(p.cmd.Process.Pid, syscall.SIGINT)
		ended := make(chan error, 1)
		go func() { ended <- p.cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
			t.Fatalf("%v does not end on Ctrl-C while it waits for input", tool)
		}
		if code := p.cmd.ProcessState.ExitCode(); code != 130 {
			t.Errorf("%v ends with %d on Ctrl-C: %s", tool, code, p.err.String())
		}
		s, err := r.Run(Step{Command: "kafka-get-offsets --bootstrap-server $B --topic a"})
		if want := fmt.Sprintf("a:0:%d", i+1); err != nil || !slices.Equal(s.Stdout, []string{want}) {
			t.Errorf("%v: %v, %q, expected %s", tool, err, s.Stdout, want)
		}
	}
	r.check(t, []answer{
		{"seq 200000 | millrace produce a", 0, none, ""},
		{"millrace consume a --from start | head -1", 0, []string{"typed"}, ""},
	})
}

// TestCompletion: names come from the broker, and without one nothing comes and nothing is said.
func TestCompletion(t *testing.T) {
	r := own(t)
	r.check(t, []answer{{"millrace topic create orders bills -p 1", 0, nil, ""}})
	for command, want := range map[string]string{
		"topic describe ''": "bills orders", "topic describe bills ''": "orders", "topic delete o": "bills orders", "consume ''": "bills orders", "produce ''": "bills orders",
		"config get ''": "brokers broker/1 topic/bills topic/orders", "config describe topic/bills ''": "", "consume orders --from ''": "start end",
		"topic describe -b 127.0.0.1:1 ''": "", "topic cre": "create", "produce orders --acks ''": "all 1 0",
	} {
		s, err := r.Run(Step{Command: "millrace __complete " + command + " 2>/dev/null"})
		var got []string
		for _, l := range s.Stdout {
			if name, _, _ := strings.Cut(l, "\t"); !strings.HasPrefix(l, ":") {
				got = append(got, name)
			}
		}
		if err != nil || s.Exit != 0 || strings.Join(got, " ") != want {
			t.Errorf("%s: %v, exit code %d, %q, expected %q", command, err, s.Exit, got, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if s, err := r.Run(Step{Command: "millrace completion " + shell}); err != nil || s.Exit != 0 || len(s.Stdout) < 50 {
			t.Errorf("%s: %v, exit code %d, %d lines", shell, err, s.Exit, len(s.Stdout))
		}
	}
}
