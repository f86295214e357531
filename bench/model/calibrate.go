package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// CalibrationCells are the five cells that costs are computed from, by name. All run without a given rate, so that every batch is
// full and the client waits for answers.
//
//   - lone, lone-6, lone-large: one request in flight with one 4 KiB batch, six of 16 KiB, and as many of 128 KiB as
//     max.request.size allows: the cycle of one in flight over its size, and from the last two the price of a byte
//   - small: one 4 KiB batch a request, five in flight: the price of a request
//   - wide: 48 batches of 16 KiB a request, five in flight: the price of a batch
func CalibrationCells() []Cell {
	cell := func(name string, s Settings) Cell {
		s.RecordSize = 1024
		s.EnsureDefaults()
		return Cell{Name: name, Settings: s}
	}
	return []Cell{
		cell("lone", Settings{BatchSize: 4096, Partitions: 1, MaxInFlight: 1}),
		cell("lone-6", Settings{BatchSize: 16384, Partitions: 6, MaxInFlight: 1}),
		cell("lone-large", Settings{BatchSize: 131072, Partitions: 48, MaxInFlight: 1}),
		cell("small", Settings{BatchSize: 4096, Partitions: 1}),
		cell("wide", Settings{BatchSize: 16384, Partitions: 48}),
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

func (r *rows) cost() Cost {
	x := fit(r.features, r.values)
	return Cost{Request: x[0], Batch: x[1], Byte: x[2]}
}

// Calibrate computes costs from the measured calibration cells. What a record costs beyond its bytes the client finds out by
// itself (producer.AppendCost), ns.
func Calibrate(cells []Cell, record float64) (*Costs, error) {
	if len(cells) == 0 || len(cells) > 5 {
		return nil, fmt.Errorf("%d cells: a calibration has one to five", len(cells))
	}
	c := &Costs{Cells: cells}
	var client, broker, capacity rows
	for _, cell := range cells {
		m := cell.Measured
		if m == nil || m.RequestsPerSec <= 0 || m.ClientCores <= 0 || m.BrokerCores <= 0 {
			return nil, fmt.Errorf("cell %s was not measured (client and broker must be processes of this machine)", cell.Name)
		}
		// Per request, all of them.
		k, b, period := m.BatchesPerRequest, m.BytesPerRequest, 1e9/m.RequestsPerSec
		clientNs := m.ClientCores*period - record*k*m.RecordsPerBatch
		if cell.Settings.MaxInFlight == 1 {
			c.Lone = append(c.Lone, Lone{Bytes: b, Batches: k, Records: k * m.RecordsPerBatch, Cycle: period, Answer: m.RoundTrip * 1000, Client: m.ClientCores * period, Broker: m.BrokerCores * period})
			continue
		}
		capacity.add(1, k, b, period)
		client.add(1, k, b, clientNs)
		broker.add(1, k, b, m.BrokerCores*period)
	}
	if len(c.Lone) < 2 || len(capacity.values) == 0 {
		return nil, errors.New("a calibration needs two cells with one request in flight and one with more")
	}
	slices.SortFunc(c.Lone, func(a, b Lone) int { return cmp.Compare(a.Bytes, b.Bytes) })
	// Of large requests one more byte takes the broker's time even when it is alone in flight: the client's work on it overlaps.
	x, y := c.Lone[len(c.Lone)-2], c.Lone[len(c.Lone)-1]
	k, b := y.Batches-x.Batches, y.Bytes-x.Bytes
	capacity.add(0, k, b, y.Cycle-x.Cycle)
	client.add(0, k, b, y.Client-x.Client-record*(y.Records-x.Records))
	broker.add(0, k, b, y.Broker-x.Broker)
	c.Client, c.Broker, c.Capacity = client.cost(), broker.cost(), capacity.cost()
	c.Client.Record = record
	return c, nil
}
