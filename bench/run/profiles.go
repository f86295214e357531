package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"millrace/bench/prof"
	"millrace/bench/target"
)

// profiles makes one more run of each load on each target with an admin port, and attributes its CPU profile.
func (c *campaign) profiles(ctx context.Context, loads []Load, kept map[string]string) error {
	if c.Profile <= 0 {
		return nil
	}
	c.memory.Drop()
	for k := range loads {
		for _, i := range c.up {
			if i.Admin == "" {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			c.report.Profiles = append(c.report.Profiles, c.profile(ctx, lasting(loads[k], time.Duration(c.Profile)*time.Second+time.Second), i, kept[i.Target.Name]))
		}
	}
	return c.report.Save(c.JSON)
}

// lasting is a load that takes this long, whatever it did before.
func lasting(l Load, d time.Duration) Load {
	if l.Produce != nil {
		o := *l.Produce
		o.Requests, o.Duration, o.Both = 0, d, false
		l.Produce = &o
	}
	if l.Fetch != nil {
		o := *l.Fetch
		o.Bytes, o.Duration, o.Both = 0, d, false
		l.Fetch = &o
	}
	return l
}

func (c *campaign) profile(ctx context.Context, l Load, i *target.Instance, topic string) Profile {
	p := Profile{Load: l.ID, Target: i.Target.Name, Pass: c.pass.Name, Seconds: c.Profile}
	type taken struct {
		shares []prof.Share
		raw    []byte
		err    error
	}
	done := make(chan taken, 1)
	go func() {
		time.Sleep(300 * time.Millisecond) // the load is under way
		shares, raw, err := prof.Take(ctx, i.Admin, c.Profile)
		done <- taken{shares, raw, err}
	}()
	run := Run{}
	err := c.do(&l, i, topic, &run)
	t := <-done
	p.Shares = t.shares
	if err = errors.Join(err, t.err); err == nil && c.JSON != "" {
		p.File = fmt.Sprintf("%s.%s.%s.%s.pprof", strings.TrimSuffix(c.JSON, ".json"), c.pass.Name, l.ID, i.Target.Name)
		err = os.WriteFile(p.File, t.raw, 0o644)
	}
	if err != nil {
		p.Error = err.Error()
		fmt.Fprintf(c.Log, "profile of %s under %s: %v\n", p.Target, l.ID, err)
	}
	c.settle()
	return p
}

// profilePart takes a profile of a procedure's part if the run is for that; the function that it returns waits for its end.
func (c *campaign) profilePart(x *Extra, part string) func() {
	if !c.profiled {
		return func() {}
	}
	at := slices.IndexFunc(c.up, func(i *target.Instance) bool { return i.Target.Name == x.Target })
	p := Profile{Load: x.Workload + ", " + part, Target: x.Target, Pass: c.pass.Name, Seconds: c.Profile}
	done := make(chan struct{})
	go func() {
		defer close(done)
		time.Sleep(300 * time.Millisecond)
		shares, _, err := prof.Take(context.Background(), c.up[at].Admin, c.Profile)
		if p.Shares = shares; err != nil {
			p.Error = err.Error()
		}
	}()
	return func() {
		<-done
		c.report.Profiles = append(c.report.Profiles, p)
	}
}
