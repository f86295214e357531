package kafka

import (
	"sync/atomic"

	"millrace/kafka/wire"
)

// stats counts what the frontend does. Any goroutine.
type stats struct {
	connections      atomic.Int64
	connectionsTotal atomic.Int64
	rejected         atomic.Int64
	requests         [wire.KeyUnregisterController + 1]atomic.Int64
}

func (s *stats) request(key int16) { s.requests[key].Add(1) }
