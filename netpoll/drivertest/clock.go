package drivertest

import (
	"math/rand"
	"sync/atomic"
	"testing"
	"time"

	"millrace/internal/bufpool"
	"millrace/netpoll"
)

// timerOrder sets, moves and stops many timers; what is left fires in order and on time.
func timerOrder(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, nil, rigOptions{})
	l := r.loops[0]
	const n = 500
	fired := make(chan int64, n)
	late := make(chan int64, n)
	want := 0
	onLoop(l, func() {
		rnd := rand.New(rand.NewSource(1))
		now := l.NowNs()
		ts := make([]*netpoll.Timer, n)
		for i := range ts {
			tm := &netpoll.Timer{}
			tm.Fire = timerFunc(func() { fired <- tm.When; late <- l.ClockNs() - tm.When })
			ts[i] = tm
			l.SetTimer(tm, now+rnd.Int63n(100_000_000))
		}
		for i, tm := range ts {
			switch i % 5 {
			case 0:
				l.StopTimer(tm)
				l.StopTimer(tm)
			case 1:
				l.SetTimer(tm, now+rnd.Int63n(200_000_000))
			}
			if tm.Set() {
				want++
			}
		}
	})
	last := int64(0)
	for i := range want {
		select {
		case w := <-fired:
			if w < last {
				t.Fatalf("timer %d fired out of order", i)
			}
			last = w
			if d := <-late; d < 0 || d > int64(3*time.Second) {
				t.Fatalf("a timer fired %v after its time", time.Duration(d))
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%d of %d timers fired", i, want)
		}
	}
	time.Sleep(20 * time.Millisecond)
	if len(fired) > 0 {
		t.Error("a stopped timer fired")
	}
}

type countTask struct {
	netpoll.Task
	left *atomic.Int64
	done chan struct{}
	seq  *int
	n    int
	t    *testing.T
}

func (c *countTask) RunTask(*netpoll.Task) {
	if c.seq != nil {
		if *c.seq >= c.n {
			c.t.Errorf("tasks of one goroutine ran out of order")
		}
		*c.seq = c.n
	}
	if c.left.Add(-1) == 0 {
		close(c.done)
	}
}

// mailboxStorm posts from many goroutines, in bursts with pauses that let the loop fall asleep: no post is lost, and those
// of one goroutine run in order.
func mailboxStorm(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, nil, rigOptions{spinUs: 5})
	l := r.loops[0]
	const posters, each = 8, 3000
	var left atomic.Int64
	left.Store(posters * each)
	done := make(chan struct{})
	for p := range posters {
		go func() {
			rnd := rand.New(rand.NewSource(int64(p)))
			seq := -1
			for i := range each {
				c := &countTask{left: &left, done: done, seq: &seq, n: i, t: t}
				c.Run = c
				l.Post(&c.Task)
				if rnd.Intn(200) == 0 {
					time.Sleep(time.Duration(rnd.Intn(300)) * time.Microsecond)
				}
			}
		}()
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%d posts were lost", left.Load())
	}
	// Single posts to a loop that sleeps or is about to.
	for i := range 2000 {
		ch := make(chan struct{})
		l.PostFunc(func() { close(ch) })
		select {
		case <-ch:
		case <-time.After(5 * time.Second):
			t.Fatalf("wake-up %d was lost", i)
		}
		if i%10 == 0 {
			time.Sleep(60 * time.Microsecond)
		}
	}
}

type hop struct {
	netpoll.Task
	loops []*netpoll.Loop
	left  int
	done  chan struct{}
}

func (h *hop) RunTask(*netpoll.Task) {
	if h.left--; h.left == 0 {
		close(h.done)
		return
	}
	h.loops[h.left%len(h.loops)].Post(&h.Task)
}

// loopsPostToEachOther sends tasks round between loops.
func loopsPostToEachOther(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, nil, rigOptions{loops: 3})
	var hops []*hop
	for range 5 {
		h := &hop{loops: r.loops, left: 4000, done: make(chan struct{})}
		h.Run = h
		hops = append(hops, h)
		r.loops[0].Post(&h.Task)
	}
	for _, h := range hops {
		select {
		case <-h.done:
		case <-time.After(20 * time.Second):
			t.Fatal("a task got lost between loops")
		}
	}
}

// offload runs blocking work elsewhere, bounded, and comes back to the loop.
func offload(t *testing.T, f netpoll.DriverFactory) {
	r := newRig(t, f, nil, rigOptions{})
	l := r.loops[0]
	const n = 200
	var running, most atomic.Int64
	back := 0
	done := make(chan struct{})
	start := time.Now()
	l.PostFunc(func() {
		for range n {
			l.Offload(func() {
				k := running.Add(1)
				for m := most.Load(); k > m && !most.CompareAndSwap(m, k); m = most.Load() {
				}
				time.Sleep(5 * time.Millisecond)
				running.Add(-1)
			}, func() {
				if back++; back == n {
					close(done)
				}
			})
		}
	})
	onLoop(l, func() {})
	if d := time.Since(start); d > 800*time.Millisecond { // inline it would take a second
		t.Errorf("the loop was held up for %v", d)
	}
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("offloaded work got lost")
	}
	if m := most.Load(); m > 16 || m < 4 {
		t.Errorf("%d pieces of work ran at a time", m)
	}
}

// idleUsesNoTurns: with open connections and nothing to do, a loop sleeps.
// clockAfterSleep: what comes after a long sleep is handled at the time when it came, not at that of the turn before: a new
// connection, a frame, and a deadline that its handler sets.
func clockAfterSleep(t *testing.T, f netpoll.DriverFactory) {
	const sleep = 800 * time.Millisecond
	h := &handler{}
	lag := make(chan time.Duration, 2)
	h.frame = func(c *netpoll.Conn, b *bufpool.Buf) {
		l := c.Loop()
		lag <- time.Duration(l.ClockNs() - l.NowNs())
		echo(c, b)
	}
	r := newRig(t, f, h, rigOptions{limits: netpoll.Limits{PreRequestTimeout: sleep / 2}})
	for range 2 { // a timeout would close the second connection in the turn that accepts it
		time.Sleep(sleep)
		k := dial(t, r.addr)
		k.send(frameOf(1, 5))
		k.expect(frameOf(1, 5))
		if late := <-lag; late > sleep/2 {
			t.Errorf("the clock of a handler is %v late", late)
		}
		time.Sleep(sleep)
		k.send(frameOf(1, 5))
		k.expect(frameOf(1, 5))
		if late := <-lag; late > sleep/2 {
			t.Errorf("the clock of a handler is %v late", late)
		}
	}
}

func idleUsesNoTurns(t *testing.T, f netpoll.DriverFactory) {
	h := &handler{}
	r := newRig(t, f, h, rigOptions{limits: netpoll.Limits{IdleTimeout: time.Minute, PreRequestTimeout: time.Minute}})
	for i := range 50 {
		k := dial(t, r.addr)
		k.send(frameOf(byte(i), 5))
		k.expect(frameOf(byte(i), 5))
	}
	time.Sleep(50 * time.Millisecond)
	turns := func() (n int64) {
		onLoop(r.loops[0], func() { n = r.loops[0].Turns() })
		return n
	}
	before := turns()
	time.Sleep(400 * time.Millisecond)
	if n := turns() - before; n > 5 {
		t.Errorf("%d turns while idle", n)
	}
}
