package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
)

// Cost is what one party pays, ns each.
type Cost struct {
	Request float64 `json:"request_ns"`
	Batch   float64 `json:"batch_ns"`
	Record  float64 `json:"record_ns,omitempty"`
	Byte    float64 `json:"byte_ns"`
}

// of is the price of so many.
func (c *Cost) of(requests, batches, records, bytes float64) float64 {
	return c.Request*requests + c.Batch*batches + c.Record*records + c.Byte*bytes
}

// Lone is a request with no other in flight, as measured at one size. Both sides sleep while the other works, also within a request
// of some size, so its times are no straight line over bytes, and its processor times are not those of a busy party.
type Lone struct {
	Bytes   float64 `json:"bytes"`
	Batches float64 `json:"batches"`
	Records float64 `json:"records"`
	Cycle   float64 `json:"cycle_ns"`  // from one request to the next, mean: what throughput depends on
	Answer  float64 `json:"answer_ns"` // median
	Client  float64 `json:"client_ns"` // CPU
	Broker  float64 `json:"broker_ns"` // CPU
}

// Costs are a calibration: one client on one broker on one machine. Immutable.
type Costs struct {
	Target  string `json:"target"`
	Machine string `json:"machine"`
	Client  Cost   `json:"client"` // CPU of a busy client
	Broker  Cost   `json:"broker"` // CPU of a busy broker
	// Capacity is wall time of a busy broker, with all that it waits for (page cache, writeback): what bounds throughput.
	Capacity   Cost    `json:"capacity"`
	Lone       []Lone  `json:"lone"` // by bytes
	NetworkMBs float64 `json:"network_mb_per_s,omitempty"`
	Cells      []Cell  `json:"cells"` // what it was computed from
}

// String says it in a sentence.
func (c *Costs) String() string {
	price := func(what string, p Cost) string {
		return fmt.Sprintf("%s %.0f ns a request, %.0f a batch, %.3f a byte", what, p.Request, p.Batch, p.Byte)
	}
	out := price("client's CPU", c.Client) + fmt.Sprintf(", %.1f a record; ", c.Client.Record) + price("broker's time", c.Capacity) + "; " + price("its CPU", c.Broker)
	for _, l := range c.Lone {
		out += fmt.Sprintf("; one in flight with %.0f bytes in %.0f batches: every %.0f us, answer %.0f us", l.Bytes, l.Batches, l.Cycle/1000, l.Answer/1000)
	}
	return out
}

// lone is a request of so many batches and bytes alone in flight: between the measured sizes on a straight line, beyond the last on
// the line of the last two.
func (c *Costs) lone(batches, bytes float64) Lone {
	p := c.Lone
	if len(p) == 0 {
		return Lone{}
	}
	a, b := p[0], p[0]
	if len(p) > 1 {
		i, _ := slices.BinarySearchFunc(p, bytes, func(l Lone, bytes float64) int {
			if l.Bytes < bytes {
				return -1
			}
			return 1
		})
		i = min(max(i, 1), len(p)-1)
		a, b = p[i-1], p[i]
	}
	share := 0.0
	if b.Bytes > a.Bytes {
		share = (bytes - a.Bytes) / (b.Bytes - a.Bytes)
	}
	on := func(x, y float64) float64 { return max(x+(y-x)*share, min(x, y)/4) }
	// Of the number of batches only what a busy party pays is known.
	more := batches - (a.Batches + (b.Batches-a.Batches)*share)
	both := more * (c.Client.Batch + c.Broker.Batch)
	floor := func(v, least float64) float64 { return max(v, least/4) }
	return Lone{
		Bytes: bytes, Batches: batches,
		Cycle: floor(on(a.Cycle, b.Cycle)+both, p[0].Cycle), Answer: floor(on(a.Answer, b.Answer)+both, p[0].Answer),
		Client: floor(on(a.Client, b.Client)+more*c.Client.Batch, p[0].Client), Broker: floor(on(a.Broker, b.Broker)+more*c.Broker.Batch, p[0].Broker),
	}
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
	if c.Capacity.Request+c.Capacity.Batch+c.Capacity.Byte <= 0 || len(c.Lone) == 0 || len(c.Cells) == 0 {
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
