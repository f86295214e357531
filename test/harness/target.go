package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Target is the broker that a test package talks to. Immutable once Main has run the tests.
type Target struct {
	Addr   string
	Broker *Broker // nil when the broker was not started by us
	pid    int
}

// PID returns the broker's process id, or 0 if it is not known. MILLRACE_TEST_PID names it for a broker started elsewhere.
func (t *Target) PID() int {
	if t.Broker != nil {
		return t.Broker.PID()
	}
	return t.pid
}

// Main is the body of a TestMain: it provides target, runs the tests and ends the broker. It returns the exit code.
func Main(m *testing.M, target *Target, overrides ...string) int {
	if addr := os.Getenv("MILLRACE_TEST_ADDR"); addr != "" {
		target.Addr = addr
		target.pid, _ = strconv.Atoi(os.Getenv("MILLRACE_TEST_PID"))
		if err := Answers(addr, 5*time.Second); err != nil {
			fmt.Fprintf(os.Stderr, "MILLRACE_TEST_ADDR=%s: %v\n", addr, err)
			return 1
		}
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "millrace-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	b, err := Start(Options{Dir: filepath.Join(dir, "data"), Overrides: overrides})
	if err != nil {
		fmt.Fprintf(os.Stderr, "starting %s: %v\n", Binary(), err)
		return 1
	}
	target.Addr, target.Broker = b.Addr, b
	code := m.Run()
	if !b.Alive() {
		fmt.Fprintf(os.Stderr, "the broker died during the tests: %v\n%s\n", b.err, b.logs.Tail(20000))
		return 1
	}
	if err := b.Stop(15 * time.Second); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if code != 0 {
		fmt.Fprintf(os.Stderr, "--- end of the broker's log\n%s\n", b.logs.Tail(6000))
	}
	return code
}
