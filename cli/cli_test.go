package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/twmb/franz-go/pkg/kerr"

	"millrace/cli/conn"
	"millrace/cli/kafkatool"
)

func TestInstall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "bin")
	program := filepath.Join(t.TempDir(), "millrace")
	n, err := install(program, dir, false, true)
	if err != nil || n != 2*len(kafkatool.Names()) {
		t.Fatalf("%d links, %v", n, err)
	}
	for _, name := range []string{"kafka-topics", "kafka-topics.sh", "kafka-server-start.sh"} {
		if to, err := os.Readlink(filepath.Join(dir, name)); err != nil || to != program {
			t.Errorf("%s leads to %q, %v", name, to, err)
		}
	}
	if _, err := install(program, dir, false, true); err != nil {
		t.Errorf("a second time: %v", err)
	}
	foreign := filepath.Join(dir, "kafka-topics")
	if err := os.Remove(foreign); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(foreign, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := install(program, dir, false, true); err == nil {
		t.Error("a file of the user's was replaced")
	}
	if data, _ := os.ReadFile(foreign); string(data) != "#!/bin/sh\n" {
		t.Errorf("it holds %q now", data)
	}
	if _, err := install(program, dir, true, true); err != nil {
		t.Errorf("--force: %v", err)
	}
}

func TestMainIsForToolsOnly(t *testing.T) {
	if handled, _ := Main([]string{"/usr/bin/millrace", "topic"}, nil); handled {
		t.Error("millrace was taken for a tool")
	}
	if handled, _ := Main(nil, nil); handled {
		t.Error("nothing was taken for a tool")
	}
	file := filepath.Join(t.TempDir(), "server.properties")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var got []string
	handled, code := Main([]string{"bin/kafka-server-start.sh", file, "--override", "node.id=3"}, func(args []string) int {
		got = args
		return 7
	})
	if !handled || code != 7 || !slices.Equal(got, []string{file, "--override", "node.id=3"}) {
		t.Errorf("kafka-server-start: %v, %d, %q", handled, code, got)
	}
}

// TestHelp: every command has a short text, every one that does something takes -h, and flags have texts.
func TestHelp(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Short == "" || strings.HasSuffix(c.Short, ".") {
			t.Errorf("%s: short text %q", c.CommandPath(), c.Short)
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	root := &cobra.Command{Use: "millrace", Short: "x"}
	root.AddCommand(Commands()...)
	config := &cobra.Command{Use: "config", Short: "x"}
	config.AddCommand(ConfigCommands()...)
	root.AddCommand(config)
	walk(root)
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	for _, want := range []string{"topic", "produce", "consume", "group", "config", "log", "cluster", "install-tools"} {
		if !slices.Contains(names, want) {
			t.Errorf("no command %s", want)
		}
	}
}

func TestSeek(t *testing.T) {
	for to, want := range map[string]string{"start": "to-earliest ", "end": "to-latest ", "current": "to-current ", "17": "to-offset 17", "+5": "shift-by 5", "-5": "shift-by -5",
		"PT1H": "by-duration PT1H", "2020-01-01T00:00:00.000": "to-datetime 2020-01-01T00:00:00.000"} {
		flag, value, err := seekFlag(to)
		if err != nil || flag+" "+value != want {
			t.Errorf("%s: %s %s, %v; expected %s", to, flag, value, err, want)
		}
	}
	for _, bad := range []string{"", "+x", "-", "rubbish", "2020-01-01", "P", "PT", "99999999999999999999", "2020-01-01T25:00:00"} {
		if _, _, err := seekFlag(bad); err == nil || !strings.Contains(err.Error(), "it takes start, end, current") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestFrom(t *testing.T) {
	for _, c := range []struct {
		from string
		one  bool
		want string
	}{{"start", false, "--from-beginning"}, {"start", true, "--offset earliest"}, {"end", false, ""}, {"end", true, ""}, {"12", true, "--offset 12"}} {
		if got, err := fromFlag(c.from, c.one); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, %v", c.from, got, err)
		}
	}
	for _, bad := range []string{"", "-1", "x"} {
		if got, err := fromFlag(bad, true); err == nil {
			t.Errorf("%q was taken: %q", bad, got)
		}
	}
	if got, err := fromFlag("12", false); err == nil {
		t.Errorf("an offset without a partition was taken: %q", got)
	}
}

func TestCounted(t *testing.T) {
	for want, got := range map[string]string{"1 broker": counted(1, "broker"), "0 brokers": counted(0, "broker"), "2 batches": counted(int64(2), "batch"), "1 batch": counted(int32(1), "batch")} {
		if got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{errors.New("x"), 1}, {exit(130), 130}, {fmt.Errorf("x: %w", errNotFound), 4}, {fmt.Errorf("x: %w", errUnwell), 5}, {fmt.Errorf("x: %w", conn.ErrNoBroker), 3},
		{kafkatool.ErrNoGroup, 4}, {kerr.UnknownTopicOrPartition, 4}, {refused("group g", kerr.GroupIDNotFound, ""), 4}, {refused("topic t", kerr.InvalidConfig, "no"), 1},
		{MissingFile("f", os.ErrNotExist), 4}, {MissingFile("f", os.ErrPermission), 1},
	} {
		if got := ExitCode(c.err); got != c.want {
			t.Errorf("%v: %d, expected %d", c.err, got, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for text, want := range map[string]place{"topic/a.b": {name: "a.b"}, "broker/3": {broker: true, id: 3}, "brokers": {broker: true, all: true}} {
		if got, err := placeOf(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "topic", "topic/", "broker/x", "broker", "user/a"} {
		if _, err := placeOf(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
