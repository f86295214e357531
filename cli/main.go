package cli

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"millrace/cli/kafkatool"
)

// Main runs one of Kafka's tools if argv[0] is the name of one, with or without .sh, and reports whether it was and its exit code. serve runs a
// broker with the arguments of `millrace serve` and returns its exit code.
func Main(argv []string, serve func(args []string) int) (handled bool, exitCode int) {
	if len(argv) == 0 || !kafkatool.Knows(argv[0]) {
		return false, 0
	}
	return true, runTool(filepath.Base(argv[0]), argv[1:], serve)
}

func runTool(name string, args []string, serve func(args []string) int) int {
	if kafkatool.IsServer(name) { // the broker handles its own signals
		return kafkatool.Run(environment(context.Background(), name, serve), args)
	}
	ctx, ended, stop := signalled()
	defer stop()
	code := kafkatool.Run(environment(ctx, name, serve), args)
	if sig := ended(); sig != 0 && code != 0 {
		return 128 + int(sig)
	}
	return code
}

// callTool runs a tool for a subcommand; its errors are the subcommand's.
func callTool(name string, args []string, asJSON bool) error {
	ctx, ended, stop := signalled()
	defer stop()
	e := environment(ctx, name, nil)
	e.JSON = asJSON
	err := kafkatool.Call(e, args)
	var code kafkatool.Exit
	switch sig := ended(); {
	case err == nil:
		return nil
	case sig != 0:
		return exit(128 + int(sig))
	case errors.As(err, &code):
		return exit(code)
	}
	return err
}

// signalled is a context that ends with SIGINT or SIGTERM; a second signal ends the process at once.
func signalled() (ctx context.Context, ended func() syscall.Signal, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var got atomic.Int32
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s, ok := <-c
		if !ok {
			return
		}
		if s, is := s.(syscall.Signal); is {
			got.Store(int32(s))
		}
		signal.Stop(c)
		cancel()
	}()
	return ctx, func() syscall.Signal { return syscall.Signal(got.Load()) }, func() {
		signal.Stop(c)
		cancel()
	}
}

func environment(ctx context.Context, name string, serve func(args []string) int) *kafkatool.Env {
	return &kafkatool.Env{
		Ctx: ctx, Name: name, In: os.Stdin, Out: bufio.NewWriterSize(os.Stdout, 64<<10), Err: os.Stderr, Getenv: os.Getenv,
		ErrIsTerm: isTerminal(os.Stderr), InIsTerm: isTerminal(os.Stdin), Serve: serve,
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
