package netpoll

import "sync/atomic"

// mailbox is an intrusive stack that any goroutine pushes to and the loop swaps out whole.
//
// One compare-and-swap per post, no allocation, never full: a Task is in it at most once, so its length is bounded
// by the number of tasks. Any goroutine pushes; its loop drains.
type mailbox struct {
	head atomic.Pointer[Task]
}

func (m *mailbox) push(t *Task) {
	for {
		h := m.head.Load()
		t.next = h
		if m.head.CompareAndSwap(h, t) {
			return
		}
	}
}

func (m *mailbox) empty() bool { return m.head.Load() == nil }

// drain takes all tasks, in the order in which they were posted.
func (m *mailbox) drain() *Task {
	if m.head.Load() == nil {
		return nil
	}
	t := m.head.Swap(nil)
	var first *Task
	for t != nil {
		next := t.next
		t.next = first
		first = t
		t = next
	}
	return first
}
