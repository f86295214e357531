package run

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"millrace/bench/prof"
	"millrace/bench/rawgen"
	"millrace/bench/stats"
	"millrace/bench/target"
)

// Run is one run of one load on one target.
type Run struct {
	Load    string         `json:"load"`
	Target  string         `json:"target"`
	Pass    string         `json:"pass"`
	Round   int            `json:"round"` // 0: warm-up, not counted
	Order   int            `json:"order"` // place in the round
	Started time.Time      `json:"started"`
	Result  *rawgen.Result `json:"result,omitempty"`
	Error   string         `json:"error,omitempty"`
}

// Counts says whether the run is part of the figures.
func (r *Run) Counts() bool {
	return r.Round > 0 && r.Error == "" && r.Result != nil && r.Result.FailureCount == 0
}

// stolenMuch is what part of the CPU time a host may take before it is worth a word.
const stolenMuch = 0.02

// Stolen summarizes, over all runs that count, the part of the machine's CPU time that its host took: latencies of a run in
// which it took much say nothing of the target.
func (r *Report) Stolen() stats.Summary {
	var v []float64
	for i := range r.Runs {
		if r.Runs[i].Counts() {
			v = append(v, r.Runs[i].Result.Stolen)
		}
	}
	for _, x := range r.Extras {
		most := 0.0
		for _, p := range x.Parts { // some at the same time
			if p != nil {
				most = max(most, p.Stolen)
			}
		}
		if x.Error == "" {
			v = append(v, most)
		}
	}
	return stats.Summarize(v)
}

// StolenLine says it in words; empty if the host took nothing, or told nothing.
func (r *Report) StolenLine() string {
	s := r.Stolen()
	if s.Max <= 0 {
		return ""
	}
	return fmt.Sprintf("The host took %.1f %% of the CPU time in the median run, %.1f %% in the worst", 100*s.Median, 100*s.Max)
}

// Profile is where a target's CPU time went under a load, from a run that is not counted.
type Profile struct {
	Load    string       `json:"load"`
	Target  string       `json:"target"`
	Pass    string       `json:"pass"`
	Seconds int          `json:"seconds"`
	Shares  []prof.Share `json:"shares,omitempty"`
	File    string       `json:"file,omitempty"`
	Error   string       `json:"error,omitempty"`
}

// Start is one measured start of a target (W9).
type Start struct {
	Target      string  `json:"target"`
	Pass        string  `json:"pass"`
	Kind        string  `json:"kind"` // empty, clean, killed
	Round       int     `json:"round"`
	ListenMs    float64 `json:"listen_ms"`    // exec until a connection is accepted
	ReadyMs     float64 `json:"ready_ms"`     // until ApiVersions is answered
	FirstAckMs  float64 `json:"first_ack_ms"` // until a produce is acknowledged
	StopMs      float64 `json:"stop_ms,omitempty"`
	RSSBytes    int64   `json:"rss_bytes"` // when idle
	IdleCores   float64 `json:"idle_cores"`
	KeptBytes   int64   `json:"kept_bytes"`
	KeptParts   int     `json:"kept_partitions"`
	AckedBefore int64   `json:"acked_before,omitempty"` // records acknowledged before the end
	Lost        int64   `json:"lost"`                   // of these, missing afterwards
	Error       string  `json:"error,omitempty"`
}

// Idle is the resident memory in MB and the cores used when idle; not a number where nobody looked, as at a floor on kept data.
func (s *Start) Idle() (mb, cores float64) {
	if s.RSSBytes == 0 {
		return math.NaN(), math.NaN()
	}
	return float64(s.RSSBytes) / 1e6, s.IdleCores
}

// Stop is how long stopping took in ms; not a number where it was killed or nobody looked.
func (s *Start) Stop() float64 {
	if s.StopMs == 0 {
		return math.NaN()
	}
	return s.StopMs
}

// SummarizeStarts summarizes a figure of starts; errors and what is not a number are left out.
func SummarizeStarts(starts []Start, f func(*Start) float64) stats.Summary {
	var v []float64
	for i := range starts {
		if x := f(&starts[i]); starts[i].Error == "" && !math.IsNaN(x) {
			v = append(v, x)
		}
	}
	return stats.Summarize(v)
}

// Meta says where and how.
type Meta struct {
	Started  time.Time       `json:"started"`
	Ended    time.Time       `json:"ended"`
	Complete bool            `json:"complete"` // it came to its end
	Version  string          `json:"version"`
	Command  []string        `json:"command"`
	Further  [][]string      `json:"further_commands,omitempty"` // of the other parts that were joined
	Kernel   string          `json:"kernel"`
	CPU      string          `json:"cpu"`
	CPUs     int             `json:"cpus"`
	MemoryMB int64           `json:"memory_mb"`
	Congest  string          `json:"congestion_control"` // the machine's default; generator and floors ask for cubic
	Go       string          `json:"go"`
	Targets  []target.Target `json:"targets"`
	Passes   []Pass          `json:"passes"`
}

// Report is everything a campaign yields.
type Report struct {
	Meta     Meta      `json:"meta"`
	Loads    []Load    `json:"loads"`
	Runs     []Run     `json:"runs"`
	Starts   []Start   `json:"starts,omitempty"`
	Extras   []Extra   `json:"extras,omitempty"`
	Profiles []Profile `json:"profiles,omitempty"`
	Rows     []Row     `json:"rows"`
}

// Save writes the report, whole or not at all.
func (r *Report) Save(file string) error {
	if file == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".tmp", b, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".tmp", file)
}

// LoadReport reads a report.
func LoadReport(file string) (*Report, error) {
	b, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	r := &Report{}
	return r, json.Unmarshal(b, r)
}

func (r *Report) load(id string) *Load {
	for i := range r.Loads {
		if r.Loads[i].ID == id {
			return &r.Loads[i]
		}
	}
	return nil
}

// Machine fills in what is known of this machine.
func (m *Meta) Machine() {
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	m.CPUs, m.Go = runtime.NumCPU(), runtime.Version()
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) == nil {
		m.MemoryMB = int64(si.Totalram) * int64(si.Unit) >> 20
	}
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		for line := range strings.Lines(string(b)) {
			if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				m.CPU = strings.TrimSpace(value)
				break
			}
		}
	}
	if b, err := os.ReadFile("/proc/sys/net/ipv4/tcp_congestion_control"); err == nil {
		m.Congest = strings.TrimSpace(string(b))
	}
}
