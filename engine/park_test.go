package engine

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"millrace/vfs"
)

// poll is a Waiter of a test: it counts its wakes.
type poll struct {
	Waiter
	mu    sync.Mutex
	wakes int
	done  chan struct{}
}

func (w *poll) WaiterWake(*Waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wakes++
	if w.wakes > 1 {
		panic("a waiter was woken twice")
	}
	close(w.done)
}

// park waits for missing bytes beyond what b shows.
func park(p *Partition, i Isolation, b Bounds, missing int64) *poll {
	w := &poll{done: make(chan struct{})}
	w.Waiter = Waiter{Bound: b.End(i), Missing: missing, LeaderEpoch: b.LeaderEpoch, LogStart: b.LogStart, Isolation: i, Wake: w}
	p.Wait(&w.Waiter)
	return w
}

func (w *poll) wait(t testing.TB) WakeReason {
	t.Helper()
	select {
	case <-w.done:
		return w.Reason
	case <-time.After(20 * time.Second):
		t.Fatal("a waiter was never woken")
		return 0
	}
}

func (w *poll) woken() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

func TestWaiterIsWokenByTheBytesItMisses(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p := ensure(t, e, "a", 0)
	v := mkBatch("x")
	one := park(p, ReadUncommitted, p.Bounds(), 1)
	three := park(p, ReadUncommitted, p.Bounds(), int64(3*len(v)))
	mustAppend(t, p, NeedWritten, v)
	if r := one.wait(t); r != WakeData {
		t.Fatalf("reason %d", r)
	}
	mustAppend(t, p, NeedWritten, v)
	time.Sleep(5 * time.Millisecond)
	if three.woken() {
		t.Fatal("woken with too few bytes")
	}
	mustAppend(t, p, NeedWritten, v)
	three.wait(t)
	eventually(t, "no waiter is counted", func() bool { return e.Stats().Waiters == 0 })
}

func TestWaiterThatArrivesLate(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p := ensure(t, e, "a", 0)
	b := p.Bounds()
	v := mkBatch("x")
	mustAppend(t, p, NeedWritten, v)
	if r := park(p, ReadUncommitted, b, int64(len(v))).wait(t); r != WakeData {
		t.Fatalf("reason %d", r)
	}
	w := park(p, ReadUncommitted, b, int64(len(v))+1) // one byte more than is there
	time.Sleep(5 * time.Millisecond)
	if w.woken() {
		t.Fatal("woken with too few bytes")
	}
	mustAppend(t, p, NeedWritten, v)
	w.wait(t)
}

func TestWaiterHearsOfChanges(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p := ensure(t, e, "a", 0)
	b := p.Bounds()
	w := park(p, ReadUncommitted, b, 1)
	p.SetLeader(9, nil)
	if r := w.wait(t); r != WakeChanged {
		t.Fatalf("reason %d", r)
	}
	if r := park(p, ReadUncommitted, b, 1).wait(t); r != WakeChanged { // it saw the old epoch
		t.Fatalf("reason %d", r)
	}
	w = park(p, ReadUncommitted, p.Bounds(), 1)
	stop(t, e)
	if r := w.wait(t); r != WakeGone {
		t.Fatalf("reason %d at close", r)
	}
}

func TestCancel(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p := ensure(t, e, "a", 0)
	w := park(p, ReadUncommitted, p.Bounds(), 1)
	if !w.Cancel() {
		t.Fatal("cancel of a parked waiter failed")
	}
	if r := w.wait(t); r != WakeCancelled {
		t.Fatalf("reason %d", r)
	}
	w = park(p, ReadUncommitted, p.Bounds(), 1)
	mustAppend(t, p, NeedWritten, mkBatch("x"))
	w.wait(t)
	if w.Cancel() {
		t.Fatal("cancel of a woken waiter says it comes")
	}
}

// TestNoLostWakeups: pollers that plan, wait and plan again while others append and cancel never hang.
func TestNoLostWakeups(t *testing.T) {
	o := testOptions(vfs.NewMem())
	o.LoopCount = 2
	e, _ := start(t, o)
	p := ensure(t, e, "a", 0)
	const rounds, pollers, appenders = 300, 8, 3
	total := int64(rounds * appenders)
	var wg sync.WaitGroup
	for i := range pollers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for next := int64(0); next < total; {
				b := p.Bounds()
				if end := b.End(ReadUncommitted); end > next {
					next = end
					continue
				}
				w := park(p, ReadUncommitted, b, 1)
				if rng.IntN(4) == 0 {
					if rng.IntN(2) == 0 {
						time.Sleep(time.Duration(rng.IntN(100)) * time.Microsecond)
					}
					w.Cancel()
				}
				select {
				case <-w.done:
				case <-time.After(10 * time.Second):
					t.Errorf("poller %d hangs at %d of %d: bounds %+v", i, next, total, p.Bounds())
					return
				}
			}
		}()
	}
	for i := range appenders {
		wg.Add(1)
		go func() {
			defer wg.Done()
			need := []Need{NeedNone, NeedWritten, NeedCommitted}[i]
			for range rounds {
				mustAppend(t, p, need, mkBatch("x"))
			}
		}()
	}
	wg.Wait()
	if got := p.Bounds().Committed; got != total {
		t.Fatalf("committed %d, want %d", got, total)
	}
}

func TestManyWaitersOneAppend(t *testing.T) {
	e, _ := start(t, testOptions(vfs.NewMem()))
	p := ensure(t, e, "a", 0)
	b := p.Bounds()
	var ws []*poll
	for range 1000 {
		ws = append(ws, park(p, ReadUncommitted, b, 1))
	}
	eventually(t, "all parked", func() bool { return e.Stats().Waiters == 1000 })
	mustAppend(t, p, NeedWritten, mkBatch("x"))
	for _, w := range ws {
		w.wait(t)
	}
}
