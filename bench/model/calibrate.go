package model

import (
	"errors"
	"fmt"
	"math"
)

// CalibrationCells are the five cells that costs are computed from, by name. All run without a given rate, so that every batch is
// full and the client waits for answers.
//
//   - small: one 4 KiB batch a request, five in flight: the price of a request
//   - many: 48 batches of 4 KiB: the price of a batch
//   - bulk: six batches of 128 KiB: how the price of a batch grows with its bytes
//   - lone, lone-wide: one request in flight with one batch of 4 KiB, and 48 of 16 KiB: what waiting for each other adds
func CalibrationCells() []Cell {
	cell := func(name string, s Settings) Cell {
		s.RecordSize = 1024
		s.EnsureDefaults()
		return Cell{Name: name, Settings: s}
	}
	return []Cell{
		cell("small", Settings{BatchSize: 4096, Partitions: 1}),
		cell("many", Settings{BatchSize: 4096, Partitions: 48}),
		cell("bulk", Settings{BatchSize: 131072, Partitions: 6}),
		cell("lone", Settings{BatchSize: 4096, Partitions: 1, MaxInFlight: 1}),
		cell("lone-wide", Settings{BatchSize: 16384, Partitions: 48, MaxInFlight: 1}),
	}
}

// rows are what a cost is fitted to.
type rows struct {
	features [][]float64
	values   []float64
}

// add notes that so many requests, batches and bytes took so long; what took no time says nothing.
func (r *rows) add(requests, batches, bytes, ns float64) {
	if ns > 0 {
		r.features, r.values = append(r.features, []float64{requests, batches, bytes}), append(r.values, ns)
	}
}

// cost fits a price per request and one per batch that grows with a power of its bytes: the power is tried out, the factors
// are fitted for each.
func (r *rows) cost() Cost {
	best, least := Cost{}, math.Inf(1)
	try := func(power float64) {
		features := make([][]float64, len(r.features))
		for i, f := range r.features {
			features[i] = []float64{f[0], f[1] * math.Pow(f[2]/f[1], power)}
		}
		x := fit(features, r.values)
		off := 0.0
		for i, f := range features {
			e := (x[0]*f[0] + x[1]*f[1]) / r.values[i]
			off += (e - 1) * (e - 1)
		}
		if off < least {
			best, least = Cost{Request: x[0], Byte: x[1], Power: power}, off
		}
	}
	for p := 0.4; p < 1.2; p += 0.01 {
		try(p)
	}
	for p, to := best.Power-0.01, best.Power+0.01; p <= to; p += 0.0005 {
		try(p)
	}
	return best
}

// lone fits what lone requests pay beyond what a busy party pays for them.
func (r *rows) lone(pays func(requests, batches, bytes float64) float64) Lone {
	var features [][]float64
	var values []float64
	for i, f := range r.features {
		// Less than a busy one pays cannot be; a trace remains, so that relative errors stay bounded.
		values = append(values, max(r.values[i]-pays(f[0], f[1], f[2]), r.values[i]/50))
		features = append(features, []float64{1, f[2]})
	}
	x := fit(features, values)
	return Lone{Request: x[0], Byte: x[1]}
}

// Calibrate computes costs from the measured calibration cells. What a record costs beyond its bytes the client finds out by
// itself (producer.AppendCost), ns.
func Calibrate(cells []Cell, record float64) (*Costs, error) {
	if len(cells) == 0 || len(cells) > 5 {
		return nil, fmt.Errorf("%d cells: a calibration has one to five", len(cells))
	}
	c := &Costs{Cells: cells}
	var busy, lone struct{ client, broker, cycle, answer rows }
	for _, cell := range cells {
		m := cell.Measured
		if m == nil || m.RequestsPerSec <= 0 || m.ClientCores <= 0 || m.BrokerCores <= 0 {
			return nil, fmt.Errorf("cell %s was not measured (client and broker must be processes of this machine)", cell.Name)
		}
		// Per request, all of them.
		to, k, b, period := &busy, m.BatchesPerRequest, m.BytesPerRequest, 1e9/m.RequestsPerSec
		if cell.Settings.MaxInFlight == 1 {
			to = &lone
		}
		to.cycle.add(1, k, b, period)
		to.answer.add(1, k, b, m.RoundTrip*1000)
		to.client.add(1, k, b, m.ClientCores*period-record*k*m.RecordsPerBatch)
		to.broker.add(1, k, b, m.BrokerCores*period)
	}
	if len(lone.cycle.values) < 2 || len(busy.cycle.values) == 0 {
		return nil, errors.New("a calibration needs two cells with one request in flight, and cells with more")
	}
	c.Capacity, c.Client, c.Broker = busy.cycle.cost(), busy.client.cost(), busy.broker.cost()
	pays := func(p Cost) func(requests, batches, bytes float64) float64 {
		return func(requests, batches, bytes float64) float64 { return p.of(requests, batches, 0, bytes) }
	}
	c.LoneCycle, c.LoneAnswer = lone.cycle.lone(pays(c.Capacity)), lone.answer.lone(pays(c.Capacity))
	c.LoneClient, c.LoneBroker = lone.client.lone(pays(c.Client)), lone.broker.lone(pays(c.Broker))
	c.Client.Record = record
	return c, nil
}
