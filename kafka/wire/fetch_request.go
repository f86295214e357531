package wire

// FetchView is a Fetch request, versions 4 to 18, over the bytes of its body.
// Names alias the body. It is owned by whoever owns the frame.
type FetchView struct {
	Version int16
	// ReplicaID is -1 for consumers; from version 15 on it comes from the
	// ReplicaState tag.
	ReplicaID int32
	// ReplicaEpoch is -1 below version 15 and for consumers.
	ReplicaEpoch int64
	MaxWaitMs    int32
	MinBytes     int32
	MaxBytes     int32
	// Isolation is 0 (uncommitted) or 1 (committed).
	Isolation int8
	// SessionID and SessionEpoch are 0 and -1 below version 7.
	SessionID    int32
	SessionEpoch int32
	// Rack is empty below version 11.
	Rack []byte
	// ClusterID is nil when null or not sent (tag 0, v12+).
	ClusterID []byte
	// The counts include duplicates.
	TopicCount, PartitionCount int
	ForgottenCount             int

	body      []byte
	topics    int // positions in body
	forgotten int
}

func fetchTopicMin(version int16) int {
	switch {
	case version >= 13:
		return 16 + 1 + 1 // id, partitions, tags
	case version >= 12:
		return 1 + 1 + 1 // name, partitions, tags
	}
	return 2 + 4 // name, partitions
}

func fetchPartitionMin(version int16) int {
	n := 4 + 8 + 4 // partition, offset, max bytes
	if version >= 5 {
		n += 8 // log start
	}
	if version >= 9 {
		n += 4 // leader epoch
	}
	if version >= 12 {
		n += 4 + 1 // last fetched epoch, tags
	}
	return n
}

// Parse reads the body of a Fetch request and checks all of it, so that the
// iterators cannot fail afterwards. It answers ErrMalformed or nil; a known tag
// at a version without it is malformed, as in Kafka.
func (f *FetchView) Parse(body []byte, version int16) error {
	*f = FetchView{Version: version, ReplicaID: -1, ReplicaEpoch: -1, SessionEpoch: -1, body: body}
	flexible := version >= 12
	r := reader{b: body}
	if version <= 14 {
		f.ReplicaID = r.i32()
	}
	f.MaxWaitMs = r.i32()
	f.MinBytes = r.i32()
	f.MaxBytes = r.i32()
	f.Isolation = r.i8()
	if version >= 7 {
		f.SessionID = r.i32()
		f.SessionEpoch = r.i32()
	}
	f.TopicCount = r.count(flexible, fetchTopicMin(version))
	f.topics = len(body) - len(r.b)
	var t FetchTopic
	var p FetchPartition
	for i := 0; i < f.TopicCount && !r.bad; i++ {
		t.read(&r, version)
		f.PartitionCount += t.PartitionCount
		for j := 0; j < t.PartitionCount && !r.bad; j++ {
			p.read(&r, version)
		}
		if flexible {
			r.skipTags()
		}
	}
	if version >= 7 {
		f.ForgottenCount = r.count(flexible, fetchTopicMin(version))
	}
	f.forgotten = len(body) - len(r.b)
	var g ForgottenTopic
	for i := 0; i < f.ForgottenCount && !r.bad; i++ {
		g.read(&r, version)
	}
	if version >= 11 {
		f.Rack = r.str(flexible)
	}
	if flexible {
		f.readTags(&r)
	}
	if r.bad {
		return ErrMalformed
	}
	return nil
}

// readTags reads the tag section that ends the request.
func (f *FetchView) readTags(r *reader) {
	for n := r.tagCount(); n > 0 && !r.bad; n-- {
		number, content := r.tag()
		in := reader{b: content}
		switch {
		case number == 0:
			f.ClusterID = in.nullableString(true)
		case number == 1 && f.Version < 15:
			r.fail()
			continue
		case number == 1:
			f.ReplicaID = in.i32()
			f.ReplicaEpoch = in.i64()
			in.skipTags()
		default:
			continue
		}
		if in.bad || len(in.b) != 0 {
			r.fail()
		}
	}
}

// Topics walks the topics in the request's order.
func (f *FetchView) Topics() FetchTopics {
	return FetchTopics{r: reader{b: f.body[f.topics:]}, version: f.Version, left: f.TopicCount}
}

// Forgotten walks the topics that an incremental fetch takes out of its session
// (v7+).
func (f *FetchView) Forgotten() ForgottenTopics {
	return ForgottenTopics{r: reader{b: f.body[f.forgotten:]}, version: f.Version, left: f.ForgottenCount}
}

// FetchTopic is one topic entry.
type FetchTopic struct {
	// Name is set below version 13, ID from there on.
	Name           []byte
	ID             UUID
	PartitionCount int

	partitions FetchPartitions
}

// read reads the entry up to its partitions.
func (t *FetchTopic) read(r *reader, version int16) {
	t.Name, t.ID = nil, UUID{}
	if version >= 13 {
		t.ID = r.uuid()
	} else {
		t.Name = r.str(version >= 12)
	}
	t.PartitionCount = r.count(version >= 12, fetchPartitionMin(version))
}

// Partitions walks the topic's partitions in the request's order.
func (t *FetchTopic) Partitions() FetchPartitions { return t.partitions }

// FetchTopics walks the topics of a FetchView. It is owned by its user.
type FetchTopics struct {
	r       reader
	version int16
	left    int
}

// Next moves to the next topic; false after the last.
func (it *FetchTopics) Next(t *FetchTopic) bool {
	if it.left == 0 {
		return false
	}
	it.left--
	t.read(&it.r, it.version)
	t.partitions = FetchPartitions{r: it.r, version: it.version, left: t.PartitionCount}
	var p FetchPartition
	for i := 0; i < t.PartitionCount; i++ {
		p.read(&it.r, it.version)
	}
	if it.version >= 12 {
		it.r.skipTags()
	}
	return true
}

// FetchPartition is one partition entry.
type FetchPartition struct {
	Index int32
	// CurrentLeaderEpoch is -1 for "no check" and below version 9.
	CurrentLeaderEpoch int32
	FetchOffset        int64
	// LastFetchedEpoch is -1 if unknown and below version 12.
	LastFetchedEpoch int32
	// LogStartOffset is a follower's, -1 for consumers and below version 5.
	LogStartOffset int64
	MaxBytes       int32
	// DirectoryID is zero if not sent (tag 0, v17+).
	DirectoryID UUID
	// HighWatermark is a follower's, 2^63-1 if not sent (tag 1, v18+).
	HighWatermark int64
}

// read reads the whole entry.
func (p *FetchPartition) read(r *reader, version int16) {
	*p = FetchPartition{CurrentLeaderEpoch: -1, LastFetchedEpoch: -1, LogStartOffset: -1, HighWatermark: 1<<63 - 1}
	p.Index = r.i32()
	if version >= 9 {
		p.CurrentLeaderEpoch = r.i32()
	}
	p.FetchOffset = r.i64()
	if version >= 12 {
		p.LastFetchedEpoch = r.i32()
	}
	if version >= 5 {
		p.LogStartOffset = r.i64()
	}
	p.MaxBytes = r.i32()
	if version >= 12 {
		p.readTags(r, version)
	}
}

func (p *FetchPartition) readTags(r *reader, version int16) {
	for n := r.tagCount(); n > 0 && !r.bad; n-- {
		number, content := r.tag()
		in := reader{b: content}
		switch {
		case number == 0 && version >= 17:
			p.DirectoryID = in.uuid()
		case number == 1 && version >= 18:
			p.HighWatermark = in.i64()
		case number <= 1:
			r.fail() // known, but not at this version
			continue
		default:
			continue
		}
		if in.bad || len(in.b) != 0 {
			r.fail()
		}
	}
}

// FetchPartitions walks the partitions of a topic. It is owned by its user.
type FetchPartitions struct {
	r       reader
	version int16
	left    int
}

// Next moves to the next partition; false after the last.
func (it *FetchPartitions) Next(p *FetchPartition) bool {
	if it.left == 0 {
		return false
	}
	it.left--
	p.read(&it.r, it.version)
	return true
}

// ForgottenTopic is one entry of the forgotten list.
type ForgottenTopic struct {
	// Name is set below version 13, ID from there on.
	Name           []byte
	ID             UUID
	PartitionCount int

	indexes []byte
}

// read reads the whole entry.
func (t *ForgottenTopic) read(r *reader, version int16) {
	t.Name, t.ID = nil, UUID{}
	if version >= 13 {
		t.ID = r.uuid()
	} else {
		t.Name = r.str(version >= 12)
	}
	t.PartitionCount = r.count(version >= 12, 4)
	t.indexes = r.span(4 * t.PartitionCount)
	if version >= 12 {
		r.skipTags()
	}
}

// Partition is the i-th partition index, 0 <= i < PartitionCount.
func (t *ForgottenTopic) Partition(i int) int32 {
	r := reader{b: t.indexes[4*i:]}
	return r.i32()
}

// ForgottenTopics walks the forgotten list. It is owned by its user.
type ForgottenTopics struct {
	r       reader
	version int16
	left    int
}

// Next moves to the next topic; false after the last.
func (it *ForgottenTopics) Next(t *ForgottenTopic) bool {
	if it.left == 0 {
		return false
	}
	it.left--
	t.read(&it.r, it.version)
	return true
}
