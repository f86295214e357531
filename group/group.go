package group

import "millrace/group/record"

// Group is one group, owned by its coordinator. What runs it is its protocol; its offsets are its own, so that they stay
// when a group changes from one protocol to the other.
type Group struct {
	c  *Coordinator
	id string
	// protocol is nil while the group does not exist for clients: it is being made or has been deleted.
	protocol protocol
	offsets  offsets
	// unstable are the partitions whose offsets open transactions have committed, with their producers; false for one whose
	// commit a plain one has overtaken.
	unstable map[offsetPlace]map[int64]bool

	held   bool    // records are being written that the next event has to see
	writes int     // writes under way, offsets included
	queue  []event // waits for held
	quiet  func()  // waits for writes to be 0
}

// event is something that happens to a group.
type event struct {
	run     func()
	request Request // nil if no request stands behind it
}

// protocol is what runs a group: *classicGroup or *consumerGroup. All methods are called as events of the group, those of
// reading (kind to describe) at any time.
type protocol interface {
	kind() string         // as ListGroups says it
	state() string        // as ListGroups and DescribeGroups say it
	protocolType() string // "consumer", "connect", ...; "" if unknown
	empty() bool          // no members: plain commits, deletion and the other protocol are welcome
	subscribed(topic string) bool
	checkFetch(r *FetchRequest) Code
	describe() *DescribeReply

	join(r *JoinRequest)
	sync(r *SyncRequest)
	heartbeat(r *HeartbeatRequest)
	leave(r *LeaveRequest)

	// checkCommit says whether the sender may commit, and for each partition anew if the second result is not nil. A
	// good commit of a member restarts its session where Kafka does that.
	checkCommit(r *CommitRequest) (Code, func(*CommitOffset) Code)
	checkDelete() Code       // DeleteGroups
	checkOffsetDelete() Code // OffsetDelete
	// expires says from when on an offset ages, or that none does.
	expires(o *record.Offset) (fromMs int64, ok bool)
	// tombstones appends those of all records of the group but its offsets.
	tombstones(dst []record.Record) []record.Record

	loaded()           // the replay has ended
	topicsChanged()    // Coordinator.topics is another one
	stop()             // the protocol no longer runs the group: disarm timers
	abandon(code Code) // answer every request that waits with code
}

// event runs e now, or when the group's records are committed.
func (c *Coordinator) event(g *Group, run func()) { c.enqueue(g, event{run: run}) }

func (c *Coordinator) enqueue(g *Group, e event) {
	if g.held || len(g.queue) > 0 {
		g.queue = append(g.queue, e)
		return
	}
	e.run()
	c.settle(g)
}

// whenQuiet runs fn when nothing of the group is being written; the group takes no event before. It is what an event that
// has to know all offsets does as its last act.
func (c *Coordinator) whenQuiet(g *Group, fn func()) {
	if g.writes == 0 {
		fn()
		return
	}
	g.held, g.quiet = true, fn
}

// drain runs the events that waited.
func (c *Coordinator) drain(g *Group) {
	for !g.held && len(g.queue) > 0 {
		e := g.queue[0]
		g.queue[0] = event{}
		g.queue = g.queue[1:]
		e.run()
	}
	c.settle(g)
}

// settle forgets a group that does not exist and that nothing waits for.
func (c *Coordinator) settle(g *Group) {
	if g.protocol == nil && g.writes == 0 && len(g.queue) == 0 && g.offsets.len() == 0 && len(g.unstable) == 0 && c.groups[g.id] == g {
		delete(c.groups, g.id)
	}
}

// handle runs one request as an event of its group.
func (c *Coordinator) handle(g *Group, r Request) {
	switch r := r.(type) {
	case *JoinRequest:
		c.join(g, r)
	case *SyncRequest, *HeartbeatRequest, *LeaveRequest:
		c.member(g, r)
	case *CommitRequest:
		c.commit(g, r)
	case *DeleteOffsetsRequest:
		c.deleteOffsets(g, r)
	case *DeleteRequest:
		c.deleteGroup(g, r)
	case *ConsumerHeartbeatRequest:
		c.consumerHeartbeat(g, r)
	}
}

// member runs a request of the classic protocol that only a member can send.
func (c *Coordinator) member(g *Group, r Request) {
	leave, leaves := r.(*LeaveRequest)
	sync, syncs := r.(*SyncRequest)
	switch {
	case syncs && sync.Version >= 5 && (sync.ProtocolType == nil || sync.Protocol == nil):
		c.refuse(r, InconsistentProtocol) // mandatory from that version on, whoever asks
		return
	case g.id == "":
		c.refuse(r, InvalidGroupID)
		return
	case g.protocol == nil && leaves:
		for i := range leave.Members {
			leave.Members[i].Code = UnknownMemberID
		}
		c.reply(leave.Handle, &LeaveReply{Members: leave.Members})
		return
	case g.protocol == nil:
		c.refuse(r, UnknownMemberID)
		return
	}
	switch r := r.(type) {
	case *SyncRequest:
		g.protocol.sync(r)
	case *HeartbeatRequest:
		g.protocol.heartbeat(r)
	case *LeaveRequest:
		g.protocol.leave(r)
	}
}

// refuse answers r with an error and nothing else.
func (c *Coordinator) refuse(r Request, code Code) { c.reply(r.Head().Handle, Refusal(r, code)) }

// Refusal is the answer to r that says an error and nothing else.
func Refusal(r Request, code Code) any {
	switch r := r.(type) {
	case *JoinRequest:
		return &JoinReply{Code: code, Generation: -1, MemberID: r.MemberID}
	case *SyncRequest:
		return &SyncReply{Code: code}
	case *LeaveRequest:
		return &LeaveReply{Code: code}
	case *CommitRequest:
		for i := range r.Offsets {
			r.Offsets[i].Code = code
		}
		return &CommitReply{Offsets: r.Offsets}
	case *FetchRequest:
		return &FetchReply{Code: code}
	case *DeleteOffsetsRequest:
		return &DeleteOffsetsReply{Code: code}
	case *DescribeRequest:
		return &DescribeReply{Code: code}
	case *ConsumerHeartbeatRequest:
		return refusedConsumerHeartbeat(code)
	case *ConsumerDescribeRequest:
		return refusedConsumerDescribe(code)
	}
	return &CodeReply{Code: code}
}
