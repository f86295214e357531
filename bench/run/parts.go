package run

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// Part is a piece of a campaign that fits into the time one sitting has: some rounds of one workload.
type Part struct {
	Name     string // W3.2
	Workload string
	Rounds   int
}

// minutes is about what one round of a workload takes on one broker with its floors, at full size.
var minutes = map[string]float64{
	"W1": 1.3, "W2": 1.2, "W3": 2.2, "W4": 5, "W5": 0.8, "W6": 2, "W7": 2.4, "W8": 2, "W9": 2, "W10": 2.2, "W11": 1.8, "W12": 1.3, "SOAK": 31, "STOCK": 1.5, "NATS": 2,
}

// Parts cuts workloads into parts of at most a given time for so many brokers. Warm-ups count as a round.
func Parts(workloads []string, rounds, warmups, brokers int, most time.Duration) []Part {
	var out []Part
	for _, w := range workloads {
		each := minutes[w] * float64(brokers+1) / 2 // the floors run once, whatever the number of brokers
		fit := rounds
		if each > 0 && w != "SOAK" {
			fit = min(rounds, max(1, int(most.Minutes()/each)-warmups))
		}
		if w == "SOAK" {
			out = append(out, Part{w, w, 1})
			continue
		}
		for left, n := rounds, 1; left > 0; n++ {
			k := min(fit, left)
			name := w
			if fit < rounds {
				name = fmt.Sprintf("%s.%d", w, n)
			}
			out = append(out, Part{name, w, k})
			left -= k
		}
	}
	return out
}

// Whole says whether a file holds a campaign that came to its end.
func Whole(file string) bool {
	r, err := LoadReport(file)
	return err == nil && r.Meta.Complete
}

// Merge joins reports of parts: runs of the same load on the same target go on counting rounds where the part before ended.
func Merge(parts []*Report) *Report {
	out := &Report{}
	for n, p := range parts {
		if n == 0 {
			out.Meta = p.Meta
		} else {
			out.Meta.Further = append(out.Meta.Further, p.Meta.Command)
			out.Meta.Further = append(out.Meta.Further, p.Meta.Further...)
		}
		if p.Meta.Started.Before(out.Meta.Started) {
			out.Meta.Started = p.Meta.Started
		}
		if p.Meta.Ended.After(out.Meta.Ended) {
			out.Meta.Ended = p.Meta.Ended
		}
		for _, l := range p.Loads {
			if out.load(l.ID) == nil {
				out.Loads = append(out.Loads, l)
			}
		}
		for _, pass := range p.Meta.Passes {
			at := slices.IndexFunc(out.Meta.Passes, func(have Pass) bool { return have.Name == pass.Name })
			if at < 0 {
				out.Meta.Passes = append(out.Meta.Passes, pass)
				continue
			}
			for _, w := range pass.Workloads {
				if !slices.Contains(out.Meta.Passes[at].Workloads, w) {
					out.Meta.Passes[at].Workloads = append(slices.Clone(out.Meta.Passes[at].Workloads), w)
				}
			}
		}
		for _, t := range p.Meta.Targets {
			known := false
			for _, have := range out.Meta.Targets {
				known = known || have.Name == t.Name && have.Loops == t.Loops
			}
			if !known {
				out.Meta.Targets = append(out.Meta.Targets, t)
			}
		}
		loadRounds, extraRounds := map[string]int{}, map[string]int{}
		for _, r := range out.Runs {
			loadRounds[r.Pass+"/"+r.Load] = max(loadRounds[r.Pass+"/"+r.Load], r.Round)
		}
		for _, x := range out.Extras {
			extraRounds[x.Pass+"/"+x.Workload] = max(extraRounds[x.Pass+"/"+x.Workload], x.Round)
		}
		for _, r := range p.Runs {
			if r.Round > 0 {
				r.Round += loadRounds[r.Pass+"/"+r.Load]
			}
			out.Runs = append(out.Runs, r)
		}
		for _, x := range p.Extras {
			x.Round += extraRounds[x.Pass+"/"+x.Workload]
			out.Extras = append(out.Extras, x)
		}
		out.Starts = append(out.Starts, p.Starts...)
		out.Profiles = append(out.Profiles, p.Profiles...)
	}
	out.Summarize()
	return out
}

// Discard removes what an unfinished part left, so that it can be run again.
func Discard(file string) error {
	if err := os.Remove(file); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
