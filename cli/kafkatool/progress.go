package kafkatool

import (
	"fmt"
	"sync/atomic"
	"time"
)

// progress shows on stderr how far long work is, if that is a terminal. Any goroutine may add; done belongs to the one that made it.
type progress struct {
	n     atomic.Int64
	stop  chan struct{}
	ended chan struct{}
}

// newProgress starts a display; total 0 means unknown.
func newProgress(e *Env, verb string, total int64) *progress {
	p := &progress{stop: make(chan struct{}), ended: make(chan struct{})}
	if !e.ErrIsTerm || e.InIsTerm {
		close(p.ended)
		return p
	}
	go func() {
		defer close(p.ended)
		t := time.NewTicker(500 * time.Millisecond)
		defer t.Stop()
		begin := time.Now()
		for shown := false; ; shown = true {
			select {
			case <-p.stop:
				if shown {
					fmt.Fprint(e.Err, "\r\x1b[K")
				}
				return
			case <-t.C:
			}
			n := p.n.Load()
			of := ""
			if total > 0 {
				of = fmt.Sprintf(" of %d", total)
			}
			fmt.Fprintf(e.Err, "\r\x1b[K%s %d%s, %.0f/s", verb, n, of, float64(n)/time.Since(begin).Seconds())
		}
	}()
	return p
}

func (p *progress) add(n int64) { p.n.Add(n) }

func (p *progress) done() {
	close(p.stop)
	<-p.ended
}
