package model

import (
	"cmp"
	"slices"
	"time"
)

// Choice is a setting that meets a wish, with what is expected of it.
type Choice struct {
	Settings   Settings
	Prediction Prediction
}

// Best lists settings that carry a rate (records/s) with a median and a 99th percentile below the wanted latency (0: any), the
// cheapest in CPU first, then the quickest. Record size, partitions, brokers and memory are those of base; the search goes over
// batch.size, linger.ms and requests in flight.
func Best(base Settings, rate float64, latency time.Duration, c *Costs) []Choice {
	var out []Choice
	for _, batch := range []int{1024, 4096, 16384, 32768, 65536, 131072, 262144, 524288} {
		for _, linger := range []float64{0, 0.5, 1, 2, 5, 10, 20, 50, 100} {
			for _, flight := range []int{1, 2, 5} {
				s := base
				s.BatchSize, s.Linger, s.MaxInFlight, s.Rate = batch, time.Duration(linger*float64(time.Millisecond)), flight, rate
				s.EnsureDefaults()
				p := Predict(s, c)
				if p.Exhausted || latency > 0 && p.P99 > float64(latency.Microseconds()) {
					continue
				}
				out = append(out, Choice{s, p})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Choice) int {
		// Differences below a percent of a core are none.
		cost := func(c Choice) float64 {
			return float64(int((c.Prediction.ClientCores + c.Prediction.BrokerCores*float64(c.Settings.Brokers)) * 100))
		}
		return cmp.Or(cmp.Compare(cost(a), cost(b)), cmp.Compare(a.Prediction.P99, b.Prediction.P99), cmp.Compare(a.Settings.BatchSize, b.Settings.BatchSize), cmp.Compare(a.Settings.MaxInFlight, b.Settings.MaxInFlight))
	})
	return out
}
