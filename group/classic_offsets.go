package group

import (
	"encoding/binary"

	"millrace/group/record"
)

const consumerType = "consumer"

// subscribe learns from the members' metadata which topics they read.
func (k *classicGroup) subscribe() {
	k.topics = topicSet{}
	if k.typ != consumerType {
		return
	}
	names := map[string]bool{}
	for _, m := range k.members {
		topics, ok := topicsOf(m.metadata(k.protocol))
		if !ok {
			return
		}
		for _, name := range topics {
			names[name] = true
		}
	}
	k.topics = topicSet{known: true, names: names}
}

// subscribed implements protocol. Where the metadata cannot be read, a group of consumers may read anything.
func (k *classicGroup) subscribed(topic string) bool {
	if !k.topics.known {
		return k.typ == consumerType
	}
	return k.topics.names[topic]
}

// checkCommit implements protocol.
func (k *classicGroup) checkCommit(r *CommitRequest) (Code, func(*CommitOffset) Code) {
	if r.Generation < 0 && k.phase == empty {
		return None, nil // a tool, or a consumer that manages its partitions itself
	}
	switch {
	case r.Generation >= 0 || r.MemberID != "" || r.InstanceID != nil:
		if code := k.check(r.MemberID, r.InstanceID); code != None {
			return code, nil
		}
		if r.Generation != k.generation {
			return IllegalGeneration, nil
		}
	case k.phase != empty:
		return UnknownMemberID, nil
	}
	if k.phase == completing {
		return RebalanceInProgress, nil
	}
	if m := k.members[r.MemberID]; m != nil {
		k.beatAgain(m)
	}
	return None, nil
}

func (k *classicGroup) checkFetch(*FetchRequest) Code { return None }

func (k *classicGroup) checkDelete() Code {
	if k.phase != empty {
		return NonEmptyGroup
	}
	return None
}

func (k *classicGroup) checkOffsetDelete() Code {
	if k.phase != empty && k.typ != consumerType {
		return NonEmptyGroup
	}
	return None
}

// expires implements protocol. The offsets of a group with members do not age, but for topics that nobody reads any more;
// after the last member left they age from then on, those of a group that never had members from their commit.
func (k *classicGroup) expires(o *record.Offset) (int64, bool) {
	switch {
	case k.typ == "":
		return o.CommitMs, true
	case k.phase == empty:
		if k.stateMs < 0 {
			return o.CommitMs, true
		}
		return k.stateMs, true
	case k.phase == stable && k.typ == consumerType && k.topics.known:
		return o.CommitMs, true
	}
	return 0, false
}

// consumerReader reads the consumer protocol's bytes.
type consumerReader struct{ b []byte }

func (r *consumerReader) int16() (int16, bool) {
	if len(r.b) < 2 {
		return 0, false
	}
	v := int16(binary.BigEndian.Uint16(r.b))
	r.b = r.b[2:]
	return v, true
}

func (r *consumerReader) int32() (int32, bool) {
	if len(r.b) < 4 {
		return 0, false
	}
	v := int32(binary.BigEndian.Uint32(r.b))
	r.b = r.b[4:]
	return v, true
}

func (r *consumerReader) string() (string, bool) {
	n, ok := r.int16()
	if !ok || n < 0 || int(n) > len(r.b) {
		return "", false
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s, true
}
