package proc

import (
	"bytes"
	"os"
	"strconv"
)

// CPUTime is a reading of what became of the machine's CPU time, in ticks summed over its CPUs since boot.
type CPUTime struct {
	// Stolen is what the host of a virtual machine gave to others while this machine had work (steal in /proc/stat).
	Stolen int64
	// All is everything, idle time too.
	All int64
}

// ReadCPUTime takes a reading; all 0 where there is none.
func ReadCPUTime() CPUTime {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return CPUTime{}
	}
	return parseCPUTime(stat)
}

// parseCPUTime reads the line that sums the CPUs: user, nice, system, idle, iowait, irq, softirq, steal; guest time, which
// follows, is counted in user already.
func parseCPUTime(stat []byte) (t CPUTime) {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != "cpu" {
		return CPUTime{}
	}
	for i, field := range f[1:9] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return CPUTime{}
		}
		t.All += ticks
		if i == 7 {
			t.Stolen = ticks
		}
	}
	return t
}

// StolenSince is the part, 0 to 1, of the time since an earlier reading that the host took.
func (t CPUTime) StolenSince(earlier CPUTime) float64 {
	if t.All <= earlier.All || t.Stolen <= earlier.Stolen {
		return 0
	}
	return float64(t.Stolen-earlier.Stolen) / float64(t.All-earlier.All)
}
