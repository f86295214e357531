package run

import (
	"context"
	"fmt"
	"time"

	"millrace/bench/producer"
	"millrace/bench/target"
)

// w12: the producer model on whatever cluster stands behind an address: 12 partitions, up to three replicas, acks=all, 20 and 50
// MB/s and as fast as it goes. Only the process at the address is watched.
func (c *campaign) w12(_ context.Context, i *target.Instance, x *Extra) error {
	brokers, err := target.Brokers(i.Addr)
	if err != nil {
		return err
	}
	replicas := min(3, max(1, brokers))
	x.Values["brokers"], x.Values["replicas"] = float64(brokers), float64(replicas)
	if replicas < 3 {
		x.Notes = append(x.Notes, fmt.Sprintf("%d broker(s): %d replica(s) instead of 3", brokers, replicas))
	}
	for _, mb := range []float64{20, 50, 0} {
		c.topics++
		topic := fmt.Sprintf("bench-w12-%d-%d", time.Now().UnixNano(), c.topics)
		m := configs(i.Target, &Load{Class: Synced})
		if replicas == 3 {
			m["min.insync.replicas"] = "2"
		}
		if err := target.CreateReplicated(i.Addr, topic, 12, replicas, m); err != nil {
			return err
		}
		name := fmt.Sprintf("%g MB/s", mb)
		if mb == 0 {
			name = "max"
		}
		o := &producer.Options{Addr: i.Addr, Topic: topic, Acks: -1, Linger: 5 * time.Millisecond, RecordSize: 1024, Rate: mb * 1e6 / 1024, Warmup: time.Second, Duration: c.Sizes.OpenSeconds,
			Idempotent: true, WatchPID: i.PID, NoBad: !i.Target.ChecksRecords()}
		r, err := c.part(x, name, Job{Model: o})
		_ = target.DeleteTopic(i.Addr, topic) // its directory goes away at the end in any case
		if err != nil {
			return err
		}
		x.Values[name+": MB/s"] = float64(r.PayloadBytes) / 1e6 / r.Seconds
		if r.Latency != nil {
			x.Values[name+": p50 us"], x.Values[name+": p99 us"] = r.Latency.P50, r.Latency.P99
		}
		if r.Broker != nil && r.PayloadBytes > 0 {
			x.Values[name+": CPU s/GB"] = r.Broker.CPUSeconds / (float64(r.PayloadBytes) / 1e9)
		}
	}
	return nil
}
