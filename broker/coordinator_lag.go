package broker

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"millrace/internal/metric"
)

// lagWait bounds how long a look at the metrics waits for the loops.
const lagWait = time.Second

// groupOffset is one committed offset.
type groupOffset struct {
	group, topic string
	partition    int32
	offset       int64
}

// register shows the lag of groups, by the names that exporters for Kafka use. Nothing is counted between two looks.
func (cs *coordinators) register(reg *metric.Registry) {
	reg.Collect(cs.lag)
}

// lag asks each coordinator for its offsets and compares them with the partitions' ends.
func (cs *coordinators) lag() []metric.Family {
	offset := metric.Family{Name: "kafka_consumergroup_current_offset", Help: "Committed offset of a consumer group in a partition.", Kind: metric.KindGauge}
	lag := metric.Family{Name: "kafka_consumergroup_lag", Help: "Records of a partition that a consumer group has not committed yet.", Kind: metric.KindGauge}
	sum := metric.Family{Name: "kafka_consumergroup_lag_sum", Help: "Lag of a consumer group over the partitions of a topic.", Kind: metric.KindGauge}
	for _, list := range cs.committed() {
		sums := map[[2]string]float64{}
		for i := range list {
			o := &list[i]
			labels := []metric.Label{{Name: "consumergroup", Value: o.group}, {Name: "partition", Value: strconv.Itoa(int(o.partition))}, {Name: "topic", Value: o.topic}}
			offset.Samples = append(offset.Samples, metric.Sample{Labels: labels, Value: float64(o.offset)})
			t := cs.node.FindTopic(o.topic)
			if t == nil {
				continue
			}
			p := t.Partition(o.partition)
			if p == nil {
				continue
			}
			behind := float64(max(p.Bounds().Committed-o.offset, 0))
			lag.Samples = append(lag.Samples, metric.Sample{Labels: labels, Value: behind})
			sums[[2]string{o.group, o.topic}] += behind
		}
		for k, n := range sums {
			sum.Samples = append(sum.Samples, metric.Sample{Labels: []metric.Label{{Name: "consumergroup", Value: k[0]}, {Name: "topic", Value: k[1]}}, Value: n})
		}
	}
	slices.SortFunc(sum.Samples, func(a, b metric.Sample) int {
		return cmp.Or(strings.Compare(a.Labels[0].Value, b.Labels[0].Value), strings.Compare(a.Labels[1].Value, b.Labels[1].Value))
	})
	return []metric.Family{offset, lag, sum}
}

// committed are the offsets that each coordinator holds; one whose loop does not answer in time is left out.
func (cs *coordinators) committed() [][]groupOffset {
	coordinators := *cs.byIndex.Load()
	answers := make(chan []groupOffset, len(coordinators))
	asked := 0
	for _, c := range coordinators {
		if c == nil {
			continue
		}
		asked++
		c.post(func() {
			var list []groupOffset
			if c.machine != nil && !c.ended {
				c.machine.Offsets(func(g, topic string, partition int32, offset int64) {
					list = append(list, groupOffset{g, topic, partition, offset})
				})
			}
			answers <- list
		})
	}
	timeout := time.NewTimer(lagWait)
	defer timeout.Stop()
	var all [][]groupOffset
	for ; asked > 0; asked-- {
		select {
		case list := <-answers:
			all = append(all, list)
		case <-timeout.C:
			return all
		}
	}
	return all
}
