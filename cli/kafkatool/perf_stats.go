package kafkatool

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// maxPerfSamples bounds how many latencies are kept: of a longer run every n-th one is, as Kafka's tool does it.
const maxPerfSamples = 500_000

// perfStats counts what a producer was answered and tells of it at intervals. Any goroutine.
type perfStats struct {
	out      io.Writer
	interval time.Duration
	steady   bool // counts only what comes after the warm-up
	every    int64
	begin    time.Time

	mu      sync.Mutex
	quiet   bool // the windows are told by somebody else
	total   perfSum
	window  perfSum
	since   time.Time // begin of the window
	samples []int32   // milliseconds
}

// perfSum is a number of records with their sizes and latencies. Owned by the perfStats that holds it.
type perfSum struct {
	n, bytes int64
	latency  time.Duration
	max      time.Duration
}

func (s *perfSum) add(latency time.Duration, bytes int) {
	s.n++
	s.bytes += int64(bytes)
	s.latency += latency
	s.max = max(s.max, latency)
}

// rates are records and MiB per second, and the mean latency in milliseconds.
func (s *perfSum) rates(took time.Duration) (records, mb, mean float64) {
	sec := max(took, time.Millisecond).Seconds() // the resolution of Kafka's clock
	mean = millis(s.latency) / float64(s.n)      // NaN for none, which Kafka's tool shows too
	return float64(s.n) / sec, float64(s.bytes) / sec / (1 << 20), mean
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func newPerfStats(out io.Writer, expected int64, interval time.Duration, steady bool, now time.Time) *perfStats {
	return &perfStats{out: out, interval: interval, steady: steady, every: max(1, expected/maxPerfSamples), begin: now, since: now}
}

// record counts one answer that came at now.
func (s *perfStats) record(latency time.Duration, bytes int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.total.n%s.every == 0 {
		s.samples = append(s.samples, int32(latency/time.Millisecond))
	}
	s.total.add(latency, bytes)
	s.window.add(latency, bytes)
	took := now.Sub(s.since)
	if took < s.interval {
		return
	}
	if !s.quiet {
		if s.steady && s.total.n == s.window.n {
			fmt.Fprintln(s.out, "In steady state.")
		}
		records, mb, mean := s.window.rates(took)
		fmt.Fprintf(s.out, "%d records sent, %.1f records/sec (%.2f MB/sec), %.1f ms avg latency, %.1f ms max latency.\n",
			s.window.n, records, mb, mean, millis(s.window.max))
	}
	s.window, s.since = perfSum{}, now
}

// hush ends the lines of the windows; the summary is still told.
func (s *perfStats) hush() {
	s.mu.Lock()
	s.quiet = true
	s.mu.Unlock()
}

// summary tells of everything.
func (s *perfStats) summary(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	records, mb, mean := s.total.rates(now.Sub(s.begin))
	what := ""
	if s.steady {
		what = " steady state"
	}
	p := percentiles(s.samples, 0.5, 0.95, 0.99, 0.999)
	fmt.Fprintf(s.out, "%d%s records sent, %f records/sec (%.2f MB/sec), %.2f ms avg latency, %.2f ms max latency, %d ms 50th, %d ms 95th, %d ms 99th, %d ms 99.9th.\n",
		s.total.n, what, records, mb, mean, millis(s.total.max), p[0], p[1], p[2], p[3])
}

// percentiles sorts the samples and returns, for each share, the one below which that share of them lies; 0 without samples.
func percentiles(samples []int32, shares ...float64) []int32 {
	out := make([]int32, len(shares))
	if len(samples) == 0 {
		return out
	}
	slices.Sort(samples)
	for i, share := range shares {
		out[i] = samples[min(int(share*float64(len(samples))), len(samples)-1)]
	}
	return out
}

// pacer spaces records evenly in time. A record that could not go at its time goes as soon as it can, and those behind it keep their times.
// Owned by its sender.
type pacer struct {
	begin time.Time
	rate  float64 // records a second; not positive is as fast as possible
}

// pacerSlack is what a sleep must be worth: shorter ones are made up by the records that follow.
const pacerSlack = 2 * time.Millisecond

// wait says how long record n (counted from 0) is to wait at a time.
func (p pacer) wait(n int64, now time.Time) time.Duration {
	if p.rate <= 0 {
		return 0
	}
	early := time.Duration(float64(n)/p.rate*float64(time.Second)) - now.Sub(p.begin)
	if early < pacerSlack {
		return 0
	}
	return early
}

// lineWriter shows each line at once. Any goroutine.
type lineWriter struct {
	mu  sync.Mutex
	out *bufio.Writer
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(p)
	return n, errors.Join(err, w.out.Flush())
}
