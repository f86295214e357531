package config

// Verdict is what becomes of a key that somebody set.
type Verdict int8

const (
	// Used keys do what they say.
	Used Verdict = iota
	// Ignored keys are accepted, shown and kept, and change nothing here.
	Ignored
	// Refused keys stop the start when they are set to anything but their
	// default: leaving them aside would be dangerous.
	Refused
)

func (v Verdict) String() string {
	return [...]string{"used", "accepted without effect", "refused"}[v]
}

// Effect is a verdict and, where it is not Used, the reason.
type Effect struct {
	Verdict Verdict
	Why     string
}

func ignored(why string) Effect { return Effect{Ignored, why} }
func refused(why string) Effect { return Effect{Refused, why} }

// The effects of the tables. When a part of Millrace gets built, its line here
// turns into used.
var (
	used = Effect{}

	noCheckpoints        = ignored("checkpoints are written when 256 MB wait for a sync, and at a clean stop")
	noCluster            = ignored("there is one node so far")
	noControllerListener = ignored("the controller has no listener of its own")
	noEventTimes         = ignored("the controller's events are not timed one by one")
	noJMX                = ignored("metrics are on the admin address, see admin.listen")
	noLinger             = ignored("records of one turn of the event loop are written together")
	noMoves              = ignored("partitions do not move between log directories")
	noOffsetsCodec       = ignored("records of groups are stored uncompressed")
	noPurge              = ignored("waiting requests are removed as they are answered")
	noQuotas             = ignored("quotas are not built yet")
	noRaft               = ignored("the metadata log has no settings of this kind")
	noRate               = ignored("new connections are not slowed down")
	noRegexRefresh       = ignored("patterns are matched again when a topic comes or goes")
	noRequestQueue       = ignored("requests are handled on the loop of their connection; see queued.max.request.bytes")
	noSecurity           = ignored("no listener uses TLS or SASL")
	noShare              = ignored("share groups are not built yet")
	noStartLimit         = ignored("a start takes as long as it takes and says what it waits for")
	noStreams            = ignored("streams groups are not built yet")
	noTelemetry          = ignored("client metrics are not collected yet")
	noThreads            = ignored("one event loop per processor does this work, see num.loops")
	noTiering            = ignored("tiered storage is not built")
	noTransactions       = ignored("transactions are not built yet")
	noThrottling         = ignored("replication is not throttled yet")

	refuseAuthorizer  = refused("there is no authorizer: every client could do everything")
	refuseClass       = refused("Java classes cannot be loaded, and what this one decides would be left undecided")
	refuseMetadataDir = refused("the metadata lives under the first directory of log.dirs")
	refuseProviders   = refused("variables are not filled in: write the values themselves")
	refuseSecurity    = refused("TLS and SASL are not built yet")
	refuseTiering     = refused("tiered storage is not built: records would be deleted by the local limits")
)
