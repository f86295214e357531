package netpoll

import (
	"strconv"

	"millrace/internal/metric"
)

// loopMetrics are a loop's counters. Owned by its loop.
type loopMetrics struct {
	events                          int64 // of this loop, for Step
	turns, sleeps, spins, spinHits  *metric.Counter
	accepted, refused, acceptErrors *metric.Counter
	frames, bytesIn, bytesOut       *metric.Counter
	memoryWaits, coldReads          *metric.Counter
	conns                           *metric.Gauge
}

func (m *loopMetrics) register(r *metric.Registry, index int) {
	l := metric.Label{Name: "loop", Value: strconv.Itoa(index)}
	c := func(name, help string) *metric.Counter { return r.Counter("millrace_loop_"+name, help, l) }
	m.turns = c("turns_total", "Turns of the event loop.")
	m.sleeps = c("sleeps_total", "Waits for events that slept.")
	m.spins = c("spins_total", "Waits for events that looked before sleeping.")
	m.spinHits = c("spin_hits_total", "Waits for events that found one before sleeping.")
	m.accepted = c("connections_accepted_total", "Connections accepted by this loop.")
	m.refused = c("connections_refused_total", "Connections closed because their address has too many.")
	m.acceptErrors = c("accept_errors_total", "Failed accepts (out of descriptors or memory).")
	m.frames = c("frames_total", "Whole frames received.")
	m.bytesIn = c("received_bytes_total", "Bytes received from peers.")
	m.bytesOut = c("sent_bytes_total", "Bytes sent to peers.")
	m.memoryWaits = c("memory_waits_total", "Requests that waited for memory.")
	m.coldReads = c("cold_reads_total", "Reads ahead of file ranges that were not in the page cache.")
	m.conns = r.Gauge("millrace_loop_connections", "Open connections.", l)
}

func itoa(n int) string { return strconv.Itoa(n) }
