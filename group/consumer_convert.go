package group

import (
	"slices"

	"millrace/group/record"
)

// upgrade makes a consumer group of a classic one with members, each with what it has now, in the epoch of the generation.
// It refuses as if there were no group where the settings forbid it or a member's bytes cannot be read.
func (ch *change) upgrade(old *classicGroup) Code {
	if !ch.c.cfg.MigrateUp || old.typ != consumerType || len(old.members) > int(ch.c.cfg.ConsumerMaxSize) {
		return GroupIDNotFound
	}
	epoch := max(old.generation, 1)
	members := make([]*consumerMember, 0, len(old.members))
	taken := map[place]bool{}
	for _, m := range old.sortedMembers() {
		now, ok := ch.upgraded(old, m, epoch)
		if !ok {
			old.abandon(RebalanceInProgress) // before it looked at the members, as Kafka does
			return GroupIDNotFound
		}
		now.assigned = slices.DeleteFunc(now.assigned, func(e entry) bool { return taken[e.place] })
		for _, e := range now.assigned {
			taken[e.place] = true
		}
		members = append(members, now)
	}
	ch.add(old.tombstones(nil)...)
	for _, m := range members {
		ch.apply(ch.k.subscription(m.id, m.sub))
	}
	ch.apply(ch.k.epochRecord(epoch, ch.k.topicHash(nil)))
	for _, m := range members {
		ch.apply(ch.k.targetOf(m.id, m.assigned))
	}
	ch.apply(ch.k.targetEpoch(epoch, 0))
	for _, m := range members {
		ch.apply(ch.k.current(m))
	}
	ch.then = func() {
		old.abandon(RebalanceInProgress)
		if k, ok := ch.g.protocol.(*consumerGroup); ok {
			for _, m := range members {
				if now := k.members[m.id]; now != nil {
					k.beat(now)
				}
			}
		}
	}
	return None
}

// upgraded is a member of a classic group as one of a consumer group.
func (ch *change) upgraded(old *classicGroup, m *member, epoch int32) (*consumerMember, bool) {
	if len(m.protocols) == 0 {
		return nil, false
	}
	metadata := m.metadata(old.protocol)
	if old.protocol == "" {
		metadata = m.protocols[0].Metadata
	}
	sub, ok := readSubscription(metadata)
	if !ok {
		return nil, false
	}
	list, custom, ok := readAssignment(m.assignment)
	if !ok || custom { // an assignor that keeps something there cannot be replaced by ours
		return nil, false
	}
	none := ""
	now := &consumerMember{id: m.id, epoch: epoch, previous: epoch, assigned: entries(ch.c.placed(list))}
	for i := range now.assigned {
		now.assigned[i].epoch = epoch
	}
	now.sub = &record.Member{InstanceID: m.instance, RackID: sub.rack, ClientID: m.clientID, ClientHost: m.clientHost,
		SubscribedTopics: names(sub.topics), SubscribedRegex: &none, RebalanceTimeoutMs: m.rebalance,
		Classic: &record.ClassicProtocols{SessionTimeoutMs: m.session}}
	for _, p := range m.protocols {
		now.sub.Classic.Protocols = append(now.sub.Classic.Protocols, record.Protocol{Name: p.Name, Metadata: p.Metadata})
	}
	return now, true
}

// mayDowngrade tells whether, without some members, the group has members of the classic protocol only.
func (ch *change) mayDowngrade(without []string) bool {
	if !ch.c.cfg.MigrateDown {
		return false
	}
	rest := 0
	for id, m := range ch.k.members {
		if slices.Contains(without, id) {
			continue
		}
		if !m.classic() {
			return false
		}
		rest++
	}
	return rest > 0 && rest <= int(ch.c.cfg.MaxSize)
}

// downgradeAfter makes the group a classic one if the static member that has just come back by the classic protocol was the
// last of the other.
func (ch *change) downgradeAfter(now *consumerMember) {
	probe := *ch
	probe.k = ch.k.draft()
	probe.k.apply(ch.k.subscription(now.id, now.sub))
	probe.k.apply(ch.k.current(now))
	if probe.mayDowngrade(nil) {
		ch.k = probe.k
		ch.downgrade(nil, false)
	}
}

// downgrade makes the group a classic one of its members but some. They keep what they have and, if rebalance says so, are
// asked to join again.
func (ch *change) downgrade(without []string, rebalance bool) {
	k := ch.k
	ch.add(k.tombstones(nil)...)
	down := newClassicGroup(ch.g)
	assignments := map[string][]byte{}
	for _, id := range k.ids() {
		if m := k.members[id]; !slices.Contains(without, id) {
			down.put(downgraded(m))
			assignments[id] = ch.c.assignmentOf(m)
		}
	}
	down.typ, down.generation, down.leader, down.stateMs = consumerType, k.epoch, down.first(), ch.c.now.Wall
	down.protocol = down.choose(nil, nil)
	ch.add(down.record(down.sortedMembers(), assignments))
	ch.then = func() {
		g, ok := ch.g.protocol.(*classicGroup)
		if !ok {
			return
		}
		for id, m := range g.members {
			g.offer(m, down.members[id].protocols) // the record holds one of them
			g.beatAgain(m)
		}
		if rebalance {
			g.prepare()
		}
	}
}

// downgraded is a member as one of a classic group.
func downgraded(m *consumerMember) *member {
	d := &member{id: m.id, instance: m.sub.InstanceID, clientID: m.sub.ClientID, clientHost: m.sub.ClientHost,
		session: m.sub.Classic.SessionTimeoutMs, rebalance: m.sub.RebalanceTimeoutMs, assignment: []byte{}}
	for _, p := range m.sub.Classic.Protocols {
		d.protocols = append(d.protocols, Protocol{Name: p.Name, Metadata: p.Metadata})
	}
	return d
}
