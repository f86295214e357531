package adminhttp

import (
	"slices"

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
		var desc *prometheus.Desc // one for all series: making it costs more than the series
		for i := range f.Samples {
			if i == 0 || !sameNames(f.Samples[i].Labels, f.Samples[i-1].Labels) {
				desc = prometheus.NewDesc(f.Name, f.Help, labelNames(f.Samples[i].Labels), nil)
			}
			if m := convert(desc, &f, &f.Samples[i]); m != nil {
				out <- m
			}
		}
	}
}

func labelNames(labels []metric.Label) []string {
	names := make([]string, len(labels))
	for i, l := range labels {
		names[i] = l.Name
	}
	return names
}

func sameNames(a, b []metric.Label) bool {
	return slices.EqualFunc(a, b, func(x, y metric.Label) bool { return x.Name == y.Name })
}

func convert(desc *prometheus.Desc, f *metric.Family, s *metric.Sample) prometheus.Metric {
	values := make([]string, len(s.Labels))
	for i, l := range s.Labels {
		values[i] = l.Value
	}
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
