package engine

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"millrace/internal/metric"
)

// CleanerOptions are the settings of the log cleaner, which compacts partitions whose PartitionConfig says Compact. The
// zero value of a number means its default.
type CleanerOptions struct {
	// Disabled: nothing is compacted.
	Disabled bool
	// Threads is how many partitions are cleaned at a time (log.cleaner.threads). Default 1.
	Threads int
	// DedupeBytes is the memory for key maps, shared by the threads (log.cleaner.dedupe.buffer.size). Default 128 MiB.
	DedupeBytes int64
	// LoadFactor is how full a key map may get (log.cleaner.io.buffer.load.factor). Default 0.9.
	LoadFactor float64
	// BufferBytes is the memory for copying, shared by the threads (log.cleaner.io.buffer.size). Default 512 KiB.
	BufferBytes int64
	// BytesPerSecond bounds what all threads read and write together (log.cleaner.io.max.bytes.per.second). Default: no
	// bound.
	BytesPerSecond float64
	// BackoffMs is the pause when there is nothing to clean (log.cleaner.backoff.ms). Default 15,000; at least 1.
	BackoffMs int64
}

func (o *CleanerOptions) ensureDefaults() {
	if o.Threads <= 0 {
		o.Threads = 1
	}
	if o.DedupeBytes <= 0 {
		o.DedupeBytes = 128 << 20
	}
	if !(o.LoadFactor > 0) {
		o.LoadFactor = 0.9
	}
	if o.BufferBytes <= 0 {
		o.BufferBytes = 512 << 10
	}
	if !(o.BytesPerSecond > 0) {
		o.BytesPerSecond = math.MaxFloat64
	}
	if o.BackoffMs <= 0 {
		o.BackoffMs = 15_000
	}
}

// SetCleaner changes Options.Cleaner while the engine runs; cleanings under way go on with what they began with, but for
// the rate. Any goroutine.
func (e *Engine) SetCleaner(o CleanerOptions) {
	o.ensureDefaults()
	e.cleaner.opts.Store(&o)
	e.cleaner.wake()
}

// cleaner chooses the dirtiest logs and has them cleaned on goroutines of their own, off the loops. One goroutine (run)
// chooses. Any goroutine.
type cleaner struct {
	e    *Engine
	opts atomic.Pointer[CleanerOptions]
	kick chan struct{}
	// stop ends all cleanings; ended is closed when the last has ended.
	stop, ended chan struct{}
	done        chan struct{} // one for every cleaning that ended
	running     int           // owned by run

	rate rateLimit

	runs, read, written, uncleanable  metric.Counter
	lastMs, maxRatio, maxDelayMs, now atomic.Int64
}

func newCleaner(e *Engine, o CleanerOptions) *cleaner {
	o.ensureDefaults()
	c := &cleaner{e: e, kick: make(chan struct{}, 1), stop: make(chan struct{}), ended: make(chan struct{}), done: make(chan struct{})}
	c.opts.Store(&o)
	c.register(e.opts.Metrics)
	return c
}

func (c *cleaner) register(r *metric.Registry) {
	const p = "millrace_engine_cleaner_"
	of := func(m *metric.Counter) func() float64 { return func() float64 { return float64(m.Load()) } }
	r.CounterFunc(p+"runs_total", "Cleanings that came to their end.", of(&c.runs))
	r.CounterFunc(p+"read_bytes_total", "Bytes of batches that cleanings read, keys and copying together.", of(&c.read))
	r.CounterFunc(p+"written_bytes_total", "Bytes of cleaned segments.", of(&c.written))
	r.GaugeFunc(p+"running", "Cleanings under way.", func() float64 { return float64(c.now.Load()) })
	r.GaugeFunc(p+"last_run_timestamp_seconds", "When the last cleaning ended; 0 for never.", func() float64 { return float64(c.lastMs.Load()) / 1e3 })
	r.GaugeFunc(p+"max_dirty_ratio", "Dirty part of the dirtiest log at the last look.", func() float64 { return math.Float64frombits(uint64(c.maxRatio.Load())) })
	r.GaugeFunc(p+"max_compaction_delay_seconds", "How long the most overdue log was beyond max.compaction.lag.ms at the last look.",
		func() float64 { return float64(c.maxDelayMs.Load()) / 1e3 })
	r.GaugeFunc(p+"uncleanable_partitions", "Partitions that cannot be compacted because of what they hold.", func() float64 {
		n := 0
		for _, p := range c.e.list() {
			if p.uncleanable.Load() {
				n++
			}
		}
		return float64(n)
	})
}

// end stops all cleanings and waits for them, or for ctx.
func (c *cleaner) end(ctx context.Context) {
	close(c.stop)
	select {
	case <-c.ended:
	case <-ctx.Done():
	}
}

// wake has run look again.
func (c *cleaner) wake() {
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// run is the goroutine that chooses. Without compacted partitions it sleeps for good.
func (c *cleaner) run() {
	defer close(c.ended)
	var pause *time.Timer
	for {
		o := c.opts.Load()
		some := false
		for !c.stopped() && !o.Disabled && c.running < o.Threads {
			var p *Partition
			if p, some = c.choose(); p == nil {
				break
			}
			c.begin(p, o)
		}
		var later <-chan time.Time
		if some {
			pause = time.NewTimer(time.Duration(o.BackoffMs) * time.Millisecond)
			later = pause.C
		}
		select {
		case <-c.stop:
			for ; c.running > 0; c.running-- {
				<-c.done
			}
			return
		case <-c.done:
			c.running--
		case <-c.kick:
		case <-later:
		}
		if pause != nil {
			pause.Stop()
		}
	}
}

func (c *cleaner) stopped() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// begin starts the cleaning of one partition.
func (c *cleaner) begin(p *Partition, o *CleanerOptions) {
	c.running++
	c.now.Add(1)
	r := &cleanRun{c: c, p: p, o: o, abort: make(chan struct{}), replaced: make(chan error, 1)}
	p.cleaningNow.Store(true)
	inBackground(func() {
		r.run()
		c.now.Add(-1)
		p.cleaningNow.Store(false)
		c.done <- struct{}{}
	})
}

// rateLimit spreads bytes over time. Any goroutine.
type rateLimit struct {
	mu   sync.Mutex
	next time.Time
}

// reserve says how long whoever moved n bytes has to wait.
func (l *rateLimit) reserve(n int, perSecond float64) time.Duration {
	if perSecond >= math.MaxFloat64 {
		return 0
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.next.Before(now) {
		l.next = now
	}
	l.next = l.next.Add(time.Duration(min(float64(n)/perSecond, 3600) * float64(time.Second)))
	return l.next.Sub(now)
}
