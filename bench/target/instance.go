package target

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"millrace/bench/proc"
)

// Place is where an instance runs.
type Place struct {
	Dir       string // its data and its log go below this
	Port      int
	AdminPort int
	CPUs      string // empty: all
}

// Instance is a running target. Owned by the runner.
type Instance struct {
	Target Target
	Place  Place
	Addr   string
	Admin  string
	PID    int
	child  *proc.Child
	log    *os.File
}

// Times of a start.
type Times struct {
	Listen time.Duration // from exec until a connection is accepted
	Ready  time.Duration // until ApiVersions is answered
	Began  time.Time     // of the exec
}

// Start runs a target and waits until it answers.
func Start(t Target, at Place) (*Instance, Times, error) {
	i := &Instance{Target: t, Place: at, Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(at.Port))}
	if t.Kind == Address {
		i.Addr, i.Admin = t.Addr, t.Admin
		i.PID, _ = proc.ByPort(t.Addr) // 0 for a broker elsewhere: then it has no cost figures
		_, err := Ready(i.Addr, 10*time.Second)
		return i, Times{}, err
	}
	if err := os.MkdirAll(at.Dir, 0o755); err != nil {
		return nil, Times{}, err
	}
	times, err := i.start()
	if err != nil {
		return nil, times, fmt.Errorf("%s: %w", t.Name, errors.Join(err, i.Stop()))
	}
	return i, times, nil
}

// Restart starts it again on the same data after Stop or Kill.
func (i *Instance) Restart() (Times, error) { return i.start() }

// freed waits until nobody listens on an address: the kernel takes a ring of a killed process apart after the process has gone, and
// the sockets in it with it.
func freed(addr string) bool {
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return true
		}
		conn.Close()
		if time.Now().After(until) {
			return false
		}
	}
}

func (i *Instance) start() (Times, error) {
	var err error
	if i.log, err = os.OpenFile(filepath.Join(i.Place.Dir, i.Target.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644); err != nil {
		return Times{}, err
	}
	if i.Target.Kind != Kafka && !freed(i.Addr) { // or we would measure whoever that is; Kafka's start command may find it running
		return Times{}, fmt.Errorf("somebody listens on %s already", i.Addr)
	}
	began := time.Now()
	failed := make(chan error, 1)
	switch i.Target.Kind {
	case Kafka:
		go func() { failed <- i.runKafka() }()
	default:
		if i.child, err = proc.Start(i.Place.CPUs, i.log, i.Target.Binary, i.args()...); err != nil {
			return Times{}, err
		}
		i.PID = i.child.PID()
		go func() {
			<-i.child.Done()
			failed <- fmt.Errorf("it ended: %s", tail(i.log.Name()))
		}()
	}
	times, err := i.await(began, failed)
	if err != nil {
		return times, err
	}
	if i.Target.Kind == Kafka {
		if err := <-failed; err != nil { // the command ends when Kafka is ready
			return times, err
		}
		if i.PID, err = proc.ByPort(i.Addr); err != nil {
			return times, err
		}
	}
	return times, nil
}

func (i *Instance) args() []string {
	t, at := i.Target, i.Place
	if t.Kind == Floor {
		args := append(append([]string(nil), t.SelfArgs...), "floor", "--addr", i.Addr, "--dir", filepath.Join(at.Dir, "data"), "--mode", t.Mode, "--sync", t.Sync, "--loops", strconv.Itoa(max(t.Loops, 1)))
		if t.Kept != "" {
			args = append(args, "--kept", t.Kept)
		}
		return args
	}
	i.Admin = net.JoinHostPort("127.0.0.1", strconv.Itoa(at.AdminPort))
	args := []string{"serve",
		"--override", "log.dirs=" + filepath.Join(at.Dir, "data"),
		"--override", "listeners=PLAINTEXT://" + i.Addr,
		"--override", "admin.listen=" + i.Admin,
		"--override", "io.engine=" + t.Engine,
		// bbr, the default of some virtual machines, paces loopback down to a third; floors and generator use cubic too.
		"--override", "socket.tcp.congestion=cubic",
	}
	if t.Loops > 0 {
		args = append(args, "--override", "num.loops="+strconv.Itoa(t.Loops))
	}
	for _, o := range t.Overrides {
		args = append(args, "--override", o)
	}
	return args
}

func (i *Instance) runKafka() error {
	return i.shell(i.Target.StartCommand)
}

func (i *Instance) shell(command string) error {
	cpus := i.Place.CPUs
	if cpus == "" {
		cpus = fmt.Sprintf("0-%d", runtime.NumCPU()-1)
	}
	command = strings.NewReplacer("{port}", strconv.Itoa(i.Place.Port), "{dir}", i.Place.Dir, "{cpus}", cpus).Replace(command)
	// Not by proc.Run: Kafka must outlive the shell that starts it, and a pipe to its output would keep us waiting.
	c, err := proc.Start("", i.log, "sh", "-c", command)
	if err != nil {
		return err
	}
	<-c.Done()
	return c.Err()
}

// await polls until the port accepts and ApiVersions is answered.
func (i *Instance) await(began time.Time, failed chan error) (Times, error) {
	times := Times{Began: began}
	for {
		select {
		case err := <-failed:
			if i.Target.Kind != Kafka || err != nil {
				return times, err
			}
			failed <- nil // for start, which waits for it too
		default:
		}
		conn, err := net.DialTimeout("tcp", i.Addr, time.Second)
		if err == nil {
			conn.Close()
			times.Listen = time.Since(began)
			break
		}
		if time.Since(began) > 90*time.Second {
			return times, fmt.Errorf("nothing listens on %s after 90 s", i.Addr)
		}
		time.Sleep(200 * time.Microsecond)
	}
	if _, err := Ready(i.Addr, 90*time.Second); err != nil {
		return times, err
	}
	times.Ready = time.Since(began)
	return times, nil
}

// Stop ends the target as its operator would. What runs by address goes on.
func (i *Instance) Stop() error {
	_, err := i.StopTimed()
	return err
}

// StopTimed is Stop, and says how long it took.
func (i *Instance) StopTimed() (time.Duration, error) {
	defer func() {
		if i.log != nil {
			i.log.Close()
		}
	}()
	switch {
	case i.Target.Kind == Kafka && i.Target.StopCommand == "":
		return 0, errors.New("Kafka goes on running: no --kafka-stop COMMAND")
	case i.Target.Kind == Kafka:
		began := time.Now()
		err := i.shell(i.Target.StopCommand)
		return time.Since(began), err
	case i.child != nil:
		return i.child.Stop(60 * time.Second)
	}
	return 0, nil
}

// Kill ends the target at once, with no chance to save anything.
func (i *Instance) Kill() error {
	defer i.log.Close()
	if i.Target.Kind == Kafka {
		p, err := os.FindProcess(i.PID) // the one that listened on the port we gave it
		if err != nil {
			return err
		}
		err = p.Kill()
		for until := time.Now().Add(10 * time.Second); err == nil && time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
			if _, gone := proc.Read(i.PID); gone != nil {
				return nil
			}
		}
		return err
	}
	if i.child == nil {
		return errors.New("not ours to kill")
	}
	return i.child.Kill()
}

// tail is the end of a log, for an error message.
func tail(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if st, err := f.Stat(); err == nil && st.Size() > 2000 {
		_, _ = f.Seek(-2000, io.SeekEnd)
	}
	b, _ := io.ReadAll(f)
	return string(bytes.TrimSpace(b))
}
