package group

import "millrace/group/record"

// firstJoinMs is how long a member may wait in its first join: it cannot send heartbeats yet, and whoever waits longer has
// gone and will come as somebody else.
const firstJoinMs = 5 * 60 * 1000

// retryMs is when a record that could not be written is tried again where nobody waits for it.
const retryMs = 1000

// join runs JoinGroup as an event of its group.
func (c *Coordinator) join(g *Group, r *JoinRequest) {
	switch {
	case r.Group == "":
		c.refuse(r, InvalidGroupID)
	case r.SessionTimeoutMs < c.cfg.MinSessionTimeoutMs || r.SessionTimeoutMs > c.cfg.MaxSessionTimeoutMs:
		c.refuse(r, InvalidSessionTimeout)
	case g.protocol != nil:
		g.protocol.join(r)
	case r.MemberID != "":
		c.refuse(r, UnknownMemberID)
	default:
		// The group exists from now on, even if this join comes to nothing; it goes when offsets are looked through.
		c.write(g, []record.Record{newClassic(g.id, c.now)}, func(code Code) {
			if code != None {
				c.refuse(r, code)
				return
			}
			g.protocol.join(r)
		})
	}
}

// newClassic is the record of a classic group that never had members.
func newClassic(group string, now Time) record.Record {
	return record.Record{Key: record.Key{Type: record.TypeClassicGroup, Group: group}, Value: &record.ClassicGroup{StateMs: now.Wall}}
}

// join implements protocol.
func (k *classicGroup) join(r *JoinRequest) {
	switch {
	case !k.accepts(r.MemberID):
		k.forget(r.MemberID)
		k.c.reply(r.Handle, &JoinReply{Code: GroupMaxSizeReached, Generation: -1})
	case !k.supports(r.ProtocolType, r.Protocols):
		k.c.refuse(r, InconsistentProtocol)
	case r.MemberID == "":
		k.joinNew(r)
	case k.promised[r.MemberID] != nil && r.InstanceID == nil:
		k.unpromise(r.MemberID)
		k.add(r.MemberID, r)
	default:
		if code := k.check(r.MemberID, r.InstanceID); code != None {
			k.c.refuse(r, code)
			return
		}
		k.rejoin(k.members[r.MemberID], r)
	}
}

// accepts tells whether group.max.size has room for the member. Promised ids do not count.
func (k *classicGroup) accepts(id string) bool {
	m := k.members[id]
	limit := int(k.c.cfg.MaxSize)
	switch k.phase {
	case preparing:
		return m != nil && m.joining != nil || k.waiting < limit
	case completing, stable:
		return m != nil || len(k.members) < limit
	}
	return true
}

// forget takes a member or a promise out that may not join.
func (k *classicGroup) forget(id string) {
	k.unpromise(id)
	if m := k.members[id]; m != nil {
		k.answerJoin(m, &JoinReply{Code: UnknownMemberID, Generation: -1})
		k.drop(m)
	}
}

func (k *classicGroup) joinNew(r *JoinRequest) {
	id := newMemberID(&r.Header, r.InstanceID)
	switch {
	case r.InstanceID != nil:
		if old := k.statics[*r.InstanceID]; old != nil {
			k.replaceStatic(old, id, r)
			return
		}
		k.add(id, r)
	case r.Version >= 4:
		p := &promise{}
		p.timer.group, p.timer.fire = k.g, func() {
			delete(k.promised, id)
			k.maybeComplete()
		}
		k.promised[id] = p
		k.c.after(&p.timer, int64(r.SessionTimeoutMs))
		k.c.reply(r.Handle, &JoinReply{Code: MemberIDRequired, Generation: -1, MemberID: id})
	default:
		k.add(id, r)
	}
}

func (k *classicGroup) unpromise(id string) {
	if p := k.promised[id]; p != nil {
		k.c.stop(&p.timer)
		delete(k.promised, id)
	}
}

// check says whether the sender is the member that it claims to be.
func (k *classicGroup) check(id string, instance *string) Code {
	if instance == nil {
		if k.members[id] == nil {
			return UnknownMemberID
		}
		return None
	}
	m := k.statics[*instance]
	switch {
	case m == nil:
		return UnknownMemberID
	case m.id != id:
		return FencedInstanceID
	}
	return None
}

// add lets a new member in; its join waits.
func (k *classicGroup) add(id string, r *JoinRequest) {
	if k.phase == preparing && k.initial {
		k.grown = true
	}
	if len(k.members) == 0 {
		k.typ = r.ProtocolType
	}
	if k.leader == "" {
		k.leader = id
	}
	m := &member{id: id, instance: r.InstanceID, fresh: true, assignment: []byte{}}
	m.take(r)
	k.put(m)
	k.awaitJoin(m, r)
	k.c.after(&m.beat, firstJoinMs)
	k.rebalance()
}

// take takes over what a join says of the member.
func (m *member) take(r *JoinRequest) {
	m.clientID, m.clientHost = r.ClientID, r.ClientHost
	m.session, m.rebalance = r.SessionTimeoutMs, r.RebalanceTimeoutMs
	m.protocols = r.Protocols
}

// rejoin is a join of a member.
func (k *classicGroup) rejoin(m *member, r *JoinRequest) {
	switch k.phase {
	case preparing:
	case completing:
		// The same again: the answer may have been lost.
		if m.sameProtocols(r.Protocols) {
			k.c.reply(r.Handle, k.joined(m))
			return
		}
	case stable:
		// The leader wants a new assignment, a follower with nothing new only knows where it stands.
		if k.leader != m.id && m.sameProtocols(r.Protocols) {
			k.c.reply(r.Handle, k.joined(m))
			return
		}
	default:
		k.c.refuse(r, UnknownMemberID)
		return
	}
	k.answerJoin(m, &JoinReply{Code: RebalanceInProgress, Generation: -1, MemberID: m.id})
	m.session, m.rebalance = r.SessionTimeoutMs, r.RebalanceTimeoutMs
	k.offer(m, r.Protocols)
	k.awaitJoin(m, r)
	k.rebalance()
}

// joined is the answer to a member's join in the present generation.
func (k *classicGroup) joined(m *member) *JoinReply {
	reply := &JoinReply{Generation: k.generation, ProtocolType: optional(k.typ), Protocol: optional(k.protocol), Leader: k.leader,
		MemberID: m.id}
	if k.leader == m.id {
		reply.Members = k.joinMembers()
	}
	return reply
}

func (k *classicGroup) joinMembers() []JoinMember {
	list := make([]JoinMember, 0, len(k.members))
	for _, m := range k.sortedMembers() {
		list = append(list, JoinMember{m.id, m.instance, m.metadata(k.protocol)})
	}
	return list
}

// awaitJoin lets the member's join wait; it has no other that does.
func (k *classicGroup) awaitJoin(m *member, r *JoinRequest) {
	m.joining = r.Handle
	k.waiting++
}

// answerJoin answers the join of a member that waits, if it does.
func (k *classicGroup) answerJoin(m *member, reply *JoinReply) {
	if m.joining != nil {
		k.c.reply(m.joining, reply)
		m.joining = nil
		k.waiting--
	}
}

func (k *classicGroup) answerSync(m *member, reply *SyncReply) {
	if m.syncing != nil {
		k.c.reply(m.syncing, reply)
		m.syncing = nil
	}
}

// rebalance begins a rebalance, or sees whether the one under way can end.
func (k *classicGroup) rebalance() {
	if k.phase == preparing {
		k.maybeComplete()
		return
	}
	k.prepare()
}

// prepare begins the join phase.
func (k *classicGroup) prepare() {
	if k.phase == completing {
		k.resetAssignments(RebalanceInProgress)
	}
	k.c.stop(&k.syncEnd)
	k.initial = k.phase == empty
	k.phase = preparing
	if k.initial {
		// Others are likely to come: give them time, for a rebalance costs all of them.
		k.grown = false
		k.delay = int64(k.c.cfg.InitialRebalanceDelayMs)
		k.remaining = max(k.rebalanceMs()-k.delay, 0)
		k.c.after(&k.joinEnd, k.delay)
		return
	}
	k.c.after(&k.joinEnd, k.rebalanceMs())
	k.maybeComplete()
}

// rebalanceMs is the largest rebalance timeout of the members.
func (k *classicGroup) rebalanceMs() int64 {
	most := int64(0)
	for _, m := range k.members {
		most = max(most, int64(m.rebalance))
	}
	return most
}

// maybeComplete ends the join phase if all known members have joined.
func (k *classicGroup) maybeComplete() {
	if k.phase == preparing && !k.initial && len(k.promised) == 0 && k.waiting == len(k.members) {
		k.complete()
	}
}

// joinTimeout is the end of the initial delay or of the join phase.
func (k *classicGroup) joinTimeout() {
	if k.phase != preparing {
		return
	}
	if k.initial && k.grown && k.remaining > 0 {
		k.grown = false
		next := min(int64(k.c.cfg.InitialRebalanceDelayMs), k.remaining)
		k.remaining = max(k.remaining-k.delay, 0)
		k.delay = next
		k.c.after(&k.joinEnd, next)
		return
	}
	k.complete()
}

// complete ends the join phase: silent members go, but for static ones, and the next generation begins.
func (k *classicGroup) complete() {
	k.c.stop(&k.joinEnd)
	for _, m := range k.sortedMembers() {
		if m.joining == nil && m.instance == nil {
			k.drop(m)
		}
	}
	if len(k.members) == 0 {
		k.becomeEmpty()
		return
	}
	if !k.electLeader() {
		// Only static members, all of them silent: wait until their sessions end.
		k.c.after(&k.joinEnd, k.rebalanceMs())
		return
	}
	k.generation++
	k.protocol = k.choose(nil, nil)
	k.subscribe()
	k.phase, k.stateMs = completing, k.c.now.Wall
	for _, m := range k.sortedMembers() {
		k.unsynced[m.id] = true
		m.fresh = false
		k.answerJoin(m, k.joined(m))
		k.beatAgain(m)
	}
	k.c.after(&k.syncEnd, k.rebalanceMs())
}

// electLeader keeps the leader if it joined, else makes the first who did leader.
func (k *classicGroup) electLeader() bool {
	if m := k.members[k.leader]; m != nil && m.joining != nil {
		return true
	}
	for _, m := range k.sortedMembers() {
		if m.joining != nil {
			k.leader = m.id
			return true
		}
	}
	return false
}

// becomeEmpty stores that the last member is gone.
func (k *classicGroup) becomeEmpty() {
	v := &record.ClassicGroup{ProtocolType: k.typ, Generation: k.generation + 1, StateMs: k.c.now.Wall}
	k.c.write(k.g, []record.Record{{Key: k.key(), Value: v}}, func(code Code) {
		if code != None {
			k.c.after(&k.joinEnd, retryMs)
		}
	})
}

// beatAgain begins the member's session anew.
func (k *classicGroup) beatAgain(m *member) { k.c.after(&m.beat, int64(m.session)) }

// sessionExpired takes a member out that was silent for its session. Who waits for an answer need not send heartbeats; its
// session begins anew with the answer.
func (k *classicGroup) sessionExpired(m *member) {
	if k.members[m.id] != m || !m.fresh && (m.joining != nil || m.syncing != nil) {
		return
	}
	k.remove(m)
	k.afterRemoval()
}

// remove takes a member out and answers what it waits for.
func (k *classicGroup) remove(m *member) {
	k.answerJoin(m, &JoinReply{Code: UnknownMemberID, Generation: -1})
	k.answerSync(m, &SyncReply{Code: UnknownMemberID})
	k.drop(m)
}

// afterRemoval lets the group react to the loss of members.
func (k *classicGroup) afterRemoval() {
	switch k.phase {
	case completing, stable:
		k.prepare()
	case preparing:
		k.maybeComplete()
	}
}

// replaceStatic lets a static member come back under a new id.
func (k *classicGroup) replaceStatic(old *member, id string, r *JoinRequest) {
	m := &member{id: id, instance: r.InstanceID, assignment: old.assignment}
	m.take(r)
	m.clientID, m.clientHost = old.clientID, old.clientHost // those of the first join, as in Kafka
	if k.phase == stable && k.choose(old, m) == k.protocol {
		k.returnStatic(old, m, r)
		return
	}
	leads := k.leader == old.id
	session := old.session
	k.answerJoin(old, &JoinReply{Code: FencedInstanceID, Generation: -1, MemberID: old.id})
	k.answerSync(old, &SyncReply{Code: FencedInstanceID})
	k.drop(old)
	k.put(m)
	if leads {
		k.leader = id
	}
	k.awaitJoin(m, r)
	k.c.after(&m.beat, int64(session))
	k.rebalance()
}

// returnStatic stores the new id of a static member whose return changes nothing else: no rebalance. Its session timeout
// counts from its first heartbeat on.
func (k *classicGroup) returnStatic(old, m *member, r *JoinRequest) {
	led := k.leader
	members := k.sortedMembers()
	for i := range members {
		if members[i] == old {
			members[i] = m
		}
	}
	rec := k.record(members, nil)
	if led == old.id {
		rec.Value.(*record.ClassicGroup).Leader = &m.id
	}
	k.c.write(k.g, []record.Record{rec}, func(code Code) {
		if code != None {
			k.c.reply(r.Handle, &JoinReply{Code: code, Generation: -1})
			return
		}
		now := k.members[m.id]
		k.offer(now, m.protocols)
		k.c.after(&now.beat, int64(old.session))
		// From version 9 on the leader can be told that it leads and yet has nothing to assign. Before, it must take
		// its old self for the leader, or it would assign.
		reply := k.joined(now)
		if r.Version < 9 {
			reply.Leader, reply.Members = led, nil
		} else {
			reply.SkipAssignment = k.leader == m.id
		}
		k.c.reply(r.Handle, reply)
	})
}
