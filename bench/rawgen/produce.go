package rawgen

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"millrace/bench/wire"
)

// ProduceOptions describes a producing load.
type ProduceOptions struct {
	Addr       string
	Topic      string
	TopicID    [16]byte // needed from version 13 on
	Partitions int      // of the topic; numbered from 0
	PerRequest int      // partitions, so batches, in one request; default: all
	Rotate     bool     // each connection moves on to the next partitions with every request; else it keeps its own
	Version    int16    // of Produce; default 11
	Acks       int16    // 0, 1, -1
	TimeoutMs  int32    // default 30000
	Conns      int      // default 1
	Depth      int      // requests in flight per connection; default 1
	RecordSize int      // bytes of a record's value
	BatchBytes int      // upper bound of a batch
	Bodies     int      // distinct batches in rotation; default: as many as fit in 1 MiB, 4 to 256
	Idempotent bool     // one producer id per connection
	Requests   int64    // stop after so many
	Duration   time.Duration
	Both       bool          // go on until both ends are reached, not the first of them
	Rate       float64       // records per second over all connections; 0: closed loop
	Sleep      bool          // pace the open loop by sleeping in the kernel (to the nanosecond) and not by spinning
	Spin       bool          // poll and never sleep, in the closed loop too
	NoBad      bool          // do not send the spoiled batch (the target stores nothing and cannot tell)
	WatchPID   int           // the broker
	Patience   time.Duration // without any answer; default 60 s
	Late       time.Duration // open loop: so long after its end what was due is still sent, the rest counts as unsent; default: Duration, at least 5 s
	Window     time.Duration // whole seconds: a latency distribution of each such stretch as well; 0: none

	sent *sentTimes // set by the end-to-end probe
}

// EnsureDefaults fills what was left out.
func (o *ProduceOptions) EnsureDefaults() {
	def(&o.Partitions, 1)
	def(&o.PerRequest, o.Partitions)
	def(&o.Version, 11)
	def(&o.TimeoutMs, 30000)
	def(&o.Conns, 1)
	def(&o.Depth, 1)
	def(&o.RecordSize, 1024)
	def(&o.BatchBytes, 65536)
	def(&o.Bodies, min(256, max(4, (1<<20)/o.BatchBytes)))
	def(&o.Patience, 60*time.Second)
	def(&o.Late, max(o.Duration, 5*time.Second))
}

// Validate says what cannot work.
func (o *ProduceOptions) Validate() error {
	switch {
	case o.Version < wire.ProduceMin || o.Version > wire.ProduceMax:
		return fmt.Errorf("produce version %d is not in %d..%d", o.Version, wire.ProduceMin, wire.ProduceMax)
	case o.PerRequest < 1 || o.PerRequest > o.Partitions:
		return fmt.Errorf("%d partitions per request of a topic with %d", o.PerRequest, o.Partitions)
	case o.Acks < -1 || o.Acks > 1:
		return fmt.Errorf("acks=%d is not -1, 0 or 1", o.Acks)
	case o.Conns < 1 || o.Depth < 1 || o.Depth > 1<<16 || o.Bodies < 1:
		return errors.New("connections, depth and bodies must be at least 1")
	case o.Requests <= 0 && o.Duration <= 0:
		return errors.New("a load needs an end: requests or duration")
	case o.Acks == 0 && o.Idempotent:
		return errors.New("an idempotent producer needs acknowledgements")
	}
	return nil
}

func def[T int | int16 | int32 | time.Duration](v *T, d T) {
	if *v == 0 {
		*v = d
	}
}

// Quiet sets the Go runtime up for a generator that allocates nothing while it runs: no collections (below a bound of 2 GiB),
// and enough Ps although the process may be pinned to one CPU. For a process that does nothing else.
func Quiet() {
	runtime.GOMAXPROCS(8)
	debug.SetMemoryLimit(2 << 30)
	debug.SetGCPercent(-1)
}

// Produce runs a load to its end. An error means that it could not run; what went wrong in a run stands in the Result.
func Produce(o ProduceOptions) (*Result, error) {
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	l, err := newLoop(&o)
	if err != nil {
		return nil, err
	}
	defer l.close()
	bad := make(chan string, 1)
	if o.NoBad {
		bad <- ""
	} else {
		go func() {
			time.Sleep(50 * time.Millisecond) // the load is under way
			bad <- SendBad(o)
		}()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := StartWatch(o.WatchPID, os.Getpid())
	l.run()
	w.Finish(l.res, os.Getpid())
	l.finish()
	l.res.BadRecord = <-bad
	if !o.NoBad && l.res.BadRecord != BadRefused {
		l.res.Fail("the spoiled batch was answered with %s", l.res.BadRecord)
	}
	return l.res, nil
}
