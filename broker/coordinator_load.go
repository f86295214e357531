package broker

import (
	"errors"
	"fmt"
	"time"

	"millrace/engine"
	"millrace/group"
	"millrace/group/record"
	"millrace/internal/codec"
	"millrace/segment/batch"
)

// unpackedMax bounds what one compressed batch of the log may unpack to, bytes. We write none; Kafka may have.
const unpackedMax = 256 << 20

// load reads the partition's log on a goroutine of its own and then begins service. A new partition is served at once.
func (c *coordinator) load() {
	if c.part.Bounds().Written == 0 {
		c.post(func() { c.begin(group.New(c.set.cfg.Load())) })
		return
	}
	go func() {
		began := time.Now()
		l := loader{c: c, machine: group.New(c.set.cfg.Load())}
		if err := l.run(); err != nil {
			c.post(func() { c.loadFailed(err) })
			return
		}
		if took := time.Since(began); took > time.Second || l.skipped > 0 {
			c.set.node.log.Info("groups loaded", "partition", c.part.String(), "records", l.records, "skipped", l.skipped, "took", took)
		}
		c.post(func() { c.begin(l.machine) })
	}()
}

func (c *coordinator) loadFailed(err error) {
	if c.ended {
		return
	}
	if !c.set.stopped.Load() && !errors.Is(err, engine.ErrDeleted) && !errors.Is(err, engine.ErrClosed) {
		c.set.node.log.Error("the groups of a partition could not be loaded; they are not served", "partition", c.part.String(), "error", err)
	}
	c.end(group.CoordinatorNotAvailable)
}

// begin takes the machine into service.
func (c *coordinator) begin(m *group.Coordinator) {
	if c.ended {
		return
	}
	c.machine = m
	c.run(func(m *group.Coordinator) {
		m.SetConfig(c.set.cfg.Load())
		m.Loaded(c.set.topics.Load(), c.now())
	})
}

// loader replays a log. Owned by its goroutine.
type loader struct {
	c       *coordinator
	machine *group.Coordinator
	records int
	skipped int
	buf     []byte
}

// run reads up to the end of the log. Nobody else appends to the partition, so the end stands; what is not committed
// yet at the start becomes so.
func (l *loader) run() error {
	p := l.c.part
	for at := p.Bounds().LogStart; ; {
		data, err := p.Read(at, int(l.c.set.node.static.Groups.OffsetsLoadBufferBytes), engine.ReadUncommitted)
		if err != nil {
			return err
		}
		if len(data) == 0 {
			if at >= p.Bounds().Written {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
			continue
		}
		if at, err = l.replay(data, at); err != nil {
			return err
		}
	}
}

// replay applies whole batches and returns the offset behind them. Batches may begin below from: their first records
// were there already.
func (l *loader) replay(data []byte, from int64) (int64, error) {
	for len(data) > 0 {
		size, err := batch.PeekSize(data)
		if err != nil || size > len(data) {
			return from, fmt.Errorf("reading at offset %d: %w", from, err)
		}
		v := batch.View(data[:size])
		data = data[size:]
		if v.NextOffset() <= from {
			continue
		}
		if err := l.batch(v, from); err != nil {
			return from, fmt.Errorf("batch at offset %d: %w", v.BaseOffset(), err)
		}
		from = v.NextOffset()
	}
	return from, nil
}

func (l *loader) batch(v batch.View, from int64) error {
	if v.Attributes().Control() {
		return l.marker(v)
	}
	it := v.Iter()
	if t := v.Attributes().Codec(); t != batch.None {
		var err error
		if l.buf, err = codec.Decompress(l.buf[:0], codec.Type(t), v.Payload(), unpackedMax); err != nil {
			return err
		}
		it = batch.NewIter(l.buf, v.Count())
	}
	var r batch.Record
	for it.Next(&r) {
		if v.BaseOffset()+int64(r.OffsetDelta) >= from {
			l.record(v, &r)
		}
	}
	return it.Err()
}

// marker ends a transaction.
func (l *loader) marker(v batch.View) error {
	if m, ok := batch.ParseMarker(v); ok {
		l.machine.ReplayMarker(m.ProducerID, m.Commit)
	}
	return nil
}

// record applies one record. What cannot be read is skipped, as Kafka does with kinds that it does not know.
func (l *loader) record(v batch.View, r *batch.Record) {
	rec, err := record.Decode(r.Key, r.Value)
	if err != nil {
		l.skipped++
		if !errors.Is(err, record.ErrUnknownType) && l.skipped < 10 {
			l.c.set.node.log.Warn("a record of "+OffsetsTopic+" cannot be read and is skipped", "partition", l.c.part.String(), "error", err)
		}
		return
	}
	l.records++
	if v.Attributes()&batch.Transactional != 0 {
		l.machine.ReplayTransactional(v.ProducerID(), rec)
		return
	}
	l.machine.Replay(rec)
}
