package engine

// The way in (decisions 17): per partition a Treiber stack of intrusive appends, swapped out whole and reversed by the
// owner; per shard a stack of partitions that have something in a queue. A push onto an empty queue schedules the
// partition; the push that finds the shard unposted posts its one task to the loop, which wakes it if it sleeps. No
// node is freed or pushed twice while in a stack, so that swapping all out knows no ABA.

// Push hands an append to the partition. Any goroutine; never blocks, never allocates. AppendDone comes later, also
// when the partition is offline, deleted or closed. The caller bounds what it has pushed and not got back (the memory
// under Batch is its own).
func (p *Partition) Push(a *Append) {
	a.part = p
	for {
		head := p.queue.Load()
		a.next = head
		if p.queue.CompareAndSwap(head, a) {
			if head == nil {
				p.schedule()
			}
			return
		}
	}
}

// schedule puts the partition on its shard's ready list unless it is there.
func (p *Partition) schedule() {
	if p.scheduled.Load() || p.scheduled.Swap(true) {
		return
	}
	s := p.shard
	for {
		head := s.ready.Load()
		p.readyNext = head
		if s.ready.CompareAndSwap(head, p) {
			break
		}
	}
	s.wake()
}

// wake makes the owner run the shard's turn end soon.
func (s *Shard) wake() {
	if !s.posted.Load() && !s.posted.Swap(true) {
		s.loop.Post(&s.task)
	}
}

// takeReady swaps the ready list out, oldest first. Owner only.
func (s *Shard) takeReady() *Partition {
	if s.ready.Load() == nil {
		return nil
	}
	head := s.ready.Swap(nil)
	var first *Partition
	for head != nil {
		next := head.readyNext
		head.readyNext = first
		first, head = head, next
	}
	return first
}

// takeQueue swaps the append queue out, oldest first. Owner only.
func (p *Partition) takeQueue() *Append {
	if p.queue.Load() == nil {
		return nil
	}
	head := p.queue.Swap(nil)
	var first *Append
	for head != nil {
		next := head.next
		head.next = first
		first, head = head, next
	}
	return first
}

// appendList is a FIFO of appends linked by next. Owned by the loop.
type appendList struct{ head, tail *Append }

func (l *appendList) empty() bool { return l.head == nil }

func (l *appendList) push(a *Append) {
	a.next = nil
	if l.tail == nil {
		l.head = a
	} else {
		l.tail.next = a
	}
	l.tail = a
}

func (l *appendList) pop() *Append {
	a := l.head
	if a == nil {
		return nil
	}
	l.head = a.next
	if l.head == nil {
		l.tail = nil
	}
	a.next = nil
	return a
}

// take empties the list and returns what was in it.
func (l *appendList) take() appendList {
	r := *l
	*l = appendList{}
	return r
}
