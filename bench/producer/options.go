package producer

import (
	"errors"
	"fmt"
	"time"
)

// How records are spread over partitions.
const (
	SpreadRound  = "round"  // record by record in turn, as many keys do on average
	SpreadSticky = "sticky" // one partition until it got batch.size bytes (KIP-480, KIP-794)
)

// Options are a producer's settings and its load. The first block has the names and defaults of Kafka 4.4.
type Options struct {
	BatchSize      int           // batch.size, bytes; default 16384
	Linger         time.Duration // linger.ms; 0 is 0, not the default 5 ms
	BufferMemory   int64         // buffer.memory, bytes; default 32 MiB
	MaxRequestSize int           // max.request.size, bytes; default 1 MiB
	MaxInFlight    int           // max.in.flight.requests.per.connection; default 5
	Acks           int16         // 1 or -1
	Idempotent     bool          // enable.idempotence

	Addr         string // of any broker
	Topic        string // must exist
	RecordSize   int    // bytes of a record's value
	Spread       string // default round
	PerPartition bool   // one request per batch instead of one per broker, to show what grouping saves
	Rate         float64
	Tick         time.Duration // a given rate is handed over in lumps this far apart; default 250 us
	Records      int64         // stop after so many
	Duration     time.Duration // stop after this time
	Warmup       time.Duration // before counting begins; part of no figure
	NoBad        bool          // send no spoiled batch (for floors, which check nothing)
	WatchPID     int           // the broker, to measure what it costs
	Patience     time.Duration // give up after this time without an answer; default 60 s
}

// EnsureDefaults fills what was left out.
func (o *Options) EnsureDefaults() {
	def(&o.BatchSize, 16384)
	def(&o.BufferMemory, 32<<20)
	def(&o.MaxRequestSize, 1<<20)
	def(&o.MaxInFlight, 5)
	def(&o.RecordSize, 1024)
	def(&o.Tick, 250*time.Microsecond)
	def(&o.Patience, 60*time.Second)
	if o.Spread == "" {
		o.Spread = SpreadRound
	}
	if o.Acks == 0 {
		o.Acks = 1
	}
}

// Validate says what cannot work.
func (o *Options) Validate() error {
	switch {
	case o.Acks != 1 && o.Acks != -1:
		return fmt.Errorf("acks=%d: the model needs answers, so 1 or -1", o.Acks)
	case o.Spread != SpreadRound && o.Spread != SpreadSticky:
		return fmt.Errorf("spread %q is not %s or %s", o.Spread, SpreadRound, SpreadSticky)
	case o.BatchSize < 1 || o.MaxInFlight < 1 || o.RecordSize < 1 || o.Linger < 0 || o.Rate < 0:
		return errors.New("batch.size, in-flight requests and record size must be positive, linger and rate not negative")
	case int64(SizeUpperBound(o.RecordSize)) > o.BufferMemory:
		return fmt.Errorf("a record of %d bytes does not fit in buffer.memory=%d", o.RecordSize, o.BufferMemory)
	case SizeUpperBound(o.RecordSize) > o.MaxRequestSize:
		return fmt.Errorf("a record of %d bytes does not fit in max.request.size=%d", o.RecordSize, o.MaxRequestSize)
	case o.Records <= 0 && o.Duration <= 0:
		return errors.New("a load needs an end: records or duration")
	}
	return nil
}

func def[T int | int64 | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}
