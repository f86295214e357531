package run

import (
	"context"
	"errors"

	"millrace/bench/proc"
	"millrace/bench/rawgen"
	"millrace/bench/target"
)

const fanOut = 8

// w11: an idle crowd alone, then with 50 MB/s that eight consumers read whole. A floor has no crowd: it looks at parked fetches
// every millisecond, which would measure the floor.
func (c *campaign) w11(_ context.Context, i *target.Instance, x *Extra) error {
	topic, err := c.topic(i, nil, 6)
	if err != nil {
		return err
	}
	defer func() { _ = target.DeleteTopic(i.Addr, topic) }()
	out := &rawgen.FetchOptions{Partitions: 6, Consumers: fanOut, RecordSize: 1024}
	load := Job{Produce: paced(i, topic, 6, 50e6, c.Sizes.OpenSeconds), Fetch: out}
	var r *rawgen.Result
	if i.Target.Kind == target.Floor {
		if r, err = c.part(x, "fan-out", load); err != nil {
			return err
		}
	} else {
		idle, err := c.topic(i, nil, 1)
		if err != nil {
			return err
		}
		defer func() { _ = target.DeleteTopic(i.Addr, idle) }()
		empty := proc.Usage{}
		if i.PID > 0 {
			if empty, err = proc.Read(i.PID); err != nil {
				return err
			}
		}
		crowd := &rawgen.CrowdOptions{Addr: i.Addr, Topic: idle, Conns: c.Sizes.Crowd, Duration: c.Sizes.OpenSeconds / 2, WatchPID: i.PID}
		alone, err := c.part(x, "crowd alone", Job{Crowd: crowd})
		if err != nil {
			return err
		}
		if b := alone.Broker; b != nil {
			x.Values["idle crowd cores"] = b.CPUSeconds / alone.Seconds
			x.Values["idle crowd KB each"] = max(0, float64(b.RSSBytes-empty.RSSBytes)) / 1e3 / float64(c.Sizes.Crowd)
			x.Values["fds"] = float64(b.Descriptors)
		}
		with := *crowd
		with.Duration, with.WatchPID = c.Sizes.OpenSeconds, 0
		beside, fan, err := c.both(x, "crowd beside", Job{Crowd: &with}, "fan-out", load)
		if err != nil {
			return err
		}
		if beside.Latency != nil {
			x.Values["crowd's p99 ms"] = beside.Latency.P99 / 1000
		}
		r = fan
	}
	if r.EndToEnd == nil || r.Latency == nil {
		return errors.New("nothing was measured")
	}
	gbOut := float64(r.PayloadBytes) * fanOut / 1e9
	x.Values["MB/s in"] = float64(r.PayloadBytes) / 1e6 / r.Seconds
	x.Values["MB/s out"] = gbOut * 1000 / r.Seconds
	x.Values["e2e p50 us"], x.Values["e2e p99 us"], x.Values["ack p99 us"] = r.EndToEnd.P50, r.EndToEnd.P99, r.Latency.P99
	if r.Broker != nil {
		x.Values["CPU s/GB out"] = r.Broker.CPUSeconds / gbOut
		x.Values["RSS MB"] = float64(r.Broker.RSSPeakBytes) / 1e6
	}
	return nil
}
