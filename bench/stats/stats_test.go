package stats

import (
	"math"
	"testing"
)

func TestSummarize(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want Summary
	}{
		{nil, Summary{}},
		{[]float64{3}, Summary{1, 3, 3, 3}},
		{[]float64{9, 1, 2}, Summary{3, 2, 1, 9}},
		{[]float64{4, 1, 3, 2}, Summary{4, 2.5, 1, 4}},
		{[]float64{math.NaN(), 5, math.Inf(1)}, Summary{1, 5, 5, 5}},
	} {
		if got := Summarize(c.in); got != c.want {
			t.Errorf("%v: %+v, want %+v", c.in, got, c.want)
		}
	}
	in := []float64{3, 1, 2}
	Summarize(in)
	if in[0] != 3 {
		t.Error("the input was sorted")
	}
	if s := Summarize([]float64{8, 10, 13}).Spread(); s != 0.5 {
		t.Errorf("spread %v", s)
	}
	if s := (Summary{}).Spread(); s != 0 {
		t.Errorf("spread of nothing %v", s)
	}
}

// TestRatiosGoPairByPair: the machine slows down fourfold from round to round and the ratio stays what it is, which the ratio
// of medians over unequal rounds would not show.
func TestRatiosGoPairByPair(t *testing.T) {
	a := map[int]float64{1: 80, 2: 20, 3: 5, 4: 1000}
	b := map[int]float64{1: 100, 2: 25, 3: 6.25, 5: 7, 6: 0}
	if got := Ratios(a, b); got != (Summary{3, 0.8, 0.8, 0.8}) {
		t.Errorf("%+v", got)
	}
	if got := Ratios(a, map[int]float64{1: 0}); got.N != 0 {
		t.Errorf("a division by zero counts: %+v", got)
	}
}
