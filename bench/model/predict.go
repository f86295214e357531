package model

import (
	"math"
	"time"

	"millrace/bench/producer"
)

// Settings are what a prediction is about.
type Settings struct {
	RecordSize     int           `json:"record_size"`
	BatchSize      int           `json:"batch_size"`
	Linger         time.Duration `json:"linger_ns"`
	BufferMemory   int64         `json:"buffer_memory"`
	MaxRequestSize int           `json:"max_request_size"`
	MaxInFlight    int           `json:"max_in_flight"`
	Partitions     int           `json:"partitions"`
	Brokers        int           `json:"brokers"`
	Rate           float64       `json:"rate"` // records/s; 0: as fast as it goes
	PerPartition   bool          `json:"per_partition,omitempty"`
	Sticky         bool          `json:"sticky,omitempty"`
	Tick           time.Duration `json:"tick_ns"`
}

// EnsureDefaults fills what was left out with Kafka's defaults.
func (s *Settings) EnsureDefaults() {
	o := s.Options()
	o.EnsureDefaults()
	s.RecordSize, s.BatchSize, s.BufferMemory, s.MaxRequestSize, s.MaxInFlight, s.Tick = o.RecordSize, o.BatchSize, o.BufferMemory, o.MaxRequestSize, o.MaxInFlight, o.Tick
	s.Partitions, s.Brokers = max(s.Partitions, 1), max(s.Brokers, 1)
}

// Options are the producer's options for these settings.
func (s *Settings) Options() producer.Options {
	o := producer.Options{RecordSize: s.RecordSize, BatchSize: s.BatchSize, Linger: s.Linger, BufferMemory: s.BufferMemory, MaxRequestSize: s.MaxRequestSize,
		MaxInFlight: s.MaxInFlight, Rate: s.Rate, PerPartition: s.PerPartition, Tick: s.Tick}
	if s.Sticky {
		o.Spread = producer.SpreadSticky
	}
	return o
}

// What bounds throughput.
const (
	BoundRate     = "rate"
	BoundClient   = "client CPU"
	BoundBroker   = "broker"
	BoundInFlight = "in flight"
	BoundNetwork  = "network"
)

// Prediction is what is expected. Rates are sums over all brokers unless they say otherwise; times are microseconds.
type Prediction struct {
	RecordsPerSec     float64 `json:"records_per_s"`
	MBPerSec          float64 `json:"mb_per_s"` // payload
	RequestsPerSec    float64 `json:"requests_per_s"`
	RequestsPerBroker float64 `json:"requests_per_s_per_broker"`
	RecordsPerBatch   float64 `json:"records_per_batch"`
	BatchesPerRequest float64 `json:"batches_per_request"`
	Fill              float64 `json:"fill"`
	Wait              float64 `json:"wait_us"`       // of a batch's first record in the accumulator
	RoundTrip         float64 `json:"round_trip_us"` // of a request
	P50               float64 `json:"p50_us"`        // of a record, from when it was due to its answer
	P99               float64 `json:"p99_us"`
	ClientCores       float64 `json:"client_cores"`
	BrokerCores       float64 `json:"broker_cores"` // per broker
	Bound             string  `json:"bound"`
	Exhausted         bool    `json:"exhausted"`                 // buffer.memory fills up
	ExhaustedAfter    float64 `json:"exhausted_after,omitempty"` // seconds, at the given rate
}

// cycle is what one request round of one broker is made of. Times are ns.
type cycle struct {
	records, batches, requests, bytes float64
	client, broker, flight            float64 // what each of them takes: client CPU, the broker's time, requests in flight
	network                           float64
	roundTrip                         float64
	brokerCPU                         float64
	clientLone, brokerLone            float64 // CPU if every request of the cycle is alone in flight
}

func (c *cycle) least() float64 { return max(c.client, c.broker, c.flight, c.network) }

func (c *cycle) bound() string {
	switch c.least() {
	case c.client:
		return BoundClient
	case c.broker:
		return BoundBroker
	case c.network:
		return BoundNetwork
	}
	return BoundInFlight
}

// machine is a prediction under way.
type machine struct {
	s         *Settings
	c         *Costs
	perBroker float64 // partitions
	full      float64 // records of a full batch
	record    float64 // bytes of a record in a batch
	buffers   float64
}

// Predict computes what settings yield at costs.
func Predict(s Settings, c *Costs) Prediction {
	s.EnsureDefaults()
	n, bytes := producer.RecordsPerBatch(s.BatchSize, s.RecordSize)
	m := &machine{s: &s, c: c, perBroker: float64(s.Partitions) / float64(s.Brokers), full: float64(n)}
	m.record = float64(bytes-batchHeader) / m.full
	m.buffers = math.Floor(float64(s.BufferMemory) / float64(max(s.BatchSize, producer.SizeUpperBound(s.RecordSize))) / float64(s.Brokers))
	if s.Rate > 0 {
		return m.paced()
	}
	return m.unpaced()
}

const batchHeader = 61

// most is the number of records that one cycle can take: all partitions' batches full, or as many as buffer.memory holds.
func (m *machine) most() float64 {
	return m.full * max(1, min(m.perBroker, m.buffers))
}

// at describes a cycle that gathers so many records.
func (m *machine) at(records float64) cycle {
	s, k := m.s, 0.0
	if s.Sticky {
		k = max(1, math.Ceil(records/m.full-1e-9))
	} else {
		k = max(1, min(m.perBroker, records, m.buffers))
	}
	c := cycle{records: records, batches: k, bytes: k*batchHeader + records*m.record}
	c.requests = 1
	if s.PerPartition {
		c.requests = k
	} else if limit := float64(s.MaxRequestSize); c.bytes > limit {
		perRequest := max(1, math.Floor(limit/(c.bytes/k)))
		c.requests = math.Ceil(k/perRequest - 1e-9)
	}
	b := float64(s.Brokers)
	c.client = b * m.c.Client.of(c.requests, k, records, c.bytes)
	c.broker = m.c.Capacity.of(c.requests, k, records, c.bytes)
	c.brokerCPU = m.c.Broker.of(c.requests, k, records, c.bytes)
	each := c.bytes / c.requests
	c.clientLone = c.client + b*c.requests*m.c.LoneClient.of(each)
	c.brokerLone = c.brokerCPU + c.requests*m.c.LoneBroker.of(each)
	c.roundTrip = c.broker/c.requests + m.c.LoneAnswer.of(each)
	c.flight = (c.broker + c.requests*m.c.LoneCycle.of(each)) / float64(s.MaxInFlight)
	if m.c.NetworkMBs > 0 {
		c.network = b * c.bytes * 1000 / m.c.NetworkMBs
	}
	return c
}

// paced: records come at a rate, in lumps.
func (m *machine) paced() Prediction {
	s := m.s
	rate := s.Rate / float64(s.Brokers) / 1e9 // per ns
	queues := 1.0
	if s.PerPartition { // every partition waits for itself
		queues = m.perBroker
	}
	gap := max(float64(s.Tick), queues/rate) // between lumps
	linger := float64(s.Linger)
	lumps := math.Floor(linger/gap) + 1
	byAge := queues * max(1, rate/queues*gap*lumps)
	full := m.most()
	byFull := full
	if m.buffers < m.perBroker {
		byFull = min(byFull, m.buffers) // every partition wants a buffer: the first one too many makes all ready
	}
	records := min(byAge, byFull)
	c := m.at(records)
	if records/rate < c.least() {
		records = m.search(records, full, func(c *cycle) bool { return c.records/rate >= c.least() })
		c = m.at(records)
	}
	p := m.result(c)
	if c.records/rate < c.least()*(1-1e-9) {
		p.saturate(m, c)
		behind := s.Rate - p.RecordsPerSec
		p.ExhaustedAfter = float64(s.BufferMemory) / (behind * m.record)
		return p
	}
	period := c.records / rate
	wait := linger
	mean := linger - gap*(lumps-1)/2
	if byAge > c.records { // full before it is old
		wait, mean = period, period/2
	} else if byAge < c.records { // held back by what comes after
		wait = max(wait, period-gap)
		mean = min(wait, max(mean, (period-gap)/2))
	}
	p.perSecond(m, c, period)
	p.Bound = BoundRate
	p.Wait = wait / 1000
	p.RoundTrip = c.roundTrip / 1000
	lag := float64(s.Tick) / 2
	p.P50 = (lag + mean + c.roundTrip) / 1000
	p.P99 = (2*lag + wait + c.roundTrip) / 1000
	return p
}

// pauses: a broker that is nearly as fast as the client pauses now and then; batches gather meanwhile, and stay full, because the
// client gains little on it afterwards.
const pauses = 0.9

// unpaced: the application gives what is taken.
func (m *machine) unpaced() Prediction {
	s := m.s
	perRecord := m.c.Client.Record + (m.c.Client.batch(batchHeader+m.full*m.record)-m.c.Client.Batch)/m.full
	full := m.most()
	if s.Sticky {
		full = m.full
	}
	records := full
	if s.Linger == 0 {
		// Application and sender share the time: so many records as fit in what the sender's turn took.
		one := m.at(1)
		records = min(full, max(1, (one.client-perRecord)/perRecord))
		for range 8 {
			c := m.at(records)
			records = min(full, max(1, (c.client-records*perRecord)/perRecord))
		}
	} else if byAge := float64(s.Linger) / perRecord; byAge < full {
		records = max(1, byAge)
	}
	c := m.at(records)
	if all := m.at(m.most()); all.client*pauses < all.least() { // memory fills up and stays full
		c = all
	} else if c.client < c.least() {
		c = m.at(m.search(records, m.most(), func(c *cycle) bool { return c.client >= c.least() }))
	}
	p := m.result(c)
	if c.client < c.least()*(1-1e-9) {
		p.saturate(m, c)
		return p
	}
	p.perSecond(m, c, c.client)
	p.Bound = BoundClient
	p.Wait = c.client / 1000
	p.RoundTrip = c.roundTrip / 1000
	p.P50 = (c.client/2 + c.roundTrip) / 1000
	p.P99 = (c.client + c.roundTrip) / 1000
	return p
}

// search finds the least number of records from which on a condition holds; hi if it never does.
func (m *machine) search(lo, hi float64, holds func(*cycle) bool) float64 {
	if c := m.at(hi); !holds(&c) {
		return hi
	}
	for range 60 {
		mid := (lo + hi) / 2
		if c := m.at(mid); holds(&c) {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

func (m *machine) result(c cycle) Prediction {
	n := c.records / c.batches
	return Prediction{
		RecordsPerBatch: n, BatchesPerRequest: c.batches / c.requests,
		Fill: (batchHeader + n*m.record) / float64(max(m.s.BatchSize, producer.SizeUpperBound(m.s.RecordSize))),
	}
}

// perSecond fills in rates of a cycle that repeats after so many ns.
func (p *Prediction) perSecond(m *machine, c cycle, period float64) {
	perSecond := 1e9 / period
	b := float64(m.s.Brokers)
	p.RecordsPerSec = c.records * perSecond * b
	p.MBPerSec = p.RecordsPerSec * float64(m.s.RecordSize) / 1e6
	p.RequestsPerBroker = c.requests * perSecond
	p.RequestsPerSec = p.RequestsPerBroker * b
	// The less there is to do, the more both sleep and are woken for every request.
	busy := 0.0
	if m.s.MaxInFlight > 1 {
		busy = min(1, max(c.client, c.broker)/period)
	}
	p.ClientCores = min(1, (busy*c.client+(1-busy)*c.clientLone)/period)
	p.BrokerCores = min(1, (busy*c.brokerCPU+(1-busy)*c.brokerLone)/period)
}

// saturate: more comes than goes; memory is full, and what waits in it is what a record waits for.
func (p *Prediction) saturate(m *machine, c cycle) {
	p.perSecond(m, c, c.least())
	p.Bound = c.bound()
	p.Exhausted = true
	held := m.buffers * float64(m.s.Brokers) * p.RecordsPerBatch
	p.P50 = held / p.RecordsPerSec * 1e6
	p.P99 = p.P50
	p.RoundTrip = max(c.roundTrip, c.least()/c.requests*float64(m.s.MaxInFlight)) / 1000
	p.Wait = max(0, p.P50-p.RoundTrip)
}
