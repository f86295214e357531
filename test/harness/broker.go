package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// Options says how a broker process is started. The zero value of every field but Dir is usable.
type Options struct {
	Dir       string        // log.dirs; must exist or be creatable
	Overrides []string      // further key=value settings
	Wrap      []string      // command put before the broker's own; it must exec (prlimit does, strace does not)
	Env       []string      // added to the environment
	Ready     time.Duration // how long Start waits for the first answer; default 30 s
}

// Broker is one broker process and its successors on the same directory and ports. Owned by the test that started it.
type Broker struct {
	Addr       string        // client listener
	Admin      string        // admin listener
	Dir        string        // its log directory
	ReadyAfter time.Duration // from exec to the first complete ApiVersions answer, of the last start

	opt  Options
	cmd  *exec.Cmd
	done chan struct{} // closed when the process has ended
	err  error         // its end, valid once done is closed
	logs *logBuffer
}

// ErrNotReady says that the process ended or stayed silent before it answered.
var ErrNotReady = errors.New("broker did not become ready")

// Start runs `millrace serve` on opt.Dir and waits until it answers ApiVersions.
func Start(opt Options) (*Broker, error) {
	if opt.Ready == 0 {
		opt.Ready = 30 * time.Second
	}
	b := &Broker{Dir: opt.Dir, opt: opt, logs: &logBuffer{}}
	if err := os.MkdirAll(opt.Dir, 0o755); err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	admin := port
	for admin == port {
		if admin, err = freePort(); err != nil {
			return nil, err
		}
	}
	b.Addr, b.Admin = "127.0.0.1:"+strconv.Itoa(port), "127.0.0.1:"+strconv.Itoa(admin)
	if err := b.Launch(); err != nil {
		return nil, err
	}
	return b, nil
}

// Launch starts the process again on the same directory and ports; the one before must have ended.
func (b *Broker) Launch() error {
	if err := b.LaunchNoWait(); err != nil {
		return err
	}
	return b.WaitReady(b.opt.Ready)
}

// LaunchNoWait is Launch that does not wait for the first answer; for tests that kill a broker during its recovery.
func (b *Broker) LaunchNoWait() error {
	args := append([]string{}, b.opt.Wrap...)
	args = append(args, Binary(), "serve",
		"--override", "log.dirs="+b.Dir,
		"--override", "listeners=PLAINTEXT://"+b.Addr,
		"--override", "admin.listen="+b.Admin)
	for _, o := range b.opt.Overrides {
		args = append(args, "--override", o)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), b.opt.Env...)
	cmd.Stdout, cmd.Stderr = b.logs, b.logs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	done := make(chan struct{})
	if err := startOnLastingThread(cmd); err != nil {
		return err
	}
	b.cmd, b.done = cmd, done
	go func() {
		b.err = cmd.Wait()
		close(done)
	}()
	return nil
}

// WaitReady waits until the broker gives a complete ApiVersions answer and notes how long that took.
func (b *Broker) WaitReady(limit time.Duration) error {
	begin := time.Now()
	for time.Since(begin) < limit {
		select {
		case <-b.done:
			return fmt.Errorf("%w: process ended: %v\n%s", ErrNotReady, b.err, b.logs.Tail(4000))
		default:
		}
		if Answers(b.Addr, limit) == nil {
			b.ReadyAfter = time.Since(begin)
			return nil
		}
		time.Sleep(2 * time.Millisecond)
	}
	return fmt.Errorf("%w within %v\n%s", ErrNotReady, limit, b.logs.Tail(4000))
}

// Stacks asks the broker what its goroutines do; for the report of a test that waits in vain.
func (b *Broker) Stacks() string {
	c := http.Client{Timeout: 10 * time.Second}
	resp, err := c.Get("http://" + b.Admin + "/debug/pprof/goroutine?debug=2")
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// PID is the process id of the broker.
func (b *Broker) PID() int { return b.cmd.Process.Pid }

// Alive reports whether the process still runs.
func (b *Broker) Alive() bool {
	select {
	case <-b.done:
		return false
	default:
		return true
	}
}

// Kill ends the process with SIGKILL and waits for its end. Killing an ended process is not an error.
func (b *Broker) Kill() {
	_ = syscall.Kill(-b.PID(), syscall.SIGKILL)
	<-b.done
}

// Stop sends SIGTERM and waits for a clean end; a process still there after limit is killed and that is an error.
func (b *Broker) Stop(limit time.Duration) error {
	_ = b.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-b.done:
		var exit *exec.ExitError
		if errors.As(b.err, &exit) && exit.ExitCode() != 143 { // a JVM reports the signal it obeyed
			return fmt.Errorf("broker ended badly after SIGTERM: %w\n%s", b.err, b.logs.Tail(2000))
		}
		return nil
	case <-time.After(limit):
		b.Kill()
		return fmt.Errorf("broker did not end within %v of SIGTERM", limit)
	}
}

// Signal sends any signal to the broker.
func (b *Broker) Signal(s syscall.Signal) error { return b.cmd.Process.Signal(s) }

// SetOverrides replaces the settings used from the next Launch on.
func (b *Broker) SetOverrides(o ...string) { b.opt.Overrides = o }

// SetWrap replaces the command put before the broker's own from the next Launch on.
func (b *Broker) SetWrap(w ...string) { b.opt.Wrap = w }

// Logs returns what the broker printed so far (the last 4 MiB of it).
func (b *Broker) Logs() string { return b.logs.Tail(4 << 20) }

// FreePort is a port of the range for brokers that nobody listens on now.
func FreePort() (int, error) { return freePort() }

// freePort picks a free port below the range that the kernel hands to outgoing connections: a client that retries against a port of
// that range while the broker is down can end up connected to itself.
func freePort() (int, error) {
	first, last := 21000, 29999
	if s := os.Getenv("MILLRACE_TEST_PORTS"); s != "" {
		if n, err := fmt.Sscanf(s, "%d-%d", &first, &last); n != 2 || err != nil || last < first {
			return 0, fmt.Errorf("MILLRACE_TEST_PORTS=%q: want FIRST-LAST", s)
		}
	}
	for range 1000 {
		port := first + rand.IntN(last-first+1)
		l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err == nil {
			l.Close()
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port in %d-%d", first, last)
}

// The kernel sends the parent-death signal when the thread that forked ends, so all starts happen on one thread that never does.
var (
	starterOnce sync.Once
	starter     chan func()
)

func startOnLastingThread(cmd *exec.Cmd) error {
	starterOnce.Do(func() {
		starter = make(chan func())
		go func() {
			runtime.LockOSThread()
			for f := range starter {
				f()
			}
		}()
	})
	result := make(chan error)
	starter <- func() { result <- cmd.Start() }
	return <-result
}

// logBuffer keeps the end of what a broker printed. Any goroutine.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write keeps the newest 4 MiB.
func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.buf.Len()+len(p) > 8<<20 {
		keep := append([]byte{}, l.buf.Bytes()[l.buf.Len()-min(l.buf.Len(), 4<<20):]...)
		l.buf.Reset()
		l.buf.Write(keep)
	}
	return l.buf.Write(p)
}

// Tail returns at most the last n bytes.
func (l *logBuffer) Tail(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buf.Bytes()
	return string(b[max(0, len(b)-n):])
}
