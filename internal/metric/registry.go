package metric

import (
	"slices"
	"strings"
	"sync"
)

// Kind says what a family holds.
type Kind uint8

// The kinds of families.
const (
	KindCounter Kind = iota + 1
	KindGauge
	KindHistogram
)

// Label is one name and value that tells series of a family apart.
type Label struct{ Name, Value string }

// Registry knows all cells. Any goroutine.
type Registry struct {
	mu       sync.Mutex
	families map[string]*family
	collects []func() []Family
}

type family struct {
	name, help string
	kind       Kind
	unit       float64   // what raw histogram values are multiplied with
	bounds     []float64 // of a histogram, in the exported unit
	series     map[string]*series
}

type series struct {
	labels []Label
	counts []*Counter
	gauges []*Gauge
	hists  []*Histogram
	funcs  []func() float64
}

// NewRegistry makes an empty registry.
func NewRegistry() *Registry {
	return &Registry{families: map[string]*family{}}
}

func (r *Registry) series(name, help string, kind Kind, labels []Label) (*family, *series) {
	f := r.families[name]
	if f == nil {
		f = &family{name: name, help: help, kind: kind, unit: 1, series: map[string]*series{}}
		r.families[name] = f
	}
	if f.kind != kind {
		panic("metric " + name + " is registered with two kinds")
	}
	key := labelKey(labels)
	s := f.series[key]
	if s == nil {
		s = &series{labels: slices.Clone(labels)}
		f.series[key] = s
	}
	return f, s
}

func labelKey(labels []Label) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(l.Name)
		b.WriteByte(0)
		b.WriteString(l.Value)
		b.WriteByte(0)
	}
	return b.String()
}

// Counter makes a new cell of the counter with this name and these labels. A scrape adds up all its cells.
func (r *Registry) Counter(name, help string, labels ...Label) *Counter {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, s := r.series(name, help, KindCounter, labels)
	c := new(Counter)
	s.counts = append(s.counts, c)
	return c
}

// Gauge makes a new cell of the gauge with this name and these labels. A scrape adds up all its cells.
func (r *Registry) Gauge(name, help string, labels ...Label) *Gauge {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, s := r.series(name, help, KindGauge, labels)
	g := new(Gauge)
	s.gauges = append(s.gauges, g)
	return g
}

// GaugeFunc registers a gauge that is computed at each scrape; fn is called from any goroutine.
func (r *Registry) GaugeFunc(name, help string, fn func() float64, labels ...Label) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, s := r.series(name, help, KindGauge, labels)
	s.funcs = append(s.funcs, fn)
}

// CounterFunc registers a counter that is read at each scrape; fn is called from any goroutine and never falls.
func (r *Registry) CounterFunc(name, help string, fn func() float64, labels ...Label) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, s := r.series(name, help, KindCounter, labels)
	s.funcs = append(s.funcs, fn)
}

// Histogram makes a new cell of the histogram with this name and these labels. Raw values times unit are what is
// exported (1e-9 for nanoseconds shown as seconds); bounds are in the exported unit, ascending.
func (r *Registry) Histogram(name, help string, unit float64, bounds []float64, labels ...Label) *Histogram {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, s := r.series(name, help, KindHistogram, labels)
	f.unit, f.bounds = unit, bounds
	h := new(Histogram)
	s.hists = append(s.hists, h)
	return h
}

// Sample is one series at the moment of a scrape.
type Sample struct {
	Labels []Label
	Value  float64   // of a counter or gauge
	Hist   *Snapshot // of a histogram, in raw units
}

// Family is what a scrape found under one name.
type Family struct {
	Name, Help string
	Kind       Kind
	Unit       float64
	Bounds     []float64
	Samples    []Sample
}

// Collect registers fn to be asked, at each scrape, for families whose series come and go. No cell may have their names.
// fn runs on the goroutine of the scrape.
func (r *Registry) Collect(fn func() []Family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.collects = append(r.collects, fn)
}

// Gather merges all cells, families sorted by name and samples by labels.
func (r *Registry) Gather() []Family {
	r.mu.Lock()
	collects := slices.Clone(r.collects)
	r.mu.Unlock()
	var collected []Family
	for _, fn := range collects {
		collected = append(collected, fn()...)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Family, 0, len(r.families)+len(collected))
	for i := range collected {
		if len(collected[i].Samples) > 0 {
			out = append(out, collected[i])
		}
	}
	for _, f := range r.families {
		g := Family{Name: f.name, Help: f.help, Kind: f.kind, Unit: f.unit, Bounds: f.bounds}
		for _, s := range f.series {
			g.Samples = append(g.Samples, s.sample(f.kind))
		}
		slices.SortFunc(g.Samples, func(a, b Sample) int {
			return strings.Compare(labelKey(a.Labels), labelKey(b.Labels))
		})
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func (s *series) sample(kind Kind) Sample {
	m := Sample{Labels: s.labels}
	if kind == KindHistogram {
		m.Hist = new(Snapshot)
		for _, h := range s.hists {
			h.AddTo(m.Hist)
		}
		return m
	}
	for _, c := range s.counts {
		m.Value += float64(c.Load())
	}
	for _, g := range s.gauges {
		m.Value += float64(g.Load())
	}
	for _, fn := range s.funcs {
		m.Value += fn()
	}
	return m
}
