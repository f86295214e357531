package model

import (
	"encoding/json"
	"errors"
	"os"
)

// Cost is what one party pays, ns each.
type Cost struct {
	Request float64 `json:"request_ns"`
	Batch   float64 `json:"batch_ns"`
	Record  float64 `json:"record_ns,omitempty"`
	Byte    float64 `json:"byte_ns"`
	Wake    float64 `json:"wake_ns,omitempty"` // more per request if the party slept before it; takes CPU, not capacity
}

// Costs are a calibration: one client on one broker on one machine. Immutable.
type Costs struct {
	Target     string  `json:"target"`
	Machine    string  `json:"machine"`
	Client     Cost    `json:"client"`
	Broker     Cost    `json:"broker"`
	RoundTrip  Cost    `json:"round_trip"` // of a lone request, median: fixed part, per batch, per byte
	Flight     Cost    `json:"flight"`     // from one request to the next with one in flight, mean: what throughput depends on
	NetworkMBs float64 `json:"network_mb_per_s,omitempty"`
	Cells      []Cell  `json:"cells"` // what it was computed from
}

// LoadCosts reads a frozen calibration.
func LoadCosts(file string) (*Costs, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	c := &Costs{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, err
	}
	if c.Client.Record <= 0 && c.Client.Request <= 0 || len(c.Cells) == 0 {
		return nil, errors.New(file + " holds no calibration")
	}
	return c, nil
}

// Save writes it.
func (c *Costs) Save(file string) error {
	b, err := json.MarshalIndent(c, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(b, '\n'), 0o644)
}
