package kafkatool

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/group/record"
)

// object builds a JSON object in the order of its fields, as Kafka's tools print it. Owned by one call.
type object struct{ b strings.Builder }

func (o *object) raw(name, value string) *object {
	if o.b.Len() > 0 {
		o.b.WriteByte(',')
	}
	o.b.WriteString(`"` + name + `":` + value)
	return o
}

func (o *object) str(name, value string) *object { return o.raw(name, quote(value)) }

func (o *object) opt(name string, value *string) *object {
	if value == nil {
		return o.raw(name, "null")
	}
	return o.str(name, *value)
}

func (o *object) num(name string, value int64) *object {
	return o.raw(name, strconv.FormatInt(value, 10))
}

func (o *object) String() string { return "{" + o.b.String() + "}" }

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	return strings.TrimSuffix(b.String(), "\n")
}

func array[T any](list []T, show func(T) string) string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = show(v)
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func wrapped(kind string, n int16, data string) string {
	return (&object{}).str(kind, strconv.Itoa(int(n))).raw("data", data).String()
}

// offsetsRecord shows a record of __consumer_offsets.
func offsetsRecord(key, value []byte) (k, v string) {
	rec, err := record.Decode(key, value)
	if err != nil {
		dk, kerr := record.DecodeKey(key)
		if kerr != nil {
			return unknownKey(key), payloadText(value)
		}
		return keyText(&dk), payloadText(value)
	}
	k = keyText(&rec.Key)
	if rec.Value == nil {
		return k, "<DELETE>"
	}
	return k, wrapped("version", int16(binary.BigEndian.Uint16(value)), valueText(rec.Value, int16(binary.BigEndian.Uint16(value))))
}

func unknownKey(key []byte) string {
	if len(key) < 2 {
		return "<UNKNOWN>"
	}
	return "Unknown record type " + strconv.Itoa(int(int16(binary.BigEndian.Uint16(key)))) + ", skipping."
}

func payloadText(value []byte) string {
	if value == nil {
		return "<DELETE>"
	}
	return base64.StdEncoding.EncodeToString(value)
}

func keyText(k *record.Key) string {
	o := &object{}
	switch k.Type {
	case record.TypeOffset, record.TypeLegacyOffset:
		o.str("group", k.Group).str("topic", k.Topic).num("partition", int64(k.Partition))
	case record.TypeClassicGroup:
		o.str("group", k.Group)
	case record.TypeMember, record.TypeTargetMember, record.TypeCurrent:
		o.str("groupId", k.Group).str("memberId", k.Member)
	case record.TypeRegex:
		o.str("groupId", k.Group).str("regularExpression", k.Regex)
	default:
		o.str("groupId", k.Group)
	}
	return wrapped("type", int16(k.Type), o.String())
}

func valueText(v record.Value, version int16) string {
	o := &object{}
	switch v := v.(type) {
	case *record.Offset:
		o.num("offset", v.Offset)
		if version >= 3 {
			o.num("leaderEpoch", int64(v.LeaderEpoch))
		}
		o.str("metadata", v.Metadata).num("commitTimestamp", v.CommitMs)
		if version == 1 {
			o.num("expireTimestamp", v.ExpireMs)
		}
		if version >= 4 {
			o.str("topicId", formatID(v.TopicID))
		}
	case *record.ClassicGroup:
		o.str("protocolType", v.ProtocolType).num("generation", int64(v.Generation)).opt("protocol", v.Protocol).opt("leader", v.Leader)
		if version >= 2 {
			o.num("currentStateTimestamp", v.StateMs)
		}
		o.raw("members", array(v.Members, func(m record.ClassicMember) string { return memberText(&m, v.ProtocolType, version) }))
	case *record.ConsumerGroup:
		o.num("epoch", int64(v.Epoch))
		if v.MetadataHash != 0 {
			o.num("metadataHash", v.MetadataHash)
		}
	case *record.PartitionMetadata:
		o.raw("topics", array(v.Topics, func(t record.TopicMetadata) string {
			return (&object{}).str("topicId", formatID(t.ID)).str("topicName", t.Name).num("numPartitions", int64(t.Partitions)).String()
		}))
	case *record.Member:
		o.opt("instanceId", v.InstanceID).opt("rackId", v.RackID).str("clientId", v.ClientID).str("clientHost", v.ClientHost).
			raw("subscribedTopicNames", array(v.SubscribedTopics, quote)).opt("subscribedTopicRegex", v.SubscribedRegex).
			num("rebalanceTimeoutMs", int64(v.RebalanceTimeoutMs)).opt("serverAssignor", v.ServerAssignor).raw("classicMemberMetadata", classicText(v.Classic))
	case *record.Target:
		o.num("assignmentEpoch", int64(v.Epoch))
		if v.TimeMs != 0 {
			o.num("assignmentTimestamp", v.TimeMs)
		}
	case *record.TargetMember:
		o.raw("topicPartitions", partitionsText(v.Topics))
	case *record.Current:
		o.num("memberEpoch", int64(v.Epoch)).num("previousMemberEpoch", int64(v.PreviousEpoch)).num("state", int64(v.State)).
			raw("assignedPartitions", partitionsText(v.Assigned)).raw("partitionsPendingRevocation", partitionsText(v.PendingRevocation))
	case *record.Regex:
		o.raw("topics", array(v.Topics, quote)).num("version", v.Version).num("timestamp", v.TimeMs)
	}
	return o.String()
}

func partitionsText(list []record.TopicPartitions) string {
	number := func(n int32) string { return strconv.Itoa(int(n)) }
	return array(list, func(t record.TopicPartitions) string {
		o := (&object{}).str("topicId", formatID(t.TopicID)).raw("partitions", array(t.Partitions, number))
		if len(t.Epochs) > 0 {
			o.raw("assignmentEpochs", array(t.Epochs, number))
		}
		return o.String()
	})
}

func classicText(c *record.ClassicProtocols) string {
	if c == nil {
		return "null"
	}
	return (&object{}).num("sessionTimeoutMs", int64(c.SessionTimeoutMs)).raw("supportedProtocols", array(c.Protocols, func(p record.Protocol) string {
		return (&object{}).str("name", p.Name).str("metadata", base64.StdEncoding.EncodeToString(p.Metadata)).String()
	})).String()
}

func memberText(m *record.ClassicMember, protocolType string, version int16) string {
	o := (&object{}).str("memberId", m.MemberID)
	if version >= 3 {
		o.opt("groupInstanceId", m.InstanceID)
	}
	o.str("clientId", m.ClientID).str("clientHost", m.ClientHost)
	if version >= 1 {
		o.num("rebalanceTimeout", int64(m.RebalanceTimeoutMs))
	}
	o.num("sessionTimeout", int64(m.SessionTimeoutMs))
	if protocolType == "consumer" {
		return o.raw("subscription", subscriptionText(m.Subscription)).raw("assignment", assignmentText(m.Assignment)).String()
	}
	return o.str("subscription", base64.StdEncoding.EncodeToString(m.Subscription)).str("assignment", base64.StdEncoding.EncodeToString(m.Assignment)).String()
}

func bytesText(b []byte) string {
	if b == nil {
		return "null"
	}
	return quote(base64.StdEncoding.EncodeToString(b))
}

func subscriptionText(b []byte) string {
	s := kmsg.NewConsumerMemberMetadata()
	if len(b) == 0 || s.ReadFrom(b) != nil {
		return bytesText(b)
	}
	o := (&object{}).raw("topics", array(s.Topics, quote)).raw("userData", bytesText(s.UserData))
	if s.Version >= 1 {
		o.raw("ownedPartitions", array(s.OwnedPartitions, func(t kmsg.ConsumerMemberMetadataOwnedPartition) string {
			return (&object{}).str("topic", t.Topic).raw("partitions", "["+joinInts(t.Partitions)+"]").String()
		}))
	}
	if s.Version >= 2 {
		o.num("generationId", int64(s.Generation))
	}
	if s.Version >= 3 {
		o.opt("rackId", s.Rack)
	}
	return o.String()
}

func assignmentText(b []byte) string {
	a := kmsg.NewConsumerMemberAssignment()
	if len(b) == 0 || a.ReadFrom(b) != nil {
		return bytesText(b)
	}
	return (&object{}).raw("assignedPartitions", array(a.Topics, func(t kmsg.ConsumerMemberAssignmentTopic) string {
		return (&object{}).str("topic", t.Topic).raw("partitions", "["+joinInts(t.Partitions)+"]").String()
	})).raw("userData", bytesText(a.UserData)).String()
}

// offsetsFormatter shows records of __consumer_offsets in the console consumer: committed offsets, or groups. Immutable.
type offsetsFormatter struct{ offsets bool }

func (f *offsetsFormatter) write(w *bufio.Writer, r *kgo.Record) error {
	if len(r.Key) < 2 {
		return nil
	}
	kind := record.Type(binary.BigEndian.Uint16(r.Key))
	isOffset := kind == record.TypeOffset || kind == record.TypeLegacyOffset
	if isOffset != f.offsets || !f.offsets && kind != record.TypeClassicGroup {
		return nil
	}
	key, value := offsetsRecord(r.Key, r.Value)
	if value == "<DELETE>" {
		value = "null"
	}
	_, err := w.WriteString(`{"key":` + numbered(key) + `,"value":` + numbered(value) + "}\n")
	return err
}

// numbered shows type and version as numbers, as the console consumer does; kafka-dump-log shows them as words.
func numbered(s string) string {
	for _, name := range []string{`{"type":"`, `{"version":"`} {
		if rest, ok := strings.CutPrefix(s, name); ok {
			n, tail, _ := strings.Cut(rest, `"`)
			return name[:len(name)-1] + n + tail
		}
	}
	return s
}
