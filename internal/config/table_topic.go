package config

// maxLong is Kafka's way to say "never" or "no limit".
const maxLong = "9223372036854775807"

// topicKeys are the topic keys of Kafka 4.4.
var topicKeys = []item{
	{"cleanup.policy", List, "delete", cleanupPolicy, "log.cleanup.policy", used, "What becomes of old records: delete drops whole segments, compact keeps the last record of each key, both do both. The empty list keeps everything."},
	{"compression.gzip.level", Int, "-1", gzipLevel, "compression.gzip.level", used, "Level for batches that the broker compresses with gzip; -1 is the codec's own default."},
	{"compression.lz4.level", Int, "9", between(1, 17), "compression.lz4.level", used, "Level for batches that the broker compresses with lz4."},
	{"compression.type", String, "producer", oneOf("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"), "compression.type", used, "Codec of the stored batches. producer keeps each batch as it came."},
	{"compression.zstd.level", Int, "3", between(-131072, 22), "compression.zstd.level", used, "Level for batches that the broker compresses with zstd."},
	{"delete.retention.ms", Long, "86400000", atLeast(0), "log.cleaner.delete.retention.ms", used, "How long a compacted topic keeps the markers of deleted keys."},
	{"errors.deadletterqueue.group.enable", Boolean, "false", nil, "", noShare, "Whether share groups may use this topic for records that they gave up."},
	{"file.delete.delay.ms", Long, "60000", atLeast(0), "log.segment.delete.delay.ms", used, "Pause between taking a file out of the log and deleting it."},
	{"flush.messages", Long, maxLong, atLeast(1), "log.flush.interval.messages", used, "After this many records a sync to disk is forced. Records sent with acks=all are synced in any case, unless write.caching is on."},
	{"flush.ms", Long, maxLong, atLeast(0), "log.flush.interval.ms", used, "After this time a sync to disk is forced. What nobody waits for is synced in the background in any case."},
	{"follower.replication.throttled.replicas", List, "", throttledReplicas, "", noThrottling, "Replicas whose followers are throttled, or * for all."},
	{"index.interval.bytes", Int, "4096", atLeast(0), "log.index.interval.bytes", used, "Bytes of records between two entries of a segment's indexes."},
	{"leader.replication.throttled.replicas", List, "", throttledReplicas, "", noThrottling, "Replicas whose leaders are throttled, or * for all."},
	{"local.retention.bytes", Long, "-2", atLeast(-2), "log.local.retention.bytes", noTiering, "Bytes kept on the broker's own disk with tiered storage; -2 follows retention.bytes."},
	{"local.retention.ms", Long, "-2", atLeast(-2), "log.local.retention.ms", noTiering, "Time records stay on the broker's own disk with tiered storage; -2 follows retention.ms."},
	{"max.compaction.lag.ms", Long, maxLong, atLeast(1), "log.cleaner.max.compaction.lag.ms", used, "Longest time a record may stay uncompacted."},
	{"max.decompressed.message.bytes", Int, "2147483639", between(1, 2147483639), "max.decompressed.message.bytes", used, "Most bytes that the records of one batch may unpack to."},
	{"max.message.bytes", Int, "1048588", atLeast(0), "message.max.bytes", used, "Largest batch that is taken, as stored."},
	{"message.timestamp.after.max.ms", Long, "3600000", atLeast(0), "log.message.timestamp.after.max.ms", used, "How far a record's timestamp may lie in the future."},
	{"message.timestamp.before.max.ms", Long, maxLong, atLeast(0), "log.message.timestamp.before.max.ms", used, "How far a record's timestamp may lie in the past."},
	{"message.timestamp.type", String, "CreateTime", oneOf("CreateTime", "LogAppendTime"), "log.message.timestamp.type", used, "Whether timestamps are those of the producer or of the broker."},
	{"min.cleanable.dirty.ratio", Double, "0.5", fraction, "log.cleaner.min.cleanable.ratio", used, "Uncompacted part of a log from which compaction begins."},
	{"min.compaction.lag.ms", Long, "0", atLeast(0), "log.cleaner.min.compaction.lag.ms", used, "Shortest time a record stays uncompacted."},
	{"min.insync.replicas", Int, "1", atLeast(1), "min.insync.replicas", used, "Replicas that must hold a record before acks=all is answered."},
	{"preallocate", Boolean, "false", nil, "log.preallocate", used, "Whether a segment gets all of its segment.bytes on the disk when it is made, if twice as much is free."},
	{"remote.copy.lag.bytes", Long, "-1", atLeast(-1), "log.remote.copy.lag.bytes", noTiering, "Bytes that segments wait before they are copied to tiered storage."},
	{"remote.copy.lag.ms", Long, "0", atLeast(-1), "log.remote.copy.lag.ms", noTiering, "Time that segments wait before they are copied to tiered storage."},
	{"remote.log.copy.disable", Boolean, "false", nil, "", noTiering, "Whether copying to tiered storage stops."},
	{"remote.log.delete.on.disable", Boolean, "false", nil, "", noTiering, "Whether what is in tiered storage goes when it is switched off."},
	{"remote.storage.enable", Boolean, "false", onlyFalse, "", refuseTiering, "Switches tiered storage on."},
	{"retention.bytes", Long, "-1", nil, "log.retention.bytes", used, "Most bytes a partition keeps; a negative number is no limit."},
	{"retention.ms", Long, "604800000", atLeast(-1), "log.retention.ms", used, "How long records are kept; -1 is for ever."},
	{"segment.bytes", Int, "1073741824", atLeast(1048576), "log.segment.bytes", used, "Size at which a segment is closed and the next begun."},
	{"segment.index.bytes", Int, "10485760", atLeast(4), "log.index.size.max.bytes", used, "Size at which a segment's offset index is full; a full index closes the segment."},
	{"segment.jitter.ms", Long, "0", atLeast(0), "log.roll.jitter.ms", used, "Random time by which segments close early, so that not all do at once."},
	{"segment.ms", Long, "604800000", atLeast(1), "log.roll.ms", used, "Age at which a segment is closed, by the time of its records."},
	{"unclean.leader.election.enable", Boolean, "false", nil, "unclean.leader.election.enable", noCluster, "Whether a replica that lacks records may lead when no other is left."},
}

// ownTopicKeys are Millrace's own topic keys.
var ownTopicKeys = []item{
	{"write.caching", Boolean, "false", nil, "write.caching.default", used, "With true acks=all does not wait for the disk: records are answered when they are in the page cache, as in Kafka. A power loss may then take acknowledged records."},
}

// groupConfigKeys are the group keys of Kafka 4.4.
var groupConfigKeys = []item{
	{"consumer.assignment.interval.ms", Int, "1000", atLeast(0), "group.consumer.assignment.interval.ms", used, "Shortest time between two assignments of a consumer group."},
	{"consumer.heartbeat.interval.ms", Int, "5000", atLeast(1), "group.consumer.heartbeat.interval.ms", used, "How often members of a consumer group report."},
	{"consumer.session.timeout.ms", Int, "45000", atLeast(1), "group.consumer.session.timeout.ms", used, "A member of a consumer group that is silent for this long is removed."},
	{"errors.deadletterqueue.copy.record.enable", Boolean, "false", nil, "", noShare, "Whether the record itself is copied to the dead letter topic, beside the note about it."},
	{"errors.deadletterqueue.topic.name", String, "", deadLetterTopic, "", noShare, "Topic for records that a share group gave up; none without a name."},
	{"share.assignment.interval.ms", Int, "1000", atLeast(0), "group.share.assignment.interval.ms", noShare, "Shortest time between two assignments of a share group."},
	{"share.auto.offset.reset", String, "latest", offsetReset, "", noShare, "Where a new share group begins."},
	{"share.delivery.count.limit", Int, "5", atLeast(2), "group.share.delivery.count.limit", noShare, "How often a record is handed out before it is given up."},
	{"share.heartbeat.interval.ms", Int, "5000", atLeast(1), "group.share.heartbeat.interval.ms", noShare, "How often members of a share group report."},
	{"share.isolation.level", String, "read_uncommitted", oneOf("read_committed", "read_uncommitted"), "", noShare, "Whether a share group sees records of open transactions."},
	{"share.partition.max.record.locks", Int, "2000", atLeast(100), "group.share.partition.max.record.locks", noShare, "Most records of a partition that are handed out at a time."},
	{"share.record.lock.duration.ms", Int, "30000", atLeast(1000), "group.share.record.lock.duration.ms", noShare, "How long a record that was handed out belongs to its consumer."},
	{"share.renew.acknowledge.enable", Boolean, "true", nil, "", noShare, "Whether a consumer may ask for more time with a record."},
	{"share.session.timeout.ms", Int, "45000", atLeast(1), "group.share.session.timeout.ms", noShare, "A member of a share group that is silent for this long is removed."},
	{"streams.assignment.interval.ms", Int, "1000", atLeast(0), "group.streams.assignment.interval.ms", noStreams, "Shortest time between two assignments of a streams group."},
	{"streams.assignor.name", String, "sticky", nil, "group.streams.assignors", noStreams, "Assignor of the group; the first of group.streams.assignors unless it is set."},
	{"streams.heartbeat.interval.ms", Int, "5000", atLeast(1), "group.streams.heartbeat.interval.ms", noStreams, "How often members of a streams group report."},
	{"streams.initial.rebalance.delay.ms", Int, "3000", atLeast(0), "group.streams.initial.rebalance.delay.ms", noStreams, "How long the first assignment of a new streams group waits for more members."},
	{"streams.num.standby.replicas", Int, "0", atLeast(0), "group.streams.num.standby.replicas", noStreams, "Spare copies of each task's state."},
	{"streams.rack.aware.assignment.tags", List, "", distinct, "group.streams.rack.aware.assignment.tags", noStreams, "Client tags over which spare copies are spread."},
	{"streams.session.timeout.ms", Int, "45000", atLeast(1), "group.streams.session.timeout.ms", noStreams, "A member of a streams group that is silent for this long is removed."},
}

// clientMetricsKeys are the keys of client metrics subscriptions (KIP-714).
var clientMetricsKeys = []item{
	{"interval.ms", Int, "300000", nil, "", noTelemetry, "How often clients push their metrics, from 100 to 3600000."},
	{"match", List, "", clientMatch, "", noTelemetry, "Which clients the subscription is for; all of them without a pattern."},
	{"metrics", List, "", filled, "", noTelemetry, "How the names of the metrics begin; * stands for all."},
}
