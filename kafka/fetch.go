package kafka

import (
	"millrace/broker"
	"millrace/engine"
	"millrace/kafka/wire"
	"millrace/netpoll"
)

// Fetch, versions 4 to 18, with sessions (KIP-227).
//
// A fetch takes its list of partitions from the request or from its session, plans file ranges for them in order, and
// answers at once when enough bytes are there, something is wrong, or the client does not want to wait. Else a waitSet
// parks one waiter per partition; the first wake, or the deadline, plans again.

// fetchAsk is what a client asks of one partition.
type fetchAsk struct {
	// name is nil where the topic is named by id (v13+), id is zero where it is named by name.
	name  []byte
	id    wire.UUID
	index int32
	// topic is the handle that the entry was resolved to; a session remembers it to tell a topic that was made anew.
	topic *broker.Topic

	offset           int64
	maxBytes         int32
	leaderEpoch      int32
	lastFetchedEpoch int32
	logStart         int64
}

// fetchPart is one partition of a fetch under way: what is asked and what was found. It belongs to its request.
type fetchPart struct {
	fetchAsk
	kept *sessionPart // the session's entry, nil without session

	part    *engine.Partition
	plan    engine.FetchPlan
	planErr error
	planned bool // the plan stands, a worker looked meanwhile: for the next pass
	reply   wire.FetchPartitionReply
	listed  bool // stands in the answer
}

// fetchKind says how a fetch relates to sessions.
type fetchKind uint8

const (
	fetchSessionless fetchKind = iota
	fetchFull                  // make a session of it
	fetchIncremental
)

// fetchState is the part of a request that Fetch uses. Owned by the connection's loop.
type fetchState struct {
	req      *request
	view     wire.FetchView
	kind     fetchKind
	parts    []fetchPart
	seen     map[sessionKey]int32 // place of an entry in parts; used for large requests only
	session  *session
	reply    wire.FetchReply
	maxBytes int // may be negative, as the client sent it
	minBytes int
	waitNs   int64 // when the long poll ends, 0 before it began
	waits    *waitSet
	timer    netpoll.Timer
	timing   bool // the timer is set
	orphaned bool // its waiters are all back and nobody woke it: only the timer is left
	isolated engine.Isolation

	parkedPrev, parkedNext *fetchState // list of the loop's parked fetches
	isParked               bool
}

func (s *fetchState) init(r *request) {
	s.req = r
	s.timer.Fire = s
}

// fetch takes a Fetch request from its frame.
func (f *Frontend) fetch(r *request) {
	s := &r.fetch
	if err := s.view.Parse(r.hdr.Body, r.hdr.Version); err != nil {
		r.fail(err)
		return
	}
	s.isolated = engine.ReadUncommitted
	if s.view.Isolation == 1 {
		s.isolated = engine.ReadCommitted
	}
	s.maxBytes = min(int(s.view.MaxBytes), f.node.FetchMaxBytes())
	s.minBytes = min(int(s.view.MinBytes), s.maxBytes)
	s.waitNs = 0
	if !knownShard(s.view.SessionID) {
		s.listRequest()
		s.failAll(wire.UnknownServerError)
		return
	}
	if code := f.openSession(s); code != wire.NoError {
		s.fail(code)
		return
	}
	if i := s.view.Isolation; i != 0 && i != 1 && f.anyThere(s) {
		s.failAll(wire.UnknownServerError)
		return
	}
	f.step(s)
}

// knownShard tells whether Kafka's cache of sessions has a place for such an id; it fails on others.
func knownShard(id int32) bool {
	const shards, each = 8, 1<<31/8 - 1
	return id == 0 || id/each >= 0 && id/each < shards
}

// anyThere tells whether one of the partitions exists.
func (f *Frontend) anyThere(s *fetchState) bool {
	for i := range s.parts {
		if f.resolve(s, &s.parts[i]) == wire.NoError {
			return true
		}
	}
	return false
}

// failAll answers as Kafka does where the request itself makes it fail: the code for the request, where the version has room for
// it, and before topics had ids for each partition too.
func (s *fetchState) failAll(code wire.ErrorCode) {
	r := s.req
	if s.view.Version >= 13 {
		s.clear()
	}
	for i := range s.parts {
		p := &s.parts[i]
		p.reply, p.listed = wire.NewFetchPartitionReply(p.index, code), true
		p.reply.AbortedTxns = noAborted
	}
	bb := replyPool.Get()
	s.reply.Begin(bb.B[:0], r.hdr.Version, r.hdr.CorrelationID, 0, code, s.view.SessionID, s.countTopics())
	s.writeParts()
	b, _ := s.reply.End(nil)
	s.clear()
	r.respondBytes(bb, b)
}

// fail answers with an error of the whole request, without partitions.
func (s *fetchState) fail(code wire.ErrorCode) {
	r := s.req
	bb := replyPool.Get()
	s.reply.Begin(bb.B[:0], r.hdr.Version, r.hdr.CorrelationID, 0, code, 0, 0)
	b, _ := s.reply.End(nil)
	s.clear()
	r.respondBytes(bb, b)
}

// step plans, and answers or waits.
func (f *Frontend) step(s *fetchState) {
	total, urgent, cold := f.plan(s)
	if cold {
		f.planElsewhere(s)
		return
	}
	loop := s.req.conn.ls.loop
	// Nobody is there to cancel the wait of a connection that ended while a worker planned.
	if f.stopping.Load() || s.req.conn.closed || urgent || total >= s.minBytes || len(s.parts) == 0 || s.view.MaxWaitMs <= 0 || s.waitNs != 0 && loop.NowNs() >= s.waitNs {
		f.answerFetch(s)
		return
	}
	if s.waitNs == 0 {
		s.waitNs = loop.NowNs() + int64(s.view.MaxWaitMs)*1e6
	}
	f.park(s, s.minBytes-total)
}

// plan finds what each partition can give. It reports the sum of bytes, whether the answer cannot wait (an error, a
// diverging epoch), and whether a look-up must go to disk first.
func (f *Frontend) plan(s *fetchState) (total int, urgent, cold bool) {
	left := s.maxBytes
	for i := range s.parts {
		p := &s.parts[i]
		s.unplan(p)
		f.planPart(s, p, left, total == 0)
		if p.planErr != nil {
			if p.planErr == engine.ErrCold {
				cold = true
				continue
			}
			p.reply = wire.NewFetchPartitionReply(p.index, codeOf(p.planErr))
			f.unreadable(s, p)
			f.hintLeader(s, p)
		}
		if p.reply.Error != wire.NoError || p.reply.Diverging != wire.NoEpochEnd {
			p.planned = false
			s.unplan(p) // a worker's plan that is not wanted any more
			urgent = true
			continue
		}
		n := int(p.plan.Range.Len)
		total += n
		left = max(0, left-n)
	}
	return total, urgent, cold
}

// unreadable reports a log that cannot be read: clients take the code for one that passes, and try again without a word.
func (f *Frontend) unreadable(s *fetchState, p *fetchPart) {
	if c := p.reply.Error; c != wire.CorruptMessage && c != wire.UnknownServerError {
		return
	}
	if n, ok := f.faults.allow(s.req.conn.ls.loop.WallMs()); ok {
		f.log.Error("a fetch cannot read its partition", "partition", p.part.String(), "offset", p.offset, "error", p.planErr, "not_logged", n)
	}
}

// unplan gives up what an earlier pass found.
func (s *fetchState) unplan(p *fetchPart) {
	if p.planned {
		return
	}
	if p.plan.Ref != nil {
		p.plan.Ref.Release()
	}
	p.plan, p.planErr, p.part = engine.FetchPlan{}, nil, nil
}

// planPart fills in what partition p can give within left bytes; first asks for a whole batch whatever its size.
func (f *Frontend) planPart(s *fetchState, p *fetchPart, left int, first bool) {
	p.reply = wire.NewFetchPartitionReply(p.index, f.resolve(s, p))
	if e := p.reply.Error; e != wire.NoError {
		if e == wire.UnknownTopicId || e == wire.UnknownTopicOrPartition {
			p.reply.AbortedTxns = noAborted // an empty list, where errors of reading answer null
		}
		return
	}
	b := p.part.Bounds()
	if p.reply.Error = checkEpoch(max(p.leaderEpoch, -1), b.LeaderEpoch); p.reply.Error != wire.NoError {
		f.hintLeader(s, p)
		return
	}
	if s.view.ReplicaID >= 0 {
		// Followers fetch on the peer link; a client that plays one is none of this partition's replicas.
		p.reply.Error = wire.NotLeaderOrFollower
		if p.leaderEpoch >= 0 {
			p.reply.Error = wire.UnknownLeaderEpoch
		}
		f.hintLeader(s, p)
		return
	}
	if p.lastFetchedEpoch >= 0 && s.diverges(p, b) {
		return
	}
	limit := min(int(p.maxBytes), left)
	if p.planned {
		p.planned = false
		if p.planErr == nil && p.plan.Range.Len > int64(limit) && !first {
			p.plan.Range.Len = 0
		}
	} else {
		p.planErr = p.part.Plan(&p.plan, p.offset, int64(max(0, limit)), s.isolated, first || limit < 0)
	}
	if p.planErr != nil {
		return
	}
	if limit < 0 && p.plan.Range.Len > 0 {
		// Kafka fails to read less than nothing, but only where there is something to read.
		p.plan.Ref.Release()
		p.plan = engine.FetchPlan{}
		p.reply.Error = wire.UnknownServerError
		return
	}
	s.found(p, limit)
}

// found fills in the answer of a partition from its plan.
func (s *fetchState) found(p *fetchPart, limit int) {
	b := &p.plan.Bounds
	p.reply.HighWatermark, p.reply.LastStableOffset, p.reply.LogStartOffset = b.Committed, b.Stable, b.LogStart
	p.reply.RecordBytes = int(p.plan.Range.Len)
	tooLarge := limit > 0 && p.plan.Range.Len == 0 && p.offset < b.End(s.isolated)
	if s.isolated == engine.ReadCommitted && !tooLarge { // Kafka answers null where the first batch does not fit
		p.reply.AbortedTxns = noAborted
	}
}

// noAborted is the list of aborted transactions of a log that has none: empty, not null.
var noAborted = []wire.AbortedTxn{}

// resolve finds the partition; on NoError p.part is set.
func (f *Frontend) resolve(s *fetchState, p *fetchPart) wire.ErrorCode {
	byID := s.view.Version >= 13
	if byID {
		if now := f.node.TopicByID(p.id); now != nil {
			p.topic = now
		} else if p.topic == nil {
			return wire.UnknownTopicId
		} else if again := f.node.FindTopic(p.topic.Name); again != nil && again.ID != p.id {
			return wire.InconsistentTopicId
		} else {
			return wire.UnknownTopicOrPartition
		}
	} else if p.topic = f.node.TopicByName(p.name); p.topic == nil {
		return wire.UnknownTopicOrPartition
	}
	if p.part = p.topic.Partition(p.index); p.part == nil {
		return f.absent(p.topic, p.index)
	}
	return wire.NoError
}

// checkEpoch compares the leader epoch that a client believes in with ours.
func checkEpoch(theirs, ours int32) wire.ErrorCode {
	switch {
	case theirs == -1 || theirs == ours:
		return wire.NoError
	case theirs < ours:
		return wire.FencedLeaderEpoch
	}
	return wire.UnknownLeaderEpoch
}

// diverges checks the lineage of what the client fetched last (KIP-595): if our log has another end for that epoch the
// answer says so and holds no records.
func (s *fetchState) diverges(p *fetchPart, b engine.Bounds) bool {
	if p.offset < b.LogStart {
		p.reply.Error = wire.OffsetOutOfRange
		return true
	}
	epoch, end := p.part.EpochEnd(p.lastFetchedEpoch, b.Written)
	if epoch < 0 || end < 0 {
		p.reply.Error = wire.OffsetOutOfRange
		return true
	}
	if epoch < p.lastFetchedEpoch || end < p.offset {
		p.reply.HighWatermark, p.reply.LastStableOffset, p.reply.LogStartOffset = b.Committed, b.Stable, b.LogStart
		p.reply.Diverging = wire.EpochEnd{Epoch: epoch, EndOffset: end}
		return true
	}
	return false
}

// hintLeader tells who leads, where the version has room for it: 6 from v16 on, 74 from v18 on.
func (f *Frontend) hintLeader(s *fetchState, p *fetchPart) {
	code, v := p.reply.Error, s.view.Version
	if p.part != nil && (code == wire.NotLeaderOrFollower && v >= 16 || code == wire.FencedLeaderEpoch && v >= 18) {
		p.reply.Leader = wire.LeaderHint{LeaderID: f.node.ID(), LeaderEpoch: p.part.Bounds().LeaderEpoch}
	}
}

// planElsewhere lets a worker read the index pages that are not in memory, then goes on.
func (f *Frontend) planElsewhere(s *fetchState) {
	s.req.conn.ls.loop.Offload(func() {
		left, first := s.maxBytes, true
		for i := range s.parts {
			p := &s.parts[i]
			if p.planErr == engine.ErrCold {
				limit := min(int(p.maxBytes), left)
				p.planErr = p.part.PlanBlocking(&p.plan, p.offset, int64(max(0, limit)), s.isolated, first || limit < 0)
			}
			// What was found before is kept as well: planned anew it could be cold by now, and so on without end.
			p.planned = p.part != nil && p.planErr != engine.ErrCold
			if p.plan.Range.Len > 0 {
				first = false
				left = max(0, left-int(p.plan.Range.Len))
			}
		}
	}, func() { f.step(s) })
}
