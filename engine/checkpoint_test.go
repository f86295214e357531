package engine

import "testing"

// TestCheckpointsWanted: large partitions one by one, small ones many at once, and idle small ones do not use up the bound.
func TestCheckpointsWanted(t *testing.T) {
	const mb = 1 << 20
	many := func(n int, each int64, first ...int64) []int64 {
		for range n {
			first = append(first, each)
		}
		return first
	}
	for _, c := range []struct {
		what  string
		sizes []int64
		want  int
	}{
		{"none", nil, 0},
		{"below the bound, somebody asked", many(3, 10*mb), 1},
		{"six alike", many(6, 38*mb), 1},
		{"six, far too much", many(6, 60*mb), 3},
		{"one huge", many(5, mb, 900*mb), 1},
		{"all small, down to half", many(2300, mb/10), 1020},
		{"one hot, idle ones hold most", many(10000, 21<<10, 20*mb), 3760},
	} {
		sum := int64(0)
		for _, s := range c.sizes {
			sum += s
		}
		got := checkpointsWanted(c.sizes, 256*mb)
		if got < c.want-c.want/50 || got > c.want+c.want/50 {
			t.Errorf("%s (%d MiB): %d, want about %d", c.what, sum/mb, got, c.want)
		}
	}
}
