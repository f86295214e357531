package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"millrace/bench/proc"
	"millrace/bench/rawgen"
	"millrace/bench/target"
)

// starts is W9: how long until a target listens, answers and acknowledges, from an empty directory, from data left by a clean
// stop, and from data left by kill -9 under load; and whether what was acknowledged is there. The floor starts on the data that
// Millrace left, right before Millrace does.
func (c *campaign) starts(ctx context.Context, names []string, sources target.Sources) error {
	var targets []target.Target
	for _, n := range names {
		t, err := target.Parse(n, sources)
		if err != nil {
			return err
		}
		if t.Kind != target.Floor && t.Kind != target.Address {
			targets = append(targets, t)
		}
	}
	floor, err := target.Parse("floor-start", sources)
	if err != nil {
		return err
	}
	all := append(targets[:len(targets):len(targets)], floor)
	for round := 1; round <= c.Rounds; round++ {
		for n := range all {
			if err := ctx.Err(); err != nil {
				return err
			}
			t := all[(n+round)%len(all)]
			c.noteStart(c.freshStart(t, c.place(t.Name, 0), "empty", round, true))
		}
	}
	for _, t := range targets { // one after the other: the others' data and processes would be in the way
		for _, s := range c.keptStarts(ctx, t, floor) {
			c.noteStart(s)
		}
		if err := errors.Join(ctx.Err(), os.RemoveAll(c.place(t.Name, 0).Dir)); err != nil {
			return err
		}
	}
	return c.report.Save(c.JSON)
}

func (c *campaign) noteStart(s Start) {
	c.report.Starts = append(c.report.Starts, s)
	fmt.Fprintf(c.Log, "%-8s W9 %-6s round %d %-20s listens %.1f ms, ready %.1f ms, first ack %.1f ms, RSS %.1f MB, idle %.3f cores, stop %.0f ms, lost %d of %d %s\n", s.Pass, s.Kind, s.Round, s.Target,
		s.ListenMs, s.ReadyMs, s.FirstAckMs, float64(s.RSSBytes)/1e6, s.IdleCores, s.StopMs, s.Lost, s.AckedBefore, s.Error)
}

// acked notes the times of a start and has a first record acknowledged.
func (s *Start) acked(i *target.Instance, times target.Times, topic string) error {
	s.ListenMs, s.ReadyMs = ms(times.Listen), ms(times.Ready)
	if topic == "" {
		topic = "first"
		if err := target.CreateTopic(i.Addr, topic, 1, nil); err != nil {
			return err
		}
	}
	if err := firstAck(i.Addr, topic); err != nil {
		return err
	}
	s.FirstAckMs = ms(time.Since(times.Began))
	return nil
}

// watched looks at the idle process.
func (s *Start) watched(pid int) error {
	time.Sleep(time.Second) // what starting left to do is done
	const watched = 2 * time.Second
	before, err := proc.Read(pid)
	if err != nil {
		return err
	}
	time.Sleep(watched)
	after, err := proc.Read(pid)
	s.RSSBytes, s.IdleCores = after.RSSBytes, after.Since(before).CPUSeconds/watched.Seconds()
	return err
}

// firstAck sends one record until it is acknowledged: after a restart a partition may have no leader for a moment.
func firstAck(addr, topic string) error {
	var err error
	for until := time.Now().Add(60 * time.Second); time.Now().Before(until); time.Sleep(time.Millisecond) {
		var r *rawgen.Result
		r, err = rawgen.Produce(rawgen.ProduceOptions{Addr: addr, Topic: topic, Acks: -1, RecordSize: 100, BatchBytes: 1, Bodies: 1, Requests: 1, NoBad: true, Patience: 10 * time.Second})
		if err == nil && r.FailureCount == 0 {
			return nil
		}
		if err == nil {
			err = errors.New(r.Failures[0])
		}
	}
	return fmt.Errorf("no record was acknowledged: %w", err)
}

// freshStart starts a target that has written nothing itself: on an empty directory, or a floor on what another left. watch looks at
// it idle.
func (c *campaign) freshStart(t target.Target, place target.Place, kind string, round int, watch bool) Start {
	s := Start{Target: t.Name, Pass: c.pass.Name, Kind: kind, Round: round}
	err := os.RemoveAll(place.Dir)
	if err == nil {
		var i *target.Instance
		var times target.Times
		if i, times, err = target.Start(t, place); err == nil {
			if err = s.acked(i, times, ""); err == nil && watch {
				err = s.watched(i.PID)
			}
			stop, stopErr := i.StopTimed()
			s.StopMs, err = ms(stop), errors.Join(err, stopErr)
		}
	}
	if err != nil {
		s.Error = err.Error()
	}
	return s
}

// keptStarts fills a target once and then ends it cleanly and by kill -9 in turn.
func (c *campaign) keptStarts(ctx context.Context, t, floor target.Target) []Start {
	var out []Start
	failed := func(kind string, round int, err error) []Start {
		return append(out, Start{Target: t.Name, Pass: c.pass.Name, Kind: kind, Round: round, Error: err.Error()})
	}
	place := c.place(t.Name, 0)
	if err := os.RemoveAll(place.Dir); err != nil {
		return failed("clean", 0, err)
	}
	i, _, err := target.Start(t, place)
	if err != nil {
		return failed("clean", 0, err)
	}
	running := true
	defer func() {
		if running {
			_ = i.Stop() // it is the last we want of it
		}
	}()
	floorFirst := func(kind string, round int) {
		if t.Kind != target.Millrace {
			return
		}
		floor.Kept = filepath.Join(place.Dir, "data")
		s := c.freshStart(floor, c.place(floor.Name, 1), kind, round, false) // not watched: the target is to start right after its end
		s.KeptBytes, s.KeptParts = c.Sizes.KeepBytes, c.Sizes.KeepParts
		out = append(out, s)
	}
	const kept, loaded = "kept", "loaded"
	parts := c.Sizes.KeepParts
	if err := c.keep(i, kept, parts); err != nil {
		return failed("clean", 0, err)
	}
	for round := 1; round <= c.Rounds && ctx.Err() == nil; round++ {
		s := Start{Target: t.Name, Pass: c.pass.Name, Kind: "clean", Round: round, KeptBytes: c.Sizes.KeepBytes, KeptParts: parts}
		before, err := rawgen.Offsets(i.Addr, kept, parts, -1)
		if err != nil {
			return failed("clean", round, err)
		}
		stop, err := i.StopTimed()
		s.StopMs = ms(stop)
		if err != nil {
			running = false
			return failed("clean", round, err)
		}
		floorFirst("clean", round)
		if err := c.again(i, &s, kept, before, 0); err != nil {
			running = false
			return failed("clean", round, err)
		}
		out = append(out, s)

		s = Start{Target: t.Name, Pass: c.pass.Name, Kind: "killed", Round: round, KeptBytes: c.Sizes.KeepBytes, KeptParts: parts}
		acked, err := c.killUnderLoad(i, loaded)
		if err != nil {
			return failed("killed", round, err)
		}
		floorFirst("killed", round)
		if err := c.again(i, &s, loaded, acked, 1); err != nil {
			running = false
			return failed("killed", round, err)
		}
		out = append(out, s)
		if err := target.DeleteTopic(i.Addr, loaded); err != nil {
			return failed("killed", round, err)
		}
		c.settle()
	}
	return out
}

// keep writes the data that every later start finds.
func (c *campaign) keep(i *target.Instance, topic string, parts int) error {
	if err := target.CreateTopic(i.Addr, topic, parts, nil); err != nil {
		return err
	}
	o := rawgen.ProduceOptions{Addr: i.Addr, Topic: topic, Partitions: parts, PerRequest: min(parts, 8), Rotate: true, Acks: 1, Conns: 4, Depth: 2, RecordSize: 1024, BatchBytes: 65536, NoBad: true}
	o.Requests = max(1, c.Sizes.KeepBytes/int64(batch(&o).Payload*o.PerRequest))
	r, err := c.generate(Job{Produce: &o})
	if err == nil && r.FailureCount > 0 {
		err = errors.New(r.Failures[0])
	}
	return err
}

// killUnderLoad runs W1 and kills the target in the middle; it returns where the acknowledged part of each partition ends.
func (c *campaign) killUnderLoad(i *target.Instance, topic string) ([]int64, error) {
	if err := target.CreateTopic(i.Addr, topic, 6, configs(i.Target, nil)); err != nil {
		return nil, err
	}
	o := w1Options()
	o.Addr, o.Topic, o.NoBad, o.Duration = i.Addr, topic, true, time.Minute
	type end struct {
		r   *rawgen.Result
		err error
	}
	done := make(chan end, 1)
	go func() {
		r, err := c.generate(Job{Produce: &o})
		done <- end{r, err}
	}()
	time.Sleep(min(3*time.Second, 500*time.Millisecond+c.Sizes.BulkSeconds))
	if err := i.Kill(); err != nil {
		return nil, err
	}
	e := <-done
	if e.err != nil {
		return nil, e.err
	}
	return e.r.AckedEnds, nil
}

// again starts a target on its old data and checks that a topic still holds what was acknowledged. walk counts how often
// every record is read back.
func (c *campaign) again(i *target.Instance, s *Start, topic string, acked []int64, walk int) error {
	times, err := i.Restart()
	if err != nil {
		return err
	}
	if err := s.acked(i, times, topic); err != nil {
		return err
	}
	if err := s.watched(i.PID); err != nil {
		return err
	}
	ends, err := rawgen.Offsets(i.Addr, topic, len(acked), -1)
	if err != nil {
		return err
	}
	for p, end := range acked {
		s.AckedBefore += end
		s.Lost += max(0, end-ends[p])
	}
	if walk > 0 {
		bytes := int64(0)
		o := w1Options()
		for _, end := range acked {
			bytes += end / int64(batch(&o).Records) * int64(batch(&o).BatchLen())
		}
		r, err := c.generate(Job{Fetch: &rawgen.FetchOptions{Addr: i.Addr, Topic: topic, Partitions: len(acked), Bytes: max(bytes, 1), SampleEvery: 1}})
		if err != nil {
			return err
		}
		if r.FailureCount > 0 {
			return fmt.Errorf("read back: %s", r.Failures[0])
		}
	}
	return nil
}
