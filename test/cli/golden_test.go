package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"millrace/test/harness"
)

// TestGolden replays what Kafka's tools were seen to say. A line that differs on purpose is changed in the script, with a comment there.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(harness.Root(), "cli", "testdata", "golden", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	record := os.Getenv("MILLRACE_RECORD") != ""
	tools := Tools(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			steps, err := ParseScript(string(text))
			if err != nil {
				t.Fatal(err)
			}
			r := &Runner{Dir: t.TempDir(), Tools: tools, Bootstrap: BrokerAddr(t), Limit: 2 * time.Minute,
				Fixtures: harness.Root(), Java: os.Getenv("MILLRACE_TEST_TOOLS") != ""}
			defer r.Kill()
			for i, want := range steps {
				got, err := r.Run(want)
				if err != nil {
					t.Errorf("%s:%d: %s: %v", filepath.Base(file), want.Line, want.Command, err)
					continue
				}
				if record {
					steps[i] = got
				} else {
					compare(t, filepath.Base(file), want, got)
				}
			}
			if record {
				if err := os.WriteFile(file, []byte(FormatScript(steps)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func compare(t *testing.T, file string, want, got Step) {
	t.Helper()
	if want.Background {
		return
	}
	if want.Exit == got.Exit && slices.Equal(want.Stdout, got.Stdout) && slices.Equal(want.Stderr, got.Stderr) {
		return
	}
	var b strings.Builder
	if want.Exit != got.Exit {
		fmt.Fprintf(&b, "exit code %d, expected %d\n", got.Exit, want.Exit)
	}
	differences(&b, "stdout", want.Stdout, got.Stdout)
	differences(&b, "stderr", want.Stderr, got.Stderr)
	t.Errorf("%s:%d: %s\n%s", file, want.Line, want.Command, b.String())
}

// differences tells the first lines that differ.
func differences(b *strings.Builder, name string, want, got []string) {
	const few = 4
	told := 0
	for i := range max(len(want), len(got)) {
		w, g := "(nothing)", "(nothing)"
		if i < len(want) {
			w = strconv.Quote(want[i])
		}
		if i < len(got) {
			g = strconv.Quote(got[i])
		}
		if w != g {
			if told++; told > few {
				return
			}
			fmt.Fprintf(b, "%s line %d\n  expected %s\n  got      %s\n", name, i+1, w, g)
		}
	}
}
