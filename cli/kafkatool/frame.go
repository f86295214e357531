package kafkatool

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"millrace/cli/conn"
	"millrace/cli/jopt"
)

// Version is the version of Apache Kafka whose tools these are.
const Version = "4.4.0"

// Env is what a tool may touch. Owned by one call of Run.
type Env struct {
	Ctx       context.Context
	Name      string // the name the tool was called by
	In        io.Reader
	Out       *bufio.Writer // flushed when the tool ends, and after each line by tools that stream
	Err       io.Writer
	Getenv    func(string) string
	ErrIsTerm bool     // progress may be shown
	InIsTerm  bool     // a prompt may be shown
	JSON      bool     // a subcommand wants JSON of the console tools
	args      []string // as called, for messages
	own       bool     // a subcommand calls: errors are returned, not told
	// Serve runs a broker with `millrace serve` arguments and returns its exit code; nil where there is none to run.
	Serve func(args []string) int
}

func (e *Env) println(format string, args ...any) { fmt.Fprintf(e.Out, format+"\n", args...) }

// complain writes to stderr, what is on stdout first.
func (e *Env) complain(format string, args ...any) {
	_ = e.Out.Flush()
	fmt.Fprintf(e.Err, format+"\n", args...)
}

// tool is one command. Immutable.
type tool struct {
	name    string
	class   string // Kafka's class, for log lines
	about   string // first line without arguments
	help    string // first line of --help
	options func() *jopt.Set
	run     func(e *Env, v *jopt.Values) error
	// parseFail prints an error about the command line itself; nil prints the words and the usage.
	parseFail func(e *Env, err error) error
	// fail prints an error of run; nil prints the words on stderr.
	fail func(e *Env, err error) error
	// script takes over the whole command line.
	script func(e *Env, args []string) int
}

// Exit is an error that has been told already; it carries the exit code.
type Exit int

func (x Exit) Error() string { return fmt.Sprintf("exit code %d", int(x)) }

// usageError is a wrong combination of options: words, then usage.
type usageError struct{ text string }

func (u *usageError) Error() string { return u.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// Run runs a tool by name and returns its exit code.
func Run(e *Env, args []string) int {
	t := find(e.Name)
	if t == nil {
		fmt.Fprintf(e.Err, "%s is no tool of Apache Kafka that is known here\n", e.Name)
		return 127
	}
	if t.script != nil {
		code := t.script(e, args)
		_ = e.Out.Flush()
		return code
	}
	err := t.execute(e, args)
	_ = e.Out.Flush()
	if err == nil {
		return 0
	}
	var x Exit
	if errors.As(err, &x) {
		return int(x)
	}
	return 1
}

func (t *tool) execute(e *Env, args []string) error {
	args = modernize(e, t, args)
	e.args = args
	set := t.options()
	usage := func(words string) error {
		if e.own {
			return errors.New(words)
		}
		e.complain("%s", words)
		set.Usage(e.Err)
		return Exit(1)
	}
	if len(args) == 0 && t.about != "" {
		return usage(t.about)
	}
	v, err := set.Parse(args)
	if err != nil {
		if t.parseFail != nil && !e.own {
			return t.parseFail(e, err)
		}
		return usage(err.Error())
	}
	if v.Has("help") {
		return usage(t.help)
	}
	if v.Has("version") {
		e.println("%s", Version)
		return nil
	}
	for _, o := range set.MissingRequired(v) {
		err := fmt.Errorf("Missing required option(s) [%s]", o)
		if t.parseFail != nil {
			return t.parseFail(e, err)
		}
		return usage(err.Error())
	}
	err = t.run(e, v)
	var u *usageError
	var x Exit
	switch {
	case err == nil:
		return nil
	case errors.As(err, &u):
		return usage(u.text)
	case errors.As(err, &x):
		return err
	case errors.Is(err, context.Canceled) && e.Ctx.Err() != nil:
		return Exit(130)
	case e.own:
		return err
	case t.fail != nil:
		return t.fail(e, err)
	}
	e.complain("%s", err)
	return Exit(1)
}

// require refuses a call that lacks one of the options.
func require(v *jopt.Values, names ...string) error {
	for _, n := range names {
		if !v.Has(n) {
			return usagef("Missing required argument \"[%s]\"", n)
		}
	}
	return nil
}

// exclude refuses an option beside others.
func exclude(v *jopt.Values, name string, others ...string) error {
	if !v.Has(name) {
		return nil
	}
	for _, o := range others {
		if v.Has(o) {
			return usagef("Option \"[%s]\" can't be used with option \"[%s]\"", name, o)
		}
	}
	return nil
}

// common declares the options that every tool has.
func common(s *jopt.Set) *jopt.Set {
	return s.Flag("help", "Print usage information.").Flag("version", "Display Kafka version.")
}

// plain is the text of an error without the prefixes that Go adds.
func plain(err error) string {
	var c *conn.Error
	if errors.As(err, &c) {
		return c.Message
	}
	return strings.TrimPrefix(err.Error(), "no broker: ")
}
