package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"millrace/segment"
)

// closer is one clean stop under way: it waits until every partition is idle, then closes the logs, those of a directory
// together. Any goroutine.
type closer struct {
	eng  *Engine
	busy sync.WaitGroup // partitions that are not idle yet

	mu   sync.Mutex
	todo map[*logDir][]closing
	bad  map[*logDir]error
	over bool // nothing is closed cleanly any more
}

// closing is a partition whose log is to be closed.
type closing struct {
	p         *Partition
	producers []segment.ProducerEntry // as Log.Close wants them
	unchanged bool                    // there is nothing to write
}

// closeParallel is how many logs of a directory are written to at once.
const closeParallel = 16

func newCloser(e *Engine, parts int) *closer {
	c := &closer{eng: e, todo: map[*logDir][]closing{}, bad: map[*logDir]error{}}
	c.busy.Add(parts)
	return c
}

// wait waits for all partitions to be idle, or for ctx to end.
func (c *closer) wait(ctx context.Context, parts []*Partition) error {
	if c.within(ctx, c.busy.Wait) {
		return nil
	}
	for _, p := range parts { // give up what still waits
		p.post(func() {
			if p.failure.CompareAndSwap(nil, &failure{ErrClosed}) {
				p.offline()
			}
		})
	}
	return notClean(ctx)
}

func notClean(ctx context.Context) error {
	return fmt.Errorf("engine: the stop is not clean: %w", ctx.Err())
}

// within calls fn and says whether it returned before ctx ended.
func (c *closer) within(ctx context.Context, fn func()) bool {
	done := make(chan struct{})
	go func() {
		fn()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
	}
	c.giveUp()
	return false
}

// giveUp leaves what is not being closed as kill -9 would.
func (c *closer) giveUp() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	for _, list := range c.todo {
		for _, x := range list {
			x.p.log.Abandon()
		}
	}
	clear(c.todo)
}

// idle takes over a partition of which nothing is in flight. Owner only.
func (c *closer) idle(x closing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.busy.Done()
	if c.over {
		x.p.log.Abandon()
		return
	}
	c.todo[x.p.dir] = append(c.todo[x.p.dir], x)
}

// closeLogs closes the logs of all directories.
func (c *closer) closeLogs(ctx context.Context) error {
	c.mu.Lock()
	all := c.todo
	c.todo = map[*logDir][]closing{}
	c.mu.Unlock()
	if !c.within(ctx, func() {
		var wg sync.WaitGroup
		for d, list := range all {
			wg.Go(func() { c.closeDir(ctx, d, list) })
		}
		wg.Wait()
	}) {
		return notClean(ctx)
	}
	return nil
}

func (c *closer) closeDir(ctx context.Context, d *logDir, list []closing) {
	changed := list[:0]
	for _, x := range list {
		if x.unchanged && !x.p.log.HasAhead() || !d.alive() {
			x.p.log.Abandon()
		} else {
			changed = append(changed, x)
		}
	}
	var err error
	if len(changed) > c.eng.opts.SyncFSAbove {
		err = closeMany(ctx, d, changed)
	} else {
		err = each(ctx, changed, func(i int) error { return changed[i].p.log.Close(changed[i].producers) })
	}
	if err != nil {
		c.mu.Lock()
		c.bad[d] = err
		c.mu.Unlock()
		return
	}
	for _, x := range changed {
		x.p.recoveryPoint.Store(x.p.pub.written.Load())
	}
}

// failed is why a directory's logs were not all closed.
func (c *closer) failed(d *logDir) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bad[d]
}

// closeMany closes logs with a handful of syncs of the whole file system instead of six or more for each.
func closeMany(ctx context.Context, d *logDir, list []closing) error {
	defer func() {
		for _, x := range list {
			x.p.log.Abandon() // those that an error left open
		}
	}()
	logs := make([]*segment.Closing, len(list))
	err := each(ctx, list, func(i int) (err error) {
		logs[i], err = list[i].p.log.BeginClose(list[i].producers)
		return err
	})
	for more := true; err == nil && more; {
		if err = d.eng.fs.SyncFS(d.path); err != nil {
			d.fail(err)
			break
		}
		var some sync.Mutex
		more = false
		err = each(ctx, list, func(i int) error {
			again, err := logs[i].Step()
			some.Lock()
			more = more || again
			some.Unlock()
			return err
		})
	}
	if err != nil {
		return err
	}
	if err = d.eng.fs.SyncFS(d.path); err != nil {
		d.fail(err)
		return err
	}
	return each(ctx, list, func(i int) error { return logs[i].End() })
}

// each calls fn for every log, some at a time, and joins their errors. Once ctx ended it begins no further one.
func each(ctx context.Context, list []closing, fn func(i int) error) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var all error
	slots := make(chan struct{}, closeParallel)
	for i := range list {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			err := ctx.Err()
			if err == nil {
				err = fn(i)
			}
			if err != nil {
				mu.Lock()
				all = errors.Join(all, fmt.Errorf("%s: %w", list[i].p.String(), err))
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all
}
