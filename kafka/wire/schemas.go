package wire

// schemas are the requests of a client listener up to the versions of Apache
// Kafka 4.4.0, in the notation of schema.go.
var schemas = func() (table [len(byKey)][]field) {
	for key, text := range schemaTexts {
		table[key] = parseSchema(text)
	}
	return table
}()

var schemaTexts = map[int16]string{
	KeyProduce: "TransactionId str? 3+; Acks i16; TimeoutMs i32; Topics [Topic str 0-12; TopicId id 13+; Partitions [Partition i32; " +
		"Records bytes?]]",
	KeyFetch: "ReplicaId i32 0-14; MaxWaitMs i32; MinBytes i32; MaxBytes i32 3+; IsolationLevel i8 4+; SessionId i32 7+; SessionEpoch i32 7+; " +
		"Topics [Topic str 0-12; TopicId id 13+; Partitions [Partition i32; CurrentLeaderEpoch i32 9+; FetchOffset i64; " +
		"LastFetchedEpoch i32 12+; LogStartOffset i64 5+; PartitionMaxBytes i32; ReplicaDirectoryId id 17+ #0; HighWatermark i64 18+ #1]]; " +
		"ForgottenTopics [Topic str 7-12; TopicId id 13+; Partitions [i32]] 7+; Rack str 11+; ClusterId str? 12+ #0; ReplicaState (Id i32; " +
		"Epoch i64) 15+ #1",
	KeyListOffsets: "ReplicaId i32; IsolationLevel i8 2+; Topics [Topic str; Partitions [Partition i32; CurrentLeaderEpoch i32 4+; Timestamp i64; " +
		"MaxNumOffsets i32 0-0]]; TimeoutMs i32 10+",
	KeyMetadata: "Topics [TopicId id 10+; Topic str?10+]?1+; AllowAutoTopicCreation bool 4+; IncludeClusterAuthorizedOperations bool 8-10; " +
		"IncludeTopicAuthorizedOperations bool 8+",
	KeyOffsetCommit: "Group str; Generation i32 1+; MemberId str 1+; InstanceId str? 7+; RetentionTimeMs i64 2-4; Topics [Topic str 0-9; " +
		"TopicId id 10+; Partitions [Partition i32; Offset i64; Timestamp i64 1-1; LeaderEpoch i32 6+; Metadata str?]]",
	KeyOffsetFetch: "Group str 0-7; Topics [Topic str; Partitions [i32]]?2+ 0-7; Groups [Group str; MemberId str? 9+; MemberEpoch i32 9+; " +
		"Topics [Topic str 8-9; TopicId id 10+; Partitions [i32]]?] 8+; RequireStable bool 7+",
	KeyFindCoordinator: "CoordinatorKey str 0-3; CoordinatorType i8 1+; CoordinatorKeys [str] 4+",
	KeyJoinGroup: "Group str; SessionTimeoutMs i32; RebalanceTimeoutMs i32 1+; MemberId str; InstanceId str? 5+; ProtocolType str; " +
		"Protocols [Name str; Metadata bytes]; Reason str? 8+",
	KeyHeartbeat:  "Group str; Generation i32; MemberId str; InstanceId str? 3+",
	KeyLeaveGroup: "Group str; MemberId str 0-2; Members [MemberId str; InstanceId str?; Reason str? 5+] 3+",
	KeySyncGroup: "Group str; Generation i32; MemberId str; InstanceId str? 3+; ProtocolType str? 5+; Protocol str? 5+; " +
		"GroupAssignment [MemberId str; MemberAssignment bytes]",
	KeyDescribeGroups: "Groups [str]; IncludeAuthorizedOperations bool 3+",
	KeyListGroups:     "StatesFilter [str] 4+; TypesFilter [str] 5+",
	KeySaslHandshake:  "Mechanism str",
	KeyApiVersions:    "ClientSoftwareName str 3+; ClientSoftwareVersion str 3+; ClusterId str? 5+; NodeId i32 5+",
	KeyCreateTopics: "Topics [Topic str; NumPartitions i32; ReplicationFactor i16; ReplicaAssignment [Partition i32; Replicas [i32]]; " +
		"Configs [Name str; Value str?]]; TimeoutMs i32; ValidateOnly bool 1+",
	KeyDeleteTopics:         "TopicNames [str] 0-5; Topics [Topic str?; TopicId id] 6+; TimeoutMs i32",
	KeyDeleteRecords:        "Topics [Topic str; Partitions [Partition i32; Offset i64]]; TimeoutMs i32",
	KeyInitProducerId:       "TransactionalId str?; TransactionTimeoutMs i32; ProducerId i64 3+; ProducerEpoch i16 3+",
	KeyOffsetForLeaderEpoch: "ReplicaId i32 3+; Topics [Topic str; Partitions [Partition i32; CurrentLeaderEpoch i32 2+; LeaderEpoch i32]]",
	KeyAddPartitionsToTxn: "TransactionalId str 0-3; ProducerId i64 0-3; ProducerEpoch i16 0-3; Topics [Topic str; Partitions [i32]] 0-3; " +
		"Transactions [TransactionalId str; ProducerId i64; ProducerEpoch i16; VerifyOnly bool; Topics [Topic str; Partitions [i32]]] 4+",
	KeyAddOffsetsToTxn: "TransactionalId str; ProducerId i64; ProducerEpoch i16; Group str",
	KeyEndTxn:          "TransactionalId str; ProducerId i64; ProducerEpoch i16; Commit bool",
	KeyWriteTxnMarkers: "Markers [ProducerId i64; ProducerEpoch i16; Committed bool; Topics [Topic str; Partitions [i32]]; CoordinatorEpoch i32; " +
		"TransactionVersion i8 2+]",
	KeyTxnOffsetCommit: "TransactionalId str; Group str; ProducerId i64; ProducerEpoch i16; Generation i32 3+; MemberId str 3+; InstanceId str? 3+; " +
		"Topics [Topic str 0-5; TopicId id 6+; Partitions [Partition i32; Offset i64; LeaderEpoch i32 2+; Metadata str?]]",
	KeyDescribeAcls:                 "ResourceType i8; ResourceName str?; ResourcePatternType i8; Principal str?; Host str?; Operation i8; PermissionType i8",
	KeyCreateAcls:                   "Creations [ResourceType i8; ResourceName str; ResourcePatternType i8; Principal str; Host str; Operation i8; PermissionType i8]",
	KeyDeleteAcls:                   "Filters [ResourceType i8; ResourceName str?; ResourcePatternType i8; Principal str?; Host str?; Operation i8; PermissionType i8]",
	KeyDescribeConfigs:              "Resources [ResourceType i8; ResourceName str; ConfigNames [str]?]; IncludeSynonyms bool 1+; IncludeDocumentation bool 3+",
	KeyAlterConfigs:                 "Resources [ResourceType i8; ResourceName str; Configs [Name str; Value str?]]; ValidateOnly bool",
	KeyAlterReplicaLogDirs:          "Dirs [Dir str; Topics [Topic str; Partitions [i32]]]",
	KeyDescribeLogDirs:              "Topics [Topic str; Partitions [i32]]?",
	KeySaslAuthenticate:             "SASLAuthBytes bytes",
	KeyCreatePartitions:             "Topics [Topic str; Count i32; Assignment [Replicas [i32]]?]; TimeoutMs i32; ValidateOnly bool",
	KeyCreateDelegationToken:        "OwnerPrincipalType str? 3+; OwnerPrincipalName str? 3+; Renewers [PrincipalType str; PrincipalName str]; MaxLifetimeMs i64",
	KeyRenewDelegationToken:         "Hmac bytes; RenewTimeMs i64",
	KeyExpireDelegationToken:        "Hmac bytes; ExpiryPeriodMs i64",
	KeyDescribeDelegationToken:      "Owners [PrincipalType str; PrincipalName str]?",
	KeyDeleteGroups:                 "Groups [str]",
	KeyElectLeaders:                 "ElectionType i8 1+; Topics [Topic str; Partitions [i32]]?; TimeoutMs i32",
	KeyIncrementalAlterConfigs:      "Resources [ResourceType i8; ResourceName str; Configs [Name str; Op i8; Value str?]]; ValidateOnly bool",
	KeyAlterPartitionReassignments:  "TimeoutMs i32; AllowReplicationFactorChange bool 1+; Topics [Topic str; Partitions [Partition i32; Replicas [i32]?]]",
	KeyListPartitionReassignments:   "TimeoutMs i32; Topics [Topic str; Partitions [i32]]?",
	KeyOffsetDelete:                 "Group str; Topics [Topic str; Partitions [Partition i32]]",
	KeyDescribeClientQuotas:         "Components [EntityType str; MatchType i8; Match str?]; Strict bool",
	KeyAlterClientQuotas:            "Entries [Entity [Type str; Name str?]; Ops [Key str; Value f64; Remove bool]]; ValidateOnly bool",
	KeyDescribeUserScramCredentials: "Users [Name str]?",
	KeyAlterUserScramCredentials:    "Deletions [Name str; Mechanism i8]; Upsertions [Name str; Mechanism i8; Iterations i32; Salt bytes; SaltedPassword bytes]",
	KeyDescribeQuorum:               "Topics [Topic str; Partitions [Partition i32]]",
	KeyUpdateFeatures:               "TimeoutMs i32; FeatureUpdates [Feature str; MaxVersionLevel i16; AllowDowngrade bool 0-0; UpgradeType i8 1+]; ValidateOnly bool 1+",
	KeyDescribeCluster:              "IncludeClusterAuthorizedOperations bool; EndpointType i8 1+; IncludeFencedBrokers bool 2+",
	KeyDescribeProducers:            "Topics [Topic str; Partitions [i32]]",
	KeyUnregisterBroker:             "BrokerId i32",
	KeyDescribeTransactions:         "TransactionalIds [str]",
	KeyListTransactions:             "StateFilters [str]; ProducerIdFilters [i64]; DurationFilterMs i64 1+; TransactionalIdPattern str? 2+",
	KeyConsumerGroupHeartbeat: "Group str; MemberId str; MemberEpoch i32; InstanceId str?; RackId str?; RebalanceTimeoutMs i32; SubscribedTopicNames [str]?; " +
		"SubscribedTopicRegex str? 1+; ServerAssignor str?; Topics [TopicId id; Partitions [i32]]?",
	KeyConsumerGroupDescribe:   "Groups [str]; IncludeAuthorizedOperations bool",
	KeyListConfigResources:     "ResourceTypes [i8] 1+",
	KeyDescribeTopicPartitions: "Topics [Topic str]; ResponsePartitionLimit i32; Cursor (Topic str; Partition i32)?",
	KeyShareGroupHeartbeat:     "GroupId str; MemberId str; MemberEpoch i32; RackId str?; SubscribedTopicNames [str]?",
	KeyShareGroupDescribe:      "GroupIds [str]; IncludeAuthorizedOperations bool",
	KeyShareFetch: "GroupId str?; MemberId str?; ShareSessionEpoch i32; MaxWaitMs i32; MinBytes i32; MaxBytes i32; MaxRecords i32 1+; " +
		"BatchSize i32 1+; ShareAcquireMode i8 2+; IsRenewAck bool 2+; Topics [TopicId id; Partitions [Partition i32; " +
		"PartitionMaxBytes i32 0-0; AcknowledgementBatches [FirstOffset i64; LastOffset i64; AcknowledgeTypes [i8]]]]; " +
		"ForgottenTopicsData [TopicId id; Partitions [i32]]",
	KeyShareAcknowledge: "GroupId str?; MemberId str?; ShareSessionEpoch i32; IsRenewAck bool 2+; Topics [TopicId id; Partitions [Partition i32; " +
		"AcknowledgementBatches [FirstOffset i64; LastOffset i64; AcknowledgeTypes [i8]]]]",
	KeyAddRaftVoter: "ClusterId str?; TimeoutMs i32; VoterId i32; VoterDirectoryId id; Listeners [Name str; Host str; Port u16]; " +
		"AckWhenCommitted bool 1+",
	KeyRemoveRaftVoter:           "ClusterId str?; VoterId i32; VoterDirectoryId id",
	KeyInitializeShareGroupState: "GroupId str; Topics [TopicId id; Partitions [Partition i32; StateEpoch i32; StartOffset i64]]",
	KeyReadShareGroupState:       "GroupId str; Topics [TopicId id; Partitions [Partition i32; LeaderEpoch i32]]",
	KeyWriteShareGroupState: "GroupId str; Topics [TopicId id; Partitions [Partition i32; StateEpoch i32; LeaderEpoch i32; StartOffset i64; " +
		"DeliveryCompleteCount i32 1+; StateBatches [FirstOffset i64; LastOffset i64; DeliveryState i8; DeliveryCount i16]]]",
	KeyDeleteShareGroupState:      "GroupId str; Topics [TopicId id; Partitions [Partition i32]]",
	KeyReadShareGroupStateSummary: "GroupId str; Topics [TopicId id; Partitions [Partition i32; LeaderEpoch i32]]",
	KeyStreamsGroupHeartbeat: "Group str; MemberId str; MemberEpoch i32; EndpointInformationEpoch i32; InstanceId str?; RackId str?; RebalanceTimeoutMs i32; " +
		"Topology (Epoch i32; Subtopologies [SubtopologyId str; SourceTopics [str]; SourceTopicRegex [str]; " +
		"StateChangelogTopics [Topic str; NumPartitions i32; ReplicationFactor i16; Configs [Key str; Value str]]; " +
		"RepartitionSinkTopics [str]; RepartitionSourceTopics [Topic str; NumPartitions i32; ReplicationFactor i16; Configs [Key str; " +
		"Value str]]; CopartitionGroups [SourceTopics [i16]; SourceTopicRegex [i16]; RepartitionSourceTopics [i16]]])?; " +
		"ActiveTasks [SubtopologyId str; Partitions [i32]]?; StandbyTasks [SubtopologyId str; Partitions [i32]]?; " +
		"WarmupTasks [SubtopologyId str; Partitions [i32]]?; ProcessId str?; UserEndpoint (Host str; Port u16)?; ClientTags [Key str; " +
		"Value str]?; TaskOffsets [SubtopologyId str; Partition i32; Offset i64]?; TaskEndOffsets [SubtopologyId str; Partition i32; " +
		"Offset i64]?; ShutdownApplication bool",
	KeyStreamsGroupDescribe:      "Groups [str]; IncludeAuthorizedOperations bool; IncludeTopologyDescription bool 1+",
	KeyDescribeShareGroupOffsets: "Groups [GroupId str; Topics [Topic str; Partitions [i32]]?]",
	KeyAlterShareGroupOffsets:    "GroupId str; Topics [Topic str; Partitions [Partition i32; StartOffset i64]]",
	KeyDeleteShareGroupOffsets:   "GroupId str; Topics [Topic str]",
	KeyStreamsGroupTopologyDescriptionUpdate: "Group str; MemberId str; TopologyEpoch i32; TopologyDescription (Subtopologies [SubtopologyId str; Nodes [Name str; NodeType i8; " +
		"SourceTopics [str]; SinkTopic str?; Stores [str]; Successors [str]]]; GlobalStores [Source (Name str; NodeType i8; " +
		"SourceTopics [str]; SinkTopic str?; Stores [str]; Successors [str]); Processor (Name str; NodeType i8; SourceTopics [str]; " +
		"SinkTopic str?; Stores [str]; Successors [str])])",
	KeyUnregisterController: "ControllerId i32",
}
