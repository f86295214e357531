package model

import (
	"slices"

	"millrace/bench/rawgen"
	"millrace/bench/stats"
)

// Cell is one point of a sweep.
type Cell struct {
	Name      string           `json:"name"`
	Settings  Settings         `json:"settings"`
	Predicted *Prediction      `json:"predicted,omitempty"`
	Measured  *Measured        `json:"measured,omitempty"`
	Runs      []*rawgen.Result `json:"runs,omitempty"`
	Tried     int              `json:"tried,omitempty"` // runs, also those that yielded nothing
	Errors    []string         `json:"errors,omitempty"`
}

// Measured are medians over a cell's runs, in the units of Prediction.
type Measured struct {
	Runs              int     `json:"runs"`
	Failed            int     `json:"failed,omitempty"`
	Spread            float64 `json:"spread"` // of requests/s: (max-min)/median
	RecordsPerSec     float64 `json:"records_per_s"`
	MBPerSec          float64 `json:"mb_per_s"`
	RequestsPerSec    float64 `json:"requests_per_s"`
	RecordsPerBatch   float64 `json:"records_per_batch"`
	BatchesPerRequest float64 `json:"batches_per_request"`
	BytesPerRequest   float64 `json:"bytes_per_request"` // of batches
	Fill              float64 `json:"fill"`
	Wait              float64 `json:"wait_us"`
	RoundTrip         float64 `json:"round_trip_us"`
	P50               float64 `json:"p50_us"`
	P99               float64 `json:"p99_us"`
	ClientCores       float64 `json:"client_cores"`
	BrokerCores       float64 `json:"broker_cores"`
	Blocked           float64 `json:"blocked"` // share of the time that the application waited for memory
}

// summarize computes the medians of a cell's runs.
func (c *Cell) summarize() {
	m := &Measured{}
	values := map[*float64][]float64{}
	add := func(to *float64, v float64) { values[to] = append(values[to], v) }
	for _, r := range c.Runs {
		if r.FailureCount > 0 || r.Requests == 0 || r.Seconds <= 0 || r.Model == nil {
			m.Failed++
			continue
		}
		m.Runs++
		add(&m.RecordsPerSec, float64(r.Records)/r.Seconds)
		add(&m.MBPerSec, float64(r.PayloadBytes)/1e6/r.Seconds)
		add(&m.RequestsPerSec, float64(r.Requests)/r.Seconds)
		add(&m.RecordsPerBatch, r.Model.RecordsPerBatch)
		add(&m.BatchesPerRequest, r.Model.BatchesPerRequest)
		add(&m.BytesPerRequest, float64(r.Model.BatchBytes)/float64(r.Requests))
		add(&m.Fill, r.Model.Fill)
		add(&m.Blocked, r.Model.BlockedSeconds/r.Seconds)
		if r.Model.Wait != nil {
			add(&m.Wait, r.Model.Wait.P50)
		}
		if r.Model.RoundTrip != nil {
			add(&m.RoundTrip, r.Model.RoundTrip.P50)
		}
		if r.Latency != nil {
			add(&m.P50, r.Latency.P50)
			add(&m.P99, r.Latency.P99)
		}
		if r.Generator != nil {
			add(&m.ClientCores, r.Generator.CPUSeconds/r.Seconds)
		}
		if r.Broker != nil {
			add(&m.BrokerCores, r.Broker.CPUSeconds/r.Seconds)
		}
	}
	for to, v := range values {
		*to = stats.Summarize(v).Median
	}
	m.Spread = stats.Summarize(values[&m.RequestsPerSec]).Spread()
	c.Measured = m
	if m.Runs == 0 {
		c.Measured = nil
	}
}

// off is how far a prediction lies from the measurement: 0.1 is 10 % more than measured.
func off(predicted, measured float64) float64 {
	if measured == 0 {
		return 0
	}
	return predicted/measured - 1
}

// Errors of the two figures that are judged, throughput and requests per second; ok is false if the cell has no measurement.
func (c *Cell) off() (records, requests float64, ok bool) {
	if c.Measured == nil || c.Predicted == nil {
		return 0, 0, false
	}
	return off(c.Predicted.RecordsPerSec, c.Measured.RecordsPerSec), off(c.Predicted.RequestsPerSec, c.Measured.RequestsPerSec), true
}

// byName finds a cell.
func byName(cells []Cell, name string) *Cell {
	if i := slices.IndexFunc(cells, func(c Cell) bool { return c.Name == name }); i >= 0 {
		return &cells[i]
	}
	return nil
}
