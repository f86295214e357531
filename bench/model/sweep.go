package model

import (
	"fmt"
	"time"
)

// Grid are the values that a sweep combines.
type Grid struct {
	RecordSize []int
	BatchSize  []int
	Linger     []time.Duration
	Partitions []int
	InFlight   []int
	Rates      []float64 // records/s; 0: as fast as it goes
	Brokers    int
	Grouping   bool // beside each cell with several partitions and the default batch size, the same with one request per partition
}

// DefaultGrid is 3 x 3 x 3 x 2 settings of 1 KiB records, as fast as it goes and at 20,000 records/s.
func DefaultGrid() Grid {
	return Grid{
		RecordSize: []int{1024}, BatchSize: []int{4096, 16384, 131072}, Linger: []time.Duration{0, 5 * time.Millisecond, 20 * time.Millisecond},
		Partitions: []int{1, 6, 48}, InFlight: []int{1, 5}, Rates: []float64{0, 20_000}, Brokers: 1, Grouping: true,
	}
}

// Cells lists the grid's settings.
func (g Grid) Cells() []Cell {
	var out []Cell
	for _, rate := range g.Rates {
		for _, size := range g.RecordSize {
			for _, parts := range g.Partitions {
				for _, batch := range g.BatchSize {
					for _, linger := range g.Linger {
						for _, flight := range g.InFlight {
							s := Settings{RecordSize: size, BatchSize: batch, Linger: linger, Partitions: parts, MaxInFlight: flight, Rate: rate, Brokers: g.Brokers}
							s.EnsureDefaults()
							out = append(out, Cell{Name: s.name(), Settings: s})
							if g.Grouping && parts > 1 && batch == 16384 && linger == 5*time.Millisecond {
								s.PerPartition = true
								out = append(out, Cell{Name: s.name(), Settings: s})
							}
						}
					}
				}
			}
		}
	}
	return out
}

// name says what differs between cells.
func (s *Settings) name() string {
	rate := "max"
	if s.Rate > 0 {
		rate = fmt.Sprintf("%g/s", s.Rate)
	}
	n := fmt.Sprintf("%s r%d b%d l%g p%d f%d", rate, s.RecordSize, s.BatchSize, float64(s.Linger)/1e6, s.Partitions, s.MaxInFlight)
	if s.PerPartition {
		n += " single"
	}
	return n
}
