package proc

import (
	"bytes"
	"os"
	"strconv"
)

// StolenSeconds is how much CPU time the host of a virtual machine gave to others while this machine had work for it, summed
// over its CPUs since boot (steal in /proc/stat). 0 on a machine of its own, and where the host does not tell.
func StolenSeconds() float64 {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return parseStolen(stat)
}

// parseStolen takes the eighth number of the line that sums the CPUs.
func parseStolen(stat []byte) float64 {
	line, _, _ := bytes.Cut(stat, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 9 || string(f[0]) != "cpu" {
		return 0
	}
	ticks, err := strconv.ParseInt(string(f[8]), 10, 64)
	if err != nil {
		return 0
	}
	return float64(ticks) / ticksPerSecond
}
