package enginebench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"millrace/bench/proc"
	"millrace/bench/rawgen"
	"millrace/bench/wire"
	"millrace/engine"
	"millrace/segment/batch"
)

// Options describe an engine-only load.
type Options struct {
	Dir        string // must be empty or new
	Loops      int    // default 1
	Partitions int    // default 1
	Depth      int    // appends in flight per partition; default 4
	RecordSize int    // default 1024
	BatchBytes int    // default 65536
	Bytes      int64  // payload to append
	Synced     bool   // wait for the sync (acks=all) instead of the write (acks=1)
	ReadBack   bool   // read everything afterwards and check every batch
}

// EnsureDefaults fills what was left out.
func (o *Options) EnsureDefaults() {
	def := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.Loops, 1)
	def(&o.Partitions, 1)
	def(&o.Depth, 4)
	def(&o.RecordSize, 1024)
	def(&o.BatchBytes, 65536)
}

// load is the state of one partition. Owned by the partition's loop once it runs.
type load struct {
	part    *engine.Partition
	latency *hdrhistogram.Histogram
	left    int64 // appends not pushed yet
	flying  int
	next    int64 // base offset expected
	records int64
	err     error
	all     *sync.WaitGroup
	failed  *atomic.Bool
}

// flight is one append in flight with its own memory: the engine stamps offset and epoch into it.
type flight struct {
	engine.Append
	load *load
	sent time.Time
}

// AppendDone checks the answer and pushes the same batch again.
func (f *flight) AppendDone(a *engine.Append) {
	l := f.load
	if err := l.latency.RecordValue(max(100, time.Since(f.sent).Nanoseconds())); err != nil && l.err == nil {
		l.err = err
	}
	switch {
	case a.Err != nil:
		l.err = errors.Join(l.err, a.Err)
	case a.BaseOffset != l.next && l.err == nil:
		l.err = fmt.Errorf("%s: base offset %d where %d was due", l.part, a.BaseOffset, l.next)
	}
	l.next = a.LastOffset + 1
	if l.err != nil {
		l.failed.Store(true)
	}
	if l.left > 0 && !l.failed.Load() {
		l.left--
		f.push()
		return
	}
	if l.flying--; l.flying == 0 {
		l.all.Done()
	}
}

func (f *flight) push() {
	f.sent = time.Now()
	f.load.part.Push(&f.Append)
}

// Run appends, and reads back if wanted. Result.Broker is the cost of this process.
func Run(ctx context.Context, o Options) (*rawgen.Result, error) {
	o.EnsureDefaults()
	e, err := engine.Open(engine.Options{Dirs: []string{o.Dir}, LoopCount: o.Loops})
	if err != nil {
		return nil, err
	}
	r, err := run(ctx, e, o)
	return r, errors.Join(err, e.Close(ctx))
}

func run(ctx context.Context, e *engine.Engine, o Options) (*rawgen.Result, error) {
	if _, err := e.Load(ctx); err != nil {
		return nil, err
	}
	bodies := wire.NewBodies(4, o.RecordSize, o.BatchBytes, 1)
	each := max(int64(o.Depth), o.Bytes/int64(bodies.Payload)/int64(o.Partitions))
	var all sync.WaitGroup
	var failed atomic.Bool
	var loads []*load
	var flights []*flight
	need := engine.NeedWritten
	if o.Synced {
		need = engine.NeedCommitted
	}
	for p := range o.Partitions {
		part, err := e.Ensure(ctx, "bench", int32(p))
		if err != nil {
			return nil, err
		}
		l := &load{part: part, latency: hdrhistogram.New(100, 60_000_000_000, 3), left: each - int64(o.Depth), flying: o.Depth, records: each * int64(bodies.Records), all: &all, failed: &failed}
		l.next = part.Bounds().Written
		loads = append(loads, l)
		for d := range o.Depth {
			f := &flight{load: l}
			f.Append = engine.Append{Batch: batch.View(bodies.Batch(d%4, time.Now().UnixMilli())), Need: need, LeaderEpoch: -1, Done: f}
			flights = append(flights, f)
		}
	}
	all.Add(len(loads))
	before, err := proc.Read(os.Getpid())
	if err != nil {
		return nil, err
	}
	began := time.Now()
	for _, f := range flights {
		f.push()
	}
	all.Wait()
	seconds := time.Since(began).Seconds()
	after, err := proc.Read(os.Getpid())
	if err != nil {
		return nil, err
	}
	cost := after.Since(before)
	r := &rawgen.Result{Kind: "engine", Seconds: seconds, Broker: &cost}
	latency := hdrhistogram.New(100, 60_000_000_000, 3)
	for _, l := range loads {
		if l.err != nil {
			return nil, l.err
		}
		latency.Merge(l.latency)
		r.Requests += each
		r.Batches += each
		r.Records += l.records
		r.PayloadBytes += each * int64(bodies.Payload)
		r.WireBytes += each * int64(bodies.BatchLen())
	}
	r.Latency = rawgen.NewDist(latency)
	if o.ReadBack {
		for _, l := range loads {
			n, err := readBack(l.part)
			r.Verified += n
			if err != nil {
				return r, err
			}
		}
		if r.Verified != r.Batches {
			return r, fmt.Errorf("%d batches read back of %d", r.Verified, r.Batches)
		}
	}
	return r, nil
}

// readBack walks a partition and returns the number of its batches, all with a right checksum and without a gap.
func readBack(p *engine.Partition) (int64, error) {
	batches, next := int64(0), p.Bounds().LogStart
	for {
		data, err := p.Read(next, 4<<20, engine.ReadUncommitted)
		if err != nil || len(data) == 0 {
			return batches, err
		}
		for len(data) >= wire.BatchHeaderLen {
			n := wire.TotalLen(data)
			if n > len(data) {
				break
			}
			if wire.BaseOffset(data) != next || !wire.ValidCRC(data[:n]) {
				return batches, fmt.Errorf("%s: a bad batch at offset %d", p, next)
			}
			batches, next, data = batches+1, wire.LastOffset(data)+1, data[n:]
		}
	}
}

// Summary is one line of a result.
func Summary(r *rawgen.Result) string {
	gb := float64(r.PayloadBytes) / 1e9
	var b strings.Builder
	fmt.Fprintf(&b, "%.0f MB/s, %.0f records/s, %.0f appends/s, %.3f CPU-s/GB, p50 %.0f us, p99 %.0f us, p99.9 %.0f us, RSS %d MB", gb*1000/r.Seconds, float64(r.Records)/r.Seconds, float64(r.Batches)/r.Seconds,
		r.Broker.CPUSeconds/gb, r.Latency.P50, r.Latency.P99, r.Latency.P999, r.Broker.RSSBytes/1e6)
	if r.Verified > 0 {
		fmt.Fprintf(&b, ", %d batches read back", r.Verified)
	}
	return b.String()
}
