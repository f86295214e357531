package wire

// API keys of a client listener, by Kafka's names.
const (
	KeyProduce                               int16 = 0
	KeyFetch                                 int16 = 1
	KeyListOffsets                           int16 = 2
	KeyMetadata                              int16 = 3
	KeyOffsetCommit                          int16 = 8
	KeyOffsetFetch                           int16 = 9
	KeyFindCoordinator                       int16 = 10
	KeyJoinGroup                             int16 = 11
	KeyHeartbeat                             int16 = 12
	KeyLeaveGroup                            int16 = 13
	KeySyncGroup                             int16 = 14
	KeyDescribeGroups                        int16 = 15
	KeyListGroups                            int16 = 16
	KeySaslHandshake                         int16 = 17
	KeyApiVersions                           int16 = 18
	KeyCreateTopics                          int16 = 19
	KeyDeleteTopics                          int16 = 20
	KeyDeleteRecords                         int16 = 21
	KeyInitProducerId                        int16 = 22
	KeyOffsetForLeaderEpoch                  int16 = 23
	KeyAddPartitionsToTxn                    int16 = 24
	KeyAddOffsetsToTxn                       int16 = 25
	KeyEndTxn                                int16 = 26
	KeyWriteTxnMarkers                       int16 = 27
	KeyTxnOffsetCommit                       int16 = 28
	KeyDescribeAcls                          int16 = 29
	KeyCreateAcls                            int16 = 30
	KeyDeleteAcls                            int16 = 31
	KeyDescribeConfigs                       int16 = 32
	KeyAlterConfigs                          int16 = 33
	KeyAlterReplicaLogDirs                   int16 = 34
	KeyDescribeLogDirs                       int16 = 35
	KeySaslAuthenticate                      int16 = 36
	KeyCreatePartitions                      int16 = 37
	KeyCreateDelegationToken                 int16 = 38
	KeyRenewDelegationToken                  int16 = 39
	KeyExpireDelegationToken                 int16 = 40
	KeyDescribeDelegationToken               int16 = 41
	KeyDeleteGroups                          int16 = 42
	KeyElectLeaders                          int16 = 43
	KeyIncrementalAlterConfigs               int16 = 44
	KeyAlterPartitionReassignments           int16 = 45
	KeyListPartitionReassignments            int16 = 46
	KeyOffsetDelete                          int16 = 47
	KeyDescribeClientQuotas                  int16 = 48
	KeyAlterClientQuotas                     int16 = 49
	KeyDescribeUserScramCredentials          int16 = 50
	KeyAlterUserScramCredentials             int16 = 51
	KeyDescribeQuorum                        int16 = 55
	KeyUpdateFeatures                        int16 = 57
	KeyDescribeCluster                       int16 = 60
	KeyDescribeProducers                     int16 = 61
	KeyUnregisterBroker                      int16 = 64
	KeyDescribeTransactions                  int16 = 65
	KeyListTransactions                      int16 = 66
	KeyConsumerGroupHeartbeat                int16 = 68
	KeyConsumerGroupDescribe                 int16 = 69
	KeyListConfigResources                   int16 = 74
	KeyDescribeTopicPartitions               int16 = 75
	KeyShareGroupHeartbeat                   int16 = 76
	KeyShareGroupDescribe                    int16 = 77
	KeyShareFetch                            int16 = 78
	KeyShareAcknowledge                      int16 = 79
	KeyAddRaftVoter                          int16 = 80
	KeyRemoveRaftVoter                       int16 = 81
	KeyInitializeShareGroupState             int16 = 83
	KeyReadShareGroupState                   int16 = 84
	KeyWriteShareGroupState                  int16 = 85
	KeyDeleteShareGroupState                 int16 = 86
	KeyReadShareGroupStateSummary            int16 = 87
	KeyStreamsGroupHeartbeat                 int16 = 88
	KeyStreamsGroupDescribe                  int16 = 89
	KeyDescribeShareGroupOffsets             int16 = 90
	KeyAlterShareGroupOffsets                int16 = 91
	KeyDeleteShareGroupOffsets               int16 = 92
	KeyStreamsGroupTopologyDescriptionUpdate int16 = 93
	KeyUnregisterController                  int16 = 94
)

// neverFlexible stands for "no flexible version" in the table.
const neverFlexible = int16(0x7fff)

// API is one API with the versions that Apache Kafka 4.4.0 advertises to
// clients. Immutable.
type API struct {
	Key int16
	// Name is Kafka's name.
	Name string
	// Min and Max are the advertised versions.
	Min, Max int16
	// Lowest is the lowest version that is accepted. It differs from Min for
	// Produce only, which advertises 0 so that old librdkafka works and refuses
	// 0 to 2 (KAFKA-18659).
	Lowest int16
	// Flexible is the first version with compact forms and tagged fields
	// (KIP-482).
	Flexible int16
}

// Accepts says whether requests at version are served.
func (a *API) Accepts(version int16) bool { return version >= a.Lowest && version <= a.Max }

// IsFlexible says whether version uses compact forms and tagged fields.
func (a *API) IsFlexible(version int16) bool { return version >= a.Flexible }

// Lookup finds the API of key, nil if there is none on a client listener.
func Lookup(key int16) *API {
	if key < 0 || int(key) >= len(byKey) {
		return nil
	}
	return byKey[key]
}

// Versions lists all APIs by key. Which of them are advertised is up to the
// caller; the slice must not be changed.
func Versions() []API { return apis }

var byKey = func() (table [KeyUnregisterController + 1]*API) {
	for i := range apis {
		table[apis[i].Key] = &apis[i]
	}
	return table
}()

var apis = []API{
	{KeyProduce, "Produce", 0, 13, 3, 9},
	{KeyFetch, "Fetch", 4, 18, 4, 12},
	{KeyListOffsets, "ListOffsets", 1, 11, 1, 6},
	{KeyMetadata, "Metadata", 0, 13, 0, 9},
	{KeyOffsetCommit, "OffsetCommit", 2, 10, 2, 8},
	{KeyOffsetFetch, "OffsetFetch", 1, 10, 1, 6},
	{KeyFindCoordinator, "FindCoordinator", 0, 6, 0, 3},
	{KeyJoinGroup, "JoinGroup", 0, 9, 0, 6},
	{KeyHeartbeat, "Heartbeat", 0, 4, 0, 4},
	{KeyLeaveGroup, "LeaveGroup", 0, 5, 0, 4},
	{KeySyncGroup, "SyncGroup", 0, 5, 0, 4},
	{KeyDescribeGroups, "DescribeGroups", 0, 6, 0, 5},
	{KeyListGroups, "ListGroups", 0, 5, 0, 3},
	{KeySaslHandshake, "SaslHandshake", 0, 1, 0, neverFlexible},
	{KeyApiVersions, "ApiVersions", 0, 5, 0, 3},
	{KeyCreateTopics, "CreateTopics", 2, 7, 2, 5},
	{KeyDeleteTopics, "DeleteTopics", 1, 6, 1, 4},
	{KeyDeleteRecords, "DeleteRecords", 0, 2, 0, 2},
	{KeyInitProducerId, "InitProducerId", 0, 5, 0, 2},
	{KeyOffsetForLeaderEpoch, "OffsetForLeaderEpoch", 2, 4, 2, 4},
	{KeyAddPartitionsToTxn, "AddPartitionsToTxn", 0, 5, 0, 3},
	{KeyAddOffsetsToTxn, "AddOffsetsToTxn", 0, 4, 0, 3},
	{KeyEndTxn, "EndTxn", 0, 5, 0, 3},
	{KeyWriteTxnMarkers, "WriteTxnMarkers", 1, 2, 1, 1},
	{KeyTxnOffsetCommit, "TxnOffsetCommit", 0, 6, 0, 3},
	{KeyDescribeAcls, "DescribeAcls", 1, 3, 1, 2},
	{KeyCreateAcls, "CreateAcls", 1, 3, 1, 2},
	{KeyDeleteAcls, "DeleteAcls", 1, 3, 1, 2},
	{KeyDescribeConfigs, "DescribeConfigs", 1, 4, 1, 4},
	{KeyAlterConfigs, "AlterConfigs", 0, 2, 0, 2},
	{KeyAlterReplicaLogDirs, "AlterReplicaLogDirs", 1, 2, 1, 2},
	{KeyDescribeLogDirs, "DescribeLogDirs", 1, 5, 1, 2},
	{KeySaslAuthenticate, "SaslAuthenticate", 0, 2, 0, 2},
	{KeyCreatePartitions, "CreatePartitions", 0, 3, 0, 2},
	{KeyCreateDelegationToken, "CreateDelegationToken", 1, 3, 1, 2},
	{KeyRenewDelegationToken, "RenewDelegationToken", 1, 2, 1, 2},
	{KeyExpireDelegationToken, "ExpireDelegationToken", 1, 2, 1, 2},
	{KeyDescribeDelegationToken, "DescribeDelegationToken", 1, 3, 1, 2},
	{KeyDeleteGroups, "DeleteGroups", 0, 3, 0, 2},
	{KeyElectLeaders, "ElectLeaders", 0, 2, 0, 2},
	{KeyIncrementalAlterConfigs, "IncrementalAlterConfigs", 0, 1, 0, 1},
	{KeyAlterPartitionReassignments, "AlterPartitionReassignments", 0, 1, 0, 0},
	{KeyListPartitionReassignments, "ListPartitionReassignments", 0, 0, 0, 0},
	{KeyOffsetDelete, "OffsetDelete", 0, 0, 0, neverFlexible},
	{KeyDescribeClientQuotas, "DescribeClientQuotas", 0, 1, 0, 1},
	{KeyAlterClientQuotas, "AlterClientQuotas", 0, 1, 0, 1},
	{KeyDescribeUserScramCredentials, "DescribeUserScramCredentials", 0, 0, 0, 0},
	{KeyAlterUserScramCredentials, "AlterUserScramCredentials", 0, 0, 0, 0},
	{KeyDescribeQuorum, "DescribeQuorum", 0, 2, 0, 0},
	{KeyUpdateFeatures, "UpdateFeatures", 0, 2, 0, 0},
	{KeyDescribeCluster, "DescribeCluster", 0, 2, 0, 0},
	{KeyDescribeProducers, "DescribeProducers", 0, 0, 0, 0},
	{KeyUnregisterBroker, "UnregisterBroker", 0, 0, 0, 0},
	{KeyDescribeTransactions, "DescribeTransactions", 0, 0, 0, 0},
	{KeyListTransactions, "ListTransactions", 0, 2, 0, 0},
	{KeyConsumerGroupHeartbeat, "ConsumerGroupHeartbeat", 0, 1, 0, 0},
	{KeyConsumerGroupDescribe, "ConsumerGroupDescribe", 0, 1, 0, 0},
	{KeyListConfigResources, "ListConfigResources", 0, 1, 0, 0},
	{KeyDescribeTopicPartitions, "DescribeTopicPartitions", 0, 0, 0, 0},
	{KeyShareGroupHeartbeat, "ShareGroupHeartbeat", 1, 1, 1, 0},
	{KeyShareGroupDescribe, "ShareGroupDescribe", 1, 1, 1, 0},
	{KeyShareFetch, "ShareFetch", 1, 2, 1, 0},
	{KeyShareAcknowledge, "ShareAcknowledge", 1, 2, 1, 0},
	{KeyAddRaftVoter, "AddRaftVoter", 0, 1, 0, 0},
	{KeyRemoveRaftVoter, "RemoveRaftVoter", 0, 0, 0, 0},
	{KeyInitializeShareGroupState, "InitializeShareGroupState", 0, 0, 0, 0},
	{KeyReadShareGroupState, "ReadShareGroupState", 0, 0, 0, 0},
	{KeyWriteShareGroupState, "WriteShareGroupState", 0, 1, 0, 0},
	{KeyDeleteShareGroupState, "DeleteShareGroupState", 0, 0, 0, 0},
	{KeyReadShareGroupStateSummary, "ReadShareGroupStateSummary", 0, 1, 0, 0},
	{KeyStreamsGroupHeartbeat, "StreamsGroupHeartbeat", 0, 1, 0, 0},
	{KeyStreamsGroupDescribe, "StreamsGroupDescribe", 0, 1, 0, 0},
	{KeyDescribeShareGroupOffsets, "DescribeShareGroupOffsets", 0, 1, 0, 0},
	{KeyAlterShareGroupOffsets, "AlterShareGroupOffsets", 0, 0, 0, 0},
	{KeyDeleteShareGroupOffsets, "DeleteShareGroupOffsets", 0, 0, 0, 0},
	{KeyStreamsGroupTopologyDescriptionUpdate, "StreamsGroupTopologyDescriptionUpdate", 0, 0, 0, 0},
	{KeyUnregisterController, "UnregisterController", 0, 0, 0, 0},
}
