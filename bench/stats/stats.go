// Package stats holds the arithmetic of comparing runs: medians, spreads, and ratios of runs that were made side by side.
//
// A figure of a shared machine drifts by tens of percent within minutes; a ratio of two runs made one after the other drifts
// less. So ratios are taken pair by pair and then their median, never the ratio of two medians.
package stats

import (
	"math"
	"slices"
)

// Summary describes the values of repeated runs.
type Summary struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// Summarize describes values; those that are not numbers are left out. Of none it is all zero.
func Summarize(values []float64) Summary {
	v := make([]float64, 0, len(values))
	for _, x := range values {
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			v = append(v, x)
		}
	}
	if len(v) == 0 {
		return Summary{}
	}
	slices.Sort(v)
	return Summary{N: len(v), Median: middle(v), Min: v[0], Max: v[len(v)-1]}
}

// Spread is (max-min)/median: how far repeated runs lie apart. 0 if there is no median.
func (s Summary) Spread() float64 {
	if s.Median == 0 {
		return 0
	}
	return (s.Max - s.Min) / s.Median
}

// Ratios divides pair by pair: a[i]/b[i] for each round that has both and a divisor that is not 0.
func Ratios(a, b map[int]float64) Summary {
	var out []float64
	for round, x := range a {
		if y, ok := b[round]; ok && y != 0 {
			out = append(out, x/y)
		}
	}
	return Summarize(out)
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	if n%2 == 1 {
		return sorted[n/2]
	}
	return (sorted[n/2-1] + sorted[n/2]) / 2
}
