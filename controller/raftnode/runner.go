package raftnode

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"millrace/controller"
)

// Runner is the owner of a Node in production and a controller.Client. Its methods may be called from any
// goroutine.
//
// A broker opens it, proposes RegisterBroker and TakeLeadership (the first command of an incarnation must be
// RegisterBroker) and starts it; both go to disk with the first sync.
type Runner struct {
	opts  Options
	node  *Node // owned by the runner's goroutine once started
	image atomic.Pointer[controller.Image]

	mu sync.Mutex
	// Guarded by mu.
	queue   []*pending // not yet seen by the runner's goroutine
	subs    []func(old, new *controller.Image, changes []controller.Change)
	counter uint64
	waiting int
	stopped bool

	wake    chan struct{}
	stop    chan struct{}
	done    chan struct{}
	started bool

	// Owned by the runner's goroutine.
	pending []*pending // in order of counter, from the oldest without result
	sent    int        // of pending, in this term
	term    uint64
}

// pending is a command without result.
type pending struct {
	counter uint64
	bytes   []byte
	done    func(controller.Result)
}

// ErrStopped is the text of the results that proposals get when the runner stops first: their outcome is unknown.
var ErrStopped = errors.New("the controller has stopped")

// proposeBytes is about how much goes into one write.
const proposeBytes = 16 << 20

// Open reads the metadata, or founds it, and returns a runner that is not started yet. Image is what was known to
// be committed.
//
// Errors: ErrMissing, *DamageError, or those of the file system.
func Open(opts Options) (r *Runner, err error) {
	defer caught(&err)
	opts.EnsureDefaults()
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	n, err := open(opts)
	if err != nil {
		return nil, err
	}
	r = &Runner{opts: opts, node: n, wake: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	for { // what is known to be committed; nothing to write
		rd, ok := n.Ready()
		if !ok {
			break
		}
		if _, err := n.Advance(rd); err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	r.image.Store(n.Image())
	return r, nil
}

// Image implements controller.Client.
func (r *Runner) Image() *controller.Image { return r.image.Load() }

// Subscribe implements controller.Client.
func (r *Runner) Subscribe(fn func(old, new *controller.Image, changes []controller.Change)) *controller.Image {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.subs = append(r.subs[:len(r.subs):len(r.subs)], fn)
	return r.image.Load()
}

// Propose implements controller.Client. Commands are applied in the order of the calls.
func (r *Runner) Propose(body controller.Body, done func(controller.Result)) {
	r.mu.Lock()
	if r.stopped {
		r.mu.Unlock()
		done(stoppedResult())
		return
	}
	p := &pending{done: done}
	if r.waiting >= r.opts.PendingMax {
		p.counter = 0 // refused: the runner answers it in its turn
	} else {
		r.waiting++
		r.counter++
		p.counter = r.counter
		c := controller.Command{Node: r.opts.NodeID, Incarnation: r.opts.Incarnation, Counter: p.counter, Body: body}
		p.bytes = c.Encode(nil)
	}
	r.queue = append(r.queue, p)
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

func stoppedResult() controller.Result {
	return controller.Result{Code: controller.CodeUnknownServerError, Text: ErrStopped.Error()}
}

// Start begins to run. Call it once.
func (r *Runner) Start() {
	r.mu.Lock()
	r.started = true
	r.mu.Unlock()
	go r.run()
}

// Stop ends the runner after the step it is in and closes the files. Proposals without result get theirs, saying
// that the outcome is unknown; not so after Fatal. Call it once.
func (r *Runner) Stop() error {
	r.mu.Lock()
	dead, started := r.stopped, r.started
	r.stopped = true
	r.mu.Unlock()
	close(r.stop)
	if started {
		<-r.done
	}
	if !dead {
		r.refuse()
	}
	return r.node.Close()
}

func (r *Runner) run() {
	defer close(r.done)
	for {
		if err := r.turn(); err != nil {
			r.die(err)
			return
		}
		select {
		case <-r.wake:
		case <-r.stop:
			return
		}
	}
}

// die tells that nothing more will be acknowledged.
func (r *Runner) die(err error) {
	if errors.Is(err, ErrStopped) {
		return
	}
	r.mu.Lock()
	r.stopped = true
	r.mu.Unlock()
	r.opts.Fatal(err)
}

// turn does all there is to do.
func (r *Runner) turn() (err error) {
	defer caught(&err)
	for {
		r.take()
		if err := r.node.Campaign(); err != nil {
			return err
		}
		r.propose()
		rd, ok := r.node.Ready()
		if !ok {
			if r.node.SnapshotDue() {
				if err := r.snapshot(); err != nil {
					return err
				}
			}
			return nil
		}
		if err := r.retry(func() error { return r.node.Persist(rd) }); err != nil {
			return err
		}
		out, err := r.node.Advance(rd)
		if err != nil {
			return err
		}
		r.publish(out)
	}
}

// take moves new proposals to pending and answers those that were refused.
func (r *Runner) take() {
	r.mu.Lock()
	queue := r.queue
	r.queue = nil
	r.mu.Unlock()
	for _, p := range queue {
		if p.counter == 0 {
			p.done(controller.Result{Code: controller.CodeRequestTimedOut, Text: "Too many metadata changes are waiting."})
			continue
		}
		r.pending = append(r.pending, p)
	}
}

// propose hands pending commands to raft while it leads, all of them again if the term has changed: the session
// of the image makes each apply once.
func (r *Runner) propose() {
	term, leads := r.node.Leader()
	if !leads {
		return
	}
	if term != r.term {
		r.term, r.sent = term, 0
	}
	for bytes := 0; r.sent < len(r.pending) && bytes < proposeBytes; r.sent++ {
		p := r.pending[r.sent]
		if err := r.node.Propose(p.bytes); err != nil {
			return // tried again in a later turn
		}
		bytes += len(p.bytes)
	}
}

// publish shows the new image, tells the subscribers and answers the proposals, in this order.
func (r *Runner) publish(out *Outcome) {
	if out.New != out.Old {
		r.mu.Lock() // so that Subscribe answers the image before the first that its function hears of
		r.image.Store(out.New)
		subs := r.subs
		r.mu.Unlock()
		for _, fn := range subs {
			fn(out.Old, out.New, out.Changes)
		}
	}
	answered := 0
	for i := range out.Results {
		a := &out.Results[i]
		if a.Node != r.opts.NodeID || a.Incarnation != r.opts.Incarnation || len(r.pending) == 0 || a.Counter != r.pending[0].counter {
			continue
		}
		p := r.pending[0]
		r.pending = r.pending[1:]
		r.sent--
		answered++
		p.done(a.Result)
	}
	if len(r.pending) == 0 {
		r.pending = nil
	}
	if answered > 0 {
		r.mu.Lock()
		r.waiting -= answered
		r.mu.Unlock()
	}
}

// snapshot takes a snapshot. Without space for it the log goes on growing.
func (r *Runner) snapshot() error {
	err := r.node.Snapshot()
	if noSpace(err) {
		r.opts.Log.Error("no space for a snapshot of the metadata; its log goes on growing", "error", err)
		r.node.deferSnapshot()
		return nil
	}
	return err
}

const retryEvery = time.Second

// retry does f again while it fails for want of space: nothing is lost by waiting, and what is proposed
// meanwhile waits too.
func (r *Runner) retry(f func() error) error {
	for told := false; ; told = true {
		err := f()
		if !noSpace(err) {
			return err
		}
		if !told {
			r.opts.Log.Error("no space for the metadata log; changes of metadata wait until there is", "error", err)
		}
		select {
		case <-time.After(retryEvery):
		case <-r.stop:
			return ErrStopped
		}
	}
}

// noSpace tells a lack that passes (a full disk, no file descriptors left) at a write from errors that kill the
// directory. After a failed sync it is too late, whatever the reason.
func noSpace(err error) bool {
	var s *syncError
	if errors.As(err, &s) {
		return false
	}
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// refuse answers all proposals that are left.
func (r *Runner) refuse() {
	r.mu.Lock()
	queue := r.queue
	r.queue = nil
	r.mu.Unlock()
	for _, p := range append(r.pending, queue...) {
		p.done(stoppedResult())
	}
	r.pending = nil
}
