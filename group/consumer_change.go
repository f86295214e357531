package group

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"slices"

	"millrace/group/record"
)

// change is what one event makes of a consumer group: records, and the group as it would be with some of them.
type change struct {
	c *Coordinator
	g *Group
	// k is the group's own state, never to be changed here, or a draft with all of records applied.
	k       *consumerGroup
	drafted bool
	records []record.Record
	// hashed tells that the subscribed topics were looked at anew.
	hashed bool
	// then runs first when the records are committed.
	then func()
}

// apply adds records and takes them into the draft.
func (ch *change) apply(list ...record.Record) {
	if !ch.drafted {
		ch.k, ch.drafted = ch.k.draft(), true
	}
	for i := range list {
		ch.k.apply(list[i])
	}
	ch.records = append(ch.records, list...)
}

// add adds records that nothing else of this event builds on.
func (ch *change) add(list ...record.Record) { ch.records = append(ch.records, list...) }

// commit writes the records, if there are any, and tells done, with the group as it then is: nil if it has ended or is none
// of this protocol any more.
func (ch *change) commit(done func(k *consumerGroup, code Code)) {
	if len(ch.records) == 0 {
		k, _ := ch.g.protocol.(*consumerGroup)
		if ch.hashed && k != nil {
			k.stale = false
		}
		done(k, None)
		return
	}
	version := ch.c.topics.Version()
	ch.c.write(ch.g, ch.records, func(code Code) {
		k, _ := ch.g.protocol.(*consumerGroup)
		if code == None {
			if ch.hashed && k != nil && ch.c.topics.Version() == version {
				k.stale = false
			}
			if ch.then != nil {
				ch.then()
			}
		}
		done(k, code)
	})
}

// advance is the heart of the protocol: it takes over what a member says of itself, raises the group's epoch if that or the
// topics changed, computes a new target assignment if it is time, and takes the member a step towards it.
func (ch *change) advance(old *consumerMember, sub *record.Member, owned []record.TopicPartitions, says bool) (*consumerMember, Code) {
	k := ch.k
	now := *old
	now.sub = sub
	if k.members[old.id] == nil || !sameSubscription(old.sub, sub) {
		ch.add(k.subscription(old.id, sub))
	}
	reads := !slices.Equal(old.sub.SubscribedTopics, sub.SubscribedTopics)
	bump := reads
	if was, is := text(old.sub.SubscribedRegex), text(sub.SubscribedRegex); was != is {
		if !validRegex(is) {
			return nil, InvalidRegularExpression
		}
		reads = true
		ch.giveUpRegex(old.id, was)
		// One that is not matched yet changes nothing yet.
		bump = bump || is == "" || k.regexes[is] != nil
	}
	bump = bump || !sameText(old.sub.ServerAssignor, sub.ServerAssignor) && ch.swings(&now)
	epoch := ch.bump(&now, bump)
	target, targetEpoch := k.target[old.id], k.assigned
	if epoch > k.assigned && k.mayAssign() {
		target, targetEpoch = ch.assign(&now, epoch), epoch
	}
	if !reads && now.reconciled(targetEpoch) {
		return &now, None
	}
	read := k.topicsOf(sub)
	step := reconciling{member: &now, target: target, epoch: targetEpoch, owned: entries(owned), says: says, changed: reads,
		subscribed: func(topic [16]byte) bool {
			t, ok := ch.c.topics.TopicByID(topic)
			return ok && read[t.Name]
		},
		owner: func(at place) string { return k.owners[at] }}
	next := step.next()
	if next != &now {
		if old.epoch == next.epoch && old.previous == next.previous && old.state == next.state &&
			equalPlaces(old.assigned, next.assigned) && equalPlaces(old.pending, next.pending) {
			return next, None
		}
		ch.add(k.current(next))
	}
	return next, None
}

// bump raises the group's epoch if told so or if the subscribed topics are no longer those of its hash. It returns the
// epoch. with, if not nil, stands for the member with its id.
func (ch *change) bump(with *consumerMember, told bool) int32 {
	k := ch.k
	if !told && !k.stale {
		return k.epoch
	}
	hash := k.topicHash(with)
	ch.hashed = true
	if !told && hash == k.hash {
		return k.epoch
	}
	ch.add(k.epochRecord(k.epoch+1, hash))
	return k.epoch + 1
}

// mayAssign tells whether enough time has passed since the last assignment (KIP-1263).
func (k *consumerGroup) mayAssign() bool {
	last := k.assignedMs
	passed := k.c.now.Wall - last
	return last == 0 || passed < 0 || passed >= int64(k.c.cfg.Consumer(k.g.id).AssignmentIntervalMs)
}

// assign computes the target assignment of an epoch and returns the part of the member with, who stands for the member
// with its id.
func (ch *change) assign(with *consumerMember, epoch int32) []entry {
	k := ch.k
	all := k.with(with)
	in := assigning{partitions: map[[16]byte]int32{}}
	for _, id := range slices.Sorted(maps.Keys(all)) {
		m := all[id]
		a := assignee{id: id, instance: m.sub.InstanceID, had: k.target[id]}
		for name := range k.topicsOf(m.sub) {
			if t, ok := ch.c.topics.Topic(name); ok {
				in.partitions[t.ID] = t.Partitions
				a.topics = append(a.topics, t.ID)
			}
		}
		slices.SortFunc(a.topics, func(x, y [16]byte) int { return slices.Compare(x[:], y[:]) })
		in.members = append(in.members, a)
	}
	result := assignors[k.assignor(all)](&in)
	for i := range in.members {
		id := in.members[i].id
		had, known := k.target[id]
		if !known || !equalPlaces(had, result[id]) {
			ch.add(k.targetOf(id, result[id]))
		}
	}
	ch.add(k.targetEpoch(epoch, ch.c.now.Wall))
	return result[with.id]
}

// with are the members, one of them replaced or added.
func (k *consumerGroup) with(m *consumerMember) map[string]*consumerMember {
	if m == nil {
		return k.members
	}
	all := maps.Clone(k.members)
	all[m.id] = m
	return all
}

// assignor is the one that most of the members that name one name; of equals the first that the settings name, and that too
// if nobody names one.
func (k *consumerGroup) assignor(members map[string]*consumerMember) string {
	votes := map[string]int{}
	for _, m := range members {
		votes[text(m.sub.ServerAssignor)]++
	}
	best := ""
	for _, name := range k.c.serverAssignors() {
		if assignors[name] != nil && (best == "" || votes[name] > votes[best]) {
			best = name
		}
	}
	if best == "" {
		return defaultAssignor
	}
	return best
}

// swings tells whether a member that names another assignor than before changes the group's.
func (ch *change) swings(now *consumerMember) bool {
	return ch.k.assignor(ch.k.with(now)) != ch.k.assignor(ch.k.members)
}

// topicsOf are the names that a member reads, whether they exist or not.
func (k *consumerGroup) topicsOf(sub *record.Member) map[string]bool {
	out := make(map[string]bool, len(sub.SubscribedTopics))
	for _, name := range sub.SubscribedTopics {
		out[name] = true
	}
	if x := k.regexes[text(sub.SubscribedRegex)]; x != nil {
		for _, name := range x.Topics {
			out[name] = true
		}
	}
	return out
}

// topicHash is a hash over the existing topics that the members read: their names, ids and sizes. 0: there are none.
func (k *consumerGroup) topicHash(with *consumerMember) int64 {
	read := map[string]bool{}
	for _, m := range k.with(with) {
		maps.Copy(read, k.topicsOf(m.sub))
	}
	h := fnv.New64a()
	any := false
	for _, name := range slices.Sorted(maps.Keys(read)) {
		t, ok := k.c.topics.Topic(name)
		if !ok {
			continue
		}
		any = true
		h.Write([]byte(t.Name))
		h.Write(t.ID[:])
		h.Write(binary.BigEndian.AppendUint32([]byte{0}, uint32(t.Partitions)))
	}
	if !any {
		return 0
	}
	if sum := int64(h.Sum64()); sum != 0 {
		return sum
	}
	return 1
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
