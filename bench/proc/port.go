package proc

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
)

// ByPort finds the process that listens on the TCP port of an address of this machine.
func ByPort(addr string) (int, error) {
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return 0, err
	}
	inodes := map[string]bool{}
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		text, err := os.ReadFile(file)
		if err == nil {
			listeners(string(text), n, inodes)
		}
	}
	if len(inodes) == 0 {
		return 0, fmt.Errorf("nothing listens on port %d here", n)
	}
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		if err != nil {
			continue
		}
		for _, fd := range fds {
			link, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", pid, fd.Name()))
			if err == nil && inodes[link] {
				return pid, nil
			}
		}
	}
	return 0, fmt.Errorf("the process that listens on port %d cannot be seen", n)
}

// listeners adds the sockets in state LISTEN (0A) on the port, named as links under /proc/PID/fd are.
func listeners(table string, port int, inodes map[string]bool) {
	suffix := fmt.Sprintf(":%04X", port)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) > 9 && f[3] == "0A" && strings.HasSuffix(f[1], suffix) {
			inodes["socket:["+f[9]+"]"] = true
		}
	}
}
