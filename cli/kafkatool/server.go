package kafkatool

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// serverStartTool and serverStopTool read their arguments themselves: they are shell scripts in Kafka.
var (
	serverStartTool = &tool{name: "kafka-server-start", script: startServer}
	serverStopTool  = &tool{name: "kafka-server-stop", script: stopServer}
)

// startServer is kafka-server-start [-daemon] server.properties [--override property=value]*.
func startServer(e *Env, args []string) int {
	usage := func() int {
		e.complain("USAGE: %s [-daemon] server.properties [--override property=value]*", e.Name)
		return 1
	}
	daemon := len(args) > 0 && args[0] == "-daemon"
	if daemon {
		args = args[1:]
	}
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return usage()
	}
	if e.Serve == nil {
		e.complain("this program has no broker in it")
		return 1
	}
	if _, err := os.Stat(args[0]); err != nil {
		e.complain("%s", err)
		return 1
	}
	if !daemon {
		return e.Serve(args)
	}
	return e.background(args)
}

// background starts the broker in a session of its own, its output in LOG_DIR (or logs) beside where it was called, and returns at once.
func (e *Env) background(args []string) int {
	dir := e.Getenv("LOG_DIR")
	if dir == "" {
		dir = "logs"
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		e.complain("%s", err)
		return 1
	}
	out, err := os.OpenFile(filepath.Join(dir, "kafkaServer.out"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		e.complain("%s", err)
		return 1
	}
	defer out.Close()
	self, err := os.Executable()
	if err != nil {
		e.complain("%s", err)
		return 1
	}
	c := exec.Command(self, append([]string{"serve"}, args...)...)
	c.Stdout, c.Stderr = out, out
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		e.complain("%s", err)
		return 1
	}
	_ = c.Process.Release()
	return 0
}

// stopServer asks every broker of this program that belongs to this user to stop, as Kafka's script does with its brokers: SIGTERM, no waiting.
// --process-role and --node-id, Kafka's selectors, need the property file of each process and choose among them by their arguments.
func stopServer(e *Env, args []string) int {
	node := ""
	for _, a := range args {
		if v, ok := strings.CutPrefix(a, "--node-id="); ok {
			node = v
		} else if !strings.HasPrefix(a, "--process-role=") {
			e.complain("USAGE: %s [--process-role=ROLE | --node-id=ID]", e.Name)
			return 1
		}
	}
	pids := brokerProcesses(node)
	if len(pids) == 0 {
		e.println("No kafka server to stop")
		return 1
	}
	code := 0
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
			e.complain("process %d: %s", pid, err)
			code = 1
		}
	}
	return code
}

// brokerProcesses finds processes that run this very program with serve, or under the name of kafka-server-start; node narrows it to those whose
// property file or overrides name that node.id.
func brokerProcesses(node string) []int {
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil
	}
	self = strings.TrimSuffix(self, " (deleted)")
	list, _ := filepath.Glob("/proc/[0-9]*")
	var out []int
	for _, dir := range list {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil || pid == os.Getpid() {
			continue
		}
		exe, err := os.Readlink(dir + "/exe")
		if err != nil || strings.TrimSuffix(exe, " (deleted)") != self {
			continue
		}
		data, err := os.ReadFile(dir + "/cmdline")
		if err != nil {
			continue
		}
		args := strings.Split(strings.TrimRight(string(data), "\x00"), "\x00")
		if isBroker(args) && (node == "" || nodeOf(dir, args) == node) {
			out = append(out, pid)
		}
	}
	return out
}

func isBroker(args []string) bool {
	if len(args) == 0 {
		return false
	}
	if name := strings.TrimSuffix(filepath.Base(args[0]), ".sh"); name == "kafka-server-start" {
		return true
	}
	return len(args) > 1 && args[1] == "serve"
}

func nodeOf(dir string, args []string) string {
	id := "0"
	cwd, _ := os.Readlink(dir + "/cwd")
	read := func(line string) {
		key, value, ok := strings.Cut(line, "=")
		if key = strings.TrimSpace(key); ok && (key == "node.id" || key == "broker.id") {
			id = strings.TrimSpace(value)
		}
	}
	for i, a := range args[1:] {
		if !strings.HasPrefix(a, "-") && a != "serve" && !strings.Contains(a, "=") {
			if !filepath.IsAbs(a) {
				a = filepath.Join(cwd, a)
			}
			if data, err := os.ReadFile(a); err == nil {
				for _, line := range strings.Split(string(data), "\n") {
					read(line)
				}
			}
		}
		if v, ok := strings.CutPrefix(a, "--override="); ok {
			read(v)
		} else if a == "--override" && i+2 < len(args) {
			read(args[i+2])
		}
	}
	return id
}
