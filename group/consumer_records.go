package group

import (
	"slices"

	"millrace/group/record"
)

// current is the record of where a member stands.
func (k *consumerGroup) current(m *consumerMember) record.Record {
	return record.Record{Key: k.key(record.TypeCurrent, m.id), Value: &record.Current{Epoch: m.epoch, PreviousEpoch: m.previous,
		State: m.state, Assigned: gather(m.assigned, true), PendingRevocation: gather(m.pending, true)}}
}

func (k *consumerGroup) targetOf(id string, list []entry) record.Record {
	return record.Record{Key: k.key(record.TypeTargetMember, id), Value: &record.TargetMember{Topics: gather(list, false)}}
}

func (k *consumerGroup) targetEpoch(epoch int32, ms int64) record.Record {
	return record.Record{Key: k.key(record.TypeTarget, ""), Value: &record.Target{Epoch: epoch, TimeMs: ms}}
}

func (k *consumerGroup) epochRecord(epoch int32, hash int64) record.Record {
	return record.Record{Key: k.key(record.TypeConsumerGroup, ""), Value: &record.ConsumerGroup{Epoch: epoch, MetadataHash: hash}}
}

func (k *consumerGroup) subscription(id string, v *record.Member) record.Record {
	return record.Record{Key: k.key(record.TypeMember, id), Value: v}
}

// removal are the tombstones of one member.
func (k *consumerGroup) removal(id string) []record.Record {
	return []record.Record{{Key: k.key(record.TypeCurrent, id)}, {Key: k.key(record.TypeTargetMember, id)},
		{Key: k.key(record.TypeMember, id)}}
}

// tombstones implements protocol. The order is Kafka's: what others point to goes last.
func (k *consumerGroup) tombstones(dst []record.Record) []record.Record {
	ids := k.ids()
	for _, t := range []record.Type{record.TypeCurrent, record.TypeTargetMember} {
		for _, id := range ids {
			dst = append(dst, record.Record{Key: k.key(t, id)})
		}
	}
	dst = append(dst, record.Record{Key: k.key(record.TypeTarget, "")})
	for _, id := range ids {
		dst = append(dst, record.Record{Key: k.key(record.TypeMember, id)})
	}
	for _, regex := range sortedKeys(k.regexes) {
		dst = append(dst, k.regexRecord(regex, nil))
	}
	return append(dst, record.Record{Key: k.key(record.TypePartitionMetadata, "")}, record.Record{Key: k.key(record.TypeConsumerGroup, "")})
}

func (k *consumerGroup) regexRecord(regex string, v *record.Regex) record.Record {
	r := record.Record{Key: record.Key{Type: record.TypeRegex, Group: k.g.id, Regex: regex}}
	if v != nil {
		r.Value = v
	}
	return r
}

// sameSubscription tells whether nothing of what a member says of itself has changed.
func sameSubscription(a, b *record.Member) bool {
	return sameText(a.InstanceID, b.InstanceID) && sameText(a.RackID, b.RackID) && a.ClientID == b.ClientID &&
		a.ClientHost == b.ClientHost && slices.Equal(a.SubscribedTopics, b.SubscribedTopics) &&
		text(a.SubscribedRegex) == text(b.SubscribedRegex) && a.RebalanceTimeoutMs == b.RebalanceTimeoutMs &&
		sameText(a.ServerAssignor, b.ServerAssignor) && sameClassic(a.Classic, b.Classic)
}

func sameText(a, b *string) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func sameClassic(a, b *record.ClassicProtocols) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.SessionTimeoutMs == b.SessionTimeoutMs && slices.EqualFunc(a.Protocols, b.Protocols, func(a, b record.Protocol) bool {
		return a.Name == b.Name && string(a.Metadata) == string(b.Metadata)
	})
}

// names are topic names in order, each once.
func names(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	out = slices.Compact(out)
	if out == nil {
		out = []string{}
	}
	return out
}
