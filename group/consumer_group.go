package group

import (
	"maps"
	"slices"

	"millrace/group/record"
)

// The states of a member, by Kafka's numbers.
const (
	memberStable     int8 = 0 // has what it is to have, in the epoch that it knows
	memberUnrevoked  int8 = 1 // has been told to give partitions up and has not confirmed it
	memberUnreleased int8 = 2 // waits for partitions that others still have
)

// leftForNow is the epoch of a static member that has gone and means to come back.
const leftForNow int32 = -2

// consumerGroup runs a group by the consumer protocol (KIP-848), owned by its coordinator. All but seats, stale and
// resolving is what records say, and changes in apply only.
//
// Epochs: the group's rises with every change of members, subscriptions or topics; the target assignment is computed for an
// epoch of the group; a member takes that epoch over once it has given up what it has to. A partition has one owner: who has
// it assigned or has not confirmed yet that it gave it up; no other member is given it before.
type consumerGroup struct {
	c *Coordinator
	g *Group

	epoch    int32
	hash     int64 // over the subscribed topics, at that epoch
	assigned int32 // epoch of the target assignment
	// assignedMs is when that was computed, ms since 1970; 0: the next one need not wait.
	assignedMs int64

	members map[string]*consumerMember
	statics map[string]string // member id by instance id
	target  map[string][]entry
	owners  map[place]string // member id
	regexes map[string]*record.Regex

	seats     map[string]*seat // nil in a draft
	stale     bool             // the topics have changed since hash was computed
	resolving bool             // regular expressions are to be matched
	reviewed  review
}

// review is when the regular expressions were last matched, and against which topics.
type review struct {
	ms      int64 // monotonic
	version int64
}

// consumerMember is one member of a consumer group. Immutable.
type consumerMember struct {
	id       string
	sub      *record.Member
	epoch    int32
	previous int32
	state    int8
	assigned []entry
	pending  []entry // to be given up
}

// seat is what a member has that is not in records, owned by its group.
type seat struct {
	session   timer
	rebalance timer // until partitions have to be given up
	epoch     int32 // at which rebalance was set
	join      timer // a member of the classic protocol has to join again until then
	sync      timer // and to ask for its assignment until then
}

func newConsumerGroup(g *Group) *consumerGroup {
	return &consumerGroup{c: g.c, g: g, epoch: 1, assigned: 1, members: map[string]*consumerMember{},
		statics: map[string]string{}, target: map[string][]entry{}, owners: map[place]string{},
		regexes: map[string]*record.Regex{}, stale: true}
}

// draft is a copy that records can be applied to without anybody seeing it.
func (k *consumerGroup) draft() *consumerGroup {
	d := *k
	d.members, d.statics, d.target = maps.Clone(k.members), maps.Clone(k.statics), maps.Clone(k.target)
	d.owners, d.regexes, d.seats = maps.Clone(k.owners), maps.Clone(k.regexes), nil
	return &d
}

// applyConsumer takes a record of the consumer protocol into the state.
func (c *Coordinator) applyConsumer(r record.Record) {
	if r.Value == nil {
		g := c.groups[r.Key.Group]
		if g == nil {
			return
		}
		k, ok := g.protocol.(*consumerGroup)
		if !ok {
			return
		}
		if r.Key.Type == record.TypeConsumerGroup {
			k.stop()
			g.protocol = nil
			return
		}
		k.apply(r)
		return
	}
	if r.Key.Type == record.TypePartitionMetadata {
		return
	}
	g := c.group(r.Key.Group)
	k, ok := g.protocol.(*consumerGroup)
	if !ok {
		if g.protocol != nil {
			g.protocol.stop()
		}
		k = newConsumerGroup(g)
		k.seats = map[string]*seat{}
		g.protocol = k
	}
	k.apply(r)
}

// apply takes one record of the group into its state, all but the tombstone that ends the group.
func (k *consumerGroup) apply(r record.Record) {
	id := r.Key.Member
	switch r.Key.Type {
	case record.TypeConsumerGroup:
		v, _ := r.Value.(*record.ConsumerGroup)
		k.epoch, k.hash = v.Epoch, v.MetadataHash
	case record.TypeTarget:
		if v, ok := r.Value.(*record.Target); ok {
			k.assigned, k.assignedMs = v.Epoch, v.TimeMs
		}
	case record.TypeMember:
		if v, ok := r.Value.(*record.Member); ok {
			k.subscribeMember(id, v)
		} else {
			k.dropMember(id)
		}
	case record.TypeTargetMember:
		if v, ok := r.Value.(*record.TargetMember); ok {
			k.target[id] = entries(v.Topics)
		} else {
			delete(k.target, id)
		}
	case record.TypeCurrent:
		v, _ := r.Value.(*record.Current)
		k.place(id, v)
	case record.TypeRegex:
		if v, ok := r.Value.(*record.Regex); ok {
			k.regexes[r.Key.Regex] = v
		} else {
			delete(k.regexes, r.Key.Regex)
		}
	}
}

func (k *consumerGroup) subscribeMember(id string, v *record.Member) {
	m := consumerMember{id: id}
	if have := k.members[id]; have != nil {
		m = *have
		k.unlist(have)
	}
	m.sub = v
	k.members[id] = &m
	if v.InstanceID != nil {
		k.statics[*v.InstanceID] = id
	}
}

// unlist takes the member's instance id out of the table.
func (k *consumerGroup) unlist(m *consumerMember) {
	if m.sub.InstanceID != nil && k.statics[*m.sub.InstanceID] == m.id {
		delete(k.statics, *m.sub.InstanceID)
	}
}

func (k *consumerGroup) dropMember(id string) {
	m := k.members[id]
	if m == nil {
		return
	}
	k.disown(m)
	k.unlist(m)
	delete(k.members, id)
	if s := k.seats[id]; s != nil {
		k.leaveSeat(s)
		delete(k.seats, id)
	}
}

func (k *consumerGroup) disown(m *consumerMember) {
	for _, list := range [][]entry{m.assigned, m.pending} {
		for _, e := range list {
			if k.owners[e.place] == m.id {
				delete(k.owners, e.place)
			}
		}
	}
}

// place says where a member stands; nil: nowhere.
func (k *consumerGroup) place(id string, v *record.Current) {
	have := k.members[id]
	if have == nil {
		if v == nil {
			return
		}
		have = &consumerMember{id: id, sub: newSubscription()}
	}
	k.disown(have)
	m := consumerMember{id: id, sub: have.sub, epoch: -1, previous: -1}
	if v != nil {
		m.epoch, m.previous, m.state = v.Epoch, v.PreviousEpoch, v.State
		m.assigned, m.pending = entries(v.Assigned), entries(v.PendingRevocation)
	}
	k.members[id] = &m
	for _, list := range [][]entry{m.assigned, m.pending} {
		for _, e := range list {
			k.owners[e.place] = id
		}
	}
}

// newSubscription is what a member is before it said anything.
func newSubscription() *record.Member {
	none := ""
	return &record.Member{SubscribedTopics: []string{}, SubscribedRegex: &none, RebalanceTimeoutMs: -1}
}

func (k *consumerGroup) ids() []string { return slices.Sorted(maps.Keys(k.members)) }

func (k *consumerGroup) kind() string         { return "consumer" }
func (k *consumerGroup) protocolType() string { return consumerType }
func (k *consumerGroup) empty() bool          { return len(k.members) == 0 }

func (k *consumerGroup) state() string {
	switch {
	case len(k.members) == 0:
		return "Empty"
	case k.epoch > k.assigned:
		return "Assigning"
	}
	for _, m := range k.members {
		if !m.reconciled(k.assigned) {
			return "Reconciling"
		}
	}
	return "Stable"
}

// reconciled tells whether the member has its part of the target assignment of that epoch.
func (m *consumerMember) reconciled(epoch int32) bool {
	return m.state == memberStable && m.epoch == epoch
}

// classic tells whether the member speaks the classic protocol.
func (m *consumerMember) classic() bool { return m.sub.Classic != nil }

// gone tells whether the member left for now.
func (m *consumerMember) gone() bool { return m.epoch == leftForNow }

func (k *consumerGroup) key(t record.Type, member string) record.Key {
	return record.Key{Type: t, Group: k.g.id, Member: member}
}
