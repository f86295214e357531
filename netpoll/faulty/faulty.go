package faulty

import (
	"sync"
	"time"

	"millrace/netpoll"
)

// Rule says which operations fail and how.
type Rule struct {
	// Kind is the kind of operations, 0 for all.
	Kind netpoll.OpKind
	// Match, when not nil, must agree. It is called on the operation's loop, under the plan's lock.
	Match func(op *netpoll.Op) bool
	// After lets so many matching operations pass first.
	After int
	// Times is how many then fail; 0 means one, negative all that follow.
	Times int

	// Err is what they end with; nil means that they are carried out (after Delay).
	Err error
	// Wrote is how many bytes of a failing write are written all the same, and reported in N.
	Wrote int64
	// Delay holds the operation back first.
	Delay time.Duration

	seen, hit int
}

// Plan is the rules in force. Any goroutine.
type Plan struct {
	mu    sync.Mutex
	rules []*Rule
	hits  int
}

// Add puts a rule in force, behind those that are.
func (p *Plan) Add(r Rule) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = append(p.rules, &r)
}

// Clear takes all rules out of force.
func (p *Plan) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rules = nil
}

// Hits is how many operations were met by a rule.
func (p *Plan) Hits() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.hits
}

// of returns the first rule that meets an operation.
func (p *Plan) of(op *netpoll.Op) *Rule {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.rules {
		if r.Kind != 0 && r.Kind != op.Kind || r.Match != nil && !r.Match(op) {
			continue
		}
		if r.seen++; r.seen <= r.After {
			continue
		}
		if r.Times >= 0 && r.hit >= max(r.Times, 1) {
			continue
		}
		r.hit++
		p.hits++
		return r
	}
	return nil
}

// Wrap makes a factory whose drivers obey the plan.
func Wrap(f netpoll.DriverFactory, p *Plan) netpoll.DriverFactory {
	return netpoll.DriverFactory{
		Name:  f.Name,
		Probe: f.Probe,
		Open: func(h *netpoll.Host) (netpoll.Driver, error) {
			d, err := f.Open(h)
			if err != nil {
				return nil, err
			}
			w := &driver{Driver: d, plan: p, loop: h.Loop}
			w.ended.Init(h)
			return w, nil
		},
	}
}

// driver is a wrapped driver. Owned by its loop's thread.
type driver struct {
	netpoll.Driver
	plan  *Plan
	loop  *netpoll.Loop
	ended netpoll.FileOps
}

// Start implements netpoll.Driver.
func (d *driver) Start(op *netpoll.Op) {
	r := d.plan.of(op)
	switch {
	case r == nil:
		d.Driver.Start(op)
	case r.Delay > 0:
		t := &netpoll.Timer{Fire: &held{d: d, op: op, rule: r}}
		d.loop.SetTimer(t, d.loop.NowNs()+int64(r.Delay))
	default:
		d.fail(op, r)
	}
}

type held struct {
	d    *driver
	op   *netpoll.Op
	rule *Rule
}

// TimerFired ends a delay.
func (h *held) TimerFired(*netpoll.Timer, int64) {
	if h.rule.Err == nil {
		h.d.Driver.Start(h.op)
		return
	}
	h.d.fail(h.op, h.rule)
}

// fail ends an operation with the rule's error, after what is to be written of it.
func (d *driver) fail(op *netpoll.Op, r *Rule) {
	op.N, op.Err = 0, r.Err
	if op.Kind == netpoll.OpWritev && r.Wrote > 0 {
		op.N, _ = op.File.WritevAt(first(op.Iov, r.Wrote), op.Off)
	}
	d.ended.End(op)
}

// first returns the first n bytes of the buffers.
func first(iov [][]byte, n int64) (out [][]byte) {
	for _, b := range iov {
		if n <= 0 {
			break
		}
		if int64(len(b)) > n {
			b = b[:n]
		}
		out = append(out, b)
		n -= int64(len(b))
	}
	return out
}

// Deliver implements netpoll.Driver.
func (d *driver) Deliver() int { return d.ended.Deliver() + d.Driver.Deliver() }

// Wait implements netpoll.Driver.
func (d *driver) Wait(waitNs int64) (int, error) {
	n := d.ended.Deliver()
	if n > 0 || d.ended.Pending() {
		waitNs = 0
	}
	k, err := d.Driver.Wait(waitNs)
	return n + k, err
}
