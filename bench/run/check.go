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

// CheckRatios are the figures of a report that a check looks at: throughput over the floor's, for every broker and load.
func (r *Report) CheckRatios() map[string]float64 {
	out := map[string]float64{}
	for _, row := range r.Rows {
		if v, ok := row.Ratios["floor"]["throughput"]; ok && v.N > 0 && !strings.HasPrefix(row.Target, "floor-") {
			out[row.Load+" "+row.Target+" throughput"] = v.Median
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
