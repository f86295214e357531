package kafka

import (
	"errors"
	"time"
)

var (
	errStarting = errors.New("the broker is starting")
	errStopping = errors.New("the broker is stopping")
)

// Serve lets clients in. Before it, connections are closed at once: a client never sees half a broker.
func (f *Frontend) Serve() { f.ready.Store(true) }

// Drain ends service: what was received is still answered, parked fetches are answered with what they have, members that wait in
// a group are sent to look for another coordinator, new
// connections are refused. It returns when nothing is open any more, or after limit.
func (f *Frontend) Drain(limit time.Duration) {
	f.stopping.Store(true)
	f.ready.Store(false)
	deadline := time.Now().Add(limit)
	for _, ls := range f.loops {
		ls.loop.PostFunc(ls.unparkAll)
	}
	f.node.StopGroups()
	for f.stats.open.Load() > 0 && time.Now().Before(deadline) {
		time.Sleep(2 * time.Millisecond)
	}
}

// unparkAll answers every parked fetch of the loop.
func (ls *loopState) unparkAll() {
	for s := ls.parked; s != nil; {
		next := s.parkedNext
		s.leaveWaits()
		s.req.conn.fe.step(s) // answers, since the frontend stops
		s = next
	}
}
