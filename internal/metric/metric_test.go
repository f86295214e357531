package metric

import (
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

func TestBuckets(t *testing.T) {
	last := -1
	for _, v := range []uint64{0, 1, 7, 8, 9, 15, 16, 17, 100, 1000, 1 << 20, 1<<40 + 12345, math.MaxInt64} {
		b := bucketOf(v)
		if b < last || bucketTop(b) < v || b > 0 && bucketTop(b-1) >= v {
			t.Errorf("%d is in bucket %d, which ends at %d", v, b, bucketTop(b))
		}
		last = b
	}
	for b := 1; b < buckets; b++ {
		if bucketOf(bucketTop(b)) != b || bucketOf(bucketTop(b-1)+1) != b {
			t.Fatalf("bucket %d has other bounds than its values", b)
		}
	}
}

func TestQuantiles(t *testing.T) {
	var a, b Histogram
	rnd := rand.New(rand.NewSource(1))
	var vs []int64
	for i := range 20000 {
		v := int64(math.Exp(rnd.Float64() * 20))
		vs = append(vs, v)
		if i%2 == 0 {
			a.Observe(v)
		} else {
			b.Observe(v)
		}
	}
	slices.Sort(vs)
	var s Snapshot
	a.AddTo(&s)
	b.AddTo(&s)
	if s.Count != 20000 {
		t.Fatalf("%d values", s.Count)
	}
	for _, q := range []float64{0, 0.5, 0.99, 0.999, 1} {
		want := float64(vs[min(int(q*20000), 19999)])
		if got := float64(s.Quantile(q)); got < want || got > want*1.13+1 {
			t.Errorf("quantile %v is %v, not %v", q, got, want)
		}
	}
	if (&Snapshot{}).Quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
}

func TestRegistry(t *testing.T) {
	r := NewRegistry()
	lab := Label{"loop", `a"b`}
	c1, c2 := r.Counter("x_total", "Counts\nxs."), r.Counter("x_total", "Counts\nxs.")
	c3 := r.Counter("x_total", "Counts\nxs.", lab)
	c1.Add(3)
	c2.Inc()
	c2.AddShared(2)
	c3.Inc()
	g := r.Gauge("g", "A gauge.")
	g.Set(7)
	g.Add(-2)
	r.GaugeFunc("g", "A gauge.", func() float64 { return 0.5 })
	h := r.Histogram("h_seconds", "Times.", 1e-9, []float64{0.001, 0.1}, lab)
	h.Observe(500_000)
	h.Observe(50_000_000)
	h.Observe(-1)
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	want := `# HELP g A gauge.
# TYPE g gauge
g 5.5
# HELP h_seconds Times.
# TYPE h_seconds histogram
h_seconds_bucket{loop="a\"b",le="0.001"} 2
h_seconds_bucket{loop="a\"b",le="0.1"} 3
h_seconds_bucket{loop="a\"b",le="+Inf"} 3
h_seconds_sum{loop="a\"b"} 0.0505
h_seconds_count{loop="a\"b"} 3
# HELP x_total Counts\nxs.
# TYPE x_total counter
x_total 6
x_total{loop="a\"b"} 1
`
	if b.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", b.String(), want)
	}
	if n := testing.AllocsPerRun(100, func() { c1.Inc(); g.Set(1); h.Observe(12345) }); n != 0 {
		t.Errorf("%v allocations per count", n)
	}
}
