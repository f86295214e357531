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
	e.syncMany()
	parts := e.list()
	c := &closer{slots: make(chan struct{}, 16), bad: map[*logDir]error{}}
	c.wg.Add(len(parts))
	for _, p := range parts {
		p.post(func() { p.shutDown(c) })
	}
	err := c.wait(ctx, parts)
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

// closer is one clean stop under way. Any goroutine.
type closer struct {
	wg    sync.WaitGroup
	slots chan struct{}
	mu    sync.Mutex
	bad   map[*logDir]error
	ends  map[*logDir][]segment.OffsetEntry
}

// wait waits for all partitions to be closed, or for ctx to end.
func (c *closer) wait(ctx context.Context, parts []*Partition) error {
	all := make(chan struct{})
	go func() {
		c.wg.Wait()
		close(all)
	}()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
	}
	for _, p := range parts { // give up what still waits
		p.post(func() {
			if p.failure.CompareAndSwap(nil, &failure{ErrClosed}) {
				p.offline()
			}
		})
	}
	return fmt.Errorf("engine: the stop is not clean: %w", ctx.Err())
}

// shutDown finishes what was pushed and then closes the log. Owner only.
func (p *Partition) shutDown(c *closer) {
	if p.Err() == ErrDeleted {
		if p.removed {
			c.wg.Done()
		} else {
			p.onRemoved = append(p.onRemoved, c.wg.Done)
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
		go p.closeLog(c, p.snapshotDue(), p.unchanged())
	})
}

// unchanged says that the clean stop before this run wrote everything that a close would write now, but perhaps for a
// leader epoch without records.
func (p *Partition) unchanged() bool {
	end := p.log.WrittenEnd()
	return p.asOpened && p.log.RecoveryPoint() == end && p.log.SyncedEnd() == end && !p.producers.changed && !p.log.WantsSnapshot()
}

func (p *Partition) closeLog(c *closer, entries []segment.ProducerEntry, unchanged bool) {
	defer c.wg.Done()
	c.slots <- struct{}{}
	defer func() { <-c.slots }()
	if !p.dir.alive() || unchanged {
		p.log.Abandon()
		return
	}
	if err := p.log.Close(entries); err != nil {
		c.mu.Lock()
		c.bad[p.dir] = errors.Join(c.bad[p.dir], fmt.Errorf("%s: %w", p.String(), err))
		c.mu.Unlock()
		return
	}
	p.recoveryPoint.Store(p.pub.written.Load())
}

// markClean writes the checkpoint files and then the marks.
func (e *Engine) markClean(c *closer) (err error) {
	for _, d := range e.dirs {
		if !d.alive() || d.meta.ClusterID == "" {
			continue
		}
		derr := c.bad[d]
		if derr == nil {
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

// syncMany makes the syncs of many partitions cheap by one syncfs per directory first.
func (e *Engine) syncMany() {
	for _, d := range e.dirs {
		if d.alive() && len(d.partitions()) > e.opts.SyncFSAbove && d.unsynced.Load() > 0 {
			if err := e.fs.SyncFS(d.path); err != nil {
				d.fail(err)
			}
		}
	}
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
