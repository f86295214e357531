package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Child is a process that we started. Any goroutine.
type Child struct {
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start runs a command pinned to a list of CPUs ("0", "0,1"; empty: wherever the kernel likes). Its output goes to out.
func Start(cpus string, out io.Writer, name string, args ...string) (*Child, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = out, out
	// If we die without a chance to clean up, the child must not stay behind and spoil the next measurement.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	c := &Child{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The child inherits the affinity of the thread that forks it, and Pdeathsig follows the life of that thread: so
		// the thread is locked, pinned, and kept until the child has ended.
		runtime.LockOSThread()
		err := PinThread(cpus)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			c.err = cmd.Wait()
		}
		close(c.done) // the goroutine ends locked, so its pinned thread ends with it
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c, nil
}

// Run starts a command as Start does and returns its standard output when it has ended well.
func Run(cpus string, stderr io.Writer, name string, args ...string) ([]byte, error) {
	var out strings.Builder
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = &out, stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	failed := make(chan error)
	go func() {
		runtime.LockOSThread()
		err := PinThread(cpus)
		if err == nil {
			err = cmd.Run()
		}
		failed <- err
	}()
	err := <-failed
	return []byte(out.String()), err
}

// PinThread keeps the calling thread, which must be locked, on a list of CPUs; empty: as it is.
func PinThread(cpus string) error {
	if cpus == "" {
		return nil
	}
	set, err := ParseCPUs(cpus)
	if err != nil {
		return err
	}
	return unix.SchedSetaffinity(0, set)
}

// ParseCPUs reads "0", "0,2" or "0-3".
func ParseCPUs(list string) (*unix.CPUSet, error) {
	set := &unix.CPUSet{}
	for part := range strings.SplitSeq(list, ",") {
		from, to, ranged := strings.Cut(part, "-")
		a, err := strconv.Atoi(from)
		b := a
		if err == nil && ranged {
			b, err = strconv.Atoi(to)
		}
		if err != nil || a < 0 || b < a || b > 1023 {
			return nil, fmt.Errorf("%q is not a list of CPUs like 0,1 or 0-3", list)
		}
		for ; a <= b; a++ {
			set.Set(a)
		}
	}
	return set, nil
}

// PID is the process id.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Done is closed when the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// Stop sends SIGTERM and waits; after the patience is over it kills. It returns how long the process took to end.
func (c *Child) Stop(patience time.Duration) (time.Duration, error) {
	began := time.Now()
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return 0, err
	}
	select {
	case <-c.done:
		return time.Since(began), nil
	case <-time.After(patience):
		return time.Since(began), errors.Join(fmt.Errorf("process %d did not end within %v", c.PID(), patience), c.Kill())
	}
}

// Kill sends SIGKILL and waits.
func (c *Child) Kill() error {
	err := c.cmd.Process.Kill()
	<-c.done
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Err is how the process ended; read it after Done.
func (c *Child) Err() error { return c.err }
