// Package prof attributes the CPU time of a Go broker to subsystems, from a profile in the format of runtime/pprof.
//
// A sample belongs to what its innermost telling frame says: time in the kernel is split by who called (sockets, file writes,
// syncs, waiting), time in the runtime is collection, allocation or scheduling, and all else goes to its package. The rules
// are one ordered list; the first match on the frame nearest the leaf wins.
//
// Files: prof.go (attribution), rules.go (the rules), fetch.go (taking a profile over HTTP).
package prof

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// Share is one subsystem's part of the CPU time.
type Share struct {
	Subsystem string  `json:"subsystem"`
	Seconds   float64 `json:"seconds"`
	Fraction  float64 `json:"fraction"`
	Top       []Func  `json:"top,omitempty"` // functions that made most of it, by their own time
}

// Func is a function's own time within a subsystem.
type Func struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// Read attributes a profile, gzipped or not. Greatest share first.
func Read(r io.Reader) ([]Share, error) {
	p, err := profile.Parse(r)
	if err != nil {
		return nil, err
	}
	return Attribute(p), nil
}

// Attribute sums the samples of a CPU profile by subsystem.
func Attribute(p *profile.Profile) []Share {
	at, scale := cpuValue(p)
	sums := map[string]float64{}
	funcs := map[string]map[string]float64{}
	total := 0.0
	for _, s := range p.Sample {
		seconds := float64(s.Value[at]) * scale
		frames := stack(s)
		name := classify(frames)
		sums[name] += seconds
		total += seconds
		if funcs[name] == nil {
			funcs[name] = map[string]float64{}
		}
		funcs[name][telling(frames)] += seconds
	}
	var out []Share
	for name, seconds := range sums {
		sh := Share{Subsystem: name, Seconds: seconds}
		if total > 0 {
			sh.Fraction = seconds / total
		}
		for f, sec := range funcs[name] {
			sh.Top = append(sh.Top, Func{f, sec})
		}
		slices.SortFunc(sh.Top, func(a, b Func) int {
			return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Name, b.Name))
		})
		sh.Top = sh.Top[:min(5, len(sh.Top))]
		out = append(out, sh)
	}
	slices.SortFunc(out, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Subsystem, b.Subsystem))
	})
	return out
}

// cpuValue finds the sample value that is CPU time, and the factor to seconds.
func cpuValue(p *profile.Profile) (int, float64) {
	for i, t := range p.SampleType {
		if t.Type == "cpu" && t.Unit == "nanoseconds" {
			return i, 1e-9
		}
	}
	return len(p.SampleType) - 1, 1
}

// stack lists the function names of a sample, innermost first, inlined ones included.
func stack(s *profile.Sample) []string {
	var out []string
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			if line.Function != nil {
				out = append(out, line.Function.Name)
			}
		}
	}
	return out
}

// telling is the innermost frame that is not a bare system call wrapper.
func telling(frames []string) string {
	for _, f := range frames {
		if !isSyscall(f) {
			return f
		}
	}
	if len(frames) > 0 {
		return frames[0]
	}
	return "?"
}

func isSyscall(f string) bool {
	for _, p := range []string{"syscall.", "internal/runtime/syscall", "runtime/internal/syscall", "golang.org/x/sys/unix.", "internal/poll.", "runtime.entersyscall", "runtime.exitsyscall", "runtime.reentersyscall"} {
		if strings.HasPrefix(f, p) {
			return true
		}
	}
	return false
}
