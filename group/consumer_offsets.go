package group

import "millrace/group/record"

// subscribed implements protocol.
func (k *consumerGroup) subscribed(topic string) bool {
	for _, m := range k.members {
		if k.topicsOf(m.sub)[topic] {
			return true
		}
	}
	return false
}

// checkCommit implements protocol. An epoch that is behind the member's is well for the partitions that were its own at that
// epoch and still are (KIP-1251).
func (k *consumerGroup) checkCommit(r *CommitRequest) (Code, func(*CommitOffset) Code) {
	if r.Generation < 0 && k.empty() {
		return None, nil
	}
	m := k.members[r.MemberID]
	if m == nil {
		return UnknownMemberID, nil
	}
	wrong := StaleMemberEpoch
	if m.classic() {
		wrong = IllegalGeneration
	} else if r.Version < 9 {
		return UnsupportedVersion, nil
	}
	switch {
	case r.Generation == m.epoch:
		return None, nil
	case r.Generation < 0 || r.Generation > m.epoch:
		return wrong, nil
	}
	return None, func(o *CommitOffset) Code {
		id := o.TopicID
		if id == [16]byte{} {
			t, ok := k.c.topics.Topic(o.Topic)
			if !ok {
				return wrong
			}
			id = t.ID
		}
		for _, list := range [][]entry{m.assigned, m.pending} {
			if e, ok := find(list, place{id, o.Partition}); ok && e.epoch <= r.Generation {
				return None
			}
		}
		return wrong
	}
}

// checkFetch implements protocol.
func (k *consumerGroup) checkFetch(r *FetchRequest) Code {
	if !r.HasMember && r.Epoch < 0 {
		return None
	}
	m := k.members[r.MemberID]
	switch {
	case m == nil:
		return UnknownMemberID
	case r.Epoch == m.epoch:
		return None
	case m.classic():
		return IllegalGeneration
	}
	return StaleMemberEpoch
}

func (k *consumerGroup) checkDelete() Code {
	if !k.empty() {
		return NonEmptyGroup
	}
	return None
}

func (k *consumerGroup) checkOffsetDelete() Code { return None }

// expires implements protocol: offsets age from their commit on, but for topics that are read.
func (k *consumerGroup) expires(o *record.Offset) (int64, bool) { return o.CommitMs, true }
