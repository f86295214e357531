package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"millrace/bench/proc"
	"millrace/bench/rawgen"
	"millrace/bench/target"
)

// w8: partitions by the thousand: how long creating takes (one topic, a hundred topics), what each costs at rest, and what a
// steady load spread over all of them sees beside the same over six.
func (c *campaign) w8(_ context.Context, i *target.Instance, x *Extra) error {
	before, err := usage(i)
	if err != nil {
		return err
	}
	began := time.Now()
	many, err := c.topic(i, nil, c.Sizes.ManyParts)
	if err != nil {
		return err
	}
	defer func() { _ = target.DeleteTopic(i.Addr, many) }()
	x.Values["create s, one topic"] = time.Since(began).Seconds()
	after, err := usage(i)
	if err != nil {
		return err
	}
	n := float64(c.Sizes.ManyParts)
	x.Values["KB each at rest"] = float64(after.RSSBytes-before.RSSBytes) / 1e3 / n
	spread := func(topic string, partitions int) *rawgen.ProduceOptions {
		return &rawgen.ProduceOptions{Addr: i.Addr, Topic: topic, Partitions: partitions, PerRequest: 6, Rotate: true, Acks: 1, Conns: 1, Depth: 32, RecordSize: 500, BatchBytes: 4200,
			Rate: 20e6 / 500, Sleep: true, Duration: c.Sizes.OpenSeconds, WatchPID: i.PID, NoBad: !i.Target.ChecksRecords()}
	}
	wide, err := c.part(x, "all partitions", Job{Produce: spread(many, c.Sizes.ManyParts)})
	if err != nil {
		return err
	}
	if after, err = usage(i); err != nil {
		return err
	}
	x.Values["RSS MB in use"] = float64(after.RSSBytes) / 1e6
	x.Values["fds per partition in use"] = float64(after.Descriptors-before.Descriptors) / n
	few, err := c.topic(i, nil, 6)
	if err != nil {
		return err
	}
	defer func() { _ = target.DeleteTopic(i.Addr, few) }()
	narrow, err := c.part(x, "six partitions", Job{Produce: spread(few, 6)})
	if err != nil {
		return err
	}
	if wide.Latency == nil || narrow.Latency == nil {
		return errors.New("nothing was acknowledged")
	}
	x.Values["p99 us"], x.Values["p99 us, six"] = wide.Latency.P99, narrow.Latency.P99
	x.Values["p99 ratio"] = wide.Latency.P99 / narrow.Latency.P99
	const topics = 100
	began = time.Now()
	for k := range topics {
		name := fmt.Sprintf("%s-of-%d", many, k)
		if err := target.CreateTopic(i.Addr, name, max(1, c.Sizes.ManyParts/topics), configs(i.Target, nil)); err != nil {
			return err
		}
		defer func() { _ = target.DeleteTopic(i.Addr, name) }()
	}
	x.Values["create s, 100 topics"] = time.Since(began).Seconds()
	return nil
}

func usage(i *target.Instance) (proc.Usage, error) {
	if i.PID <= 0 {
		return proc.Usage{}, nil
	}
	return proc.Read(i.PID)
}
