package cli

import (
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Process is a tool that runs while the test goes on. Owned by its test; the buffers are filled by goroutines of their own.
type Process struct {
	t    *testing.T
	name string
	cmd  *exec.Cmd
	In   io.WriteCloser
	out  lineBuffer
	err  lineBuffer
}

// lineBuffer keeps the lines of a stream. Any goroutine.
type lineBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *lineBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lineBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// Begin starts a tool. It is killed at the end of the test if it still runs.
func (r *Runner) Begin(t *testing.T, tool string, args ...string) *Process {
	t.Helper()
	c := exec.Command(filepath.Join(r.Tools, tool), args...)
	c.Dir = r.Dir
	c.Env = append(c.Environ(), "MILLRACE_BOOTSTRAP="+r.Bootstrap)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p := &Process{t: t, name: tool + " " + strings.Join(args, " "), cmd: c}
	c.Stdout, c.Stderr = &p.out, &p.err
	var err error
	if p.In, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
	})
	return p
}

// Lines are the whole lines on stdout so far, without the notes on renamed options that Kafka's tools print there.
func (p *Process) Lines() []string {
	text := p.out.String()
	text = text[:strings.LastIndexByte(text, '\n')+1]
	var out []string
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if l != "" && !strings.Contains(l, "is deprecated and will be removed") {
			out = append(out, l)
		}
	}
	return out
}

// Wait waits until stdout has these lines, in this order, and no others.
func (p *Process) Wait(want ...string) {
	p.t.Helper()
	waitFor(p.t, p.name, func() (string, bool) {
		got := p.Lines()
		return "stdout " + strings.Join(got, "|") + ", stderr " + p.err.String(), slices.Equal(got, want)
	})
}

// End sends SIGINT, as Ctrl-C does, and waits for the end.
func (p *Process) End() {
	p.t.Helper()
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT)
	done := make(chan struct{})
	go func() {
		_ = p.cmd.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		p.t.Errorf("%s does not end on SIGINT", p.name)
	}
}

// waitFor polls until done says so; what it says besides is shown when it never does.
func waitFor(t *testing.T, what string, done func() (string, bool)) {
	t.Helper()
	const limit = 60 * time.Second
	var last string
	for begin := time.Now(); time.Since(begin) < limit; time.Sleep(100 * time.Millisecond) {
		state, ok := done()
		if ok {
			return
		}
		last = state
	}
	t.Fatalf("%s: not within %v: %s", what, limit, last)
}
