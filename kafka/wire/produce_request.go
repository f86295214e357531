package wire

// ProduceView is a Produce request, versions 3 to 13, over the bytes of its
// body. Names and record bytes alias the body. It is owned by whoever owns the
// frame.
type ProduceView struct {
	Version int16
	// TransactionalID is nil when null.
	TransactionalID []byte
	// Acks may be any value; the frontend answers code 21 to wrong ones.
	Acks int16
	// TimeoutMs bounds the wait for replicas.
	TimeoutMs int32
	// TopicCount and PartitionCount are what the request holds, duplicates
	// counted.
	TopicCount, PartitionCount int

	body   []byte
	topics int // position of the first topic in body
}

// Smallest sizes in bytes of what the arrays hold.
func produceTopicMin(version int16) int {
	switch {
	case version >= 13:
		return 16 + 1 + 1 // id, partitions, tags
	case version >= 9:
		return 1 + 1 + 1 // name, partitions, tags
	}
	return 2 + 4 // name, partitions
}

func producePartitionMin(version int16) int {
	if version >= 9 {
		return 4 + 1 + 1 // index, records, tags
	}
	return 4 + 4 // index, records
}

// Parse reads the body of a Produce request and checks all of it, so that the
// iterators cannot fail afterwards. It answers ErrMalformed or nil.
func (p *ProduceView) Parse(body []byte, version int16) error {
	*p = ProduceView{Version: version, body: body}
	flexible := version >= 9
	r := reader{b: body}
	p.TransactionalID = r.nullableString(flexible)
	p.Acks = r.i16()
	p.TimeoutMs = r.i32()
	p.TopicCount = r.count(flexible, produceTopicMin(version))
	p.topics = len(body) - len(r.b)
	var t ProduceTopic
	for i := 0; i < p.TopicCount && !r.bad; i++ {
		t.read(&r, version)
		p.PartitionCount += t.PartitionCount
		var part ProducePartition
		for j := 0; j < t.PartitionCount && !r.bad; j++ {
			part.read(&r, version)
		}
		if flexible {
			r.skipTags()
		}
	}
	if flexible {
		r.skipTags()
	}
	if r.bad {
		return ErrMalformed
	}
	return nil
}

// Topics walks the topics in the request's order.
func (p *ProduceView) Topics() ProduceTopics {
	return ProduceTopics{r: reader{b: p.body[p.topics:]}, body: p.body, version: p.Version, left: p.TopicCount}
}

// ProduceTopic is one topic entry.
type ProduceTopic struct {
	// Name is set below version 13, ID from there on.
	Name           []byte
	ID             UUID
	PartitionCount int

	partitions ProducePartitions
}

// read reads the entry up to its partitions.
func (t *ProduceTopic) read(r *reader, version int16) {
	t.Name, t.ID = nil, UUID{}
	if version >= 13 {
		t.ID = r.uuid()
	} else {
		t.Name = r.str(version >= 9)
	}
	t.PartitionCount = r.count(version >= 9, producePartitionMin(version))
}

// Partitions walks the topic's partitions in the request's order.
func (t *ProduceTopic) Partitions() ProducePartitions { return t.partitions }

// ProduceTopics walks the topics of a ProduceView. It is owned by its user.
type ProduceTopics struct {
	r       reader
	body    []byte
	version int16
	left    int
}

// Next moves to the next topic; false after the last.
func (it *ProduceTopics) Next(t *ProduceTopic) bool {
	if it.left == 0 {
		return false
	}
	it.left--
	t.read(&it.r, it.version)
	t.partitions = ProducePartitions{r: it.r, body: it.body, version: it.version, left: t.PartitionCount}
	// The next topic stands behind this one's partitions.
	var p ProducePartition
	for i := 0; i < t.PartitionCount; i++ {
		p.read(&it.r, it.version)
	}
	if it.version >= 9 {
		it.r.skipTags()
	}
	return true
}

// ProducePartition is one partition entry.
type ProducePartition struct {
	Index int32
	// Records is nil when null. It is a part of the request's body: stamping it
	// stamps the received bytes.
	Records []byte
	// Position is where Records starts in the body, in bytes.
	Position int
}

// read reads the whole entry.
func (p *ProducePartition) read(r *reader, version int16) {
	p.Index = r.i32()
	p.Records = r.nullableBytes(version >= 9)
	p.Position = len(r.b) // from the end, until Next turns it round
	if version >= 9 {
		r.skipTags()
	}
}

// ProducePartitions walks the partitions of a topic. It is owned by its user.
type ProducePartitions struct {
	r       reader
	body    []byte
	version int16
	left    int
}

// Next moves to the next partition; false after the last.
func (it *ProducePartitions) Next(p *ProducePartition) bool {
	if it.left == 0 {
		return false
	}
	it.left--
	p.read(&it.r, it.version)
	p.Position = len(it.body) - p.Position - len(p.Records)
	return true
}
