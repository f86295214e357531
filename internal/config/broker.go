package config

import (
	"fmt"
	"slices"
	"strings"
)

// BrokerConfig is the typed view of the broker keys. Immutable once
// published. Times are milliseconds, sizes bytes. The first part is read at
// the start alone, Dynamic may differ after an AlterConfigs.
type BrokerConfig struct {
	NodeID int32
	// Rack is empty where none is set.
	Rack string
	// ClusterID is empty where a random one is wanted.
	ClusterID string
	// LogDirs holds at least one directory; the first has the metadata too.
	LogDirs []string
	// Listeners are those that clients use, at least one.
	Listeners []Listener
	// ControllerListeners are configured for the controller; nothing listens there.
	ControllerListeners []Listener
	Voters              []Voter

	// IOEngine is auto, uring or epoll.
	IOEngine string
	// NumLoops 0 is one per usable processor.
	NumLoops int
	// LogAppendMode is auto, inline or ring.
	LogAppendMode string
	// FetchZeroCopy is false where fetch answers are to be copied through memory.
	FetchZeroCopy bool
	// AdminListen is HOST:PORT; empty is off. AdminDefault tells that nobody
	// chose it, so that another port may be taken.
	AdminListen  string
	AdminDefault bool
	// LoggingLevel is debug, info, warn or error; LoggingFormat auto, text or json.
	LoggingLevel, LoggingFormat string
	ShutdownTimeoutMs           int64

	AutoCreateTopics  bool
	DeleteTopics      bool
	NumPartitions     int32
	ReplicationFactor int16

	FetchMaxBytes               int32
	FetchSessionSlots           int32
	MaxRequestPartitions        int32
	SocketRequestMaxBytes       int32
	SocketSendBufferBytes       int32
	SocketReceiveBufferBytes    int32
	SocketListenBacklog         int32
	SocketCongestion            string
	ConnectionsMaxIdleMs        int64
	FirstRequestTimeoutMs       int64
	ConnectionQueuedMaxBytes    int64
	QueuedMaxRequestBytes       int64
	LogRetentionCheckIntervalMs int64
	// LogInitialTaskDelayMs is the time from the start to the first look.
	LogInitialTaskDelayMs       int64
	ProducerIDExpirationCheckMs int64
	AllocateAheadBytes          int64
	BackgroundSyncBytes         int64
	BackgroundSyncMs            int64

	Groups       GroupCoordinatorConfig
	Transactions TransactionCoordinatorConfig
	Dynamic      DynamicBrokerConfig
}

// DynamicBrokerConfig holds what AlterConfigs may change.
type DynamicBrokerConfig struct {
	MaxConnections           int32
	MaxConnectionsPerIP      int32
	MaxConnectionsOverrides  map[string]int32
	ProducerIDExpirationMs   int64
	MinInsyncReplicas        int32
	TransactionVerification  bool
	GroupCachedBufferBytes   int32
	ReplicaLagTimeMaxMs      int64
	LeaderThrottledRate      int64
	FollowerThrottledRate    int64
	MaxConnectionsPerSecond  int32
	LogCleanerThreads        int32
	LogCleanerDedupeBytes    int64
	LogCleanerMaxBytesPerSec float64
	LogCleanerBackoffMs      int64
	LogCleanerEnable         bool // read-only
	LogCleanerLoadFactor     float64
	LogCleanerBufferBytes    int64
}

// GroupCoordinatorConfig holds the keys of classic and consumer groups and of
// their offsets that are not in GroupConfig.
type GroupCoordinatorConfig struct {
	InitialRebalanceDelayMs  int32
	MinSessionTimeoutMs      int32
	MaxSessionTimeoutMs      int32
	MaxSize                  int32
	ConsumerMaxSize          int32
	ConsumerAssignors        []string
	ConsumerMigrationPolicy  string
	RebalanceProtocols       []string
	OffsetMetadataMaxBytes   int32
	OffsetsCommitTimeoutMs   int32
	OffsetsLoadBufferBytes   int32
	OffsetsRetentionMinutes  int32
	OffsetsRetentionCheckMs  int64
	OffsetsCodec             int8
	OffsetsPartitions        int32
	OffsetsReplicationFactor int16
	OffsetsSegmentBytes      int32
}

// TransactionCoordinatorConfig holds the keys of transactions.
type TransactionCoordinatorConfig struct {
	MaxTimeoutMs         int32
	IDExpirationMs       int32
	AbortIntervalMs      int32
	ExpireIntervalMs     int32
	LogPartitions        int32
	LogReplicationFactor int16
	LogMinInsync         int32
	LogSegmentBytes      int32
	LogLoadBufferBytes   int32
	TwoPhaseCommit       bool
}

// BrokerConfig builds the typed view. It fails where listeners do not fit
// together, which Load has found before.
func (l *Layers) BrokerConfig() (*BrokerConfig, error) {
	own, controller, err := l.listeners()
	if err != nil {
		return nil, err
	}
	voters, err := parseVoters(l.list("controller.quorum.voters"))
	if err != nil {
		return nil, err
	}
	i32 := func(name string) int32 { return int32(l.whole(name)) }
	_, adminSource := l.effective(mustLookup(Broker, "admin.listen"))
	b := &BrokerConfig{
		NodeID:              i32("node.id"),
		Rack:                l.text("broker.rack"),
		ClusterID:           l.text("cluster.id"),
		LogDirs:             l.logDirs(),
		Listeners:           own,
		ControllerListeners: controller,
		Voters:              voters,

		IOEngine:          l.text("io.engine"),
		NumLoops:          int(l.whole("num.loops")),
		LogAppendMode:     l.text("log.append.mode"),
		FetchZeroCopy:     l.flag("fetch.zero.copy"),
		AdminListen:       l.text("admin.listen"),
		AdminDefault:      adminSource == FromDefault,
		LoggingLevel:      l.text("logging.level"),
		LoggingFormat:     l.text("logging.format"),
		ShutdownTimeoutMs: l.whole("shutdown.timeout.ms"),

		AutoCreateTopics:  l.flag("auto.create.topics.enable"),
		DeleteTopics:      l.flag("delete.topic.enable"),
		NumPartitions:     i32("num.partitions"),
		ReplicationFactor: int16(l.whole("default.replication.factor")),

		FetchMaxBytes:               i32("fetch.max.bytes"),
		FetchSessionSlots:           i32("max.incremental.fetch.session.cache.slots"),
		MaxRequestPartitions:        i32("max.request.partition.size.limit"),
		SocketRequestMaxBytes:       i32("socket.request.max.bytes"),
		SocketSendBufferBytes:       i32("socket.send.buffer.bytes"),
		SocketReceiveBufferBytes:    i32("socket.receive.buffer.bytes"),
		SocketListenBacklog:         i32("socket.listen.backlog.size"),
		SocketCongestion:            l.text("socket.tcp.congestion"),
		ConnectionsMaxIdleMs:        l.whole("connections.max.idle.ms"),
		FirstRequestTimeoutMs:       l.whole("connections.first.request.timeout.ms"),
		ConnectionQueuedMaxBytes:    l.whole("connection.queued.max.bytes"),
		QueuedMaxRequestBytes:       l.whole("queued.max.request.bytes"),
		LogRetentionCheckIntervalMs: l.whole("log.retention.check.interval.ms"),
		LogInitialTaskDelayMs:       l.whole("log.initial.task.delay.ms"),
		ProducerIDExpirationCheckMs: l.whole("producer.id.expiration.check.interval.ms"),
		AllocateAheadBytes:          l.whole("log.allocate.ahead.bytes"),
		BackgroundSyncBytes:         l.whole("log.background.sync.bytes"),
		BackgroundSyncMs:            l.whole("log.background.sync.ms"),

		Groups:       l.groupCoordinator(),
		Transactions: l.transactionCoordinator(),
		Dynamic:      l.dynamic(),
	}
	if b.AdminListen == "none" {
		b.AdminListen = ""
	}
	return b, nil
}

func (l *Layers) dynamic() DynamicBrokerConfig {
	overrides, err := parseHostCounts(l.text("max.connections.per.ip.overrides"))
	if err != nil {
		panic("config: " + err.Error()) // a value that fails its check counts as not set
	}
	return DynamicBrokerConfig{
		MaxConnections:           int32(l.whole("max.connections")),
		MaxConnectionsPerIP:      int32(l.whole("max.connections.per.ip")),
		MaxConnectionsOverrides:  overrides,
		MaxConnectionsPerSecond:  int32(l.whole("max.connection.creation.rate")),
		ProducerIDExpirationMs:   l.whole("producer.id.expiration.ms"),
		MinInsyncReplicas:        int32(l.whole(minInsync)),
		TransactionVerification:  l.flag("transaction.partition.verification.enable"),
		GroupCachedBufferBytes:   int32(l.whole("group.coordinator.cached.buffer.max.bytes")),
		ReplicaLagTimeMaxMs:      l.whole("replica.lag.time.max.ms"),
		LeaderThrottledRate:      l.whole("leader.replication.throttled.rate"),
		FollowerThrottledRate:    l.whole("follower.replication.throttled.rate"),
		LogCleanerThreads:        int32(l.whole("log.cleaner.threads")),
		LogCleanerDedupeBytes:    l.whole("log.cleaner.dedupe.buffer.size"),
		LogCleanerMaxBytesPerSec: l.number("log.cleaner.io.max.bytes.per.second"),
		LogCleanerBackoffMs:      l.whole("log.cleaner.backoff.ms"),
		LogCleanerEnable:         l.flag("log.cleaner.enable"),
		LogCleanerLoadFactor:     l.number("log.cleaner.io.buffer.load.factor"),
		LogCleanerBufferBytes:    l.whole("log.cleaner.io.buffer.size"),
	}
}

func (l *Layers) groupCoordinator() GroupCoordinatorConfig {
	i32 := func(name string) int32 { return int32(l.whole(name)) }
	return GroupCoordinatorConfig{
		InitialRebalanceDelayMs:  i32("group.initial.rebalance.delay.ms"),
		MinSessionTimeoutMs:      i32("group.min.session.timeout.ms"),
		MaxSessionTimeoutMs:      i32("group.max.session.timeout.ms"),
		MaxSize:                  i32("group.max.size"),
		ConsumerMaxSize:          i32("group.consumer.max.size"),
		ConsumerAssignors:        l.list("group.consumer.assignors"),
		ConsumerMigrationPolicy:  strings.ToLower(l.text("group.consumer.migration.policy")),
		RebalanceProtocols:       l.list("group.coordinator.rebalance.protocols"),
		OffsetMetadataMaxBytes:   i32("offset.metadata.max.bytes"),
		OffsetsCommitTimeoutMs:   i32("offsets.commit.timeout.ms"),
		OffsetsLoadBufferBytes:   i32("offsets.load.buffer.size"),
		OffsetsRetentionMinutes:  i32("offsets.retention.minutes"),
		OffsetsRetentionCheckMs:  l.whole("offsets.retention.check.interval.ms"),
		OffsetsCodec:             int8(l.whole("offsets.topic.compression.codec")),
		OffsetsPartitions:        i32("offsets.topic.num.partitions"),
		OffsetsReplicationFactor: int16(l.whole("offsets.topic.replication.factor")),
		OffsetsSegmentBytes:      i32("offsets.topic.segment.bytes"),
	}
}

func (l *Layers) transactionCoordinator() TransactionCoordinatorConfig {
	i32 := func(name string) int32 { return int32(l.whole(name)) }
	return TransactionCoordinatorConfig{
		MaxTimeoutMs:         i32("transaction.max.timeout.ms"),
		IDExpirationMs:       i32("transactional.id.expiration.ms"),
		AbortIntervalMs:      i32("transaction.abort.timed.out.transaction.cleanup.interval.ms"),
		ExpireIntervalMs:     i32("transaction.remove.expired.transaction.cleanup.interval.ms"),
		LogPartitions:        i32("transaction.state.log.num.partitions"),
		LogReplicationFactor: int16(l.whole("transaction.state.log.replication.factor")),
		LogMinInsync:         i32("transaction.state.log.min.isr"),
		LogSegmentBytes:      i32("transaction.state.log.segment.bytes"),
		LogLoadBufferBytes:   i32("transaction.state.log.load.buffer.size"),
		TwoPhaseCommit:       l.flag("transaction.two.phase.commit.enable"),
	}
}

// listeners joins listeners, advertised.listeners, the protocol map and the
// controller's names.
func (l *Layers) listeners() (own, controller []Listener, err error) {
	endpoints, err := parseEndpoints(l.list("listeners"))
	if err != nil {
		return nil, nil, fmt.Errorf("listeners: %w", err)
	}
	advertised, err := parseEndpoints(l.list("advertised.listeners"))
	if err != nil {
		return nil, nil, fmt.Errorf("advertised.listeners: %w", err)
	}
	protocolOf, err := parseProtocolMap(l.text("listener.security.protocol.map"))
	if err != nil {
		return nil, nil, fmt.Errorf("listener.security.protocol.map: %w", err)
	}
	if err := checkAdvertised(endpoints, advertised); err != nil {
		return nil, nil, err
	}
	controllerNames := l.list("controller.listener.names")
	for _, e := range endpoints {
		isController := slices.ContainsFunc(controllerNames, func(n string) bool { return strings.EqualFold(n, e.Name) })
		li := Listener{Endpoint: e, Protocol: protocolOf[e.Name], Advertised: e}
		if li.Protocol == "" && isController {
			li.Protocol = plaintext
		}
		if i := slices.IndexFunc(advertised, func(a Endpoint) bool { return a.Name == e.Name }); i >= 0 {
			li.Advertised = advertised[i]
		} else if e.Host == "0.0.0.0" || e.Host == "::" {
			li.Advertised.Host = "" // all addresses: to be found out
		}
		switch {
		case li.Protocol == "":
			return nil, nil, fmt.Errorf("listeners: %s has no protocol; add %s:PLAINTEXT to listener.security.protocol.map", e.Name, e.Name)
		case li.Protocol != plaintext:
			return nil, nil, fmt.Errorf("listeners: %s wants %s, but TLS and SASL are not built yet; allowed: PLAINTEXT", e.Name, li.Protocol)
		case isController:
			controller = append(controller, li)
		default:
			own = append(own, li)
		}
	}
	if len(own) == 0 {
		return nil, nil, fmt.Errorf("listeners: there is none for clients; add one such as PLAINTEXT://:9092")
	}
	return own, controller, nil
}

func checkAdvertised(endpoints, advertised []Endpoint) error {
	for i, e := range endpoints {
		for _, o := range endpoints[:i] {
			if o.Port == e.Port && o.Port != 0 && o.Host == e.Host {
				return fmt.Errorf("listeners: %s and %s share %s; give each a port of its own", o.Name, e.Name, e.Address())
			}
		}
	}
	for _, a := range advertised {
		switch {
		case !slices.ContainsFunc(endpoints, func(e Endpoint) bool { return e.Name == a.Name }):
			return fmt.Errorf("advertised.listeners: %s is not in listeners", a.Name)
		case a.Host == "0.0.0.0" || a.Host == "::":
			return fmt.Errorf("advertised.listeners: clients cannot connect to %s; write a name or address of this machine", a.Host)
		}
	}
	return nil
}
