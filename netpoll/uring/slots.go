//go:build uring

package uring

import "millrace/netpoll"

// What an operation in flight is.
const (
	slotFree uint8 = iota
	slotRecv
	slotSelect // a receive into a provided buffer
	slotAccept
	slotWritable
	slotFile
)

// wakeData is the user data of the wake-up poll; slots have 1 and more.
const wakeData = 0

// slot is one operation in flight. Owned by its driver; it keeps alive what the kernel works on.
type slot struct {
	kind uint8
	next int32 // of the free list
	sock *netpoll.Sock
	op   *netpoll.Op
}

type slots struct {
	all  []slot
	free int32 // index + 1
}

// take returns the number of a free slot, from 1.
func (s *slots) take(kind uint8, sock *netpoll.Sock, op *netpoll.Op) int32 {
	if s.free == 0 {
		s.all = append(s.all, slot{kind: kind, sock: sock, op: op})
		return int32(len(s.all))
	}
	n := s.free
	p := &s.all[n-1]
	s.free = p.next
	*p = slot{kind: kind, sock: sock, op: op}
	return n
}

func (s *slots) put(n int32) slot {
	p := s.all[n-1]
	s.all[n-1] = slot{next: s.free}
	s.free = n
	return p
}
