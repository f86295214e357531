package run

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Recorded are the ratios to floors that a check compares with.
type Recorded struct {
	Machine string             `json:"machine"`
	Note    string             `json:"note"`
	Ratios  map[string]float64 `json:"ratios"` // "W1 millrace-uring throughput": target/floor
}

// Fall is how far a ratio may lie below the recorded one: ratios of a shared machine spread this far by themselves.
const Fall = 0.25

// LoadRecorded reads recorded ratios.
func LoadRecorded(file string) (*Recorded, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Recorded{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(r.Ratios) == 0 {
		return nil, fmt.Errorf("%s holds no ratios", file)
	}
	return r, nil
}

// Save writes them.
func (r *Recorded) Save(file string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// CheckRatios are the figures of a report that a check looks at, for every broker and load, all of them better when greater:
// efficiency (the floor's CPU per unit over ours), which other work on the machine disturbs least; throughput over the floor's for
// bulk loads; speed (the floor's median latency over ours) for loads of single requests.
func (r *Report) CheckRatios() map[string]float64 {
	out := map[string]float64{}
	for _, row := range r.Rows {
		if strings.HasPrefix(row.Target, "floor-") {
			continue
		}
		name, f := row.Load+" "+row.Target+" ", row.Ratios["floor"]
		if v := f["cpu"]; v.N > 0 && v.Median > 0 {
			out[name+"efficiency"] = 1 / v.Median
		}
		l := r.load(row.Load)
		if v := f["throughput"]; v.N > 0 && l != nil && l.Unit != "req/s" {
			out[name+"throughput"] = v.Median
		}
		if v := f["p50"]; v.N > 0 && v.Median > 0 && l != nil && l.Unit == "req/s" && l.FloorLoad == "" {
			out[name+"speed"] = 1 / v.Median
		}
	}
	return out
}

// Fallen lists what lies further below the recorded ratios than is allowed, or is missing.
func (r *Recorded) Fallen(now map[string]float64) []string {
	var out []string
	for name, want := range r.Ratios {
		if got, ok := now[name]; !ok || got < want*(1-Fall) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// CheckSizes are those of a slice of about two minutes with CheckWorkloads, one broker and three rounds.
func CheckSizes() Sizes {
	s := Quick()
	s.BulkBytes, s.BulkSeconds = 512<<20, 1500e6
	s.ReadBytes, s.Sends, s.SyncSeconds = 512<<20, 10_000, 1500e6
	return s
}

// CheckWorkloads are what a check runs.
func CheckWorkloads() []string { return []string{"W1", "W2", "W3", "W5", "W6"} }

// CheckLoads leaves out loads that would make the slice too long: one of each kind is enough.
func CheckLoads() []string { return []string{"W1", "W2", "W3-1", "W5-acks1", "W6-1", "W6-64"} }
