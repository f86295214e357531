package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"millrace/bench/backing"
	"millrace/bench/proc"
	"millrace/bench/producer"
	"millrace/bench/run"
	"millrace/bench/target"
)

// Options describe a measured sweep on one target.
type Options struct {
	Target     target.Target
	Place      target.Place
	Sources    target.Sources
	GenCPUs    string
	Rounds     int           // counted runs of each cell
	Calibrate  int           // runs of each calibration cell; default: Rounds, at least 3
	RunIn      int           // rounds of the calibration cells before that, not counted: a fresh machine and broker are faster than they stay
	Duration   time.Duration // of a run
	Warmup     time.Duration // of a run, not counted
	Hold       int64         // bytes of memory that are held between runs, see package backing; 0: none
	Settle     time.Duration // at most so long is waited, after every run, until its data are gone and written out
	Acks       int16
	Cells      []Cell
	Costs      *Costs // frozen; nil: calibrate first
	JSON       string // written after every run; an unfinished sweep there is taken up again
	NetworkMBs float64
	MaxTime    time.Duration // begin no further run of the sweep after this; 0: no bound
	Log        io.Writer
	Version    string
}

// Report is a sweep: what was predicted and what was measured.
type Report struct {
	Meta   run.Meta `json:"meta"`
	Target string   `json:"target"`
	Rounds int      `json:"rounds"` // done
	Costs  *Costs   `json:"costs"`
	Cells  []Cell   `json:"cells"`
}

// LoadReport reads a sweep.
func LoadReport(file string) (*Report, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := &Report{}
	return r, json.Unmarshal(b, r)
}

func (r *Report) save(file string) error {
	if file == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".tmp", b, 0o644); err != nil {
		return err
	}
	return os.Rename(file+".tmp", file)
}

// measurer runs cells on a started target.
type measurer struct {
	o       *Options
	i       *target.Instance
	topics  int
	memory  *backing.Memory
	began   time.Time
	syncing chan struct{} // closed when the last sync of the file system ends; nil: none is under way
}

// Run calibrates unless costs are given, predicts every cell, then measures round by round.
func Run(ctx context.Context, o Options) (*Report, error) {
	r := &Report{Target: o.Target.Name, Costs: o.Costs, Cells: o.Cells}
	if old, err := LoadReport(o.JSON); o.JSON != "" && err == nil && old.Target == r.Target && len(old.Cells) == len(r.Cells) && old.Costs != nil {
		r = old // an earlier part of the same sweep: its costs stay frozen
	} else {
		r.Meta = run.Meta{Started: time.Now(), Version: o.Version, Command: os.Args, Targets: []target.Target{o.Target}}
		r.Meta.Machine()
	}
	i, _, err := target.Start(o.Target, o.Place)
	if err != nil {
		return nil, err
	}
	m := &measurer{o: &o, i: i, memory: backing.New(o.Hold), began: time.Now()}
	defer m.memory.Drop()
	err = m.all(ctx, r)
	r.Meta.Ended = time.Now()
	err = errors.Join(err, i.Stop())
	if o.Target.Kind != target.Address {
		err = errors.Join(err, os.RemoveAll(o.Place.Dir))
	}
	return r, errors.Join(err, r.save(o.JSON))
}

func (m *measurer) all(ctx context.Context, r *Report) error {
	if r.Costs == nil {
		cells := CalibrationCells()
		n := m.o.Calibrate
		if n == 0 {
			n = max(3, m.o.Rounds)
		}
		none := func() error { return nil }
		if _, err := m.rounds(ctx, CalibrationCells(), 0, m.o.RunIn, 0, none); err != nil {
			return err
		}
		if _, err := m.rounds(ctx, cells, 0, n, 0, none); err != nil {
			return err
		}
		for i := range cells {
			cells[i].Runs = nil // the medians say it
		}
		costs, err := Calibrate(cells, producer.AppendCost())
		if err != nil {
			return err
		}
		costs.Target, costs.Machine, costs.NetworkMBs = r.Target, r.Meta.CPU, m.o.NetworkMBs
		r.Costs = costs
	}
	r.Predict()
	done, err := m.rounds(ctx, r.Cells, r.Rounds, m.o.Rounds, m.o.MaxTime, func() error { return r.save(m.o.JSON) })
	r.Rounds = done
	return err
}

// Predict fills in what the report's costs say.
func (r *Report) Predict() {
	for k := range r.Cells {
		p := Predict(r.Cells[k].Settings, r.Costs)
		r.Cells[k].Predicted = &p
	}
}

// rounds measures the cells so that each has been tried to times, round by round; save is called after every run. It returns how
// many rounds are complete.
func (m *measurer) rounds(ctx context.Context, cells []Cell, from, to int, limit time.Duration, save func() error) (int, error) {
	if from < to {
		m.settle("")
	}
	for round := from; round < to; round++ {
		for k := range cells {
			c := &cells[k]
			if c.Tried > round { // in an earlier part
				continue
			}
			if err := ctx.Err(); err != nil {
				return round, err
			}
			if limit > 0 && time.Since(m.began) > limit {
				fmt.Fprintf(m.o.Log, "%d of %d rounds and %d of %d cells of the next are done and the time is over: start again to go on\n", round, to, k, len(cells))
				return round, nil
			}
			c.Tried++
			if err := m.once(c); err != nil {
				c.Errors = append(c.Errors, err.Error())
				fmt.Fprintf(m.o.Log, "%s: %v\n", c.Name, err)
			}
			c.summarize()
			m.tell(round, c)
			if err := save(); err != nil {
				return round, err
			}
		}
	}
	return max(from, to), nil
}

// topicConfigs keep what is no part of the model out of a run: files of a deleted topic go at once, and no segment is rolled.
var topicConfigs = map[string]string{"file.delete.delay.ms": "0", "segment.bytes": "2147483647"}

// once makes one run of a cell on a new topic.
func (m *measurer) once(c *Cell) error {
	m.topics++
	topic := fmt.Sprintf("model-%d-%d", os.Getpid(), m.topics)
	if err := target.CreateTopic(m.i.Addr, topic, c.Settings.Partitions, topicConfigs); err != nil {
		return err
	}
	o := c.Settings.Options()
	o.Addr, o.Topic, o.Acks, o.Duration, o.Warmup, o.WatchPID, o.NoBad = m.i.Addr, topic, m.o.Acks, m.o.Duration, m.o.Warmup, m.i.PID, !m.i.Target.ChecksRecords()
	if err := m.memory.Take(); err != nil {
		return err
	}
	m.memory.Begin(func() { _ = proc.PinThread(m.o.GenCPUs) })
	res, err := run.Generate(m.o.GenCPUs, &m.o.Sources, run.Job{Model: &o})
	m.memory.End()
	if err == nil {
		if res.Latency != nil {
			res.Latency.Encoded = "" // hundreds of runs: the quantiles are enough
		}
		if res.Model != nil && res.Model.Wait != nil {
			res.Model.Wait.Encoded = ""
		}
		if res.Model != nil && res.Model.RoundTrip != nil {
			res.Model.RoundTrip.Encoded = ""
		}
		c.Runs = append(c.Runs, res)
		if res.FailureCount > 0 {
			err = errors.New(res.Failures[0])
		}
	}
	err = errors.Join(err, target.DeleteTopic(m.i.Addr, topic))
	m.settle(topic)
	return err
}

func (m *measurer) tell(round int, c *Cell) {
	if len(c.Runs) == 0 || c.Measured == nil {
		return
	}
	r := c.Runs[len(c.Runs)-1]
	line := fmt.Sprintf("round %d  %-36s %9.0f rec/s %8.0f req/s", round+1, c.Name, float64(r.Records)/r.Seconds, float64(r.Requests)/r.Seconds)
	if records, requests, ok := c.off(); ok {
		line += fmt.Sprintf("   predicted %+.0f %% %+.0f %%", records*100, requests*100)
	}
	fmt.Fprintln(m.o.Log, line)
}
