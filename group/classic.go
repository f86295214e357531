package group

import (
	"cmp"
	"maps"
	"slices"

	"millrace/group/record"
)

// phase is the state of a classic group.
type phase uint8

const (
	empty      phase = iota // no members; promised ids may be out
	preparing               // members join
	completing              // members wait for the leader's assignment
	stable
)

var phaseNames = [...]string{"Empty", "PreparingRebalance", "CompletingRebalance", "Stable"}

// classicGroup runs a group by the classic protocol, owned by its coordinator. stored is what the last record said; the
// rest is what happened since, and is lost with the coordinator.
type classicGroup struct {
	c *Coordinator
	g *Group

	stored *record.ClassicGroup // nil: there is none

	phase phase

	// Preparing a group that was empty waits for a delay, not for its members.
	initial          bool
	grown            bool  // somebody joined since the last look of the delay
	delay, remaining int64 // ms: the delay under way, and what it may still be prolonged by

	typ        string // "" if it never had members
	generation int32
	protocol   string // "" while there is none
	leader     string
	stateMs    int64 // since when it is in this generation or empty, ms since 1970; -1 if unknown
	topics     topicSet

	members  map[string]*member
	waiting  int                // members whose join waits
	offered  map[string]int     // how many members offer a protocol
	statics  map[string]*member // by instance id
	promised map[string]*promise
	unsynced map[string]bool // members that have not synced this generation

	joinEnd timer // ends the join phase
	syncEnd timer // ends the wait for syncs
}

// member is one member of a classic group.
type member struct {
	id         string
	instance   *string
	clientID   string
	clientHost string
	session    int32 // ms
	rebalance  int32 // ms
	protocols  []Protocol
	assignment []byte
	fresh      bool // joins for the first time: it cannot send heartbeats yet

	joining any // handle of the JoinGroup that waits, nil if none
	syncing any // handle of the SyncGroup that waits
	beat    timer
}

// promise is a member id that was given out and not used yet.
type promise struct{ timer timer }

// topicSet is what the members subscribed, if their metadata says so.
type topicSet struct {
	known bool
	names map[string]bool
}

func newClassicGroup(g *Group) *classicGroup {
	k := &classicGroup{c: g.c, g: g, members: map[string]*member{}, statics: map[string]*member{}, offered: map[string]int{},
		promised: map[string]*promise{}, unsynced: map[string]bool{}, stateMs: -1}
	k.joinEnd.group, k.syncEnd.group = g, g
	k.joinEnd.fire, k.syncEnd.fire = k.joinTimeout, k.syncTimeout
	return k
}

// applyClassic takes a group record or its tombstone into the state.
func (c *Coordinator) applyClassic(r record.Record) {
	if r.Value == nil {
		g := c.groups[r.Key.Group]
		if g == nil {
			return
		}
		if k, ok := g.protocol.(*classicGroup); ok {
			k.stop()
			g.protocol = nil
		}
		return
	}
	g := c.group(r.Key.Group)
	k, ok := g.protocol.(*classicGroup)
	if !ok {
		if g.protocol != nil {
			g.protocol.stop()
		}
		k = newClassicGroup(g)
		g.protocol = k
	}
	k.apply(r.Value.(*record.ClassicGroup))
}

// apply makes the group what its record says. Members that are known keep what the record does not hold: the protocols
// that were not chosen, and who waits.
func (k *classicGroup) apply(v *record.ClassicGroup) {
	k.stored = v
	k.typ, k.generation, k.stateMs = v.ProtocolType, v.Generation, v.StateMs
	k.protocol, k.leader = text(v.Protocol), text(v.Leader)
	keep := make(map[string]bool, len(v.Members))
	for i := range v.Members {
		m := &v.Members[i]
		keep[m.MemberID] = true
		if have := k.members[m.MemberID]; have != nil {
			have.assignment = m.Assignment
			continue
		}
		k.put(k.restored(m))
	}
	for id, m := range k.members {
		if !keep[id] {
			k.drop(m)
		}
	}
	k.phase = stable
	if len(k.members) == 0 {
		k.phase = empty
	}
	k.subscribe()
}

// restored is a member as the log knows it.
func (k *classicGroup) restored(m *record.ClassicMember) *member {
	return &member{id: m.MemberID, instance: m.InstanceID, clientID: m.ClientID, clientHost: m.ClientHost,
		session: m.SessionTimeoutMs, rebalance: m.RebalanceTimeoutMs, assignment: m.Assignment,
		protocols: []Protocol{{Name: k.protocol, Metadata: m.Subscription}}}
}

// put adds a member.
func (k *classicGroup) put(m *member) {
	k.members[m.id] = m
	k.count(m, 1)
	if m.instance != nil {
		k.statics[*m.instance] = m
	}
	m.beat.group = k.g
	m.beat.fire = func() { k.sessionExpired(m) }
}

// drop takes a member out. Whoever waits in its name has been answered.
func (k *classicGroup) drop(m *member) {
	k.c.stop(&m.beat)
	delete(k.members, m.id)
	delete(k.unsynced, m.id)
	k.count(m, -1)
	if m.instance != nil && k.statics[*m.instance] == m {
		delete(k.statics, *m.instance)
	}
	if k.leader == m.id {
		k.leader = k.first()
	}
}

// count adds the member's protocols to what is offered, or takes them off.
func (k *classicGroup) count(m *member, n int) {
	for i := range m.protocols {
		name := m.protocols[i].Name
		if slices.ContainsFunc(m.protocols[:i], func(p Protocol) bool { return p.Name == name }) {
			continue
		}
		if k.offered[name] += n; k.offered[name] == 0 {
			delete(k.offered, name)
		}
	}
}

// offer changes what a member offers.
func (k *classicGroup) offer(m *member, protocols []Protocol) {
	k.count(m, -1)
	m.protocols = protocols
	k.count(m, 1)
}

// first is the member with the smallest id, "" if there is none.
func (k *classicGroup) first() string {
	ids := k.ids()
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// ids are the member ids in order.
func (k *classicGroup) ids() []string {
	ids := make([]string, 0, len(k.members))
	for id := range k.members {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

func (k *classicGroup) kind() string         { return "classic" }
func (k *classicGroup) state() string        { return phaseNames[k.phase] }
func (k *classicGroup) protocolType() string { return k.typ }
func (k *classicGroup) empty() bool          { return k.phase == empty }

// metadata is what the member offered under that name.
func (m *member) metadata(name string) []byte {
	for i := range m.protocols {
		if m.protocols[i].Name == name {
			return m.protocols[i].Metadata
		}
	}
	return nil
}

func (m *member) offers(name string) bool {
	return slices.ContainsFunc(m.protocols, func(p Protocol) bool { return p.Name == name })
}

// sameProtocols tells whether names, order and bytes are those that the member offered.
func (m *member) sameProtocols(p []Protocol) bool {
	return slices.EqualFunc(m.protocols, p, func(a, b Protocol) bool {
		return a.Name == b.Name && string(a.Metadata) == string(b.Metadata)
	})
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// optional is nil for "".
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// record is the group as it is to be stored in the generation under way, with assignments by member id (nil: those that
// the members have).
func (k *classicGroup) record(members []*member, assignments map[string][]byte) record.Record {
	v := &record.ClassicGroup{ProtocolType: k.typ, Generation: k.generation, Protocol: optional(k.protocol),
		Leader: optional(k.leader), StateMs: k.stateMs, Members: make([]record.ClassicMember, len(members))}
	for i, m := range members {
		assignment := m.assignment
		if assignments != nil {
			assignment = assignments[m.id]
		}
		v.Members[i] = record.ClassicMember{MemberID: m.id, InstanceID: m.instance, ClientID: m.clientID, ClientHost: m.clientHost,
			RebalanceTimeoutMs: m.rebalance, SessionTimeoutMs: m.session, Subscription: m.metadata(k.protocol), Assignment: assignment}
	}
	return record.Record{Key: k.key(), Value: v}
}

func (k *classicGroup) key() record.Key {
	return record.Key{Type: record.TypeClassicGroup, Group: k.g.id}
}

// tombstones implements protocol.
func (k *classicGroup) tombstones(dst []record.Record) []record.Record {
	return append(dst, record.Record{Key: k.key()})
}

// sortedMembers are the members in order of their ids.
func (k *classicGroup) sortedMembers() []*member {
	out := make([]*member, 0, len(k.members))
	for _, id := range k.ids() {
		out = append(out, k.members[id])
	}
	return out
}

// newMemberID makes an id as Kafka does: the instance's or client's name, a dash, something random.
func newMemberID(h *Header, instance *string) string {
	if instance != nil {
		return *instance + "-" + h.NewID
	}
	return h.ClientID + "-" + h.NewID
}

// describe implements protocol: metadata is shown while the group is stable only.
func (k *classicGroup) describe() *DescribeReply {
	d := &DescribeReply{State: k.state(), ProtocolType: k.typ}
	if k.phase == stable {
		d.Protocol = k.protocol
	}
	for _, m := range k.sortedMembers() {
		dm := DescribedMember{MemberID: m.id, InstanceID: m.instance, ClientID: m.clientID, ClientHost: m.clientHost,
			Assignment: m.assignment}
		if k.phase == stable {
			dm.Metadata = m.metadata(k.protocol)
		}
		d.Members = append(d.Members, dm)
	}
	return d
}

// supports tells whether some protocol of the list is offered by all members.
func (k *classicGroup) supports(typ string, list []Protocol) bool {
	if typ == "" || len(list) == 0 {
		return false
	}
	if k.phase == empty {
		return true
	}
	return typ == k.typ && slices.ContainsFunc(list, func(p Protocol) bool { return k.shared(p.Name, nil) })
}

// shared tells whether all members, or those but one, offer the protocol.
func (k *classicGroup) shared(name string, but *member) bool {
	have, want := k.offered[name], len(k.members)
	if but != nil {
		want--
		if but.offers(name) {
			have--
		}
	}
	return have == want
}

// choose is the protocol that all members offer and most of them like best; of equals the one that comes first in a Java
// HashMap, as Kafka chooses. A stand-in, if not nil, takes the place of the member with its instance id.
func (k *classicGroup) choose(old, standIn *member) string {
	votes := map[string]int{}
	vote := func(m *member) {
		for i := range m.protocols {
			name := m.protocols[i].Name
			if k.shared(name, old) && (standIn == nil || standIn.offers(name)) {
				votes[name]++
				return
			}
		}
	}
	for _, m := range k.members {
		if m != old {
			vote(m)
		}
	}
	if standIn != nil {
		vote(standIn)
	}
	names := slices.SortedFunc(maps.Keys(votes), func(a, b string) int {
		return cmp.Or(-cmp.Compare(votes[a], votes[b]), cmp.Compare(javaBucket(a), javaBucket(b)), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return ""
	}
	return names[0]
}
