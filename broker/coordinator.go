package broker

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"sync/atomic"

	"millrace/engine"
	"millrace/group"
	"millrace/netpoll"
	"millrace/segment/batch"
)

// coordinator drives the groups of one partition of __consumer_offsets. Owned by the loop that owns the partition, but for
// what is set once and topicsDue.
//
// What the machine wants written in one turn of the loop becomes as few batches as fit, appended with the acknowledgement
// of all; the machine hears of each when it is committed, and only then do its requests get their answers.
type coordinator struct {
	set  *coordinators
	part *engine.Partition
	loop *netpoll.Loop

	machine *group.Coordinator // nil while the log is being read
	code    group.Code         // what to answer while it is nil, and when it has ended

	writes  []*group.Write // not pushed yet
	posted  bool           // flush is on its way
	task    netpoll.Task
	timer   netpoll.Timer
	builder batch.Builder
	free    *groupAppend
	flying  int // batches pushed and not told of yet
	broken  bool
	faults  int // panics so far
	ended   bool

	topicsDue atomic.Bool
}

// faultsMax is how often a coordinator may fail before it stays down.
const faultsMax = 20

// batchSoftMax is when a batch is full enough; one write may be larger than it.
const batchSoftMax = 256 << 10

// groupAppend is one batch on its way. Owned by its coordinator; pooled.
type groupAppend struct {
	engine.Append
	c      *coordinator
	buf    []byte
	writes []*group.Write
	next   *groupAppend
}

func newCoordinator(cs *coordinators, p *engine.Partition) *coordinator {
	c := &coordinator{set: cs, part: p, loop: p.Owner(), code: group.CoordinatorLoad}
	c.task.Run = c
	c.timer.Fire = (*coordinatorTimer)(c)
	return c
}

func (c *coordinator) post(fn func()) { c.loop.PostFunc(fn) }

func (c *coordinator) now() group.Time {
	return group.Time{Mono: c.loop.NowNs() / 1e6, Wall: c.loop.WallMs()}
}

// step takes a request from any goroutine.
func (c *coordinator) step(r group.Request, done func(any)) {
	r.Head().Handle = done
	c.post(func() {
		if c.machine == nil || c.ended {
			done(group.Refusal(r, c.code))
			return
		}
		c.run(func(m *group.Coordinator) { m.Step(r, c.now()) })
	})
}

// run lets the machine do something and carries out what it asks for. A panic in it is a bug of ours that must not take
// the broker down, nor be answered from a state that nobody knows: the groups are loaded anew from their log, once
// what is under way has ended. Members whose requests got no answer ask again.
func (c *coordinator) run(do func(*group.Coordinator)) {
	if c.machine == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			c.set.node.log.Error("a group coordinator failed; its groups are loaded anew", "partition", c.part.String(),
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			c.machine, c.writes, c.code, c.broken = nil, nil, group.CoordinatorLoad, true
			c.loop.StopTimer(&c.timer)
			if c.faults++; c.faults > faultsMax {
				c.end(group.CoordinatorNotAvailable)
			}
			c.mend()
		}
	}()
	do(c.machine)
	c.carry()
}

// mend loads the groups of a coordinator that failed, once the log stands still.
func (c *coordinator) mend() {
	if c.broken && c.flying == 0 && !c.ended {
		c.broken = false
		c.load()
	}
}

// carry does what the machine asks for: answers at once, records at the end of the turn, and the next deadline.
func (c *coordinator) carry() {
	for {
		rd := c.machine.Ready()
		for i := range rd.Replies {
			rd.Replies[i].Handle.(func(any))(rd.Replies[i].Body)
		}
		c.writes = append(c.writes, rd.Writes...)
		if now := c.now(); c.machine.Deadline() <= now.Mono && !c.ended {
			c.machine.Tick(now)
			continue
		}
		break
	}
	if len(c.writes) > 0 && !c.posted {
		c.posted = true
		c.loop.Post(&c.task)
	}
	if at := c.machine.Deadline(); at < math.MaxInt64 && !c.ended {
		c.loop.SetTimer(&c.timer, at*1e6)
	} else {
		c.loop.StopTimer(&c.timer)
	}
}

// coordinatorTimer is a coordinator as the handler of its timer.
type coordinatorTimer coordinator

// TimerFired implements netpoll.TimerHandler.
func (t *coordinatorTimer) TimerFired(*netpoll.Timer, int64) {
	c := (*coordinator)(t)
	if !c.ended {
		c.run(func(m *group.Coordinator) { m.Tick(c.now()) })
	}
}

// RunTask pushes what the turn wants written.
func (c *coordinator) RunTask(*netpoll.Task) {
	c.posted = false
	writes := c.writes
	c.writes = nil
	for len(writes) > 0 {
		a := c.newAppend()
		writes = c.fill(a, writes)
		c.flying++
		c.part.Push(&a.Append)
	}
}

func (c *coordinator) newAppend() *groupAppend {
	a := c.free
	if a == nil {
		a = &groupAppend{c: c}
	} else {
		c.free = a.next
		a.next = nil
	}
	return a
}

// fill puts as many writes into the batch as fit, at least one, and returns the rest.
func (c *coordinator) fill(a *groupAppend, writes []*group.Write) []*group.Write {
	c.builder.Reset(a.buf[:0], 0, batch.NoLeaderEpoch)
	wall := c.loop.WallMs()
	var key, value []byte
	for len(writes) > 0 && (len(a.writes) == 0 || c.builder.Size() < batchSoftMax) {
		w := writes[0]
		for i := range w.Records {
			r := &w.Records[i]
			key = r.Key.AppendTo(key[:0])
			if r.Value == nil {
				c.builder.Add(wall, key, nil)
				continue
			}
			value = r.Value.AppendTo(value[:0])
			c.builder.Add(wall, key, value)
		}
		a.writes = append(a.writes, w)
		writes = writes[1:]
	}
	view := c.builder.Finish()
	a.buf = c.builder.Bytes()
	a.Append = engine.Append{Batch: view, Need: engine.NeedCommitted, LeaderEpoch: -1, Done: a}
	return writes
}

// AppendDone implements engine.AppendCompleter.
func (a *groupAppend) AppendDone(*engine.Append) {
	c := a.c
	code := group.None
	if a.Err != nil {
		code = appendCode(a.Err)
		c.failed(a.Err)
	}
	c.flying--
	c.run(func(m *group.Coordinator) {
		for _, w := range a.writes {
			m.Written(w, code, c.now())
		}
	})
	clear(a.writes)
	a.writes = a.writes[:0]
	if cap(a.buf) > 4*batchSoftMax {
		a.buf = nil
	}
	a.next, c.free = c.free, a
	c.mend()
}

// appendCode is what a member is told when its group's records cannot be stored; all but a batch that is too large may be
// tried again.
func appendCode(err error) group.Code {
	switch {
	case errors.Is(err, engine.ErrBatchTooLarge), errors.Is(err, engine.ErrInvalidBatch):
		return group.UnknownServerError
	case errors.Is(err, engine.ErrStorageFull):
		return group.CoordinatorNotAvailable
	}
	return group.NotCoordinator
}

// failed ends the coordinator if what it knows may no longer be what its log says.
func (c *coordinator) failed(err error) {
	switch {
	case errors.Is(err, engine.ErrBatchTooLarge), errors.Is(err, engine.ErrInvalidBatch), errors.Is(err, engine.ErrStorageFull):
		c.set.node.log.Warn("records of groups could not be stored", "partition", c.part.String(), "error", err)
	default:
		if !c.ended && !c.set.stopped.Load() {
			c.set.node.log.Error("a group coordinator ends: its partition cannot be written", "partition", c.part.String(), "error", err)
		}
		c.end(group.NotCoordinator)
	}
}

// end stops the coordinator: what waits is answered with code, and so is what comes.
func (c *coordinator) end(code group.Code) {
	if c.ended {
		return
	}
	c.ended, c.code = true, code
	c.loop.StopTimer(&c.timer)
	c.run(func(m *group.Coordinator) { m.Stop(code) })
}

func (c *coordinator) topicDeleted(name string) {
	if !c.ended {
		c.run(func(m *group.Coordinator) { m.TopicsDeleted([]string{name}, c.now()) })
	}
}

func (c *coordinator) topicsChanged() {
	c.topicsDue.Store(false)
	if !c.ended {
		c.run(func(m *group.Coordinator) { m.SetTopics(c.set.topics.Load(), c.now()) })
	}
}

func itoa(n int32) string { return strconv.Itoa(int(n)) }
