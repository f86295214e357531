package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/internal/metric"
	"millrace/kafka/wire"
)

// The series that dashboards made for Kafka ask for, with the values that they expect.
func TestMetricsUnderKafkasNames(t *testing.T) {
	r := newRig(t, 1)
	c := r.dial()
	c.topic("a", 2)
	c.topic("gone", 1)
	recs := records(1, "x", "y")
	size := float64(len(recs))
	c.produce("a", 1, recs)
	c.produce("gone", 0, records(1, "x"))
	fetchOne(c, fetchRequest("a", 1, 0, 0, 1))
	expectCode(t, "beyond the end", fetchOne(c, fetchRequest("a", 1, 99, 0, 1)).ErrorCode, wire.OffsetOutOfRange)
	remove, name := kmsg.NewPtrDeleteTopicsRequest(), "gone"
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &name
	remove.Topics = append(remove.Topics, topic)
	expectCode(t, "delete", c.ask(remove, 6).(*kmsg.DeleteTopicsResponse).Topics[0].ErrorCode, wire.NoError)

	got := map[string]float64{}
	for _, f := range r.node.Metrics().Gather() {
		for i := range f.Samples {
			got[seriesName(f.Name, f.Samples[i].Labels)] = f.Samples[i].Value
		}
	}
	const topics, manager, controller = "kafka_server_brokertopicmetrics_", "kafka_server_replicamanager_", "kafka_controller_kafkacontroller_"
	for name, want := range map[string]float64{
		topics + "messagesin_total topic=a":                2,
		topics + "messagesin_total topic=":                 3,
		topics + "bytesin_total topic=a":                   size,
		topics + "bytesout_total topic=a":                  size,
		topics + "totalproducerequests_total topic=":       2,
		topics + "totalfetchrequests_total topic=a":        2,
		topics + "failedfetchrequests_total topic=a":       1,
		topics + "failedproducerequests_total topic=":      0,
		"kafka_log_log_size topic=a partition=1":           size,
		"kafka_log_log_logendoffset topic=a partition=1":   2,
		"kafka_log_log_logstartoffset topic=a partition=0": 0,
		manager + "partitioncount":                         2,
		manager + "leadercount":                            2,
		manager + "underreplicatedpartitions":              0,
		manager + "underminisrpartitioncount":              0,
		manager + "isrshrinks_total":                       0,
		controller + "activecontrollercount":               1,
		controller + "offlinepartitionscount":              0,
		controller + "globaltopiccount":                    1,
		"kafka_log_logmanager_offlinelogdirectorycount":    0,
		"kafka_server_kafkaserver_brokerstate":             3,
		"millrace_metrics_hidden":                          0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s: %v (there: %v), want %v", name, v, ok, want)
		}
	}
}

func seriesName(name string, labels []metric.Label) string {
	for _, l := range labels {
		name += " " + l.Name + "=" + l.Value
	}
	return name
}
