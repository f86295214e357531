package kafka

import "millrace/kafka/wire"

// coldHandlers are the APIs that go through kmsg. An API is listed to clients exactly when it stands here or is read
// from the frame by hand (dispatch.go).
func coldHandlers() map[int16]handler {
	return map[int16]handler{
		wire.KeyMetadata:                (*Frontend).metadata,
		wire.KeyDescribeConfigs:         (*Frontend).describeConfigs,
		wire.KeyAlterConfigs:            (*Frontend).alterConfigs,
		wire.KeyIncrementalAlterConfigs: (*Frontend).incrementalAlterConfigs,
		wire.KeyListConfigResources:     (*Frontend).listConfigResources,
		wire.KeyDescribeTopicPartitions: (*Frontend).describeTopicPartitions,
		wire.KeyDescribeLogDirs:         (*Frontend).describeLogDirs,
		wire.KeyDescribeProducers:       (*Frontend).describeProducers,
		wire.KeyDescribeCluster:         (*Frontend).describeCluster,
		wire.KeyCreateTopics:            (*Frontend).createTopics,
		wire.KeyDeleteTopics:            (*Frontend).deleteTopics,
		wire.KeyCreatePartitions:        (*Frontend).createPartitions,
		wire.KeyListOffsets:             (*Frontend).listOffsets,
		wire.KeyOffsetForLeaderEpoch:    (*Frontend).offsetForLeaderEpoch,
		wire.KeyInitProducerId:          (*Frontend).initProducerID,
		wire.KeyDeleteRecords:           (*Frontend).deleteRecords,
		wire.KeyFindCoordinator:         (*Frontend).findCoordinator,
		wire.KeyJoinGroup:               (*Frontend).joinGroup,
		wire.KeySyncGroup:               (*Frontend).syncGroup,
		wire.KeyHeartbeat:               (*Frontend).heartbeat,
		wire.KeyLeaveGroup:              (*Frontend).leaveGroup,
		wire.KeyOffsetCommit:            (*Frontend).offsetCommit,
		wire.KeyOffsetFetch:             (*Frontend).offsetFetch,
		wire.KeyOffsetDelete:            (*Frontend).offsetDelete,
		wire.KeyDescribeGroups:          (*Frontend).describeGroups,
		wire.KeyListGroups:              (*Frontend).listGroups,
		wire.KeyDeleteGroups:            (*Frontend).deleteGroups,
		wire.KeyConsumerGroupHeartbeat:  (*Frontend).consumerGroupHeartbeat,
		wire.KeyConsumerGroupDescribe:   (*Frontend).consumerGroupDescribe,
	}
}
