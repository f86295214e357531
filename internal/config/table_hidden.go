package config

import "fmt"

// hiddenBrokerKeys are Kafka's internal keys: it accepts them in a property
// file and describes them only where they are set.
var hiddenBrokerKeys = []row{
	{"controller.performance.always.log.threshold.ms", Long, "2000", atLeast(0), ReadOnly, noEventTimes, "Events of the controller that take longer are logged as errors."},
	{"controller.performance.sample.period.ms", Long, "60000", atLeast(100), ReadOnly, noEventTimes, "How often the times of the controller's events are logged."},
	{"group.consumer.assignor.offload.enable", Boolean, "true", nil, ReadOnly, noThreads, "Whether assignments of consumer groups are made in the background."},
	{"group.consumer.regex.refresh.interval.ms", Int, "600000", atLeast(10000), ReadOnly, noRegexRefresh, "How often topics are matched again with the patterns that groups subscribe to."},
	{"group.share.assignor.offload.enable", Boolean, "true", nil, ReadOnly, noShare, "Whether assignments of share groups are made in the background."},
	{"group.share.dlq.manager.class.name", String, "org.apache.kafka.server.share.dlq.DefaultShareGroupDLQManager", nil, ReadOnly, noShare, "Java class that looks after records that share groups gave up."},
	{"group.share.initialize.retry.interval.ms", Int, "30000", atLeast(1), ReadOnly, noShare, "Pause before the state of a share group is initialised again."},
	{"group.share.persister.class.name", String, "org.apache.kafka.server.share.persister.DefaultStatePersister", nil, ReadOnly, noShare, "Java class that keeps the state of share groups."},
	{"group.streams.acceptable.recovery.lag", Long, "10000", atLeast(0), ReadOnly, noStreams, "Lag up to which a client may be given an active task."},
	{"group.streams.assignor.offload.enable", Boolean, "true", nil, ReadOnly, noStreams, "Whether assignments of streams groups are made in the background."},
	{"group.streams.max.warmup.replicas", Int, "20", atLeast(0), ReadOnly, noStreams, "Largest number of warm-up replicas that a group may ask for."},
	{"group.streams.min.task.offset.interval.ms", Int, "15000", atLeast(1), ReadOnly, noStreams, "Shortest interval of task offsets that a group may ask for."},
	{"group.streams.num.warmup.replicas", Int, "2", atLeast(0), ReadOnly, noStreams, "Warm-up replicas of a streams group."},
	{"group.streams.task.offset.interval.ms", Int, "60000", atLeast(1), ReadOnly, noStreams, "How often clients of streams groups send the offsets of warm-up tasks."},
	{"internal.metadata.delete.delay.millis", Long, "60000", nil, ReadOnly, noRaft, "How long removed files of the metadata log are kept."},
	{"internal.metadata.log.segment.bytes", Int, null, nil, ReadOnly, noRaft, "Largest file of the metadata log."},
	{"internal.metadata.max.batch.size.in.bytes", Int, "8388608", nil, ReadOnly, noRaft, "Largest batch of the metadata log."},
	{"log.initial.task.delay.ms", Long, "30000", atLeast(0), ReadOnly, used, "Time from the start to the first look for old segments."},
	{"producer.id.expiration.check.interval.ms", Int, "600000", atLeast(1), ReadOnly, used, "How often producers that expired are looked for."},
	{"remote.log.index.file.cache.ttl.ms", Long, "900000", atLeast(-1), ReadOnly, noTiering, "How long index files of remote segments stay after their last use."},
	{"remote.log.manager.task.retry.backoff.max.ms", Long, "30000", atLeast(1), ReadOnly, noTiering, "Longest pause before a remote request is repeated."},
	{"remote.log.manager.task.retry.backoff.ms", Long, "500", atLeast(1), ReadOnly, noTiering, "First pause before a remote request is repeated."},
	{"remote.log.manager.task.retry.jitter", Double, "0.2", upToHalf, ReadOnly, noTiering, "How much the pause before a repeated remote request varies."},
	{"server.max.startup.time.ms", Long, "9223372036854775807", atLeast(0), ReadOnly, noStartLimit, "Longest time that a start may take."},
	{"share.coordinator.cold.partition.snapshot.interval.ms", Int, "300000", atLeast(1), ReadOnly, noShare, "How often idle share partitions are written out as a whole."},
	{"share.coordinator.state.topic.prune.interval.ms", Int, "300000", atLeast(1), ReadOnly, noShare, "How often the topic of share states is pruned."},
	{"unclean.leader.election.interval.ms", Long, "300000", atLeast(1), ReadOnly, noCluster, "How often partitions without a leader are looked for."},
}

// upToHalf takes 0 to 0.5.
var upToHalf = &Check{"a number from 0 to 0.5", func(v *Value) error {
	if v.Double < 0 || v.Double > 0.5 {
		return fmt.Errorf("%s is out of range", formatDouble(v.Double))
	}
	return nil
}}

// hide marks keys that are described only where they are set.
func hide(keys []*Key) []*Key {
	for _, k := range keys {
		k.Hidden = true
	}
	return keys
}
