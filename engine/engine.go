package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"millrace/netpoll"
	"millrace/vfs"
)

// Engine is a set of partitions over one or more log directories. Any goroutine.
type Engine struct {
	opts    Options
	fs      vfs.FS
	log     *slog.Logger
	shards  []*Shard
	dirs    []*logDir
	own     *ownLoops
	cleaner *cleaner
	meta    string // cluster id
	boot    string

	producerExpiryMs atomic.Int64

	closing    atomic.Bool
	background sync.WaitGroup // goroutines that Close waits for
	stop       chan struct{}  // closed when Close begins: removers give up their delay
	closed     chan struct{}  // closed when Close has ended

	mu      sync.RWMutex
	topics  map[string]map[int32]*Partition
	makers  chan struct{}            // bounds the goroutines that make partitions
	making  map[string]chan struct{} // directory names being made or taken away
	leaving map[*Partition]struct{}  // deleted, and not renamed yet
	perDir  map[*logDir]int
	perShd  map[*Shard]int
}

// ClusterID is the id in meta.properties.
func (e *Engine) ClusterID() string { return e.meta }

// DiedBefore tells whether the log directory died in the run before: what its page cache shows may never have reached the
// disk.
func (e *Engine) DiedBefore(dir string) bool {
	for _, d := range e.dirs {
		if d.path == dir {
			return d.direct
		}
	}
	return false
}

// Lookup finds a partition; nil if there is none (or it is being deleted). No allocation.
func (e *Engine) Lookup(topic string, index int32) *Partition {
	e.mu.RLock()
	p := e.topics[topic][index]
	e.mu.RUnlock()
	return p
}

// Partitions lists all partitions, ordered by topic and index.
func (e *Engine) Partitions() []*Partition {
	out := e.list()
	slices.SortFunc(out, func(a, b *Partition) int {
		if c := strings.Compare(a.topic, b.topic); c != 0 {
			return c
		}
		return cmpInt64(int64(a.index), int64(b.index))
	})
	return out
}

func (e *Engine) list() []*Partition {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.listLocked()
}

func (e *Engine) listLocked() []*Partition {
	var out []*Partition
	for _, t := range e.topics {
		for _, p := range t {
			out = append(out, p)
		}
	}
	return out
}

// listAll is list with the partitions whose deletion is under way.
func (e *Engine) listAll() []*Partition {
	e.mu.RLock()
	defer e.mu.RUnlock()
	out := e.listLocked()
	for p := range e.leaving {
		out = append(out, p)
	}
	return out
}

// SetProducerExpiry changes Options.ProducerExpiryMs while the engine runs. Any goroutine.
func (e *Engine) SetProducerExpiry(ms int64) { e.producerExpiryMs.Store(ms) }

// Create makes a partition: directory, partition.metadata and first segment are durable when done is told, on the
// owner loop if there is a partition, else on an ordinary goroutine. If it exists with the same topic id it is handed
// over with ErrExists; with another id it is ErrTopicID. Appends are refused until SetLeader. Any goroutine; not more than
// a few are carried out at a time.
func (e *Engine) Create(spec PartitionSpec, done func(*Partition, error)) {
	e.mu.RLock()
	closing := e.closing.Load()
	if !closing {
		e.background.Add(1)
	}
	e.mu.RUnlock()
	if closing {
		go done(nil, ErrClosed)
		return
	}
	go func() {
		defer e.background.Done()
		e.makers <- struct{}{}
		p, err := e.create(spec)
		<-e.makers
		if p == nil {
			done(nil, err)
			return
		}
		p.post(func() { done(p, err) })
	}()
}

// Delete takes a partition away: appends and waiters end with ErrDeleted, the directory is renamed durably, then done is
// told on the owner loop; the files go later, after file.delete.delay.ms. Any goroutine.
func (e *Engine) Delete(p *Partition, done func(error)) {
	p.post(func() { p.remove(done) })
}

// Ensure finds or makes a partition and leads it with an epoch above all before: what an embedding program needs.
// With a controller, use Create and Partition.SetLeader.
func (e *Engine) Ensure(ctx context.Context, topic string, index int32) (*Partition, error) {
	type result struct {
		p   *Partition
		err error
	}
	got := make(chan result, 1)
	lead := func(p *Partition) {
		p.post(func() {
			if p.pub.epoch.Load() >= 0 {
				got <- result{p, nil}
				return
			}
			got <- result{p, p.setLeader(p.lastEpoch + 1)}
		})
	}
	if p := e.Lookup(topic, index); p != nil {
		if err := p.Err(); err != nil {
			return nil, err
		}
		lead(p)
	} else {
		e.Create(PartitionSpec{Topic: topic, Index: index}, func(p *Partition, err error) {
			if p == nil || err != nil && !errors.Is(err, ErrExists) {
				got <- result{nil, err}
				return
			}
			lead(p)
		})
	}
	select {
	case r := <-got:
		return r.p, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// stopping says whether Close has begun.
func (e *Engine) stopping() bool {
	select {
	case <-e.stop:
		return true
	default:
		return false
	}
}

func (e *Engine) wallMs() int64 {
	if e.opts.WallMs != nil {
		return e.opts.WallMs()
	}
	return time.Now().UnixMilli()
}

// ownLoops are loops that the engine made for itself.
type ownLoops struct {
	loops []*netpoll.Loop
	wg    sync.WaitGroup
}

func (o *ownLoops) stop() {
	for _, l := range o.loops {
		l.Stop()
	}
	o.wg.Wait()
}
