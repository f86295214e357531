package config

// ownBrokerKeys are Millrace's own broker keys.
var ownBrokerKeys = []row{
	{"admin.listen", String, "127.0.0.1:9644", hostPortOrNone, ReadOnly, used, "Address of metrics, health and profiles over HTTP, as HOST:PORT; none switches it off. While nothing is set here, a taken port makes way for the next free one."},
	{"cluster.id", String, null, clusterID, ReadOnly, used, "Id of a new cluster: 22 letters of URL-safe base64. A random one is made without it. A directory that has an id keeps it."},
	{"connection.queued.max.bytes", Long, "0", atLeast(0), ReadOnly, used, "Most bytes of requests of one connection that are received and not yet answered; 0 lets Millrace choose."},
	{"connections.first.request.timeout.ms", Long, "30000", atLeast(0), ReadOnly, used, "A connection that has not sent a whole request after this time is closed; 0 means never."},
	{"fetch.zero.copy", Boolean, "true", nil, ReadOnly, used, "Whether fetch answers go from the page cache to the socket by sendfile. false copies them through memory, 64 KiB at a time: more processor time, for comparison and for file systems whose sendfile is no good."},
	{"io.engine", String, "auto", oneOf("auto", "uring", "epoll"), ReadOnly, used, "How sockets and files are driven. auto takes io_uring where it works, else epoll."},
	{"log.allocate.ahead.bytes", Long, "1073741824", noneOrAtLeast(1048576), ReadOnly, used, "Most bytes on the disk that a segment gets before its first record, if the one before it was filled within ten minutes, at least 1 MiB between two syncs, and sixteen times as much is free. What is not used is given back when the segment is closed, when the broker stops, and after a minute without records. 0 switches it off."},
	{"log.append.mode", String, "auto", oneOf("auto", "inline", "ring"), ReadOnly, used, "Whether records are written from the loop itself or by the ring. auto takes what is best for the engine."},
	{"log.background.sync.bytes", Long, "268435456", atLeast(1048576), ReadOnly, used, "Most bytes of a log directory that may wait for a sync; it bounds what is read again after a crash."},
	{"log.background.sync.ms", Long, "1000", atLeast(10), ReadOnly, used, "Age at which records that nobody waits for are synced in the background."},
	{"logging.format", String, "auto", oneOf("auto", "text", "json"), ReadOnly, used, "Form of the log lines. auto is text on a terminal, else JSON."},
	{"logging.level", String, "info", oneOf("debug", "info", "warn", "error"), ReadOnly, used, "Lowest level that is logged."},
	{"num.loops", Int, "0", between(0, 1024), ReadOnly, used, "Event loops; 0 is one per processor this process may use."},
	{"shutdown.timeout.ms", Int, "10000", atLeast(0), ReadOnly, used, "Time a clean stop may take."},
	{"socket.tcp.congestion", String, "", nil, ReadOnly, used, "TCP congestion control of client sockets, such as cubic. Empty leaves the kernel's choice, but for connections over loopback, which get cubic: pacing as bbr's costs two thirds of the throughput there. system leaves the kernel's choice everywhere."},
	{"write.caching.default", Boolean, "false", nil, ClusterWide, used, "Default of the topic key write.caching."},
}
