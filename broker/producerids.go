package broker

import (
	"sync"

	"millrace/controller"
)

// producerIDBlock is how many producer ids are taken from the controller at a time, as in Kafka.
const producerIDBlock = 1000

// producerIDs hands out producer ids from the block in hand and fetches the next block when it runs dry. No id is handed
// out twice: what a stopped process had left of its block is lost. Any goroutine.
type producerIDs struct {
	mu       sync.Mutex
	next     int64
	end      int64
	fetching bool
	waiting  []func(id int64, code controller.Code)
}

// NewProducerID calls done with a fresh producer id, at once if the block in hand has one, else on another goroutine.
func (n *Node) NewProducerID(done func(id int64, code controller.Code)) {
	p := &n.producerIDs
	p.mu.Lock()
	if p.next < p.end {
		id := p.next
		p.next++
		p.mu.Unlock()
		done(id, controller.CodeNone)
		return
	}
	p.waiting = append(p.waiting, done)
	start := !p.fetching
	p.fetching = true
	p.mu.Unlock()
	if start {
		n.raft.Propose(&controller.AllocateProducerIDs{Count: producerIDBlock}, p.granted(n))
	}
}

// granted hands the ids of a new block to those who wait.
func (p *producerIDs) granted(n *Node) func(controller.Result) {
	return func(r controller.Result) {
		p.mu.Lock()
		p.fetching = false
		waiting := p.waiting
		p.waiting = nil
		if r.Code == controller.CodeNone {
			p.next, p.end = r.FirstProducerID, r.FirstProducerID+producerIDBlock
		}
		p.mu.Unlock()
		for _, done := range waiting {
			if r.Code != controller.CodeNone {
				done(-1, r.Code)
				continue
			}
			n.NewProducerID(done)
		}
	}
}
