package config

// quotaKeys are the broker keys of quotas and metrics.
var quotaKeys = []row{
	{"client.quota.callback.class", Class, null, nil, ReadOnly, refuseClass, "Java class that computes client quotas."},
	{"config.providers", List, "", nil, ClusterWide, refuseProviders, "Providers that fill in variables in this file. Variables are not filled in here."},
	{"kafka.metrics.polling.interval.secs", Int, "10", atLeast(1), ReadOnly, noJMX, "How often the older metrics reporters are polled."},
	{"kafka.metrics.reporters", List, "", distinct, ReadOnly, noJMX, "Java classes of the older metrics interface."},
	{"metric.reporters", List, "org.apache.kafka.common.metrics.JmxReporter", nil, ClusterWide, noJMX, "Java classes that publish metrics."},
	{"metrics.num.samples", Int, "2", atLeast(1), ReadOnly, noJMX, "Samples kept for each metric."},
	{"metrics.recording.level", String, "INFO", nil, ReadOnly, noJMX, "How detailed the metrics are."},
	{"metrics.sample.window.ms", Long, "30000", atLeast(1), ReadOnly, noJMX, "Length of a sample of a metric."},
	{"quota.window.num", Int, "11", atLeast(1), ReadOnly, noQuotas, "Samples kept for client quotas."},
	{"quota.window.size.seconds", Int, "1", atLeast(1), ReadOnly, noQuotas, "Length of a sample of client quotas."},
	{"telemetry.max.bytes", Int, "1048576", atLeast(1), ReadOnly, noTelemetry, "Largest push of client metrics."},
}
