package netpoll

import "sync"

// workers carries out blocking work on ordinary goroutines, at most max at a time. Any goroutine.
type workers struct {
	loop *Loop
	max  int

	mu      sync.Mutex
	cond    sync.Cond
	first   *work
	last    *work
	idle    int
	running int
	closed  bool
}

// Blocking is work that a driver wants done off its loop. Done is a task that is posted back afterwards.
type Blocking interface {
	// RunBlocking runs on an ordinary goroutine.
	RunBlocking()
}

// work is one queued piece: intrusive in what embeds it.
type work struct {
	do   Blocking
	then Runner
	back Task
	loop *Loop
	next *work
}

// RunTask comes back to the loop.
func (w *work) RunTask(t *Task) {
	w.loop.inFlight--
	w.then.RunTask(t)
}

// Work is an intrusive piece of blocking work. Owned by who submits it, lent to the workers until its Then ran.
type Work struct{ work }

// Start runs do.RunBlocking on a worker and then runs then on the loop. Loop only.
func (l *Loop) Start(w *Work, do Blocking, then Runner) {
	w.do, w.then, w.loop = do, then, l
	w.back.Run = &w.work
	l.inFlight++
	l.work.push(&w.work)
}

func (p *workers) init(l *Loop, max int) {
	p.loop, p.max = l, max
	p.cond.L = &p.mu
}

func (p *workers) push(w *work) {
	w.next = nil
	p.mu.Lock()
	if p.last == nil {
		p.first = w
	} else {
		p.last.next = w
	}
	p.last = w
	if p.idle > 0 {
		p.idle-- // by the pusher, so that two pushes never count on the same sleeper
		p.cond.Signal()
	} else if p.running < p.max {
		p.running++
		go p.serve()
	}
	p.mu.Unlock()
}

// keepIdle is how many workers wait for more instead of ending.
const keepIdle = 2

func (p *workers) serve() {
	p.mu.Lock()
	for {
		for p.first == nil {
			if p.closed || p.idle >= keepIdle {
				p.running--
				p.mu.Unlock()
				return
			}
			p.idle++
			p.cond.Wait()
		}
		w := p.first
		p.first = w.next
		if p.first == nil {
			p.last = nil
		}
		p.mu.Unlock()
		w.do.RunBlocking()
		p.loop.Post(&w.back)
		p.mu.Lock()
	}
}

func (p *workers) close() {
	p.mu.Lock()
	p.closed = true
	p.cond.Broadcast()
	p.mu.Unlock()
}

// Offload runs fn on a worker and then done on the loop; no order is promised among offloaded work. done may be
// nil. For cold paths: it allocates. Loop only.
func (l *Loop) Offload(fn, done func()) {
	o := &offloaded{fn: fn, done: done}
	l.Start(&o.w, o, o)
}

type offloaded struct {
	w        Work
	fn, done func()
}

func (o *offloaded) RunBlocking() { o.fn() }

func (o *offloaded) RunTask(*Task) {
	if o.done != nil {
		o.done()
	}
}
