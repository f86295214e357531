package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"millrace/segment/batch"
	"millrace/vfs"
)

// modelBatch is one batch as the model stores it.
type modelBatch struct {
	pid    int64
	epoch  int16
	first  int32
	last   int32
	base   int64
	values []string
}

// model is the simplest thing that does what a partition promises.
type model struct {
	log   []modelBatch
	end   int64
	start int64
}

// append says what the engine must answer.
func (m *model) append(b modelBatch) (base int64, dup bool, err error) {
	if b.pid >= 0 {
		var mine []modelBatch // of the latest epoch, oldest first
		epoch := int16(-1)
		for _, x := range m.log {
			if x.pid != b.pid {
				continue
			}
			if x.epoch != epoch {
				epoch, mine = x.epoch, nil
			}
			mine = append(mine, x)
		}
		switch {
		case epoch < 0:
		case b.epoch < epoch:
			return 0, false, ErrInvalidProducerEpoch
		case b.epoch > epoch:
			if b.first != 0 {
				return 0, false, ErrOutOfOrderSequence
			}
		default:
			if len(mine) > 5 {
				mine = mine[len(mine)-5:]
			}
			for _, x := range mine {
				if x.first == b.first && x.last == b.last {
					return x.base, true, nil
				}
			}
			if b.first != batch.AddSequence(mine[len(mine)-1].last, 1) {
				return 0, false, ErrOutOfOrderSequence
			}
		}
	}
	b.base = m.end
	m.end += int64(len(b.values))
	m.log = append(m.log, b)
	return b.base, false, nil
}

func (m *model) records() (out []rec) {
	for _, b := range m.log {
		for i, v := range b.values {
			if o := b.base + int64(i); o >= m.start {
				out = append(out, rec{offset: o, pid: b.pid, value: v})
			}
		}
	}
	return out
}

// modelRun is one seed's run.
type modelRun struct {
	t    *testing.T
	rng  *rand.Rand
	mem  *vfs.Mem
	o    Options
	e    *Engine
	p    *Partition
	m    model
	n    int
	hist []string
}

func (r *modelRun) say(format string, args ...any) {
	r.hist = append(r.hist, fmt.Sprintf(format, args...))
}

func (r *modelRun) fatal(format string, args ...any) {
	r.t.Helper()
	for _, h := range r.hist[max(0, len(r.hist)-30):] {
		r.t.Log(h)
	}
	r.t.Fatalf(format, args...)
}

// draw makes a batch that is mostly right, sometimes a resend, sometimes wrong.
func (r *modelRun) draw() modelBatch {
	b := modelBatch{pid: int64(r.rng.IntN(4)) - 1}
	for range 1 + r.rng.IntN(4) {
		b.values = append(b.values, strconv.Itoa(r.n))
		r.n++
	}
	if b.pid < 0 {
		return b
	}
	var mine []modelBatch
	for _, x := range r.m.log {
		if x.pid == b.pid {
			mine = append(mine, x)
		}
	}
	if len(mine) > 0 {
		last := mine[len(mine)-1]
		b.epoch, b.first = last.epoch, batch.AddSequence(last.last, 1)
		switch r.rng.IntN(12) {
		case 0, 1: // a resend
			b = mine[max(0, len(mine)-1-r.rng.IntN(8))]
		case 2: // an overlap or a gap
			b.first = batch.AddSequence(b.first, int32(r.rng.IntN(3)))
		case 3:
			b.epoch, b.first = b.epoch+1, 0
		case 4:
			b.epoch = max(0, b.epoch-1)
		}
	} else if r.rng.IntN(2) == 0 {
		b.first = 1<<31 - 3 // soon over the wrap
	}
	b.last = batch.AddSequence(b.first, int32(len(b.values)-1))
	return b
}

func encode(b modelBatch) batch.View {
	if b.pid < 0 {
		return mkBatch(b.values...)
	}
	return idBatch(b.pid, b.epoch, b.first, b.values...)
}

// appendSome pushes a burst and checks every answer.
func (r *modelRun) appendSome() {
	type sent struct {
		a    *pushed
		base int64
		dup  bool
		err  error
		what modelBatch
	}
	var burst []sent
	for range 1 + r.rng.IntN(6) {
		b := r.draw()
		base, dup, err := r.m.append(b)
		need := Need(r.rng.IntN(3))
		burst = append(burst, sent{push(r.p, encode(b), need, -1), base, dup, err, b})
		r.say("append %+v need %d: want base %d dup %v err %v", b, need, base, dup, err)
	}
	for _, s := range burst {
		err := s.a.wait(r.t)
		if !errors.Is(err, s.err) || (err == nil) != (s.err == nil) {
			r.fatal("append %+v: %v, want %v", s.what, err, s.err)
		}
		if err == nil && (s.a.BaseOffset != s.base || s.a.Duplicate != s.dup) {
			r.fatal("append %+v: base %d dup %v, want %d %v", s.what, s.a.BaseOffset, s.a.Duplicate, s.base, s.dup)
		}
	}
}

func (r *modelRun) check() {
	r.t.Helper()
	mustAppend(r.t, r.p, NeedCommitted, mkBatch("barrier")) // commits all before it
	if _, _, err := r.m.append(modelBatch{pid: -1, values: []string{"barrier"}}); err != nil {
		r.fatal("%v", err)
	}
	b := r.p.Bounds()
	if b.Written != r.m.end || b.Committed != r.m.end || b.Synced != r.m.end || b.LogStart != r.m.start {
		r.fatal("bounds %+v, want end %d start %d", b, r.m.end, r.m.start)
	}
	got, want := readAll(r.t, r.p, ReadUncommitted), r.m.records()
	if len(got) != len(want) {
		r.fatal("%d records, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i].offset != want[i].offset || got[i].value != want[i].value || got[i].pid != want[i].pid {
			r.fatal("record %d is %+v, want %+v", i, got[i], want[i])
		}
	}
	from := r.m.start + r.rng.Int64N(r.m.end-r.m.start)
	part := readFrom(r.t, r.p, from, r.m.end, ReadCommitted)
	if len(part) != int(r.m.end-from) || part[0].offset != from {
		r.fatal("from %d: %d records, first %+v", from, len(part), part[0])
	}
}

func (r *modelRun) deleteRecords() {
	b := r.p.Bounds()
	to := b.LogStart + r.rng.Int64N(b.Committed-b.LogStart+1)
	r.say("delete records below %d of %+v", to, b)
	if at, err := call(r.t, func(done func(int64, error)) { r.p.DeleteRecords(to, done) }); err != nil || at != to {
		r.fatal("delete records to %d: %d, %v", to, at, err)
	}
	r.m.start = to
}

func (r *modelRun) restart(kind int) {
	r.say("restart %d", kind)
	switch kind {
	case 0:
		stop(r.t, r.e)
	case 1: // killed: everything written is there
		r.mem = r.mem.Clone()
		abort(r.e)
	case 2: // power cut, after the barrier of check: everything is synced
		r.mem = r.mem.Image(r.rng.Uint64())
		abort(r.e)
	}
	r.open()
}

func (r *modelRun) open() {
	r.o.FS = r.mem
	e, rep := start(r.t, r.o)
	if len(rep.Failed)+len(rep.Damage) > 0 || rep.CutBytes > 0 {
		r.fatal("report %+v", rep)
	}
	r.e, r.p = e, ensure(r.t, e, "a", 0)
}

func (r *modelRun) configure() {
	c := *DefaultConfig()
	c.SegmentBytes = 300 + r.rng.Int64N(3000)
	c.IndexIntervalBytes = r.rng.Int64N(500)
	c.WriteCaching = false
	r.say("segment.bytes %d", c.SegmentBytes)
	r.p.SetConfig(&c)
	r.o.Config = &c
}

// TestModel compares the engine with a small model over random histories, restarts and crashes included.
func TestModel(t *testing.T) {
	seeds, steps := uint64(25), 60
	if v, err := strconv.Atoi(os.Getenv("ENGINE_MODEL_SEEDS")); err == nil {
		seeds = uint64(v)
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := &modelRun{t: t, rng: rand.New(rand.NewPCG(seed, 7)), mem: vfs.NewMem()}
			r.o = testOptions(nil)
			r.o.UnsyncedBytesMax = 4000
			r.open()
			for range steps {
				switch r.rng.IntN(14) {
				case 0:
					r.deleteRecords()
				case 1:
					r.configure()
				case 2:
					r.check()
					r.restart(r.rng.IntN(3))
				case 3:
					r.check()
				default:
					r.appendSome()
				}
			}
			r.check()
			stop(t, r.e)
		})
	}
}
