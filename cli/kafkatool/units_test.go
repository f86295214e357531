package kafkatool

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// call runs a tool and returns its code and both streams.
func call(t *testing.T, env map[string]string, name string, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e strings.Builder
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond) // nobody answers anyway
	defer cancel()
	code = Run(&Env{Ctx: ctx, Name: name, In: strings.NewReader(""), Out: bufio.NewWriter(&o), Err: &e, Getenv: func(k string) string { return env[k] }}, args)
	return code, o.String(), e.String()
}

func TestEveryToolHasUsageAndVersion(t *testing.T) {
	for _, name := range Names() {
		if IsServer(name) || name == producerPerfName { // its usage is another one: TestProducerPerfUsage
			continue
		}
		code, out, errs := call(t, nil, name)
		if code != 1 || out != "" || !strings.Contains(errs, "\nOption ") || !strings.Contains(errs, "--help") {
			t.Errorf("%s: exit code %d, stdout %q, stderr %.80q", name, code, out, errs)
		}
		if code, out, errs := call(t, nil, name+".sh", "--version"); code != 0 || out != "4.4.0\n" || errs != "" {
			t.Errorf("%s.sh --version: exit code %d, %q, %q", name, code, out, errs)
		}
		if code, _, errs := call(t, nil, name, "--nosuch"); code != 1 || !strings.Contains(errs, "nosuch is not a recognized option") {
			t.Errorf("%s --nosuch: exit code %d, %q", name, code, errs)
		}
	}
	if Knows("kafka-nosuch") || Knows("millrace") || !Knows("/usr/local/bin/kafka-topics.sh") {
		t.Error("names of tools")
	}
}

func TestOldFlags(t *testing.T) {
	env := map[string]string{"MILLRACE_BOOTSTRAP": "127.0.0.1:1"}
	// Nobody listens there; what matters is where it looked and what it said.
	code, out, errs := call(t, env, "kafka-topics", "--zookeeper", "localhost:2181/chroot", "--list")
	if code != 1 || !strings.Contains(out, "127.0.0.1:1 could not be established") || strings.Count(errs, "--zookeeper:") != 1 {
		t.Errorf("exit code %d, %q, %q", code, out, errs)
	}
	if code, _, errs = call(t, env, "kafka-console-consumer", "--zookeeper=z:1", "--whitelist", "a|b", "--bootstrap-server", "127.0.0.1:1", "--new-consumer"); code != 1 ||
		!strings.Contains(errs, "--zookeeper is ignored") || !strings.Contains(errs, "--whitelist is called --include") || !strings.Contains(errs, "--new-consumer is ignored") {
		t.Errorf("exit code %d, %q", code, errs)
	}
	// --broker-list of kafka-log-dirs means something else and stays.
	if _, _, errs = call(t, env, "kafka-log-dirs", "--bootstrap-server", "127.0.0.1:1", "--describe", "--broker-list", "1"); strings.Contains(errs, "is called") {
		t.Errorf("log-dirs: %q", errs)
	}
}

func TestDatetime(t *testing.T) {
	for text, want := range map[string]string{
		"2020-01-02T03:04:05.678":       "2020-01-02T03:04:05.678Z",
		"2020-01-02T03:04:05":           "2020-01-02T03:04:05Z",
		"2020-01-02T03:04:05.678Z":      "2020-01-02T03:04:05.678Z",
		"2020-01-02T03:04:05.678+05:30": "2020-01-01T21:34:05.678Z",
		"2020-01-02T03:04:05-0100":      "2020-01-02T04:04:05Z",
		"2020-01-02T03:04:05+01":        "2020-01-02T02:04:05Z",
	} {
		got, err := parseDatetime(text)
		if err != nil || got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s: %v, %v; expected %s", text, got.UTC(), err, want)
		}
	}
	for _, text := range []string{"", "2020-01-02", "T", "2020-13-02T03:04:05", "2020-01-02T25:00:00"} {
		if _, err := parseDatetime(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"P1D": 24 * time.Hour, "PT1H30M": 90 * time.Minute, "P2DT3H4M5S": 51*time.Hour + 4*time.Minute + 5*time.Second, "PT0.5S": time.Second / 2,
		"pt10m": 10 * time.Minute, "PT-6H+3M": -6*time.Hour + 3*time.Minute, "-PT6H": -6 * time.Hour,
	} {
		if got, err := parseDuration(text); err != nil || got != want {
			t.Errorf("%s: %v, %v; expected %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "P", "PT", "P1DT", "1D", "P1H", "PT99999999999999H", "soon"} {
		if d, err := parseDuration(text); err == nil {
			t.Errorf("%q was taken as %v", text, d)
		}
	}
}

func TestPairsInBrackets(t *testing.T) {
	got := splitPairs("a=1, b=[x,y] ,c=,d=[p]")
	if want := []string{"a=1", "b=[x,y]", "c=", "d=[p]"}; strings.Join(got, ";") != strings.Join(want, ";") {
		t.Errorf("%q, expected %q", got, want)
	}
}

func TestPartitionPatterns(t *testing.T) {
	f, err := patternFilter("one:1,two:0-2,three,four:5-,five:-3,:7,s.*:0")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"one:1": true, "one:0": false, "two:0": true, "two:2": false, "three:9": true, "four:4": false, "four:5": true,
		"five:2": true, "five:3": false, "other:7": true, "other:6": false, "six:0": true, "six:1": false} {
		topic, p, _ := strings.Cut(name, ":")
		if got := f(topicPartition{topic, int32(p[0] - '0')}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if _, err := patternFilter("a:b"); err == nil {
		t.Error("a:b was taken")
	}
}

func TestCSV(t *testing.T) {
	path := filepath.Join(t.TempDir(), "offsets.csv")
	if err := os.WriteFile(path, []byte("\"g\",\"t\",0,5\nh,t,1,6\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	set := groupsOptions()
	v, err := set.Parse([]string{"--from-file", path})
	if err != nil {
		t.Fatal(err)
	}
	g := &groupCommand{v: v}
	got, err := g.readCSV([]string{"g", "h"})
	if err != nil || got["g"][topicPartition{"t", 0}] != 5 || got["h"][topicPartition{"t", 1}] != 6 {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("t,0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := g.readCSV([]string{"g"}); err == nil {
		t.Error("a line of two fields was taken")
	}
}

func TestDeserializers(t *testing.T) {
	const p = "org.apache.kafka.common.serialization."
	for class, c := range map[string]struct{ in, want string }{
		p + "StringDeserializer": {"abc", "abc"}, p + "LongDeserializer": {"\xff\xff\xff\xff\xff\xff\xff\xfe", "-2"}, p + "IntegerDeserializer": {"\x00\x00\x01\x00", "256"},
		p + "DoubleDeserializer": {"\x40\x09\x00\x00\x00\x00\x00\x00", "3.125"}, p + "FloatDeserializer": {"\x40\x00\x00\x00", "2.0"}, p + "ShortDeserializer": {"\x00\x07", "7"}, "": {"x", "x"},
	} {
		f, err := deserializer(class)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := f([]byte(c.in)); err != nil || got != c.want {
			t.Errorf("%s: %q, %v; expected %q", class, got, err, c.want)
		}
	}
	f, _ := deserializer(p + "LongDeserializer")
	if _, err := f([]byte("short")); err == nil {
		t.Error("five bytes were taken for a long")
	}
	if _, err := deserializer("com.example.MyDeserializer"); err == nil {
		t.Error("a class of the user's was taken")
	}
}

// TestMembersOfBothProtocols: --verbose has a column more while a group moves from one protocol to the other.
func TestMembersOfBothProtocols(t *testing.T) {
	v, err := groupsOptions().Parse([]string{"--bootstrap-server", "b:1", "--describe", "--group", "g", "--members", "--verbose"})
	if err != nil {
		t.Fatal(err)
	}
	show := func(kinds ...int8) []string {
		info := &groupInfo{id: "g", state: "Stable", consumer: true, target: 5}
		for _, k := range kinds {
			info.members = append(info.members, memberInfo{id: "m", host: "/h", client: "c", epoch: 5, kind: k, target: map[string][]int32{"a-topic-with-a-name": {1, 0}}})
		}
		var out strings.Builder
		e := &Env{Out: bufio.NewWriter(&out), Err: io.Discard}
		(&groupCommand{e: e, v: v}).printMembers(info)
		_ = e.Out.Flush()
		return strings.Split(strings.Trim(out.String(), "\n"), "\n")
	}
	both := show(consumerMember, classicMember)
	for i, end := range []string{" TARGET-EPOCH    TARGET-ASSIGNMENT       UPGRADED", " 5               a-topic-with-a-name:0,1 true", " 5               a-topic-with-a-name:0,1 false"} {
		if len(both) != 3 || !strings.HasSuffix(both[i], end) {
			t.Errorf("both: %q, line %d should end with %q", both, i, end)
		}
	}
	for _, one := range [][]string{show(consumerMember, consumerMember), show(classicMember), show(-1)} {
		if !strings.HasSuffix(one[0], " TARGET-ASSIGNMENT      ") || !strings.HasSuffix(one[1], ":0,1") {
			t.Errorf("one kind: %q", one)
		}
	}
}
