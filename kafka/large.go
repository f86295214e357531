package kafka

import (
	"sync"
	"sync/atomic"

	"github.com/valyala/bytebufferpool"

	"millrace/kafka/validate"
)

// largeMax bounds the checks of large batches under way at once, each of which holds some megabytes at most.
const largeMax = 8

// largeChecks runs the checks of batches that are too large for a loop on workers, a few requests at a time, the first
// come first. Any goroutine.
type largeChecks struct {
	mu          sync.Mutex
	free        int
	first, last *produceState
}

// checkers serve the workers.
var checkers = sync.Pool{New: func() any { return new(validate.Checker) }}

// checkElsewhere checks the batches that are too large for a loop on a worker. No later request of the connection is
// begun before the appends of this one are pushed, so that the order of its batches stands.
func (f *Frontend) checkElsewhere(p *produceState, nowMs int64) {
	p.req.conn.barrier = true
	p.checkedAtMs, p.behind = nowMs, nil
	l := &f.large
	l.mu.Lock()
	wait := l.free == 0
	switch {
	case !wait:
		l.free--
	case l.last == nil:
		l.first, l.last = p, p
	default:
		l.last.behind, l.last = p, p
	}
	l.mu.Unlock()
	if !wait {
		f.checkLarge(p)
	}
}

// checkLarge gives the large batches of p to a worker. On the connection's loop.
func (f *Frontend) checkLarge(p *produceState) {
	c := p.req.conn
	c.ls.loop.Offload(func() {
		checker := checkers.Get().(*validate.Checker)
		for _, part := range p.parts {
			if part.later {
				f.checkBatch(checker, part, p.checkedAtMs)
			}
		}
		checkers.Put(checker)
		f.nextLarge()
	}, func() {
		c.barrier = false
		p.push()
		if !c.closed {
			c.advance()
		}
	})
}

// nextLarge lets the request that has waited longest have the place of one that is done.
func (f *Frontend) nextLarge() {
	l := &f.large
	l.mu.Lock()
	p := l.first
	if p == nil {
		l.free++
	} else {
		l.first, p.behind = p.behind, nil
		if l.first == nil {
			l.last = nil
		}
	}
	l.mu.Unlock()
	if p != nil {
		p.req.conn.ls.loop.PostFunc(func() { f.checkLarge(p) })
	}
}

// storedMax bounds what batches may take that were compressed anew (or not at all) and wait to be written, in bytes.
// A small request can grow to very much where compression.type is uncompressed.
const storedMax = 256 << 20

var storedBytes atomic.Int64

// storedBatch releases the buffer of such a batch as a netpoll.Releaser.
type storedBatch bytebufferpool.ByteBuffer

// Release implements netpoll.Releaser.
func (s *storedBatch) Release() {
	b := (*bytebufferpool.ByteBuffer)(s)
	storedBytes.Add(-int64(len(b.B)))
	replyPool.Put(b)
}
