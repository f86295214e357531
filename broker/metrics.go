package broker

import (
	"strconv"
	"sync/atomic"

	"millrace/internal/metric"
)

// The series of brokers, topics and partitions under the names that Kafka's JMX exporter yields with Strimzi's rules, so
// that dashboards and alerts made for Kafka work unchanged. They are computed when somebody looks, from counters that
// the data path keeps anyway.

// seriesMax bounds the topics, and the partitions, that have series of their own: a node with more shows the sums only,
// so that a look stays cheap. What is left out is counted by millrace_metrics_hidden.
const seriesMax = 1000

// topicCounters are the members of TopicStats by Kafka's names.
var topicCounters = [...]struct {
	name, help string
	of         func(*TopicStats) *atomic.Int64
}{
	{"messagesin", "Records that producers sent.", func(s *TopicStats) *atomic.Int64 { return &s.MessagesIn }},
	{"bytesin", "Bytes of batches that producers sent.", func(s *TopicStats) *atomic.Int64 { return &s.BytesIn }},
	{"bytesout", "Bytes of batches sent to consumers.", func(s *TopicStats) *atomic.Int64 { return &s.BytesOut }},
	{"totalproducerequests", "Partitions in produce requests.", func(s *TopicStats) *atomic.Int64 { return &s.ProduceRequests }},
	{"totalfetchrequests", "Partitions in answered fetch requests.", func(s *TopicStats) *atomic.Int64 { return &s.FetchRequests }},
	{"failedproducerequests", "Partitions of produce requests that failed.", func(s *TopicStats) *atomic.Int64 { return &s.FailedProduce }},
	{"failedfetchrequests", "Partitions of fetch requests that failed.", func(s *TopicStats) *atomic.Int64 { return &s.FailedFetch }},
}

// add sums another topic's counters up; what goes on being counted meanwhile may be missed.
func (s *TopicStats) add(other *TopicStats) {
	for i := range topicCounters {
		topicCounters[i].of(s).Add(topicCounters[i].of(other).Load())
	}
}

// collect is asked at each look at the metrics.
func (n *Node) collect() []metric.Family {
	all, sum := n.topics.counted()
	families := topicFamilies(all, sum)
	parts := 0
	for _, t := range all {
		parts += len(t.Partitions())
	}
	hidden := gauge("millrace_metrics_hidden", "Topics and partitions without series of their own, since there are too many.")
	if len(all) > seriesMax {
		hidden.Samples[0].Value = float64(len(all))
	}
	if parts > seriesMax {
		hidden.Samples[0].Value += float64(parts)
	} else {
		families = append(families, partitionFamilies(all)...)
	}
	return append(append(families, hidden), n.clusterFamilies()...)
}

// topicFamilies are BrokerTopicMetrics: without labels the sum over all topics that there ever were since the start, and,
// as in Kafka, a series for each topic that was used.
func topicFamilies(all []*Topic, sum *TopicStats) []metric.Family {
	families := make([]metric.Family, 0, len(topicCounters)+16)
	labels := make([][]metric.Label, len(all))
	for i, t := range all {
		labels[i] = []metric.Label{{Name: "topic", Value: t.Name}}
	}
	for i := range topicCounters {
		c := &topicCounters[i]
		f := metric.Family{Name: "kafka_server_brokertopicmetrics_" + c.name + "_total", Help: c.help, Kind: metric.KindCounter}
		f.Samples = append(f.Samples, metric.Sample{Labels: []metric.Label{{Name: "topic", Value: ""}}, Value: float64(c.of(sum).Load())})
		if len(all) <= seriesMax {
			for j, t := range all {
				if v := c.of(&t.Stats).Load(); v > 0 {
					f.Samples = append(f.Samples, metric.Sample{Labels: labels[j], Value: float64(v)})
				}
			}
		}
		families = append(families, f)
	}
	return families
}

// partitionFamilies are kafka.log:type=Log.
func partitionFamilies(all []*Topic) []metric.Family {
	size := metric.Family{Name: "kafka_log_log_size", Help: "Bytes of the partition's segments.", Kind: metric.KindGauge}
	start := metric.Family{Name: "kafka_log_log_logstartoffset", Help: "First offset of the partition.", Kind: metric.KindGauge}
	end := metric.Family{Name: "kafka_log_log_logendoffset", Help: "Offset behind the partition's last record.", Kind: metric.KindGauge}
	for _, t := range all {
		for i, p := range t.Partitions() {
			if p == nil {
				continue
			}
			labels := []metric.Label{{Name: "topic", Value: t.Name}, {Name: "partition", Value: strconv.Itoa(i)}}
			b := p.Bounds()
			size.Samples = append(size.Samples, metric.Sample{Labels: labels, Value: float64(p.Size())})
			start.Samples = append(start.Samples, metric.Sample{Labels: labels, Value: float64(b.LogStart)})
			end.Samples = append(end.Samples, metric.Sample{Labels: labels, Value: float64(b.Written)})
		}
	}
	return []metric.Family{size, start, end}
}

// clusterFamilies are ReplicaManager, KafkaController, LogManager and the state of the server.
func (n *Node) clusterFamilies() []metric.Family {
	image, me := n.Image(), n.ID()
	var here, led, under, atMin, belowMin, leaderless, unpreferred int
	for t := range image.Topics() {
		need := 1
		if h := n.topics.findID(t.ID); h != nil {
			need = int(h.Config().MinInsyncReplicas)
		}
		for i := range t.Partitions {
			p := &t.Partitions[i]
			if holds(p.Replicas, me) {
				here++
			}
			if p.Leader < 0 {
				leaderless++
			} else if len(p.Replicas) > 0 && p.Leader != p.Replicas[0] {
				unpreferred++
			}
			if p.Leader != me {
				continue
			}
			led++
			if len(p.ISR) < len(p.Replicas) {
				under++
			}
			if len(p.ISR) < need {
				belowMin++
			} else if len(p.ISR) == need {
				atMin++
			}
		}
	}
	dead := 0
	for _, d := range n.engine.Dirs() {
		if d.Err != nil {
			dead++
		}
	}
	offline := int(n.engine.Stats().Offline)
	state := 1 // STARTING
	switch {
	case n.stopping.Load():
		state = 6 // PENDING_CONTROLLED_SHUTDOWN
	case n.ready.Load():
		state = 3              // RUNNING
		offline += len(n.lost) // written before
	}
	const r, c = "kafka_server_replicamanager_", "kafka_controller_kafkacontroller_"
	var out []metric.Family
	for _, g := range []struct {
		name, help string
		value      int
	}{
		{r + "partitioncount", "Partitions with a replica here.", here},
		{r + "leadercount", "Partitions that this broker leads.", led},
		{r + "underreplicatedpartitions", "Partitions led here with fewer replicas in sync than they have.", under},
		{r + "underminisrpartitioncount", "Partitions led here with fewer replicas in sync than min.insync.replicas.", belowMin},
		{r + "atminisrpartitioncount", "Partitions led here with just min.insync.replicas in sync.", atMin},
		{r + "offlinereplicacount", "Replicas here that cannot be used.", offline},
		{c + "activecontrollercount", "1 on the controller.", 1},
		{c + "offlinepartitionscount", "Partitions without leader, or whose only replica cannot be used.", leaderless + offline},
		{c + "preferredreplicaimbalancecount", "Partitions led by another than their preferred replica.", unpreferred},
		{c + "globaltopiccount", "Topics of the cluster.", image.TopicCount()},
		{c + "globalpartitioncount", "Partitions of the cluster.", image.PartitionCount()},
		{"kafka_log_logmanager_offlinelogdirectorycount", "Log directories that failed.", dead},
		{"kafka_server_kafkaserver_brokerstate", "1 starting, 3 running, 6 stopping.", state},
	} {
		f := gauge(g.name, g.help)
		f.Samples[0].Value = float64(g.value)
		out = append(out, f)
	}
	for _, name := range [...]string{"isrshrinks", "isrexpands"} {
		f := gauge(r+name+"_total", "Changes of the set of replicas in sync.")
		f.Kind = metric.KindCounter
		out = append(out, f)
	}
	return out
}

// gauge is a family of one sample without labels.
func gauge(name, help string) metric.Family {
	return metric.Family{Name: name, Help: help, Kind: metric.KindGauge, Samples: []metric.Sample{{}}}
}
