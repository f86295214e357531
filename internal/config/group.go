package config

// GroupConfig is the typed view of a group's configs. Immutable once
// published. Times are milliseconds.
type GroupConfig struct {
	ConsumerAssignmentIntervalMs int32
	ConsumerHeartbeatIntervalMs  int32
	ConsumerSessionTimeoutMs     int32

	ShareAssignmentIntervalMs    int32
	ShareHeartbeatIntervalMs     int32
	ShareSessionTimeoutMs        int32
	ShareAutoOffsetReset         string
	ShareDeliveryCountLimit      int32
	ShareReadCommitted           bool
	SharePartitionMaxRecordLocks int32
	ShareRecordLockDurationMs    int32
	ShareRenewAcknowledge        bool
	DeadLetterTopic              string
	DeadLetterCopyRecord         bool

	StreamsAssignmentIntervalMs    int32
	StreamsAssignor                string
	StreamsHeartbeatIntervalMs     int32
	StreamsSessionTimeoutMs        int32
	StreamsInitialRebalanceDelayMs int32
	StreamsNumStandbyReplicas      int32
	StreamsRackAwareAssignmentTags []string
}

// groupValue is what counts for a group key.
func (l *Layers) groupValue(overrides Set, name string) Value {
	k := mustLookup(Group, name)
	if text, ok := overrides[name]; ok {
		if v, err := k.Parse(text); err == nil {
			return v
		}
	}
	switch {
	case name == "streams.assignor.name":
		if list := l.list(k.Follows); len(list) > 0 {
			return Value{Type: String, Text: list[0]}
		}
		return k.DefaultValue()
	case k.Follows == "":
		return k.DefaultValue()
	}
	return l.get(k.Follows)
}

// Group builds the typed view of a group with the given overrides.
func (l *Layers) Group(overrides Set) *GroupConfig {
	get := func(name string) Value { return l.groupValue(overrides, name) }
	whole := func(name string) int32 { return int32(get(name).Int) }
	return &GroupConfig{
		ConsumerAssignmentIntervalMs: whole("consumer.assignment.interval.ms"),
		ConsumerHeartbeatIntervalMs:  whole("consumer.heartbeat.interval.ms"),
		ConsumerSessionTimeoutMs:     whole("consumer.session.timeout.ms"),

		ShareAssignmentIntervalMs:    whole("share.assignment.interval.ms"),
		ShareHeartbeatIntervalMs:     whole("share.heartbeat.interval.ms"),
		ShareSessionTimeoutMs:        whole("share.session.timeout.ms"),
		ShareAutoOffsetReset:         get("share.auto.offset.reset").Text,
		ShareDeliveryCountLimit:      whole("share.delivery.count.limit"),
		ShareReadCommitted:           get("share.isolation.level").Text == "read_committed",
		SharePartitionMaxRecordLocks: whole("share.partition.max.record.locks"),
		ShareRecordLockDurationMs:    whole("share.record.lock.duration.ms"),
		ShareRenewAcknowledge:        get("share.renew.acknowledge.enable").Bool,
		DeadLetterTopic:              get("errors.deadletterqueue.topic.name").Text,
		DeadLetterCopyRecord:         get("errors.deadletterqueue.copy.record.enable").Bool,

		StreamsAssignmentIntervalMs:    whole("streams.assignment.interval.ms"),
		StreamsAssignor:                get("streams.assignor.name").Text,
		StreamsHeartbeatIntervalMs:     whole("streams.heartbeat.interval.ms"),
		StreamsSessionTimeoutMs:        whole("streams.session.timeout.ms"),
		StreamsInitialRebalanceDelayMs: whole("streams.initial.rebalance.delay.ms"),
		StreamsNumStandbyReplicas:      whole("streams.num.standby.replicas"),
		StreamsRackAwareAssignmentTags: get("streams.rack.aware.assignment.tags").List,
	}
}
