package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Step is one command of a script with what it is expected to say. Immutable once read.
type Step struct {
	Line       int      // in the script
	Comment    []string // lines before it that say something to a reader, and empty ones
	Command    string
	Background bool // runs until the script's end or the next kill
	Stdout     []string
	Stderr     []string
	Exit       int
}

// ParseScript reads a script. Lines: "$ command" runs a shell command, "& command" one that stays, "> text" and "! text" are lines expected on
// stdout and stderr, "= code" is the exit code, "# text" a comment.
func ParseScript(text string) ([]Step, error) {
	var steps []Step
	var comment []string
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		kind, rest, _ := strings.Cut(line, " ")
		cur := len(steps) - 1
		switch kind {
		case "$", "&":
			steps = append(steps, Step{Line: i + 1, Comment: comment, Command: rest, Background: kind == "&"})
			comment = nil
			continue
		case "#", "":
			comment = append(comment, line)
			continue
		}
		if cur < 0 {
			return nil, fmt.Errorf("line %d: output before the first command", i+1)
		}
		switch kind {
		case ">":
			steps[cur].Stdout = append(steps[cur].Stdout, rest)
		case "!":
			steps[cur].Stderr = append(steps[cur].Stderr, rest)
		case "=":
			if _, err := fmt.Sscan(rest, &steps[cur].Exit); err != nil {
				return nil, fmt.Errorf("line %d: %w", i+1, err)
			}
		default:
			return nil, fmt.Errorf("line %d: %q is no kind of line", i+1, kind)
		}
	}
	return steps, nil
}

// FormatScript is the text that ParseScript reads.
func FormatScript(steps []Step) string {
	var b strings.Builder
	for _, s := range steps {
		for _, c := range s.Comment {
			b.WriteString(c + "\n")
		}
		kind := "$"
		if s.Background {
			kind = "&"
		}
		fmt.Fprintf(&b, "%s %s\n", kind, s.Command)
		if s.Background {
			continue
		}
		for _, l := range s.Stdout {
			b.WriteString("> " + l + "\n")
		}
		for _, l := range s.Stderr {
			b.WriteString("! " + l + "\n")
		}
		fmt.Fprintf(&b, "= %d\n", s.Exit)
	}
	return b.String()
}

// Runner runs steps in one folder with one set of tools. Owned by its test.
type Runner struct {
	Dir       string // working directory of the commands
	Tools     string // folder searched first for commands
	Bootstrap string // $B of the commands
	Fixtures  string // $FIXTURES: the root of the repository, for files of Apache Kafka
	Limit     time.Duration
	Java      bool // the tools are slow to start: $PAUSE (seconds until a consumer has joined) and $WAIT (--timeout-ms) are long
	bg        []*exec.Cmd
}

func (r *Runner) command(ctx context.Context, line string) *exec.Cmd {
	c := exec.CommandContext(ctx, "sh", "-c", line)
	c.Dir = r.Dir
	pause, wait := "PAUSE=3", "WAIT=2500"
	if r.Java {
		pause, wait = "PAUSE=10", "WAIT=8000"
	}
	c.Env = append(os.Environ(), pause, wait, "PATH="+r.Tools+":"+os.Getenv("PATH"), "B="+r.Bootstrap, "TZ=UTC", "FIXTURES="+r.Fixtures, "MILLRACE_BOOTSTRAP="+r.Bootstrap)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// Run carries out one step and returns it with the output it really made, variable parts replaced.
func (r *Runner) Run(s Step) (Step, error) {
	if s.Background {
		c := r.command(context.Background(), s.Command)
		r.bg = append(r.bg, c)
		return s, c.Start()
	}
	if s.Command == "kill" {
		r.Kill()
		s.Exit = 0
		return s, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), r.Limit)
	defer cancel()
	c := r.command(ctx, s.Command)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return s, err
	}
	if ctx.Err() != nil {
		return s, fmt.Errorf("not done after %v; stdout %q, stderr %q", r.Limit, out.String(), errs.String())
	}
	s.Exit = c.ProcessState.ExitCode()
	s.Stdout = r.normalize(s.Command, out.String(), false)
	s.Stderr = r.normalize(s.Command, errs.String(), true)
	return s, nil
}

// Kill ends what runs in the background with SIGTERM and waits.
func (r *Runner) Kill() {
	for _, c := range r.bg {
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGTERM)
	}
	for _, c := range r.bg {
		_ = c.Wait()
	}
	r.bg = nil
}
