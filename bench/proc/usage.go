package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// ticksPerSecond is USER_HZ, fixed at 100 on Linux for amd64 and arm64.
const ticksPerSecond = 100

// Usage is a reading of one process.
type Usage struct {
	CPUSeconds   float64 // user + system, all threads, ended ones too
	UserSeconds  float64
	RSSBytes     int64
	RSSPeakBytes int64 // since the last ResetPeak
	Descriptors  int
	Threads      int
	WrittenBytes int64 // bytes this process caused to be written to storage, page cache included; -1 if not allowed to know
}

// Delta is what a process used between two readings.
type Delta struct {
	CPUSeconds   float64 `json:"cpu_seconds"`
	UserSeconds  float64 `json:"user_seconds"`
	RSSPeakBytes int64   `json:"rss_peak_bytes"`
	RSSBytes     int64   `json:"rss_bytes"`
	Descriptors  int     `json:"descriptors"`
	Threads      int     `json:"threads"`
	WrittenBytes int64   `json:"written_bytes"`
}

// Since returns what was used after the earlier reading; sizes are those of the later one.
func (u Usage) Since(earlier Usage) Delta {
	d := Delta{
		CPUSeconds: u.CPUSeconds - earlier.CPUSeconds, UserSeconds: u.UserSeconds - earlier.UserSeconds,
		RSSPeakBytes: u.RSSPeakBytes, RSSBytes: u.RSSBytes, Descriptors: u.Descriptors, Threads: u.Threads, WrittenBytes: -1,
	}
	if u.WrittenBytes >= 0 && earlier.WrittenBytes >= 0 {
		d.WrittenBytes = u.WrittenBytes - earlier.WrittenBytes
	}
	return d
}

// Read takes a reading. An error means that the process is gone or not ours to look at.
func Read(pid int) (Usage, error) {
	var u Usage
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return u, err
	}
	user, system, err := parseStat(stat)
	if err != nil {
		return u, err
	}
	u.UserSeconds = float64(user) / ticksPerSecond
	u.CPUSeconds = float64(user+system) / ticksPerSecond
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return u, err
	}
	u.RSSBytes = field(status, "VmRSS:") * 1024
	u.RSSPeakBytes = field(status, "VmHWM:") * 1024
	u.Threads = int(field(status, "Threads:"))
	if fds, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid)); err == nil {
		u.Descriptors = len(fds)
	}
	u.WrittenBytes = -1
	if io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid)); err == nil {
		u.WrittenBytes = field(io, "write_bytes:") - field(io, "cancelled_write_bytes:")
	}
	return u, nil
}

// ResetPeak makes RSSPeakBytes count from now.
func ResetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

// parseStat returns user and system ticks; the command name may hold blanks and brackets, so fields count from the last ')'.
func parseStat(stat []byte) (user, system int64, err error) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, 0, errors.New("no command name in stat")
	}
	f := strings.Fields(string(stat[end+1:]))
	if len(f) < 13 {
		return 0, 0, errors.New("stat is too short")
	}
	if user, err = strconv.ParseInt(f[11], 10, 64); err != nil {
		return 0, 0, err
	}
	system, err = strconv.ParseInt(f[12], 10, 64)
	return user, system, err
}

func field(text []byte, name string) int64 {
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(f[0], 10, 64)
				return n
			}
		}
	}
	return 0
}
