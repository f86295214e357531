package model

import (
	"math"
	"strings"
	"testing"
	"time"

	"millrace/bench/producer"
)

// costs in round figures: a request 10 us, a batch 1 us, a record 100 ns, a byte 0.1 ns, on both sides; 90 us more for a request
// alone in flight.
func costs() *Costs {
	c := Cost{Request: 10_000, Batch: 1_000, Record: 100, Byte: 0.1}
	b := c
	b.Record = 0
	return &Costs{Client: c, Broker: b, Capacity: b, LoneCycle: Lone{Request: 90_000}, LoneAnswer: Lone{Request: 90_000}, LoneClient: Lone{Request: 3_000}, LoneBroker: Lone{Request: 2_000}}
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
	// Every partition waits for itself, so lumps fall a little differently.
	if x := single.RequestsPerSec / one.RequestsPerSec; x < 11.5 || x > 12.5 {
		t.Errorf("single/grouped on one broker: %g, want about 12", x)
	}
	s.PerPartition, s.Brokers = false, 3
	three := Predict(s, costs())
	s.PerPartition = true
	single = Predict(s, costs())
	if x := single.RequestsPerSec / three.RequestsPerSec; x < 3.8 || x > 4.2 {
		t.Errorf("single/grouped on three: %g, want about 4", x)
	}
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
	near(t, "requests/s", p.RequestsPerSec, 1e9/(100_000+1_000+0.1*(61+108)))
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
	slow.Broker.Byte, slow.Capacity.Byte = 1, 1
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
	// The broker waits for its disk: its time is more than its CPU.
	c.Client, c.Broker = Cost{Request: 10_000, Record: 100, Byte: 3, Power: 0.75}, Cost{Request: 10_000, Byte: 2.5, Power: 0.8}
	c.Capacity = Cost{Request: 12_000, Byte: 7, Power: 0.83}
	c.LoneCycle, c.LoneClient, c.LoneBroker = Lone{Request: 30_000, Byte: 0.4}, Lone{Request: 10_000, Byte: 0.1}, Lone{Request: 8_000, Byte: 0.12}
	cells := CalibrationCells()
	for i := range cells {
		s := cells[i].Settings
		batch, bytes := producer.RecordsPerBatch(s.BatchSize, s.RecordSize)
		k := min(float64(s.Partitions), math.Floor(float64(s.MaxRequestSize)/float64(bytes)))
		m := &Measured{BatchesPerRequest: k, RecordsPerBatch: float64(batch), BytesPerRequest: k * float64(bytes), RoundTrip: 70}
		period := c.Capacity.of(1, k, 0, m.BytesPerRequest)
		client, broker := c.Client.of(1, k, k*float64(batch), m.BytesPerRequest), c.Broker.of(1, k, 0, m.BytesPerRequest)
		if s.MaxInFlight == 1 {
			period, client, broker = period+c.LoneCycle.of(m.BytesPerRequest), client+c.LoneClient.of(m.BytesPerRequest), broker+c.LoneBroker.of(m.BytesPerRequest)
		}
		m.RequestsPerSec, m.ClientCores, m.BrokerCores = 1e9/period, client/period, broker/period
		cells[i].Measured = m
	}
	got, err := Calibrate(cells, c.Client.Record)
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]Cost{"client": {got.Client, c.Client}, "broker": {got.Broker, c.Broker}, "capacity": {got.Capacity, c.Capacity}} {
		near(t, what+" request", pair[0].Request, pair[1].Request)
		near(t, what+" batch", pair[0].batch(10_000), pair[1].batch(10_000))
		near(t, what+" record", pair[0].Record, pair[1].Record)
		near(t, what+" power", pair[0].Power, pair[1].Power)
	}
	near(t, "alone", got.LoneCycle.Request, c.LoneCycle.Request)
	near(t, "alone, by size", got.LoneCycle.Byte, c.LoneCycle.Byte)
	// Prediction gives back what was measured, of the sweep's cells as of those that were calibrated on.
	for _, cell := range cells {
		p := Predict(cell.Settings, got)
		near(t, cell.Name, p.RequestsPerSec, cell.Measured.RequestsPerSec)
		near(t, cell.Name+" client", p.ClientCores, cell.Measured.ClientCores)
		near(t, cell.Name+" broker", p.BrokerCores, cell.Measured.BrokerCores)
	}
	if _, err := Calibrate(append(cells, cells[0]), 0); err == nil {
		t.Error("six cells are accepted")
	}
	cells[0].Measured = nil
	if _, err := Calibrate(cells, 0); err == nil {
		t.Error("a cell without measurement is accepted")
	}
}

// TestLoneIsNeverLessThanBusy: a calibration in which lone requests took less than busy ones still has positive costs.
func TestLoneIsNeverLessThanBusy(t *testing.T) {
	cells := CalibrationCells()
	for i := range cells {
		cells[i].Measured = &Measured{BatchesPerRequest: 1, RecordsPerBatch: 3, BytesPerRequest: 3000, RequestsPerSec: 1000, ClientCores: 0.5, BrokerCores: 0.5, RoundTrip: 100}
		if cells[i].Settings.MaxInFlight == 1 {
			cells[i].Measured.RequestsPerSec = 2000
		}
	}
	c, err := Calibrate(cells, 50)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Lone{c.LoneCycle, c.LoneAnswer, c.LoneClient, c.LoneBroker} {
		if x := l.of(3000); x <= 0 || math.IsNaN(x) || math.IsInf(x, 0) {
			t.Errorf("%+v", l)
		}
	}
}

// TestMoreNeverYieldsLess over batch.size, requests in flight and linger, as fast as it goes and at a rate.
func TestMoreNeverYieldsLess(t *testing.T) {
	c := costs()
	batches, flights, lingers := []int{1024, 4096, 16384, 65536, 131072, 262144}, []int{1, 2, 5, 20}, []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond}
	for _, parts := range []int{1, 6, 48} {
		for _, single := range []bool{false, true} {
			for _, linger := range lingers {
				for i, flight := range flights {
					last := 0.0
					for _, batch := range batches {
						s := Settings{RecordSize: 1024, BatchSize: batch, Linger: linger, Partitions: parts, MaxInFlight: flight, PerPartition: single}
						p := Predict(s, c)
						if p.RecordsPerSec < last*0.99 {
							t.Errorf("batch.size %d yields less: %+v %g after %g", batch, s, p.RecordsPerSec, last)
						}
						last = p.RecordsPerSec
						if i > 0 {
							s.MaxInFlight = flights[i-1]
							if fewer := Predict(s, c); fewer.RecordsPerSec > p.RecordsPerSec*1.01 {
								t.Errorf("%d in flight yield less than %d: %+v", flight, s.MaxInFlight, s)
							}
						}
						s.MaxInFlight, s.Rate = flight, 20_000
						q := Predict(s, c)
						if q.RecordsPerSec > 20_000*1.001 || q.RecordsPerSec > p.RecordsPerSec*1.01 && !q.Exhausted && p.RecordsPerSec < 20_000 || q.P99 < q.P50 || q.Fill <= 0 || q.Fill > 1.001 {
							t.Errorf("%+v: %+v, as fast as it goes %g", s, q, p.RecordsPerSec)
						}
						if math.Abs(q.RequestsPerSec*q.BatchesPerRequest*q.RecordsPerBatch/q.RecordsPerSec-1) > 0.001 {
							t.Errorf("%+v: requests, batches and records do not fit together: %+v", s, q)
						}
					}
				}
			}
			// At a rate a longer linger makes fewer requests, never more.
			last := math.Inf(1)
			for _, linger := range lingers {
				p := Predict(Settings{RecordSize: 1024, BatchSize: 131072, Linger: linger, Partitions: parts, PerPartition: single, Rate: 20_000}, c)
				if p.RequestsPerSec > last*1.001 {
					t.Errorf("linger %v, %d partitions: %g requests/s after %g", linger, parts, p.RequestsPerSec, last)
				}
				last = p.RequestsPerSec
			}
		}
	}
}

// TestFullMemoryIsTheLatency: what waits in buffer.memory, divided by what leaves.
func TestFullMemoryIsTheLatency(t *testing.T) {
	c := costs()
	c.Capacity.Byte = 1
	for _, single := range []bool{false, true} {
		p := Predict(Settings{RecordSize: 1024, Linger: 5 * time.Millisecond, Partitions: 6, PerPartition: single}, c)
		near(t, "p50", p.P50, math.Floor((32<<20)/16384.0)*p.RecordsPerBatch/p.RecordsPerSec*1e6)
		near(t, "records per batch", p.RecordsPerBatch, 15)
		if p.Bound != BoundBroker {
			t.Errorf("%+v", p)
		}
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

// TestMissesSayWhy: each in words that its figures bear out.
func TestMissesSayWhy(t *testing.T) {
	r := &Report{Costs: costs(), Cells: []Cell{{Name: "spread", Settings: Settings{RecordSize: 1024, Partitions: 6, Linger: time.Millisecond, MaxInFlight: 5}}, {Name: "batches", Settings: Settings{RecordSize: 1024, Partitions: 6, Rate: 20_000}}}}
	r.Predict()
	p := r.Cells[0].Predicted
	r.Cells[0].Measured = &Measured{RecordsPerSec: p.RecordsPerSec / 2, RequestsPerSec: p.RequestsPerSec / 2, RecordsPerBatch: p.RecordsPerBatch, BatchesPerRequest: p.BatchesPerRequest, Spread: 0.9, ClientCores: 0.3, BrokerCores: 0.5}
	p = r.Cells[1].Predicted
	r.Cells[1].Measured = &Measured{RecordsPerSec: p.RecordsPerSec, RequestsPerSec: p.RequestsPerSec * 2, RecordsPerBatch: p.RecordsPerBatch / 2, BatchesPerRequest: p.BatchesPerRequest, ClientCores: 0.3, BrokerCores: 0.5}
	var b strings.Builder
	r.WriteTable(&b)
	for _, want := range []string{"spread: throughput +100 %", "differ by 90 %", "neither client (0.30 of a core) nor broker (0.50) is busy", "batches: throughput +0 %, requests/s -50 %: batches hold"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("lacks %q:\n%s", want, b.String())
		}
	}
}

// TestSinglePartitionsWaitForThemselves: 20,000 records/s over 48 partitions are 417/s each; within 5 ms of a batch's first record
// two more come, so batches hold three, while grouped they leave with what a round of all partitions has gathered.
func TestSinglePartitionsWaitForThemselves(t *testing.T) {
	s := Settings{RecordSize: 1024, Linger: 5 * time.Millisecond, Partitions: 48, Rate: 20_000, PerPartition: true}
	p := Predict(s, costs())
	near(t, "records per batch", p.RecordsPerBatch, 3)
	near(t, "requests/s", p.RequestsPerSec, 20_000.0/3)
}
