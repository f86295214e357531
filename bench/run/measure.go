package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"millrace/bench/proc"
	"millrace/bench/producer"
	"millrace/bench/rawgen"
	"millrace/bench/target"
)

// Job is what a generator process is told to do, as JSON.
type Job struct {
	Produce *rawgen.ProduceOptions `json:"produce,omitempty"`
	Fetch   *rawgen.FetchOptions   `json:"fetch,omitempty"`
	Model   *producer.Options      `json:"model,omitempty"` // a producer that batches as Kafka's does
	Crowd   *rawgen.CrowdOptions   `json:"crowd,omitempty"` // long polls that find nothing
}

// Do runs a job in this process.
func (j Job) Do() (*rawgen.Result, error) {
	switch {
	case j.Model != nil:
		return producer.Run(*j.Model)
	case j.Crowd != nil:
		return rawgen.Crowd(*j.Crowd)
	case j.Produce != nil && j.Fetch != nil:
		return rawgen.EndToEnd(*j.Produce, *j.Fetch)
	case j.Produce != nil:
		return rawgen.Produce(*j.Produce)
	case j.Fetch != nil:
		return rawgen.Fetch(*j.Fetch)
	}
	return nil, errors.New("a job that does nothing")
}

// generate runs a job in a process of its own.
func (c *campaign) generate(j Job) (*rawgen.Result, error) {
	return Generate(c.pass.GenCPUs, &c.Sources, j)
}

// Generate runs a job in a process of its own, pinned to a list of CPUs (empty: anywhere).
func Generate(cpus string, s *target.Sources, j Job) (*rawgen.Result, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	var stderr strings.Builder
	before := proc.ReadCPUTime()
	out, err := proc.Run(cpus, &stderr, s.Self, append(append([]string(nil), s.SelfArgs...), "gen", "job", string(text))...)
	if err != nil {
		return nil, fmt.Errorf("generator: %w: %s", err, strings.TrimSpace(stderr.String()))
	}
	r := &rawgen.Result{}
	err = json.Unmarshal(out, r)
	r.Stolen = proc.ReadCPUTime().StolenSince(before)
	return r, err
}

// ours: a Millrace, also one by address if it is named so.
func ours(t target.Target) bool {
	return t.Kind == target.Millrace || t.Kind == target.Address && strings.HasPrefix(t.Name, "millrace")
}

// configs of the topics that a load uses. Deleted data must not be written back during the next run.
func configs(t target.Target, l *Load) map[string]string {
	m := map[string]string{"file.delete.delay.ms": "1000"}
	if l != nil && l.Class == Synced && t.JVM() {
		m["flush.messages"] = "1" // Kafka acknowledges from the page cache unless told otherwise
	}
	if l != nil && l.Class == PageCache && l.Produce != nil && l.Produce.Acks == -1 && ours(t) {
		m["write.caching"] = "true" // and we do not, unless told so
	}
	return m
}

func (c *campaign) topic(i *target.Instance, l *Load, partitions int) (string, error) {
	c.topics++
	name := fmt.Sprintf("bench-%d-%d", os.Getpid(), c.topics)
	return name, target.CreateTopic(i.Addr, name, partitions, configs(i.Target, l))
}

// fill makes the data that a load reads.
func (c *campaign) fill(i *target.Instance, l *Load) (string, error) {
	c.memory.Drop()
	topic, err := c.topic(i, l, l.Partitions)
	if err != nil {
		return topic, err
	}
	o := *l.Fill
	o.Addr, o.Topic, o.NoBad = i.Addr, topic, true
	r, err := c.generate(Job{Produce: &o})
	if err == nil && r.FailureCount > 0 {
		err = errors.New(r.Failures[0])
	}
	c.settle()
	return topic, err
}

// job makes a load concrete for an instance.
func job(l *Load, i *target.Instance, topic string) Job {
	if l.Fetch != nil && l.Produce == nil {
		f := *l.Fetch
		f.Addr, f.Topic, f.WatchPID = i.Addr, topic, i.PID
		return Job{Fetch: &f}
	}
	p := *l.Produce
	p.Addr, p.Topic, p.WatchPID, p.NoBad = i.Addr, topic, i.PID, !i.Target.ChecksRecords()
	j := Job{Produce: &p}
	if l.Fetch != nil && i.Target.Kind != target.Floor {
		f := *l.Fetch
		j.Fetch = &f
	}
	return j
}

// once makes one run and notes it. Only a cancelled context is an error: whatever else goes wrong belongs to the run.
func (c *campaign) once(ctx context.Context, l *Load, i *target.Instance, topic string, round, order int) error {
	run := Run{Load: l.ID, Target: i.Target.Name, Pass: c.pass.Name, Round: round, Order: order, Started: time.Now()}
	err := c.backed(l, func() error { return c.do(l, i, topic, &run) })
	if err != nil {
		run.Error = err.Error()
	}
	c.report.Runs = append(c.report.Runs, run)
	c.tell(l, &run)
	c.settle()
	c.report.Summarize()
	return errors.Join(ctx.Err(), c.report.Save(c.JSON))
}

// backed makes a run in memory that was held until now. What a load reads has to stay in the page cache: there nothing is held.
func (c *campaign) backed(l *Load, do func() error) error {
	if l.Fill != nil {
		c.memory.Drop()
		return do()
	}
	if err := c.memory.Take(); err != nil {
		return err
	}
	c.memory.Begin(func() { _ = proc.PinThread(c.pass.GenCPUs) })
	defer c.memory.End()
	return do()
}

func (c *campaign) do(l *Load, i *target.Instance, topic string, run *Run) (err error) {
	if l.Fill == nil {
		if topic, err = c.topic(i, l, l.Partitions); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, target.DeleteTopic(i.Addr, topic)) }()
	}
	if run.Result, err = c.generate(job(l, i, topic)); err != nil {
		return err
	}
	if l.Produce != nil {
		return c.holds(i, topic, l, run.Result)
	}
	// A reading load has no batch of its own to spoil: it is sent beside, so that no read figure comes from a target that
	// was made to take anything.
	return c.spoil(i, topic, l, run.Result)
}

// holds checks that the log grew by what was acknowledged, no more and no less.
func (c *campaign) holds(i *target.Instance, topic string, l *Load, r *rawgen.Result) error {
	ends, err := rawgen.Offsets(i.Addr, topic, l.Partitions, -1)
	if err != nil {
		return err
	}
	sum := int64(0)
	for _, e := range ends {
		sum += e
	}
	if sum != r.Records && r.FailureCount == 0 {
		return fmt.Errorf("the log holds %d records of %d acknowledged", sum, r.Records)
	}
	return nil
}

func (c *campaign) spoil(i *target.Instance, topic string, l *Load, r *rawgen.Result) error {
	if !i.Target.ChecksRecords() {
		return nil
	}
	r.BadRecord = rawgen.SendBad(rawgen.ProduceOptions{Addr: i.Addr, Topic: topic, Partitions: l.Partitions, RecordSize: l.Fetch.RecordSize})
	if r.BadRecord != rawgen.BadRefused {
		return fmt.Errorf("the spoiled batch was answered with %s", r.BadRecord)
	}
	return nil
}

func (c *campaign) tell(l *Load, run *Run) {
	what := fmt.Sprintf("round %d", run.Round)
	if run.Round == 0 {
		what = "warm-up"
	}
	fmt.Fprintf(c.Log, "%-8s %-11s %-8s %-20s ", c.pass.Name, l.ID, what, run.Target)
	if run.Result != nil {
		v := l.values(run.Result)
		fmt.Fprintf(c.Log, "%s %s, %.3g %s, p50 %.0f p99 %.0f us", number(v["throughput"]), l.Unit, v["cpu"], l.cpuUnit(), v["p50"], v["p99"])
		if s := run.Result.Stolen; s >= stolenMuch {
			fmt.Fprintf(c.Log, ", the host took %.0f %% of the CPU time", 100*s)
		}
		if n := run.Result.Unsent; n > 0 {
			fmt.Fprintf(c.Log, ", %d requests given up: the rate was not held", n)
		}
		for _, f := range run.Result.Failures {
			fmt.Fprintf(c.Log, "\n    %s", f)
		}
	}
	if run.Error != "" {
		fmt.Fprintf(c.Log, "\n    %s", run.Error)
	}
	fmt.Fprintln(c.Log)
}
