package run

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
)

// Recorded are the ratios to floors that a check compares with, on one kind of machine. What a wake-up and a sync cost decides how
// much of a single request is the floor's, so ratios of machines that differ in those say nothing of each other.
type Recorded struct {
	Machine string             `json:"machine"`
	Note    string             `json:"note"`
	Floors  map[string]float64 `json:"floors"` // "W5-acks1 floor-echo": its median latency, µs
	Ratios  map[string]float64 `json:"ratios"` // "W1 millrace-uring throughput": target/floor
}

// Records are those of several kinds of machines.
type Records struct {
	Records []Recorded `json:"records"`
}

// Fall is how far a ratio may lie below the recorded one: ratios of a shared machine spread this far by themselves.
const Fall = 0.25

// Unlike is the factor between the floors of two machines from which on they are of different kinds.
const Unlike = 2

// LoadRecords reads recorded ratios.
func LoadRecords(file string) (*Records, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Records{}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for i := range r.Records {
		if len(r.Records[i].Ratios) == 0 || len(r.Records[i].Floors) == 0 {
			return nil, fmt.Errorf("%s: record %d (%s) holds no ratios or no floors", file, i+1, r.Records[i].Machine)
		}
	}
	if len(r.Records) == 0 {
		return nil, fmt.Errorf("%s holds no records", file)
	}
	return r, nil
}

// Save writes them.
func (r *Records) Save(file string) error {
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}

// Nearest is the record of the machine most like one with these floors, and the largest factor between their floors; -1 without
// any record.
func (r *Records) Nearest(floors map[string]float64) (index int, factor float64) {
	index, factor = -1, math.Inf(1)
	for i := range r.Records {
		if f := r.Records[i].apart(floors); f < factor {
			index, factor = i, f
		}
	}
	return index, factor
}

// Put adds a record, in the place of the one of the same kind of machine.
func (r *Records) Put(n Recorded) {
	if i, factor := r.Nearest(n.Floors); factor < Unlike {
		r.Records[i] = n
		return
	}
	r.Records = append(r.Records, n)
}

func (r *Recorded) apart(floors map[string]float64) float64 {
	factor := 1.0
	for name, f := range r.Floors {
		now := floors[name]
		if now <= 0 || f <= 0 {
			return math.Inf(1)
		}
		factor = max(factor, now/f, f/now)
	}
	return factor
}

// FloorLatencies are the floors' median latencies, µs, for loads of single requests.
func (r *Report) FloorLatencies() map[string]float64 {
	out := map[string]float64{}
	for _, row := range r.Rows {
		l := r.load(row.Load)
		if v := row.Values["p50"]; v.N > 0 && strings.HasPrefix(row.Target, "floor-") && l != nil && l.Unit == "req/s" && l.FloorLoad == "" {
			out[row.Load+" "+row.Target] = v.Median
		}
	}
	return out
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
