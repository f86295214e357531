package model

import (
	"math"
	"testing"
	"time"
)

// costs in round figures: a request 10 us, a batch 1 us, a record 100 ns, a byte 0.1 ns, on both sides.
func costs() *Costs {
	c := Cost{Request: 10_000, Batch: 1_000, Record: 100, Byte: 0.1}
	b := c
	b.Record = 0
	trip := Cost{Request: 100_000, Batch: 1_000, Byte: 0.2}
	return &Costs{Client: c, Broker: b, RoundTrip: trip, Flight: trip}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > math.Abs(want)*0.01+1e-9 {
		t.Errorf("%s: %g, want %g", what, got, want)
	}
}

// TestLingerGathers: 10,000 records/s over 4 partitions with linger 5 ms: 52 or 53 records a round (20 lumps behind the first of
// 2.5), all partitions in one request, 190 requests/s.
func TestLingerGathers(t *testing.T) {
	p := Predict(Settings{RecordSize: 100, Linger: 5 * time.Millisecond, Partitions: 4, Rate: 10_000}, costs())
	near(t, "records per batch", p.RecordsPerBatch, 52.5/4)
	near(t, "batches per request", p.BatchesPerRequest, 4)
	near(t, "requests/s", p.RequestsPerSec, 10_000/52.5)
	near(t, "records/s", p.RecordsPerSec, 10_000)
	near(t, "wait", p.Wait, 5000)
	if p.Bound != BoundRate || p.Exhausted {
		t.Errorf("%+v", p)
	}
	if p.P50 < 2500 || p.P50 > 3000 || p.P99 < 5000 || p.P99 > 5600 {
		t.Errorf("p50 %g, p99 %g", p.P50, p.P99)
	}
}

// TestFullBeforeOld: with a linger that never ends rounds end when a batch is full: p full batches each.
func TestFullBeforeOld(t *testing.T) {
	p := Predict(Settings{RecordSize: 1024, Linger: time.Hour, Partitions: 6, Rate: 20_000}, costs())
	near(t, "records per batch", p.RecordsPerBatch, 15)
	near(t, "requests/s", p.RequestsPerSec, 20_000.0/90)
	if p.Fill < 0.9 || p.Fill > 1 {
		t.Errorf("fill %g", p.Fill)
	}
}

// TestGroupingSavesRequests: b requests a round instead of p.
func TestGroupingSavesRequests(t *testing.T) {
	s := Settings{RecordSize: 1024, Linger: 5 * time.Millisecond, Partitions: 12, Rate: 20_000}
	one := Predict(s, costs())
	s.PerPartition = true
	single := Predict(s, costs())
	near(t, "single/grouped on one broker", single.RequestsPerSec/one.RequestsPerSec, 12)
	s.PerPartition, s.Brokers = false, 3
	three := Predict(s, costs())
	s.PerPartition = true
	single = Predict(s, costs())
	near(t, "single/grouped on three", single.RequestsPerSec/three.RequestsPerSec, 4)
	near(t, "per broker", three.RequestsPerBroker*3, three.RequestsPerSec)
	if single.ClientCores <= three.ClientCores || single.BrokerCores <= three.BrokerCores {
		t.Errorf("single requests cost less: %+v %+v", single, three)
	}
}

// TestInFlightHoldsBack: without linger, 100 us an answer and one request in flight, 100,000 records/s gather by themselves.
func TestInFlightHoldsBack(t *testing.T) {
	s := Settings{RecordSize: 100, Partitions: 1, Rate: 100_000, MaxInFlight: 1, Tick: 10 * time.Microsecond}
	p := Predict(s, costs())
	if p.Exhausted || p.RequestsPerSec > 10_000 || p.RequestsPerSec < 9_500 || p.RecordsPerBatch < 10 {
		t.Errorf("%+v", p)
	}
	// One record a batch and no room to gather: what the answers allow, and memory fills up.
	s.BatchSize = 1
	p = Predict(s, costs())
	if !p.Exhausted || p.Bound != BoundInFlight || p.ExhaustedAfter <= 0 {
		t.Errorf("%+v", p)
	}
	near(t, "requests/s", p.RequestsPerSec, 1e9/(100_000+1_000+0.2*(61+108)))
	held := 32 << 20 / 189.0 // buffers of one record
	near(t, "latency", p.P50, held/p.RecordsPerSec*1e6)
}

func TestBounds(t *testing.T) {
	c := costs()
	s := Settings{RecordSize: 1024, Linger: 5 * time.Millisecond, Partitions: 6, BatchSize: 65536}
	p := Predict(s, c)
	if p.Bound != BoundClient || math.Abs(p.ClientCores-1) > 0.01 {
		t.Errorf("a client whose records cost something and a broker's do not: %+v", p)
	}
	slow := *c
	slow.Broker.Byte = 1
	if p = Predict(s, &slow); p.Bound != BoundBroker || !p.Exhausted || math.Abs(p.BrokerCores-1) > 0.01 {
		t.Errorf("%+v", p)
	}
	slow = *c
	slow.NetworkMBs = 100
	p = Predict(s, &slow)
	if p.Bound != BoundNetwork {
		t.Errorf("%+v", p)
	}
	near(t, "MB/s on a network of 100", p.MBPerSec, 99)
}

// TestRequestSizeBounds: what does not fit in max.request.size takes more requests.
func TestRequestSizeBounds(t *testing.T) {
	s := Settings{RecordSize: 1024, Linger: time.Hour, Partitions: 48, BatchSize: 131072, BufferMemory: 1 << 30, Rate: 50_000}
	p := Predict(s, costs())
	near(t, "batches per request", p.BatchesPerRequest, 48.0/6)
	s.MaxRequestSize = 64 << 20
	near(t, "batches per request", Predict(s, costs()).BatchesPerRequest, 48)
	// Less memory than partitions: batches leave nearly empty, because somebody always waits for a buffer.
	s.BufferMemory = 10 * 131072
	if p = Predict(s, costs()); p.RecordsPerBatch > 2 {
		t.Errorf("%+v", p)
	}
}

func TestFitFindsWhatMadeTheFigures(t *testing.T) {
	features := [][]float64{{1, 1, 100}, {1, 6, 5000}, {1, 48, 200}, {1, 6, 90000}}
	want := []float64{15_000, 800, 0.3}
	values := make([]float64, len(features))
	for i, f := range features {
		for j := range f {
			values[i] += f[j] * want[j]
		}
	}
	for j, x := range fit(features, values) {
		near(t, "factor", x, want[j])
	}
	if x := fit([][]float64{{1, 1}, {1, 2}}, []float64{10, 5}); x[1] != 0 || x[0] <= 0 {
		t.Errorf("a negative factor: %v", x)
	}
}

// TestCalibrateInverts: costs that made the cells' figures come out again.
func TestCalibrateInverts(t *testing.T) {
	c := costs()
	c.Client.Wake, c.Broker.Wake = 3000, 2000
	cells := CalibrationCells()
	for i := range cells {
		s := cells[i].Settings
		m := &machine{s: &s, c: c, perBroker: float64(s.Partitions), full: 1, record: float64(s.RecordSize + 8), buffers: 1000}
		if s.BatchSize > 1 {
			m.full = float64(s.BatchSize) / m.record
		}
		at := m.at(m.most())
		slept := 0.0
		if s.MaxInFlight == 1 {
			slept = 1
		}
		per := max(at.least(), at.client) / at.requests
		cells[i].Measured = &Measured{RequestsPerSec: 1e9 / per, BatchesPerRequest: at.batches / at.requests, RecordsPerBatch: at.records / at.batches, BytesPerRequest: at.bytes / at.requests,
			ClientCores: (at.client/at.requests + slept*3000) / per, BrokerCores: (at.broker/at.requests + slept*2000) / per, RoundTrip: at.roundTrip / 1000}
	}
	got, err := Calibrate(cells)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "client request", got.Client.Request, 10_000)
	near(t, "client record", got.Client.Record+got.Client.Byte*108, 100+10.8)
	near(t, "client wake", got.Client.Wake, 3000)
	near(t, "broker request", got.Broker.Request, 10_000)
	near(t, "broker byte", got.Broker.Byte, 0.1)
	near(t, "answer", got.RoundTrip.Request, 100_000)
	near(t, "answer byte", got.RoundTrip.Byte, 0.2)
	near(t, "flight", got.Flight.Request, 100_000)
	near(t, "flight byte", got.Flight.Byte, 0.2)
	if _, err := Calibrate(append(cells, cells[0])); err == nil {
		t.Error("six cells are accepted")
	}
	cells[0].Measured = nil
	if _, err := Calibrate(cells); err == nil {
		t.Error("a cell without measurement is accepted")
	}
}

func TestBestIsWithinTheWish(t *testing.T) {
	choices := Best(Settings{RecordSize: 1024, Partitions: 6}, 20_000, 8*time.Millisecond, costs())
	if len(choices) == 0 {
		t.Fatal("nothing")
	}
	for _, c := range choices {
		if c.Prediction.P99 > 8000 || c.Prediction.Exhausted {
			t.Errorf("%+v", c)
		}
	}
	if a, b := choices[0].Prediction, choices[len(choices)-1].Prediction; a.ClientCores+a.BrokerCores > b.ClientCores+b.BrokerCores {
		t.Error("the cheapest is not first")
	}
	if choices[0].Settings.Linger == 0 {
		t.Error("gathering saves nothing?")
	}
	if got := Best(Settings{RecordSize: 1024, Partitions: 6}, 1e9, 0, costs()); len(got) != 0 {
		t.Errorf("%d settings carry a billion records", len(got))
	}
}

func TestScoreAndPairs(t *testing.T) {
	g := DefaultGrid()
	r := &Report{Costs: costs(), Cells: g.Cells()}
	r.Predict()
	for i := range r.Cells {
		p := r.Cells[i].Predicted
		r.Cells[i].Measured = &Measured{Runs: 5, RecordsPerSec: p.RecordsPerSec * 1.1, RequestsPerSec: p.RequestsPerSec * 1.1}
	}
	r.Cells[0].Measured.RequestsPerSec *= 2
	s := r.Score()
	if s.Cells != len(r.Cells) || s.Both != s.Cells-1 || len(r.Misses()) != 1 {
		t.Errorf("%+v of %d", s, len(r.Cells))
	}
	if n := len(r.Pairs()); n != 8 {
		t.Errorf("%d pairs", n)
	}
}
