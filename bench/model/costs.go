package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
)

// Cost is what one party pays, ns each. A batch of n bytes costs Batch + Byte * n^Power: the more it holds, the larger the
// pieces in which it is received, copied and written.
type Cost struct {
	Request float64 `json:"request_ns"`
	Batch   float64 `json:"batch_ns,omitempty"`
	Record  float64 `json:"record_ns,omitempty"`
	Byte    float64 `json:"byte_ns"`
	Power   float64 `json:"power,omitempty"` // 0: 1
}

// of is the price of so many; batches are of one size.
func (c *Cost) of(requests, batches, records, bytes float64) float64 {
	return c.Request*requests + c.Record*records + batches*c.batch(bytes/batches)
}

// batch is the price of one with so many bytes.
func (c *Cost) batch(bytes float64) float64 {
	if c.Power != 0 {
		bytes = math.Pow(bytes, c.Power)
	}
	return c.Batch + c.Byte*bytes
}

// Lone is what a request pays more when no other is in flight: both sides sleep while the other works and are woken, and what
// otherwise goes on side by side comes one after the other, the longer the more bytes there are. ns.
type Lone struct {
	Request float64 `json:"request_ns"`
	Byte    float64 `json:"byte_ns"`
}

// of is the addition for a request.
func (l *Lone) of(bytes float64) float64 { return l.Request + l.Byte*bytes }

// Costs are a calibration: one client on one broker on one machine. Immutable.
type Costs struct {
	Target  string `json:"target"`
	Machine string `json:"machine"`
	Client  Cost   `json:"client"` // CPU of a busy client
	Broker  Cost   `json:"broker"` // CPU of a busy broker
	// Capacity is wall time of a busy broker, with all that it waits for (page cache, writeback): what bounds throughput.
	Capacity Cost `json:"capacity"`
	// With one request in flight: what is added to Capacity from one request to the next, to Capacity until the answer (median),
	// and to the CPU of client and broker.
	LoneCycle  Lone    `json:"lone_cycle"`
	LoneAnswer Lone    `json:"lone_answer"`
	LoneClient Lone    `json:"lone_client"`
	LoneBroker Lone    `json:"lone_broker"`
	NetworkMBs float64 `json:"network_mb_per_s,omitempty"`
	Cells      []Cell  `json:"cells"` // what it was computed from
}

// String says it in a sentence.
func (c *Costs) String() string {
	price := func(what string, p Cost) string {
		return fmt.Sprintf("%s %.0f ns a request, %.0f a batch of 4 KiB, %.0f one of 64 KiB", what, p.Request, p.batch(4096), p.batch(65536))
	}
	out := price("client's CPU", c.Client) + fmt.Sprintf(", %.1f a record; ", c.Client.Record) + price("broker's time", c.Capacity) + "; " + price("its CPU", c.Broker)
	return out + fmt.Sprintf("; with one in flight %.0f more and %.3f a byte until the next request", c.LoneCycle.Request, c.LoneCycle.Byte)
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
	if c.Capacity.Request+c.Capacity.Batch+c.Capacity.Byte <= 0 || len(c.Cells) == 0 {
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
