package config

import "strings"

// foreign are keys that are not in the table but stand in property files of
// Kafka users: keys of older versions, of clients, of tools. The text says
// what counts instead.
var foreign = map[string]Effect{
	"advertised.host.name":                        ignored("advertised.listeners says it now"),
	"advertised.port":                             ignored("advertised.listeners says it now"),
	"allow.everyone.if.no.acl.found":              ignored("there is no authorizer"),
	"broker.id.generation.enable":                 ignored("node.id is set by hand"),
	"control.plane.listener.name":                 ignored("controllers and brokers are one process"),
	"controlled.shutdown.max.retries":             ignored("a stop hands over once, within shutdown.timeout.ms"),
	"controlled.shutdown.retry.backoff.ms":        ignored("a stop hands over once, within shutdown.timeout.ms"),
	"delegation.token.master.key":                 ignored("no listener uses TLS or SASL"),
	"eligible.leader.replicas.enable":             ignored("it is always on"),
	"host.name":                                   ignored("listeners says it now"),
	"inter.broker.protocol.version":               ignored("the cluster agrees on its version by itself"),
	"leader.imbalance.per.broker.percentage":      ignored("there is one node so far"),
	"log.cleaner.hash.algorithm":                  ignored("keys are compared as they are"),
	"log.message.downconversion.enable":           ignored("records are never converted to older formats"),
	"log.message.format.version":                  ignored("records are stored in the current format"),
	"log.message.timestamp.difference.max.ms":     ignored("log.message.timestamp.before.max.ms and log.message.timestamp.after.max.ms say it now"),
	"offsets.commit.required.acks":                ignored("offsets are written with acks=all"),
	"password.encoder.cipher.algorithm":           ignored("no passwords are stored"),
	"password.encoder.iterations":                 ignored("no passwords are stored"),
	"password.encoder.key.length":                 ignored("no passwords are stored"),
	"password.encoder.keyfactory.algorithm":       ignored("no passwords are stored"),
	"password.encoder.old.secret":                 ignored("no passwords are stored"),
	"password.encoder.secret":                     ignored("no passwords are stored"),
	"port":                                        ignored("listeners says it now"),
	"quota.consumer.default":                      ignored("quotas are not built yet"),
	"quota.producer.default":                      ignored("quotas are not built yet"),
	"reserved.broker.max.id":                      ignored("node.id is set by hand"),
	"sasl.mechanism":                              ignored("a key of clients"),
	"security.protocol":                           ignored("a key of clients; listeners and listener.security.protocol.map count here"),
	"super.users":                                 ignored("there is no authorizer"),
	"unstable.api.versions.enable":                ignored("unfinished versions are never offered"),
	"unstable.feature.versions.enable":            ignored("unfinished features are never offered"),
	"early.start.listeners.enable":                ignored("the controller has no listener of its own"),
	"group.coordinator.new.enable":                ignored("there is one coordinator"),
	"group.share.enable":                          ignored("share groups are not built yet"),
	"group.share.record.lock.partition.limit":     ignored("share groups are not built yet"),
	"transaction.version":                         ignored("features are agreed on by the cluster"),
	"log.dir.failure.handler":                     ignored("a failed directory is closed until the next start"),
	"auto.include.jmx.reporter":                   ignored("metrics are on the admin address, see admin.listen"),
	"metrics.jmx.include":                         ignored("metrics are on the admin address, see admin.listen"),
	"metrics.jmx.exclude":                         ignored("metrics are on the admin address, see admin.listen"),
	"bootstrap.servers":                           ignored("a key of clients"),
	"client.id":                                   ignored("a key of clients"),
	"client.rack":                                 ignored("a key of clients"),
	"group.id":                                    ignored("a key of clients"),
	"acks":                                        ignored("a key of clients"),
	"linger.ms":                                   ignored("a key of clients"),
	"batch.size":                                  ignored("a key of clients"),
	"buffer.memory":                               ignored("a key of clients"),
	"enable.auto.commit":                          ignored("a key of clients"),
	"enable.idempotence":                          ignored("a key of clients"),
	"auto.offset.reset":                           ignored("a key of clients"),
	"key.serializer":                              ignored("a key of clients"),
	"value.serializer":                            ignored("a key of clients"),
	"key.deserializer":                            ignored("a key of clients"),
	"value.deserializer":                          ignored("a key of clients"),
	"retries":                                     ignored("a key of clients"),
	"delivery.timeout.ms":                         ignored("a key of clients"),
	"max.request.size":                            ignored("a key of clients"),
	"max.poll.records":                            ignored("a key of clients"),
	"session.timeout.ms":                          ignored("a key of clients"),
	"heartbeat.interval.ms":                       ignored("a key of clients"),
	"isolation.level":                             ignored("a key of clients"),
	"partitioner.class":                           ignored("a key of clients"),
	"interceptor.classes":                         ignored("a key of clients"),
	"reconnect.backoff.ms":                        ignored("a key of clients"),
	"retry.backoff.ms":                            ignored("a key of clients"),
	"metadata.max.age.ms":                         ignored("a key of clients"),
	"fetch.min.bytes":                             ignored("a key of clients"),
	"fetch.max.wait.ms":                           ignored("a key of clients"),
	"max.partition.fetch.bytes":                   ignored("a key of clients"),
	"max.in.flight.requests.per.connection":       ignored("a key of clients"),
	"zookeeper.metadata.migration.enable":         refused("there is no ZooKeeper to move metadata from: finish the move with Kafka first"),
	"zookeeper.metadata.migration.min.batch.size": ignored("there is no ZooKeeper"),
}

// foreignPrefixes are the same for whole families, the longest match counts.
var foreignPrefixes = []foreignPrefix{
	{"zookeeper.", ignored("there is no ZooKeeper: the controller is inside this process")},
	{"listener.name.", ignored("settings of one listener alone are not looked at; those of the key without the prefix count")},
	{"inter.broker.", ignored("there is one node so far")},
	{"rsm.config.", ignored("tiered storage is not built")},
	{"rlmm.config.", ignored("tiered storage is not built")},
	{"config.providers.", ignored("variables are not filled in")},
	{"authorizer.", ignored("there is no authorizer")},
	{"ranger.", ignored("there is no authorizer")},
	{"opa.", ignored("there is no authorizer")},
	{"oauth.", ignored("no listener uses TLS or SASL")},
	{"sasl.", ignored("no listener uses TLS or SASL")},
	{"ssl.", ignored("no listener uses TLS or SASL")},
	{"kafka.csv.", noJMX},
	{"kafka.graphite.", noJMX},
	{"kafka.metrics.", noJMX},
	{"metrics.", noJMX},
	{"telemetry.", noTelemetry},
	{"opentelemetry.", noTelemetry},
	{"otel.", noTelemetry},
	{"cruise.control.", ignored("plugins cannot be loaded")},
	{"confluent.", ignored("plugins cannot be loaded")},
	{"strimzi.", ignored("plugins cannot be loaded")},
	{"client.quota.callback.static.", ignored("plugins cannot be loaded")},
	{"plugin.", ignored("plugins cannot be loaded")},
	{"producer.", ignored("a key of clients")},
	{"consumer.", ignored("a key of clients")},
	{"admin.client.", ignored("a key of clients")},
	{"log4j.", ignored("logging.level and logging.format count here")},
}

// foreignPrefix is the beginning of a family of keys.
type foreignPrefix struct {
	prefix string
	effect Effect
}

// foreignKey finds what becomes of a key that is not in the table.
func foreignKey(name string) (Effect, bool) {
	if e, ok := foreign[name]; ok {
		return e, true
	}
	best, found := Effect{}, 0
	for _, p := range foreignPrefixes {
		if len(p.prefix) > found && len(name) > len(p.prefix) && strings.HasPrefix(name, p.prefix) {
			best, found = p.effect, len(p.prefix)
		}
	}
	return best, found > 0
}
