package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"millrace/segment"
)

// Close is the clean stop: what was pushed before is finished, everything is synced and checkpointed, and the stop is
// marked clean, so that the next start need not scan. Loops that were passed in must go on running until it returns. When
// ctx ends first, what is not closed by then is left as kill -9 would leave it. Idempotent; later calls return nil.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	again := e.closing.Swap(true)
	e.mu.Unlock()
	if again {
		return nil
	}
	close(e.stop)
	e.cleaner.end(ctx)
	for _, d := range e.dirs {
		close(d.stop)
		<-d.kept
	}
	parts := e.listAll()
	c := newCloser(e, len(parts))
	for _, p := range parts {
		p.post(func() { p.shutDown(c) })
	}
	err := c.wait(ctx, parts)
	if err == nil {
		err = c.closeLogs(ctx)
	}
	if err == nil {
		err = e.markClean(c)
	}
	e.quiet()
	e.background.Wait()
	if e.own != nil {
		e.own.stop()
	}
	e.unlock()
	close(e.closed)
	return err
}

// shutDown finishes what was pushed and then closes the log. Owner only.
func (p *Partition) shutDown(c *closer) {
	if p.Err() == ErrDeleted {
		if p.removed {
			c.busy.Done()
		} else {
			p.onRemoved = append(p.onRemoved, c.busy.Done)
		}
		return
	}
	p.drain()
	p.draining = true
	p.wakeAll(WakeGone)
	p.whenIdle(func() {
		p.failure.CompareAndSwap(nil, &failure{ErrClosed})
		p.offline()
		p.closed = true
		p.dropSums()
		p.shard.detach(p)
		c.idle(closing{p: p, producers: p.snapshotDue(), unchanged: p.unchanged()})
	})
}

// unchanged says that the clean stop before this run wrote everything that a close would write now, but perhaps for a
// leader epoch without records.
func (p *Partition) unchanged() bool {
	end := p.log.WrittenEnd()
	return p.asOpened && p.log.RecoveryPoint() == end && p.log.SyncedEnd() == end && !p.producers.changed && !p.log.WantsSnapshot()
}

// markClean writes the checkpoint files and then the marks.
func (e *Engine) markClean(c *closer) (err error) {
	for _, d := range e.dirs {
		derr := c.failed(d)
		if derr == nil && d.alive() && d.meta.ClusterID != "" {
			derr = d.markClean()
		}
		if derr != nil {
			err = errors.Join(err, fmt.Errorf("log directory %s: the stop is not clean: %w", d.path, derr))
		}
	}
	return err
}

func (d *logDir) markClean() error {
	if d.unopened.Load() {
		return nil // what could not be opened must be looked at again
	}
	if err := d.writeRecoveryPoints(); err != nil {
		return err
	}
	if err := d.writeLogStarts(); err != nil {
		return err
	}
	parts := d.partitions()
	m := segment.CleanMark{BootID: d.eng.boot, BrokerEpoch: -1, Ends: make([]segment.OffsetEntry, len(parts))}
	for i, p := range parts {
		m.Ends[i] = segment.OffsetEntry{Topic: p.topic, Partition: p.index, Offset: p.pub.written.Load()}
	}
	return segment.WriteCleanMark(d.eng.fs, d.path, m)
}

// quiet takes the shards' timers away, so that loops of others can go on without the engine.
func (e *Engine) quiet() {
	var wg sync.WaitGroup
	for _, s := range e.shards {
		wg.Add(1)
		s.loop.PostFunc(func() {
			defer wg.Done()
			s.loop.StopTimer(&s.syncTimer)
			s.loop.StopTimer(&s.tickTimer)
			s.loop.StopTimer(&s.probeTimer)
			s.closed = true
		})
	}
	wg.Wait()
}
