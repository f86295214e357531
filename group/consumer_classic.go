package group

import (
	"slices"

	"millrace/group/record"
)

// This file lets members of the classic protocol take part in a consumer group (online migration, KIP-848): the coordinator
// assigns for them too, and they learn of it by joining again.

// join implements protocol.
func (k *consumerGroup) join(r *JoinRequest) {
	if k.empty() {
		k.joinAnew(r)
		return
	}
	if cfg := k.c.cfg; !cfg.MigrateUp && !cfg.MigrateDown {
		k.refuseJoin(r, InconsistentProtocol)
		return
	}
	if code := k.mayJoin(r); code != None {
		k.refuseJoin(r, code)
		return
	}
	id, unknown := r.MemberID, r.MemberID == ""
	if unknown {
		id = shortID(r.NewID)
		if r.Version >= 4 && r.InstanceID == nil {
			k.c.reply(r.Handle, &JoinReply{Code: MemberIDRequired, Generation: -1, MemberID: id})
			return
		}
	}
	ch := &change{c: k.c, g: k.g, k: k}
	old, code := ch.joining(r, id, unknown)
	if code != None {
		k.refuseJoin(r, code)
		return
	}
	sub, ok := readSubscription(r.Protocols[0].Metadata)
	if !ok {
		k.refuseJoin(r, InconsistentProtocol)
		return
	}
	now, code := ch.advance(old, offered(old.sub, r, &sub), k.c.placed(sub.owned), true)
	if code != None {
		k.refuseJoin(r, code)
		return
	}
	if ch.drafted {
		ch.downgradeAfter(now)
	}
	ch.commit(func(k *consumerGroup, code Code) {
		if code != None {
			ch.k.refuseJoin(r, code)
			return
		}
		if k != nil {
			s := k.seat(now.id)
			k.c.stop(&s.join)
			k.c.stop(&s.rebalance)
			k.beat(now)
			k.c.after(&s.sync, int64(r.RebalanceTimeoutMs))
		}
		typ := consumerType
		ch.c.reply(r.Handle, &JoinReply{Generation: now.epoch, ProtocolType: &typ, Protocol: &r.Protocols[0].Name, MemberID: now.id})
	})
}

// joinAnew makes the empty group a classic one, as if it had not existed.
func (k *consumerGroup) joinAnew(r *JoinRequest) {
	if r.MemberID != "" {
		k.c.refuse(r, UnknownMemberID)
		return
	}
	c, g := k.c, k.g
	c.write(g, append(k.tombstones(nil), newClassic(g.id, c.now)), func(code Code) {
		if code != None {
			c.refuse(r, code)
			return
		}
		g.protocol.join(r)
	})
}

// refuseJoin answers an error; unlike a classic group's it names no member.
func (k *consumerGroup) refuseJoin(r *JoinRequest, code Code) {
	k.c.reply(r.Handle, &JoinReply{Code: code, Generation: -1})
}

// full says whether there is no room for one more member. Who comes back under a known instance is none.
func (k *consumerGroup) full(id string, instance *string) bool {
	known := k.members[id] != nil || instance != nil && k.statics[*instance] != ""
	return !known && len(k.members) >= int(k.c.cfg.ConsumerMaxSize)
}

func (k *consumerGroup) mayJoin(r *JoinRequest) Code {
	if k.full(r.MemberID, r.InstanceID) {
		return GroupMaxSizeReached
	}
	// The sender's own offer of before counts too, as in Kafka.
	shared := func(p Protocol) bool {
		for _, m := range k.members {
			if m.classic() && !slices.ContainsFunc(m.sub.Classic.Protocols,
				func(have record.Protocol) bool { return have.Name == p.Name }) {
				return false
			}
		}
		return true
	}
	if r.ProtocolType != consumerType || !slices.ContainsFunc(r.Protocols, shared) {
		return InconsistentProtocol
	}
	return None
}

// joining finds or makes the member that joins by the classic protocol.
func (ch *change) joining(r *JoinRequest, id string, unknown bool) (*consumerMember, Code) {
	k := ch.k
	if r.InstanceID == nil {
		return k.known(id), None
	}
	m := k.members[k.statics[*r.InstanceID]]
	switch {
	case m == nil && unknown:
		return k.known(id), None
	case m == nil:
		return nil, UnknownMemberID
	case unknown:
		return ch.replace(m, id), None
	case m.id != id:
		return nil, FencedInstanceID
	}
	return m, None
}

// offered is what a member of the classic protocol says of itself with a join.
func offered(old *record.Member, r *JoinRequest, s *subscription) *record.Member {
	m := *old
	m.ClientID, m.ClientHost = r.ClientID, r.ClientHost
	m.SubscribedTopics = names(s.topics)
	none := ""
	m.SubscribedRegex = &none
	if r.InstanceID != nil {
		m.InstanceID = r.InstanceID
	}
	if s.rack != nil {
		m.RackID = s.rack
	}
	if r.RebalanceTimeoutMs != -1 {
		m.RebalanceTimeoutMs = r.RebalanceTimeoutMs
	}
	m.Classic = &record.ClassicProtocols{SessionTimeoutMs: r.SessionTimeoutMs}
	for _, p := range r.Protocols {
		m.Classic.Protocols = append(m.Classic.Protocols, record.Protocol{Name: p.Name, Metadata: p.Metadata})
	}
	return &m
}

// placed are partitions by topic id; topics that do not exist are left out.
func (c *Coordinator) placed(list []topicParts) []record.TopicPartitions {
	var out []record.TopicPartitions
	for i := range list {
		if t, ok := c.topics.Topic(list[i].topic); ok {
			out = append(out, record.TopicPartitions{TopicID: t.ID, Partitions: list[i].partitions})
		}
	}
	return out
}

// named is placed the other way round.
func (c *Coordinator) named(list []entry) []topicParts {
	var out []topicParts
	for _, tp := range gather(list, false) {
		if t, ok := c.topics.TopicByID(tp.TopicID); ok {
			out = append(out, topicParts{t.Name, tp.Partitions})
		}
	}
	return out
}

// claimed finds the member that a request of the classic protocol claims to come from.
func (k *consumerGroup) claimed(id string, instance *string) (*consumerMember, Code) {
	m := k.members[id]
	if instance != nil {
		m = k.members[k.statics[*instance]]
	}
	switch {
	case m == nil:
		return nil, UnknownMemberID
	case instance != nil && m.id != id:
		return nil, FencedInstanceID
	}
	return m, None
}

// classicMember is claimed for what only members of the classic protocol ask.
func (k *consumerGroup) classicMember(id string, instance *string) (*consumerMember, Code) {
	m, code := k.claimed(id, instance)
	if code == None && !m.classic() {
		return nil, UnknownMemberID
	}
	return m, code
}

// sync implements protocol: the assignment is there already.
func (k *consumerGroup) sync(r *SyncRequest) {
	m, code := k.classicMember(r.MemberID, r.InstanceID)
	switch {
	case code != None:
	case r.Generation != m.epoch:
		code = IllegalGeneration
	case r.ProtocolType != nil && *r.ProtocolType != consumerType || r.Protocol != nil && *r.Protocol != m.sub.Classic.Protocols[0].Name:
		code = InconsistentProtocol
	case k.calls(m) && m.state != memberUnrevoked:
		k.awaitJoin(m)
		code = RebalanceInProgress
	}
	if code != None {
		k.c.refuse(r, code)
		return
	}
	k.c.stop(&k.seat(m.id).sync)
	k.beat(m)
	k.c.reply(r.Handle, &SyncReply{ProtocolType: r.ProtocolType, Protocol: r.Protocol, Assignment: k.c.assignmentOf(m)})
}

// assignmentOf is what the member has, in the version that it speaks.
func (c *Coordinator) assignmentOf(m *consumerMember) []byte {
	sub, _ := readSubscription(m.sub.Classic.Protocols[0].Metadata)
	return appendAssignment(nil, sub.version, c.named(m.assigned))
}

// heartbeat implements protocol.
func (k *consumerGroup) heartbeat(r *HeartbeatRequest) {
	m, code := k.classicMember(r.MemberID, r.InstanceID)
	switch {
	case code != None:
	case r.Generation != m.epoch:
		code = IllegalGeneration
	default:
		k.beat(m)
		if k.calls(m) || m.state == memberUnrevoked || m.state == memberUnreleased && !k.waits(m) {
			k.awaitJoin(m)
			code = RebalanceInProgress
		}
	}
	k.c.reply(r.Handle, &CodeReply{Code: code})
}

// calls tells whether the member is to join again: there is an assignment newer than its own. An epoch without one, as after
// a member left, is no reason yet: a heartbeat of the group's own protocol computes it first. Where no such member is left, and
// the group stays what it is (group.consumer.migration.policy), only a join can compute it.
func (k *consumerGroup) calls(m *consumerMember) bool {
	return m.epoch < k.assigned || m.epoch < k.epoch && k.mayAssign() && !k.modern()
}

// modern tells whether a member speaks the group's own protocol.
func (k *consumerGroup) modern() bool {
	for _, m := range k.members {
		if !m.classic() {
			return true
		}
	}
	return false
}

// awaitJoin gives the member its rebalance timeout to join again.
func (k *consumerGroup) awaitJoin(m *consumerMember) {
	if s := k.seat(m.id); !s.join.armed {
		k.c.after(&s.join, int64(m.sub.RebalanceTimeoutMs))
	}
}

// waits tells whether the member would still not get all that it is to have.
func (k *consumerGroup) waits(m *consumerMember) bool {
	_, _, missing := divide(m.assigned, k.target[m.id])
	for _, e := range missing {
		if k.owners[e.place] != "" {
			return true
		}
	}
	return false
}

// leave implements protocol: members of both protocols may be taken out.
func (k *consumerGroup) leave(r *LeaveRequest) {
	if r.Group == "" {
		k.c.refuse(r, InvalidGroupID)
		return
	}
	var leaving []string
	for i := range r.Members {
		l := &r.Members[i]
		id := l.MemberID
		if id == "" && l.InstanceID != nil {
			id = k.statics[*l.InstanceID]
		}
		m, code := k.claimed(id, l.InstanceID)
		if l.Code = code; code == None && !slices.Contains(leaving, m.id) {
			leaving = append(leaving, m.id)
		}
	}
	ch := &change{c: k.c, g: k.g, k: k}
	ch.remove(leaving)
	ch.commit(func(_ *consumerGroup, code Code) {
		if code != None {
			ch.c.refuse(r, code)
			return
		}
		ch.c.reply(r.Handle, &LeaveReply{Members: r.Members})
	})
}
