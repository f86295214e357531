package kafka

import (
	"millrace/internal/bufpool"
	"millrace/kafka/validate"
	"millrace/netpoll"
)

// loopState is what the frontend keeps per loop: free lists and scratch space. Owned by its loop.
type loopState struct {
	loop    *netpoll.Loop
	free    *request
	freeLen int
	checker validate.Checker
	// freeWaits are waitSets for reuse.
	freeWaits *waitSet
	parked    *fetchState // long polls under way
}

func newLoopState(l *netpoll.Loop) *loopState { return &loopState{loop: l} }

// freeMax bounds the requests kept for reuse on one loop.
const freeMax = 1024

func (ls *loopState) newRequest(c *conn, b *bufpool.Buf) *request {
	r := ls.free
	if r == nil {
		r = &request{}
		r.init()
	} else {
		ls.free = r.next
		ls.freeLen--
		r.next = nil
	}
	r.conn, r.buf = c, b
	r.startNs = ls.loop.NowNs()
	return r
}

func (ls *loopState) freeRequest(r *request) {
	r.conn, r.out, r.done, r.failed, r.cancel = nil, nil, false, nil, nil
	if ls.freeLen >= freeMax {
		return
	}
	r.next = ls.free
	ls.free = r
	ls.freeLen++
}
