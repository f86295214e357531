package rawgen

import (
	"encoding/base64"
	"fmt"

	"github.com/HdrHistogram/hdrhistogram-go"

	"millrace/bench/proc"
)

// Dist is a distribution of times in microseconds.
type Dist struct {
	Count   int64   `json:"count"`
	Mean    float64 `json:"mean_us"`
	Min     float64 `json:"min_us"`
	P50     float64 `json:"p50_us"`
	P90     float64 `json:"p90_us"`
	P99     float64 `json:"p99_us"`
	P999    float64 `json:"p999_us"`
	P9999   float64 `json:"p9999_us"`
	Max     float64 `json:"max_us"`
	Encoded string  `json:"hdr,omitempty"` // HdrHistogram V2, compressed, base64; values in nanoseconds
}

// Interval is what was answered in one second of a run.
type Interval struct {
	Second  int   `json:"s"`
	Records int64 `json:"records"`
	Bytes   int64 `json:"bytes"`
	P99     int64 `json:"p99_us,omitempty"`
	Max     int64 `json:"max_us,omitempty"`
}

// Result is what one run of a generator yields. Bytes are bytes of record values unless they say otherwise.
type Result struct {
	Kind         string      `json:"kind"` // produce, fetch, e2e
	Seconds      float64     `json:"seconds"`
	Requests     int64       `json:"requests"`
	Batches      int64       `json:"batches"`
	Records      int64       `json:"records"`
	PayloadBytes int64       `json:"payload_bytes"`
	WireBytes    int64       `json:"wire_bytes"` // whole frames with the data
	Latency      *Dist       `json:"latency,omitempty"`
	Lag          *Dist       `json:"generator_lag,omitempty"`
	Unsent       int64       `json:"unsent_requests,omitempty"` // open loop: due and given up; they stand in Latency with the time they had waited
	EndToEnd     *Dist       `json:"end_to_end,omitempty"`
	BadRecord    string      `json:"bad_record,omitempty"` // how the spoiled batch was answered
	Failures     []string    `json:"failures,omitempty"`   // a run with any is not counted
	FailureCount int64       `json:"failure_count,omitempty"`
	Verified     int64       `json:"verified_batches,omitempty"` // fetched batches whose checksum was computed
	AckedEnds    []int64     `json:"acked_ends,omitempty"`       // per partition: the offset behind the last acknowledged record
	Broker       *proc.Delta `json:"broker,omitempty"`
	Generator    *proc.Delta `json:"generator,omitempty"`
	Stolen       float64     `json:"stolen,omitempty"` // of the machine's CPU time, what its host gave to others meanwhile
	Intervals    []Interval  `json:"intervals,omitempty"`
	Windows      []Window    `json:"windows,omitempty"`
	Model        *ModelStats `json:"model,omitempty"` // of a producer that batches
}

// Window is the latency of one stretch of a long run.
type Window struct {
	Second  int   `json:"s"` // its start
	Latency *Dist `json:"latency"`
}

// ModelStats are what a batching producer can tell beyond its load.
type ModelStats struct {
	Brokers           int     `json:"brokers"`
	Partitions        int     `json:"partitions"`
	RecordsPerBatch   float64 `json:"records_per_batch"`
	BatchesPerRequest float64 `json:"batches_per_request"`
	Fill              float64 `json:"fill"` // bytes of a batch, of batch.size
	BatchBytes        int64   `json:"batch_bytes"`
	Turns             int64   `json:"turns"`                // of the sender
	Wait              *Dist   `json:"wait,omitempty"`       // of a batch's first record until its request
	RoundTrip         *Dist   `json:"round_trip,omitempty"` // of a request
	BlockedSeconds    float64 `json:"blocked_seconds"`      // the application waited for buffer.memory
	LeastMemory       int64   `json:"least_memory"`         // free of buffer.memory
}

// Fail counts a failure and keeps the first few.
func (r *Result) Fail(format string, args ...any) {
	r.FailureCount++
	if len(r.Failures) < 10 {
		r.Failures = append(r.Failures, fmt.Sprintf(format, args...))
	}
}

// NewHistogram covers 100 ns to 5 minutes with three digits.
func NewHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(100, 300_000_000_000, 3)
}

// NewDist summarises a histogram of nanoseconds; nil if it is empty.
func NewDist(h *hdrhistogram.Histogram) *Dist {
	if h.TotalCount() == 0 {
		return nil
	}
	us := func(ns int64) float64 { return float64(ns) / 1000 }
	d := &Dist{
		Count: h.TotalCount(), Mean: h.Mean() / 1000, Min: us(h.Min()), P50: us(h.ValueAtQuantile(50)), P90: us(h.ValueAtQuantile(90)),
		P99: us(h.ValueAtQuantile(99)), P999: us(h.ValueAtQuantile(99.9)), P9999: us(h.ValueAtQuantile(99.99)), Max: us(h.Max()),
	}
	if b, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase); err == nil {
		d.Encoded = string(b) // the library's encoding is base64 already
		if _, err := base64.StdEncoding.DecodeString(d.Encoded); err != nil {
			d.Encoded = base64.StdEncoding.EncodeToString(b)
		}
	}
	return d
}

// JoinDists is the distribution of all samples of several; nil if there are none.
func JoinDists(ds ...*Dist) (*Dist, error) {
	sum := NewHistogram()
	for _, d := range ds {
		if d == nil {
			continue
		}
		h, err := hdrhistogram.Decode([]byte(d.Encoded))
		if err != nil {
			return nil, fmt.Errorf("a distribution without its histogram: %w", err)
		}
		sum.Merge(h)
	}
	return NewDist(sum), nil
}

// Record notes nanoseconds; what the histogram cannot hold counts as its greatest value.
func Record(h *hdrhistogram.Histogram, ns int64) {
	ns = max(ns, h.LowestTrackableValue())
	if h.RecordValue(ns) != nil {
		_ = h.RecordValue(h.HighestTrackableValue())
	}
}

// Watch reads the broker's and our own cost around a run.
type Watch struct {
	pid          int
	broker, self proc.Usage
}

// StartWatch takes the first reading; a broker's id of 0 means that only this process is watched.
func StartWatch(brokerPID, selfPID int) Watch {
	w := Watch{pid: brokerPID}
	if brokerPID > 0 {
		_ = proc.ResetPeak(brokerPID) // without the right to, the peak is that of the process's life
		w.broker, _ = proc.Read(brokerPID)
	}
	w.self, _ = proc.Read(selfPID)
	return w
}

// Finish takes the second reading and notes the difference.
func (w *Watch) Finish(r *Result, selfPID int) {
	if w.pid > 0 {
		u, err := proc.Read(w.pid)
		if err != nil {
			r.Fail("the broker's process %d is gone: %v", w.pid, err)
		} else {
			d := u.Since(w.broker)
			r.Broker = &d
		}
	}
	if u, err := proc.Read(selfPID); err == nil {
		d := u.Since(w.self)
		r.Generator = &d
	}
}
