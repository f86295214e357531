package model

import (
	"errors"
	"fmt"
)

// CalibrationCells are the five cells that costs are computed from, by name. All run without a given rate.
//
//   - lone: one record a batch, one request in flight: the shortest answer
//   - large: six full 64 KiB batches a request, one in flight: what size adds to an answer
//   - small: one record a batch, five in flight: the price of a request
//   - many: 48 batches of 4 KiB with 100 B records: the price of a batch and of a record
//   - bulk: six 128 KiB batches, five in flight: the price of a byte
func CalibrationCells() []Cell {
	cell := func(name string, s Settings) Cell {
		s.EnsureDefaults()
		return Cell{Name: name, Settings: s}
	}
	return []Cell{
		cell("lone", Settings{RecordSize: 100, BatchSize: 1, Partitions: 1, MaxInFlight: 1}),
		cell("large", Settings{RecordSize: 1024, BatchSize: 65536, Partitions: 6, MaxInFlight: 1}),
		cell("small", Settings{RecordSize: 100, BatchSize: 1, Partitions: 1}),
		cell("many", Settings{RecordSize: 100, BatchSize: 4096, Partitions: 48}),
		cell("bulk", Settings{RecordSize: 1024, BatchSize: 131072, Partitions: 6}),
	}
}

// Calibrate computes costs from the measured calibration cells.
func Calibrate(cells []Cell) (*Costs, error) {
	if len(cells) == 0 || len(cells) > 5 {
		return nil, fmt.Errorf("%d cells: a calibration has one to five", len(cells))
	}
	c := &Costs{Cells: cells}
	var client, broker, trip [][]float64
	var clientNs, brokerNs, tripNs, flightNs, tripBatches []float64
	for _, cell := range cells {
		m := cell.Measured
		if m == nil || m.RequestsPerSec <= 0 || m.ClientCores <= 0 || m.BrokerCores <= 0 {
			return nil, fmt.Errorf("cell %s was not measured (client and broker must be processes of this machine)", cell.Name)
		}
		// Per request, all of them.
		k, n, b := m.BatchesPerRequest, m.BatchesPerRequest*m.RecordsPerBatch, m.BytesPerRequest
		slept := 0.0
		if cell.Settings.MaxInFlight == 1 {
			slept = 1 // both sides wait for each other
		}
		client = append(client, []float64{1, k, n, b, slept})
		clientNs = append(clientNs, m.ClientCores/m.RequestsPerSec*1e9)
		broker = append(broker, []float64{1, k, b, slept})
		brokerNs = append(brokerNs, m.BrokerCores/m.RequestsPerSec*1e9)
		if cell.Settings.MaxInFlight == 1 {
			trip = append(trip, []float64{1, b})
			tripBatches = append(tripBatches, k)
			tripNs = append(tripNs, m.RoundTrip*1000)
			flightNs = append(flightNs, 1e9/m.RequestsPerSec)
		}
	}
	if len(trip) < 2 {
		return nil, errors.New("a calibration needs two cells with one request in flight")
	}
	x := fit(client, clientNs)
	c.Client = Cost{Request: x[0], Batch: x[1], Record: x[2], Byte: x[3], Wake: x[4]}
	x = fit(broker, brokerNs)
	c.Broker = Cost{Request: x[0], Batch: x[1], Byte: x[2], Wake: x[3]}
	for i := range trip { // what a batch takes is known from the broker's side
		tripNs[i] = max(1, tripNs[i]-c.Broker.Batch*tripBatches[i])
		flightNs[i] = max(1, flightNs[i]-c.Broker.Batch*tripBatches[i])
	}
	x = fit(trip, tripNs)
	c.RoundTrip = Cost{Request: x[0], Batch: c.Broker.Batch, Byte: x[1]}
	x = fit(trip, flightNs)
	c.Flight = Cost{Request: x[0], Batch: c.Broker.Batch, Byte: x[1]}
	return c, nil
}
