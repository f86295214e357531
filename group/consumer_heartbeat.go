package group

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"millrace/group/record"
)

// checkHeartbeat says what is wrong with a ConsumerGroupHeartbeat whatever the group is.
func (c *Coordinator) checkHeartbeat(r *ConsumerHeartbeatRequest) Code {
	blank := func(s *string) bool { return s != nil && strings.TrimSpace(*s) == "" }
	switch {
	case strings.TrimSpace(r.Group) == "",
		strings.TrimSpace(r.MemberID) == "" && (r.Version >= 1 || r.MemberEpoch > 0 || r.MemberEpoch == -1),
		blank(r.InstanceID), blank(r.RackID),
		r.MemberEpoch < leftForNow,
		r.MemberEpoch == leftForNow && r.InstanceID == nil:
		return InvalidRequest
	case r.MemberEpoch == 0 && (r.RebalanceTimeoutMs == -1 || !r.HasOwned || len(r.Owned) > 0 ||
		!r.HasTopics && (r.Version < 1 || r.SubscribedRegex == nil)):
		return InvalidRequest
	case r.ServerAssignor != nil && !slices.Contains(c.serverAssignors(), *r.ServerAssignor):
		return UnsupportedAssignor
	}
	return None
}

// serverAssignors are the names of the assignors that members may ask for.
func (c *Coordinator) serverAssignors() []string {
	if len(c.cfg.ConsumerAssignors) > 0 {
		return c.cfg.ConsumerAssignors
	}
	return []string{defaultAssignor, "range"}
}

// consumerHeartbeat runs ConsumerGroupHeartbeat as an event of its group, which may not exist or be a classic one.
func (c *Coordinator) consumerHeartbeat(g *Group, r *ConsumerHeartbeatRequest) {
	if code := c.checkHeartbeat(r); code != None {
		c.refuse(r, code)
		return
	}
	if r.MemberEpoch < 0 {
		c.consumerLeave(g, r)
		return
	}
	ch, code := c.changeOf(g, r.MemberEpoch == 0)
	if code != None {
		c.refuse(r, code)
		return
	}
	if r.MemberID == "" {
		r.MemberID = shortID(r.NewID)
	}
	old, code := ch.member(r)
	if code != None {
		c.refuse(r, code)
		return
	}
	now, code := ch.advance(old, told(old.sub, r), r.Owned, r.HasOwned)
	if code != None {
		c.refuse(r, code)
		return
	}
	// The assignment is told when it has changed, and to members that say all: they have joined, or had an error.
	full := r.MemberEpoch == 0 || r.RebalanceTimeoutMs != -1 && (r.HasTopics || r.SubscribedRegex != nil) && r.HasOwned
	full = full || !equalPlaces(old.assigned, now.assigned)
	ch.commit(func(k *consumerGroup, code Code) {
		if code != None || k == nil {
			c.refuse(r, code)
			return
		}
		k.beat(now)
		reply := &ConsumerHeartbeatReply{MemberID: now.id, MemberEpoch: now.epoch,
			HeartbeatIntervalMs: c.cfg.Consumer(g.id).HeartbeatIntervalMs, HasAssignment: full}
		if full {
			reply.Assignment = gather(now.assigned, false)
		}
		c.reply(r.Handle, reply)
		k.reviewRegexes()
	})
}

// shortID is a UUID as Kafka writes it: 22 letters.
func shortID(uuid string) string {
	b, err := hex.DecodeString(strings.ReplaceAll(uuid, "-", ""))
	if err != nil || len(b) != 16 {
		return uuid
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// told is what a member says of itself with a heartbeat: nil fields are unchanged.
func told(old *record.Member, r *ConsumerHeartbeatRequest) *record.Member {
	m := *old
	m.ClientID, m.ClientHost, m.Classic = r.ClientID, r.ClientHost, nil
	if r.InstanceID != nil {
		m.InstanceID = r.InstanceID
	}
	if r.RackID != nil {
		m.RackID = r.RackID
	}
	if r.RebalanceTimeoutMs != -1 {
		m.RebalanceTimeoutMs = r.RebalanceTimeoutMs
	}
	if r.HasTopics {
		m.SubscribedTopics = names(r.SubscribedTopics)
	}
	if r.SubscribedRegex != nil {
		m.SubscribedRegex = r.SubscribedRegex
	}
	if r.ServerAssignor != nil {
		m.ServerAssignor = r.ServerAssignor
	}
	return &m
}

// changeOf begins a change of the group for a member of the consumer protocol. With create a group that does not exist is
// made, one of the classic protocol converted if that is possible.
func (c *Coordinator) changeOf(g *Group, create bool) (*change, Code) {
	ch := &change{c: c, g: g}
	if k, ok := g.protocol.(*consumerGroup); ok {
		ch.k = k
		return ch, None
	}
	if !create {
		return nil, GroupIDNotFound
	}
	ch.k, ch.drafted = newConsumerGroup(g), true
	if k, ok := g.protocol.(*classicGroup); ok {
		if k.empty() {
			ch.add(k.tombstones(nil)...)
		} else if code := ch.upgrade(k); code != None {
			return nil, code
		}
	}
	return ch, None
}

// member finds the member that sent a heartbeat, or makes it if it joins.
func (ch *change) member(r *ConsumerHeartbeatRequest) (*consumerMember, Code) {
	k := ch.k
	if k.full(r.MemberID, r.InstanceID) {
		return nil, GroupMaxSizeReached
	}
	m := k.members[r.MemberID]
	if r.InstanceID != nil {
		m = k.members[k.statics[*r.InstanceID]]
	}
	switch {
	case r.MemberEpoch == 0 && m == nil:
		return k.known(r.MemberID), None
	case r.MemberEpoch == 0 && r.InstanceID != nil:
		if !m.gone() && !m.classic() {
			return nil, UnreleasedInstanceID
		}
		return ch.replace(m, r.MemberID), None
	case r.MemberEpoch == 0:
		return m, None
	case m == nil:
		return nil, UnknownMemberID
	case m.id != r.MemberID:
		return nil, FencedInstanceID
	}
	return m, m.checkEpoch(r)
}

// known is the member with that id, or a new one.
func (k *consumerGroup) known(id string) *consumerMember {
	if m := k.members[id]; m != nil {
		return m
	}
	return &consumerMember{id: id, sub: newSubscription()}
}

// checkEpoch says whether a heartbeat comes from the member as it is. If the answer that raised its epoch was lost, it comes
// with the one before; that is well as long as it owns nothing else than it is to have.
func (m *consumerMember) checkEpoch(r *ConsumerHeartbeatRequest) Code {
	switch {
	case r.MemberEpoch == m.epoch:
		return None
	case r.MemberEpoch < m.epoch && r.MemberEpoch == m.previous && r.HasOwned && within(entries(r.Owned), m.assigned):
		return None
	}
	return FencedMemberEpoch
}

// replace lets a static member go on under another id: it keeps what it had.
func (ch *change) replace(old *consumerMember, id string) *consumerMember {
	m := &consumerMember{id: id, sub: old.sub, state: old.state, assigned: old.assigned, pending: old.pending}
	target := ch.k.target[old.id]
	ch.apply(ch.k.removal(old.id)...)
	ch.apply(ch.k.subscription(id, old.sub), ch.k.targetOf(id, target), ch.k.current(m))
	return ch.k.members[id]
}
