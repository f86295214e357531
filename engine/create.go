package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/cespare/xxhash/v2"

	"millrace/segment"
)

// checkName says whether topic and index make a directory name that reads back as themselves.
func checkName(topic string, index int32) error {
	if len(topic) == 0 || len(topic) > 249 || topic == "." || topic == ".." || index < 0 {
		return ErrName
	}
	for i := range len(topic) {
		switch c := topic[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return ErrName
		}
	}
	return nil
}

// create is Create, on an ordinary goroutine. A partition comes with nil or ErrExists.
func (e *Engine) create(spec PartitionSpec) (*Partition, error) {
	if err := checkName(spec.Topic, spec.Index); err != nil {
		return nil, err
	}
	name := segment.DirName(spec.Topic, spec.Index)
	p, d, err := e.reserve(name, spec)
	if err != nil {
		return p, err
	}
	defer e.unreserve(name, e.claim(name))
	config := spec.Config
	if config == nil {
		config = e.opts.Config
	}
	prods := newProducers(e.opts.ProducersMax)
	if err := d.forgetCleaned(name); err != nil {
		e.mu.Lock()
		e.perDir[d]--
		e.mu.Unlock()
		return nil, d.createFailed(name, err)
	}
	log, err := segment.Create(e.fs, segment.Params{
		Dir: d.join(name), Topic: spec.Topic, Partition: spec.Index, TopicID: spec.TopicID,
		Options: e.segmentOptions(config), StartOffset: spec.StartOffset, NowMs: e.wallMs(), Producers: prods,
	})
	if err != nil {
		e.mu.Lock()
		e.perDir[d]--
		e.mu.Unlock()
		return nil, d.createFailed(name, err)
	}
	p = newPartition(e, d, log, prods, config)
	if !e.adopt(p) {
		log.Abandon()
		return nil, ErrClosed
	}
	return p, nil
}

// reserve claims the name, waiting for whoever holds it, and picks the log directory with fewest partitions.
func (e *Engine) reserve(name string, spec PartitionSpec) (*Partition, *logDir, error) {
	for {
		e.mu.Lock()
		if e.closing.Load() {
			e.mu.Unlock()
			return nil, nil, ErrClosed
		}
		if p := e.topics[spec.Topic][spec.Index]; p != nil {
			e.mu.Unlock()
			if p.topicID != spec.TopicID {
				return nil, nil, ErrTopicID
			}
			return p, nil, ErrExists
		}
		if busy := e.making[name]; busy != nil {
			e.mu.Unlock()
			<-busy
			continue
		}
		var best *logDir
		for _, d := range e.dirs {
			if d.alive() && (best == nil || e.perDir[d] < e.perDir[best]) {
				best = d
			}
		}
		if best == nil {
			e.mu.Unlock()
			return nil, nil, ErrOffline
		}
		e.perDir[best]++
		e.making[name] = make(chan struct{})
		e.mu.Unlock()
		return nil, best, nil
	}
}

// claim is what reserve or forget has put on a name.
func (e *Engine) claim(name string) chan struct{} {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.making[name]
}

// unreserve gives a claim up. By then the name may bear another: a partition can be deleted before its creation has
// returned.
func (e *Engine) unreserve(name string, claim chan struct{}) {
	e.mu.Lock()
	close(claim)
	if e.making[name] == claim {
		delete(e.making, name)
	}
	e.mu.Unlock()
}

// createFailed judges an error of making a partition directory.
func (d *logDir) createFailed(name string, err error) error {
	switch {
	case noSpace(err):
		return errors.Join(ErrStorageFull, err)
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EROFS):
		d.fail(fmt.Errorf("create %s: %w", name, err))
		return errors.Join(ErrOffline, err)
	case errors.Is(err, fs.ErrExist):
		return errors.Join(ErrExists, err)
	}
	return err
}

// newPartition makes the handle of an open log. It belongs to the caller until adopt.
func newPartition(e *Engine, d *logDir, log *segment.Log, prods *producers, config *PartitionConfig) *Partition {
	p := &Partition{
		topic: log.Topic(), index: log.Partition(), topicID: log.TopicID(), path: log.Dir(),
		eng: e, dir: d, log: log, producers: prods, strictFrom: noOffset,
		lastEpoch: log.Epochs().Last(),
	}
	p.config.Store(config)
	p.cleanedTo.Store(-1)
	p.writer.p, p.round.p = p, p
	p.pub.epoch.Store(NoEpoch)
	p.pub.logStart.Store(log.Start())
	written, synced := log.WrittenEnd(), log.SyncedEnd()
	p.pub.written.Store(written)
	p.pub.synced.Store(synced)
	committed := log.Start()
	if e.opts.Commit == CommitLocal {
		committed = max(committed, synced) // what was found counts as acks=all until it is synced
	}
	p.pub.committed.Store(committed)
	if synced < written {
		p.strictFrom, p.syncTo = synced, written
	}
	p.pub.stable.Store(min(committed, max(prods.firstOpen, log.Start())))
	p.marks[ReadUncommitted].reset(committed, 0)
	p.marks[ReadCommitted].reset(p.pub.stable.Load(), 0)
	p.marks[ReadWritten].reset(written, 0)
	p.recoveryPoint.Store(log.RecoveryPoint())
	return p
}

// adopt gives a partition its owner and makes it known. False: the engine is closing.
func (e *Engine) adopt(p *Partition) bool {
	e.mu.Lock()
	if e.closing.Load() {
		e.mu.Unlock()
		return false
	}
	p.shard = e.pickShard(p.String())
	e.perShd[p.shard]++
	p.applyConfigFields()
	t := e.topics[p.topic]
	if t == nil {
		t = map[int32]*Partition{}
		e.topics[p.topic] = t
	}
	t[p.index] = p
	e.mu.Unlock()
	p.post(func() { p.shard.attach(p) })
	if p.config.Load().Compact {
		e.cleaner.wake()
	}
	return true
}

// pickShard takes the loop with fewest partitions, ties by hash of the name (decisions 16).
func (e *Engine) pickShard(name string) *Shard {
	least := e.perShd[e.shards[0]]
	for _, s := range e.shards {
		least = min(least, e.perShd[s])
	}
	ties := make([]*Shard, 0, len(e.shards))
	for _, s := range e.shards {
		if e.perShd[s] == least {
			ties = append(ties, s)
		}
	}
	return ties[xxhash.Sum64String(name)%uint64(len(ties))]
}

// forget makes a partition unknown; its name stays claimed until the returned function is called.
func (e *Engine) forget(p *Partition) (release func()) {
	name := p.String()
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.topics[p.topic], p.index)
	if len(e.topics[p.topic]) == 0 {
		delete(e.topics, p.topic)
	}
	e.perDir[p.dir]--
	e.perShd[p.shard]--
	e.leaving[p] = struct{}{}
	claim := make(chan struct{})
	e.making[name] = claim
	return func() { e.unreserve(name, claim) }
}

// remove is Delete, on the owner loop.
func (p *Partition) remove(done func(error)) {
	if p.draining {
		done(ErrClosed)
		return
	}
	if !p.failure.CompareAndSwap(nil, &failure{ErrDeleted}) {
		if f := p.failure.Load(); f.err != ErrOffline || !p.failure.CompareAndSwap(f, &failure{ErrDeleted}) {
			done(p.Err())
			return
		}
		p.shard.st.offline.Add(-1)
	}
	release := p.eng.forget(p)
	p.offline()
	if remove := p.dir.remover.takeBack(p); remove != nil {
		p.shard.loop.Offload(func() { remove(true) }, nil)
	}
	p.whenIdle(func() { p.renameAway(release, done) })
}

// renameAway renames the directory and sees to its later removal. Nothing of the partition is in flight.
func (p *Partition) renameAway(release func(), done func(error)) {
	s, e := p.shard, p.eng
	p.closed = true
	p.dropSums()
	s.detach(p)
	var err error
	var gone string
	s.loop.Offload(func() {
		defer release()
		if !p.dir.alive() {
			err = ErrOffline
			p.log.Abandon()
			return
		}
		gone = p.dir.join(segment.DeletedName(p.topic, p.index, randomHex()))
		if err = e.fs.Rename(p.path, gone); err == nil {
			err = e.fs.SyncDir(p.dir.path)
		}
		if err != nil {
			p.dir.fail(fmt.Errorf("delete %s: %w", p.String(), err))
			p.log.Abandon()
			return
		}
		e.background.Add(1)
		go p.removeLater(gone)
	}, func() {
		e.mu.Lock()
		delete(e.leaving, p)
		e.mu.Unlock()
		done(err)
		for _, fn := range p.onRemoved {
			fn()
		}
		p.removed, p.onRemoved = true, nil
	})
}

// removeLater removes a renamed directory after file.delete.delay.ms, or leaves it to the next start.
func (p *Partition) removeLater(gone string) {
	defer p.eng.background.Done()
	t := time.NewTimer(time.Duration(p.Config().FileDeleteDelayMs) * time.Millisecond)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.eng.stop:
	}
	p.log.Abandon()
	p.dir.remover.removeDir(gone)
}

// dropSums takes the partition out of its directory's sums.
func (p *Partition) dropSums() {
	p.dir.unsynced.Add(-p.unsyncedCounted)
	p.unsyncedCounted = 0
	p.dir.unrecovered.Add(-p.unrecovered.Swap(0))
}

// whenIdle calls fn, on the loop, once nothing of the partition is in flight.
func (p *Partition) whenIdle(fn func()) {
	p.idle = fn
	p.shard.touch(p)
}

// considerIdle calls whom whenIdle noted.
func (p *Partition) considerIdle() {
	fn := p.idle
	if fn == nil || p.write != nil || p.round.set != nil || p.round.queued || p.jobs > 0 || p.deleting || p.cleanRun != nil ||
		!p.unwritten.empty() || !p.stalled.empty() || p.Err() == nil && !p.waiting.empty() {
		return
	}
	p.idle = nil
	fn()
}
