package config

// replicationKeys are the broker keys of replication.
var replicationKeys = []row{
	{"alter.log.dirs.replication.quota.window.num", Int, "11", atLeast(1), ReadOnly, noQuotas, "Samples kept for the quota of moves between log directories."},
	{"alter.log.dirs.replication.quota.window.size.seconds", Int, "1", atLeast(1), ReadOnly, noQuotas, "Length of a sample of the quota of moves between log directories."},
	{"auto.leader.rebalance.enable", Boolean, "true", nil, ReadOnly, noCluster, "Whether leadership moves back to preferred replicas by itself."},
	{"controlled.shutdown.enable", Boolean, "true", nil, ReadOnly, noCluster, "Whether a stopping broker hands over its partitions first."},
	{"controller.socket.timeout.ms", Int, "30000", nil, ReadOnly, noCluster, "How long the controller waits on a socket to a broker."},
	{"default.replication.factor", Int, "1", nil, ReadOnly, used, "Replicas of a topic that is created without a factor."},
	{"follower.fetch.last.tiered.offset.enable", Boolean, "false", nil, ClusterWide, noTiering, "Whether new followers start at what tiered storage does not have."},
	{"follower.replication.throttled.rate", Long, "9223372036854775807", atLeast(0), Unlisted, noQuotas, "Bytes per second that throttled followers may fetch."},
	{"leader.imbalance.check.interval.seconds", Long, "300", atLeast(1), ReadOnly, noCluster, "How often the spread of leaders is looked at."},
	{"leader.replication.throttled.rate", Long, "9223372036854775807", atLeast(0), Unlisted, noQuotas, "Bytes per second that throttled leaders may send."},
	{"num.replica.fetchers", Int, "1", atLeast(1), ClusterWide, noCluster, "Connections that fetch from each leader."},
	{"replica.alter.log.dirs.io.max.bytes.per.second", Long, "9223372036854775807", atLeast(0), Unlisted, noQuotas, "Bytes per second for moves between log directories."},
	{"replica.fetch.backoff.ms", Int, "1000", atLeast(0), ReadOnly, noCluster, "Pause of a follower after a failed fetch."},
	{"replica.fetch.max.bytes", Int, "1048576", atLeast(0), ReadOnly, noCluster, "Bytes a follower asks for per partition."},
	{"replica.fetch.min.bytes", Int, "1", nil, ReadOnly, noCluster, "Fewest bytes a follower waits for."},
	{"replica.fetch.response.max.bytes", Int, "10485760", atLeast(0), ReadOnly, noCluster, "Bytes a follower asks for per request."},
	{"replica.fetch.wait.max.ms", Int, "500", nil, ReadOnly, noCluster, "Longest wait of a follower's fetch."},
	{"replica.high.watermark.checkpoint.interval.ms", Long, "5000", nil, ReadOnly, noCheckpoints, "How often the high watermarks are written down."},
	{"replica.lag.time.max.ms", Long, "30000", nil, ReadOnly, noCluster, "A follower that has not caught up for this long leaves the in-sync set."},
	{"replica.selector.class", String, null, nil, ReadOnly, refuseClass, "Java class that chooses the replica a consumer reads from."},
	{"replica.socket.receive.buffer.bytes", Int, "65536", nil, ReadOnly, noCluster, "Receive buffer of a follower's socket."},
	{"replica.socket.timeout.ms", Int, "30000", nil, ReadOnly, noCluster, "How long a follower waits on a socket."},
	{"replication.quota.window.num", Int, "11", atLeast(1), ReadOnly, noQuotas, "Samples kept for replication quotas."},
	{"replication.quota.window.size.seconds", Int, "1", atLeast(1), ReadOnly, noQuotas, "Length of a sample of replication quotas."},
}
