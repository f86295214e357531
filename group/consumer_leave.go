package group

// consumerLeave runs a heartbeat with which a member leaves, for good or, a static one, for now.
func (c *Coordinator) consumerLeave(g *Group, r *ConsumerHeartbeatRequest) {
	k, ok := g.protocol.(*consumerGroup)
	if !ok {
		c.refuse(r, GroupIDNotFound)
		return
	}
	m := k.members[r.MemberID]
	if r.InstanceID != nil {
		m = k.members[k.statics[*r.InstanceID]]
	}
	switch {
	case m == nil:
		c.refuse(r, UnknownMemberID)
		return
	case m.id != r.MemberID:
		c.refuse(r, FencedInstanceID)
		return
	}
	ch := &change{c: c, g: g, k: k}
	if r.MemberEpoch == leftForNow {
		ch.add(k.current(m.leave()))
	} else {
		ch.remove([]string{m.id})
	}
	ch.commit(func(_ *consumerGroup, code Code) {
		if code != None {
			c.refuse(r, code)
			return
		}
		c.reply(r.Handle, &ConsumerHeartbeatReply{MemberID: m.id, MemberEpoch: r.MemberEpoch})
	})
}

// leave is the member after it went for now: it keeps its partitions, at no epoch, and owes none. Its session goes on.
func (m *consumerMember) leave() *consumerMember {
	left := *m
	left.epoch, left.state, left.pending = leftForNow, memberStable, nil
	left.assigned = make([]entry, len(m.assigned))
	for i, e := range m.assigned {
		left.assigned[i] = entry{place: e.place}
	}
	return &left
}

// remove takes members out. If only members of the classic protocol are left, the group becomes a classic one.
func (ch *change) remove(ids []string) {
	if len(ids) == 0 {
		return
	}
	if ch.mayDowngrade(ids) {
		ch.downgrade(ids, true)
		return
	}
	for _, id := range ids {
		m := ch.k.members[id]
		regex := text(m.sub.SubscribedRegex)
		ch.apply(ch.k.removal(id)...)
		ch.giveUpRegex(id, regex)
	}
	epoch := ch.k.epoch + 1
	ch.hashed = true
	ch.add(ch.k.epochRecord(epoch, ch.k.topicHash(nil)))
	if ch.k.empty() {
		ch.add(ch.k.targetEpoch(epoch, 0))
	}
}

// fence takes a member out that broke its word: silent for its session, or too late with what it had to do.
func (k *consumerGroup) fence(id string) {
	if k.members[id] == nil {
		return
	}
	ch := &change{c: k.c, g: k.g, k: k}
	ch.remove([]string{id})
	ch.commit(func(k *consumerGroup, code Code) {
		if code != None && k != nil && k.members[id] != nil {
			k.c.after(&k.seat(id).session, retryMs)
		}
	})
}

// seat finds or makes the member's timers.
func (k *consumerGroup) seat(id string) *seat {
	s := k.seats[id]
	if s == nil {
		s = &seat{}
		k.seats[id] = s
		out := func() { k.fence(id) }
		for _, t := range []*timer{&s.session, &s.rebalance, &s.join, &s.sync} {
			t.group, t.fire = k.g, out
		}
		s.rebalance.fire = func() {
			if m := k.members[id]; m != nil && m.state == memberUnrevoked && m.epoch == s.epoch {
				k.fence(id)
			}
		}
	}
	return s
}

func (k *consumerGroup) leaveSeat(s *seat) {
	for _, t := range []*timer{&s.session, &s.rebalance, &s.join, &s.sync} {
		k.c.stop(t)
	}
}

// beat begins the member's session anew and watches what it has to give up.
func (k *consumerGroup) beat(m *consumerMember) {
	s := k.seat(m.id)
	k.c.after(&s.session, k.sessionMs(m))
	if m.classic() {
		return
	}
	k.c.stop(&s.join)
	k.c.stop(&s.sync)
	switch {
	case m.state != memberUnrevoked:
		k.c.stop(&s.rebalance)
	case !s.rebalance.armed || s.epoch != m.epoch:
		s.epoch = m.epoch
		k.c.after(&s.rebalance, int64(m.sub.RebalanceTimeoutMs))
	}
}

func (k *consumerGroup) sessionMs(m *consumerMember) int64 {
	if m.classic() {
		return int64(m.sub.Classic.SessionTimeoutMs)
	}
	return int64(k.c.cfg.Consumer(k.g.id).SessionTimeoutMs)
}

// loaded implements protocol: the members are given a session to show that they live.
func (k *consumerGroup) loaded() {
	for _, id := range k.ids() {
		k.beat(k.members[id])
	}
}

func (k *consumerGroup) topicsChanged() { k.stale = true }

// stop implements protocol.
func (k *consumerGroup) stop() {
	for _, s := range k.seats {
		k.leaveSeat(s)
	}
	k.seats = map[string]*seat{}
}

// abandon implements protocol: nobody waits.
func (k *consumerGroup) abandon(Code) {}

// giveUpRegex forgets what a regular expression matched if the member was the last that had it.
func (ch *change) giveUpRegex(id, regex string) {
	if regex == "" || ch.k.regexes[regex] == nil {
		return
	}
	for _, m := range ch.k.members {
		if m.id != id && text(m.sub.SubscribedRegex) == regex {
			return
		}
	}
	gone := ch.k.regexRecord(regex, nil)
	if ch.drafted {
		ch.apply(gone)
		return
	}
	ch.add(gone)
}
