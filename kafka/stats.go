package kafka

import (
	"sync/atomic"

	"millrace/internal/metric"
	"millrace/kafka/wire"
)

// stats counts what the frontend does. Any goroutine.
type stats struct {
	connections      atomic.Int64
	connectionsTotal atomic.Int64
	rejected         atomic.Int64
	open             atomic.Int64 // requests begun and not answered
	openNs           [wire.KeyUnregisterController + 1]atomic.Int64
	requests         [wire.KeyUnregisterController + 1]atomic.Int64
}

func (s *stats) request(key int16) { s.requests[key].Add(1) }

// answered notes that an answer left; ns is how long the request was open.
func (s *stats) answered(key int16, ns int64) { s.openNs[key].Add(ns) }

// register shows the counters under Kafka's names, as the usual dashboards expect them, and our own.
func (s *stats) register(reg *metric.Registry, f *Frontend) {
	reg.GaugeFunc("millrace_connections", "Open client connections.", func() float64 { return float64(s.connections.Load()) })
	reg.CounterFunc("millrace_connections_opened_total", "Client connections opened since the start.", func() float64 { return float64(s.connectionsTotal.Load()) })
	reg.CounterFunc("millrace_rejected_frames_total", "Connections closed for what they sent.", func() float64 { return float64(s.rejected.Load()) })
	reg.GaugeFunc("millrace_open_requests", "Requests received and not answered yet.", func() float64 { return float64(s.open.Load()) })
	reg.GaugeFunc("kafka_server_fetchsessioncache_numincrementalfetchsessions", "Fetch sessions.", func() float64 {
		n, _, _ := f.sessions.counts()
		return float64(n)
	})
	for key := range s.requests {
		api := wire.Lookup(int16(key))
		if api == nil || !f.table[key].served() {
			continue
		}
		n := &s.requests[key]
		ns := &s.openNs[key]
		reg.CounterFunc("millrace_request_seconds_total", "Time from the last byte of a request to its answer, summed, by API.",
			func() float64 { return float64(ns.Load()) / 1e9 }, metric.Label{Name: "request", Value: api.Name})
		reg.CounterFunc("kafka_network_requestmetrics_requests_total", "Requests by API.",
			func() float64 { return float64(n.Load()) }, metric.Label{Name: "request", Value: api.Name})
	}
}
