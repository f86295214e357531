package adminhttp

import (
	"github.com/prometheus/client_golang/prometheus"

	"millrace/internal/metric"
)

// bridge shows a metric.Registry as a collector of the Prometheus client. Immutable.
type bridge struct {
	reg     *metric.Registry
	version string
}

// Describe implements prometheus.Collector; the series are not known in advance, so that nothing is described
// ("unchecked").
func (bridge) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (b bridge) Collect(out chan<- prometheus.Metric) {
	info := prometheus.NewDesc("millrace_build_info", "The version that runs.", []string{"version"}, nil)
	out <- prometheus.MustNewConstMetric(info, prometheus.GaugeValue, 1, b.version)
	for _, f := range b.reg.Gather() {
		for i := range f.Samples {
			if m := convert(&f, &f.Samples[i]); m != nil {
				out <- m
			}
		}
	}
}

func convert(f *metric.Family, s *metric.Sample) prometheus.Metric {
	names, values := make([]string, len(s.Labels)), make([]string, len(s.Labels))
	for i, l := range s.Labels {
		names[i], values[i] = l.Name, l.Value
	}
	desc := prometheus.NewDesc(f.Name, f.Help, names, nil)
	switch f.Kind {
	case metric.KindCounter:
		return prometheus.MustNewConstMetric(desc, prometheus.CounterValue, s.Value, values...)
	case metric.KindGauge:
		return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, s.Value, values...)
	case metric.KindHistogram:
		buckets := make(map[float64]uint64, len(f.Bounds))
		for _, bound := range f.Bounds {
			buckets[bound] = s.Hist.Below(int64(bound / f.Unit))
		}
		return prometheus.MustNewConstHistogram(desc, s.Hist.Count, float64(s.Hist.Sum)*f.Unit, buckets, values...)
	}
	return nil
}
