package config

// TopicConfig is the typed view of a topic's configs. Immutable once
// published. Times are milliseconds, sizes bytes; -1 and "no limit" read as
// the fields say.
type TopicConfig struct {
	// RetentionMs below 0 keeps records for ever.
	RetentionMs int64
	// RetentionBytes below 0 is no limit.
	RetentionBytes     int64
	SegmentBytes       int32
	SegmentMs          int64
	SegmentJitterMs    int64
	SegmentIndexBytes  int32
	IndexIntervalBytes int32
	FileDeleteDelayMs  int64
	Preallocate        bool

	// Compact and Delete are the words of cleanup.policy.
	Compact, Delete        bool
	DeleteRetentionMs      int64
	MinCleanableDirtyRatio float64
	MinCompactionLagMs     int64
	MaxCompactionLagMs     int64

	// MaxMessageBytes bounds a batch as stored, MaxDecompressedBytes unpacked.
	MaxMessageBytes      int32
	MaxDecompressedBytes int32
	// Codec is the codec number of stored batches, KeepCodec leaves each
	// batch as it came.
	Codec     int8
	GzipLevel int
	Lz4Level  int
	ZstdLevel int

	// LogAppendTime stamps records with the broker's time.
	LogAppendTime        bool
	TimestampBeforeMaxMs int64
	TimestampAfterMaxMs  int64

	MinInsyncReplicas int32
	UncleanElection   bool
	// FlushMessages and FlushMs at the highest int64 never force a sync.
	FlushMessages int64
	FlushMs       int64
	// WriteCaching answers acks=all without a sync.
	WriteCaching bool
}

// KeepCodec is compression.type=producer.
const KeepCodec int8 = -1

var codecNumbers = map[string]int8{"producer": KeepCodec, "uncompressed": 0, "gzip": 1, "snappy": 2, "lz4": 3, "zstd": 4}

const hourMs, minuteMs = 60 * 60 * 1000, 60 * 1000

// inherited is the value of a topic key that is not set for the topic.
func (l *Layers) inherited(k *Key) Value {
	v := Value{Type: k.Type}
	switch k.Name {
	case "retention.ms":
		v.Int = l.millis("log.retention.ms", unit{"log.retention.minutes", minuteMs}, unit{"log.retention.hours", hourMs})
		if v.Int < 0 {
			v.Int = -1
		}
		return v
	case "segment.ms":
		v.Int = l.millis("log.roll.ms", unit{"log.roll.hours", hourMs})
		return v
	case "segment.jitter.ms":
		v.Int = l.millis("log.roll.jitter.ms", unit{"log.roll.jitter.hours", hourMs})
		return v
	case "flush.ms":
		v.Int = l.millis("log.flush.interval.ms", unit{"log.flush.scheduler.interval.ms", 1})
		return v
	}
	if k.Follows == "" {
		return k.DefaultValue()
	}
	return l.get(k.Follows)
}

// unit is a key that counts in something longer than milliseconds.
type unit struct {
	name string
	ms   int64
}

func (l *Layers) millis(name string, units ...unit) int64 {
	if v := l.get(name); !v.Null {
		return v.Int
	}
	for _, u := range units {
		if v := l.get(u.name); !v.Null {
			return v.Int * u.ms
		}
	}
	return 0
}

// topicValue is what counts for a topic key: the topic's own value or the
// broker's.
func (l *Layers) topicValue(overrides Set, name string) Value {
	k := mustLookup(Topic, name)
	if text, ok := overrides[name]; ok {
		if v, err := k.Parse(text); err == nil {
			return v
		}
	}
	return l.inherited(k)
}

// Topic builds the typed view of a topic with the given overrides.
func (l *Layers) Topic(overrides Set) *TopicConfig {
	get := func(name string) Value { return l.topicValue(overrides, name) }
	t := &TopicConfig{
		RetentionMs:        get("retention.ms").Int,
		RetentionBytes:     get("retention.bytes").Int,
		SegmentBytes:       int32(get("segment.bytes").Int),
		SegmentMs:          get("segment.ms").Int,
		SegmentJitterMs:    get("segment.jitter.ms").Int,
		SegmentIndexBytes:  int32(get("segment.index.bytes").Int),
		IndexIntervalBytes: int32(get("index.interval.bytes").Int),
		FileDeleteDelayMs:  get("file.delete.delay.ms").Int,
		Preallocate:        get("preallocate").Bool,

		DeleteRetentionMs:      get("delete.retention.ms").Int,
		MinCleanableDirtyRatio: get("min.cleanable.dirty.ratio").Double,
		MinCompactionLagMs:     get("min.compaction.lag.ms").Int,
		MaxCompactionLagMs:     get("max.compaction.lag.ms").Int,

		MaxMessageBytes:      int32(get("max.message.bytes").Int),
		MaxDecompressedBytes: int32(get("max.decompressed.message.bytes").Int),
		Codec:                codecNumbers[get("compression.type").Text],
		GzipLevel:            int(get("compression.gzip.level").Int),
		Lz4Level:             int(get("compression.lz4.level").Int),
		ZstdLevel:            int(get("compression.zstd.level").Int),

		LogAppendTime:        get("message.timestamp.type").Text == "LogAppendTime",
		TimestampBeforeMaxMs: get("message.timestamp.before.max.ms").Int,
		TimestampAfterMaxMs:  get("message.timestamp.after.max.ms").Int,

		MinInsyncReplicas: int32(get(minInsync).Int),
		UncleanElection:   get("unclean.leader.election.enable").Bool,
		FlushMessages:     get("flush.messages").Int,
		FlushMs:           get("flush.ms").Int,
		WriteCaching:      get("write.caching").Bool,
	}
	for _, policy := range get("cleanup.policy").List {
		t.Compact = t.Compact || policy == "compact"
		t.Delete = t.Delete || policy == "delete"
	}
	return t
}
