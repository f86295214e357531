package record

// ConsumerGroup is a group of the consumer protocol (KIP-848).
type ConsumerGroup struct {
	Epoch int32
	// MetadataHash is a hash over the subscribed topics (KIP-1101), 0 if there is none.
	MetadataHash int64
}

// AppendTo implements Value.
func (g *ConsumerGroup) AppendTo(dst []byte) []byte {
	dst = appendVersion(dst, 0)
	dst = be.AppendUint32(dst, uint32(g.Epoch))
	if g.MetadataHash == 0 {
		return append(dst, 0)
	}
	return appendInt64Tag(append(dst, 1), 0, g.MetadataHash)
}

func decodeConsumerGroup(r *reader) *ConsumerGroup {
	g := &ConsumerGroup{Epoch: r.int32()}
	r.tags(func(tag int, r *reader) {
		if tag == 0 {
			g.MetadataHash = r.int64()
		}
	})
	return g
}

func (*ConsumerGroup) valueType() Type { return TypeConsumerGroup }

// PartitionMetadata is what Kafka before 4.1 remembered of the subscribed topics. Nothing acts on it.
type PartitionMetadata struct{ Topics []TopicMetadata }

// TopicMetadata is one subscribed topic.
type TopicMetadata struct {
	ID         [16]byte
	Name       string
	Partitions int32
}

// AppendTo implements Value.
func (p *PartitionMetadata) AppendTo(dst []byte) []byte {
	dst = appendVersion(dst, 0)
	dst = appendUvarint(dst, len(p.Topics)+1)
	for i := range p.Topics {
		t := &p.Topics[i]
		dst = append(dst, t.ID[:]...)
		dst = appendCompact(dst, t.Name)
		dst = be.AppendUint32(dst, uint32(t.Partitions))
		dst = append(dst, 1, 0) // no racks, no tags
	}
	return append(dst, 0)
}

func decodePartitionMetadata(r *reader) *PartitionMetadata {
	p := &PartitionMetadata{Topics: make([]TopicMetadata, r.compactCount(22))}
	for i := range p.Topics {
		t := &p.Topics[i]
		t.ID, t.Name, t.Partitions = r.uuid(), r.compactString(), r.int32()
		for n := r.compactCount(6); n > 0; n-- {
			r.int32()
			r.compactStrings()
			r.noTags()
		}
		r.noTags()
	}
	r.noTags()
	return p
}

func (*PartitionMetadata) valueType() Type { return TypePartitionMetadata }

// Member is a member's side of a consumer group.
type Member struct {
	InstanceID         *string
	RackID             *string
	ClientID           string
	ClientHost         string
	SubscribedTopics   []string
	SubscribedRegex    *string
	RebalanceTimeoutMs int32
	ServerAssignor     *string
	Classic            *ClassicProtocols // set while the member speaks the classic protocol
}

// ClassicProtocols are what a classic member of a consumer group offered when it joined.
type ClassicProtocols struct {
	SessionTimeoutMs int32
	Protocols        []Protocol
}

// Protocol is a protocol that a classic member supports.
type Protocol struct {
	Name     string
	Metadata []byte
}

// AppendTo implements Value.
func (m *Member) AppendTo(dst []byte) []byte {
	dst = appendVersion(dst, 0)
	dst = appendCompactNullable(dst, m.InstanceID)
	dst = appendCompactNullable(dst, m.RackID)
	dst = appendCompact(dst, m.ClientID)
	dst = appendCompact(dst, m.ClientHost)
	dst = appendCompactStrings(dst, m.SubscribedTopics)
	dst = appendCompactNullable(dst, m.SubscribedRegex)
	dst = be.AppendUint32(dst, uint32(m.RebalanceTimeoutMs))
	dst = appendCompactNullable(dst, m.ServerAssignor)
	if m.Classic == nil {
		// Kafka takes a missing field for an empty struct, so that null has to be said.
		return append(dst, 1, 0, 1, 0)
	}
	tag := m.Classic.append([]byte{1}) // 1: the struct is not null
	dst = append(dst, 1, 0)
	return append(appendUvarint(dst, len(tag)), tag...)
}

func (c *ClassicProtocols) append(dst []byte) []byte {
	dst = be.AppendUint32(dst, uint32(c.SessionTimeoutMs))
	dst = appendUvarint(dst, len(c.Protocols)+1)
	for i := range c.Protocols {
		dst = appendCompact(dst, c.Protocols[i].Name)
		dst = appendCompactBytes(dst, c.Protocols[i].Metadata)
		dst = append(dst, 0)
	}
	return append(dst, 0)
}

func decodeMember(r *reader) *Member {
	m := &Member{}
	m.InstanceID = r.compactNullable()
	m.RackID = r.compactNullable()
	m.ClientID = r.compactString()
	m.ClientHost = r.compactString()
	m.SubscribedTopics = r.compactStrings()
	m.SubscribedRegex = r.compactNullable()
	m.RebalanceTimeoutMs = r.int32()
	m.ServerAssignor = r.compactNullable()
	r.tags(func(tag int, r *reader) {
		if tag == 0 && r.uvarint() > 0 {
			m.Classic = decodeClassicProtocols(r)
		}
	})
	return m
}

func decodeClassicProtocols(r *reader) *ClassicProtocols {
	c := &ClassicProtocols{SessionTimeoutMs: r.int32()}
	c.Protocols = make([]Protocol, r.compactCount(3))
	for i := range c.Protocols {
		c.Protocols[i] = Protocol{r.compactString(), r.compactBytes()}
		r.noTags()
	}
	r.noTags()
	return c
}

func (*Member) valueType() Type { return TypeMember }

// Target is the epoch of a group's target assignment.
type Target struct {
	Epoch int32
	// TimeMs is when the assignment was computed, ms since 1970; 0 if unknown (KIP-1263).
	TimeMs int64
}

// AppendTo implements Value.
func (t *Target) AppendTo(dst []byte) []byte {
	dst = appendVersion(dst, 0)
	dst = be.AppendUint32(dst, uint32(t.Epoch))
	if t.TimeMs == 0 {
		return append(dst, 0)
	}
	return appendInt64Tag(append(dst, 1), 0, t.TimeMs)
}

func decodeTarget(r *reader) *Target {
	t := &Target{Epoch: r.int32()}
	r.tags(func(tag int, r *reader) {
		if tag == 0 {
			t.TimeMs = r.int64()
		}
	})
	return t
}

func (*Target) valueType() Type { return TypeTarget }

// TopicPartitions are partitions of one topic.
type TopicPartitions struct {
	TopicID    [16]byte
	Partitions []int32
	// Epochs, in a Current only, are the member epochs at which the partitions were assigned, in the order of
	// Partitions; nil if not known (KIP-1251).
	Epochs []int32
}

// TargetMember is a member's part of the target assignment.
type TargetMember struct{ Topics []TopicPartitions }

// AppendTo implements Value.
func (t *TargetMember) AppendTo(dst []byte) []byte {
	return append(appendTopics(appendVersion(dst, 0), t.Topics, false), 0)
}

func decodeTargetMember(r *reader) *TargetMember {
	t := &TargetMember{Topics: decodeTopics(r)}
	r.noTags()
	return t
}

func (*TargetMember) valueType() Type { return TypeTargetMember }

// Current is what a member owns and where it stands.
type Current struct {
	Epoch         int32
	PreviousEpoch int32
	// State is Kafka's number of the member's state: 0 stable, 1 unrevoked partitions, 2 unreleased partitions, 127
	// unknown.
	State             int8
	Assigned          []TopicPartitions
	PendingRevocation []TopicPartitions
}

// AppendTo implements Value.
func (c *Current) AppendTo(dst []byte) []byte {
	dst = appendVersion(dst, 0)
	dst = be.AppendUint32(dst, uint32(c.Epoch))
	dst = be.AppendUint32(dst, uint32(c.PreviousEpoch))
	dst = append(dst, byte(c.State))
	dst = appendTopics(dst, c.Assigned, true)
	dst = appendTopics(dst, c.PendingRevocation, true)
	return append(dst, 0)
}

func decodeCurrent(r *reader) *Current {
	c := &Current{Epoch: r.int32(), PreviousEpoch: r.int32(), State: r.int8()}
	c.Assigned = decodeTopics(r)
	c.PendingRevocation = decodeTopics(r)
	r.noTags()
	return c
}

func (*Current) valueType() Type { return TypeCurrent }

func appendTopics(dst []byte, topics []TopicPartitions, epochs bool) []byte {
	dst = appendUvarint(dst, len(topics)+1)
	for i := range topics {
		t := &topics[i]
		dst = append(dst, t.TopicID[:]...)
		dst = appendInt32s(dst, t.Partitions)
		if !epochs || t.Epochs == nil {
			dst = append(dst, 0)
			continue
		}
		tag := appendInt32s(nil, t.Epochs)
		dst = append(dst, 1, 0)
		dst = append(appendUvarint(dst, len(tag)), tag...)
	}
	return dst
}

func decodeTopics(r *reader) []TopicPartitions {
	topics := make([]TopicPartitions, r.compactCount(18))
	for i := range topics {
		t := &topics[i]
		t.TopicID, t.Partitions = r.uuid(), r.int32s()
		r.tags(func(tag int, r *reader) {
			if tag == 0 {
				if n := r.nullableCount(4); n >= 0 {
					t.Epochs = make([]int32, n)
					for i := range t.Epochs {
						t.Epochs[i] = r.int32()
					}
				}
			}
		})
	}
	return topics
}

// Regex is what a regular expression that members subscribed matched.
type Regex struct {
	Topics  []string
	Version int64 // of the metadata that it was matched against
	TimeMs  int64 // when, ms since 1970
}

// AppendTo implements Value.
func (x *Regex) AppendTo(dst []byte) []byte {
	dst = appendVersion(dst, 0)
	dst = appendCompactStrings(dst, x.Topics)
	dst = be.AppendUint64(dst, uint64(x.Version))
	dst = be.AppendUint64(dst, uint64(x.TimeMs))
	return append(dst, 0)
}

func decodeRegex(r *reader) *Regex {
	x := &Regex{Topics: r.compactStrings(), Version: r.int64(), TimeMs: r.int64()}
	r.noTags()
	return x
}

func (*Regex) valueType() Type { return TypeRegex }
