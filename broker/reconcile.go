package broker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"millrace/controller"
	"millrace/engine"
	"millrace/internal/config"
)

// reconciler makes the engine equal to the image: it takes the changes of the metadata in order, on one goroutine, and
// starts what they ask for. Creations run side by side, bounded; a deletion waits for the creations of its topic.
type reconciler struct {
	node *Node
	log  *slog.Logger

	mu     sync.Mutex
	queue  []change
	kick   chan struct{}
	done   chan struct{}
	closed bool

	slots  chan struct{} // bounds creations under way
	states map[[16]byte]*topicState
	// leaving are topics whose directories are being renamed away; a new topic of the name waits for them.
	leaving map[string]*leaving
}

// leaving counts the partitions of deleted topics of one name that are still there.
type leaving struct {
	partitions int
	waiting    []func()
}

// change is one step of the image, or a call that wants to come behind the steps before it.
type change struct {
	image   *controller.Image
	changes []controller.Change
	then    func()
}

// topicState is what the reconciler knows of one topic. mu guards it.
type topicState struct {
	mu      sync.Mutex
	topic   *Topic
	pending int // partitions on their way to ready
	err     error
	waiting []func(error)
	gone    bool
}

// createParallel bounds partition creations under way at once.
const createParallel = 32

func newReconciler(n *Node) *reconciler {
	return &reconciler{node: n, log: n.log, kick: make(chan struct{}, 1), done: make(chan struct{}),
		slots: make(chan struct{}, createParallel), states: map[[16]byte]*topicState{}, leaving: map[string]*leaving{}}
}

// start brings up what the image holds, then follows its changes. It returns when all partitions are ready.
func (r *reconciler) start(ctx context.Context) error {
	image := r.node.raft.Subscribe(r.take)
	r.node.applyBrokerConfigs(image)
	var wait sync.WaitGroup
	for t := range image.Topics() {
		s := r.addTopic(t)
		wait.Add(1)
		s.whenReady(func(err error) {
			if err != nil {
				r.log.Error("a topic is not completely available", "topic", t.Name, "error", err)
			}
			wait.Done()
		})
	}
	r.reportStrays(image)
	go r.run()
	ready := make(chan struct{})
	go func() { wait.Wait(); close(ready) }()
	select {
	case <-ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reportStrays names partitions on disk that no topic claims. They are left alone: nothing is deleted on local belief.
func (r *reconciler) reportStrays(image *controller.Image) {
	for _, p := range r.node.engine.Partitions() {
		t := image.TopicByID(p.TopicID())
		if t == nil || t.Name != p.Topic() || int(p.Index()) >= len(t.Partitions) {
			r.log.Error("a partition directory belongs to no known topic; it is kept and not served", "partition", p.String(),
				"dir", p.LogDir())
		}
	}
}

// take queues a step; the caller is the controller client's goroutine and must not be held up.
func (r *reconciler) take(_, image *controller.Image, changes []controller.Change) {
	if len(changes) == 0 {
		return
	}
	r.push(change{image: image, changes: changes})
}

// after calls fn, on the reconciler's goroutine, when all steps that were taken before have been started.
func (r *reconciler) after(fn func()) { r.push(change{then: fn}) }

func (r *reconciler) push(c change) {
	r.mu.Lock()
	r.queue = append(r.queue, c)
	r.mu.Unlock()
	select {
	case r.kick <- struct{}{}:
	default:
	}
}

func (r *reconciler) run() {
	defer close(r.done)
	for range r.kick {
		for {
			r.mu.Lock()
			queue := r.queue
			r.queue = nil
			closed := r.closed
			r.mu.Unlock()
			if closed {
				return
			}
			if len(queue) == 0 {
				break
			}
			for _, c := range queue {
				for i := range c.changes {
					r.apply(c.image, &c.changes[i])
				}
				if changesTopics(c.changes) {
					r.node.groups.changed(c.image)
				}
				if c.then != nil {
					c.then()
				}
			}
		}
	}
}

// changesTopics tells whether there are other topics or partitions than before.
func changesTopics(changes []controller.Change) bool {
	return slices.ContainsFunc(changes, func(c controller.Change) bool {
		return c.Kind == controller.TopicCreated || c.Kind == controller.TopicDeleted || c.Kind == controller.PartitionsAdded
	})
}

func (r *reconciler) stop() {
	r.mu.Lock()
	was := r.closed
	r.closed = true
	r.mu.Unlock()
	if !was {
		select {
		case r.kick <- struct{}{}:
		default:
		}
		<-r.done
	}
}

func (r *reconciler) apply(image *controller.Image, c *controller.Change) {
	switch c.Kind {
	case controller.TopicCreated:
		r.addTopic(c.Topic)
	case controller.TopicDeleted:
		r.removeTopic(c.Topic)
	case controller.PartitionsAdded:
		r.addPartitions(c.Topic, c.Partition)
	case controller.PartitionChanged:
		r.changePartition(c.Topic, c.Partition)
	case controller.ConfigChanged:
		r.changeConfig(image, c)
	}
}

func (r *reconciler) state(id [16]byte) *topicState {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.states[id]
}

func (r *reconciler) addTopic(t *controller.Topic) *topicState {
	h := &Topic{Name: t.Name, ID: t.ID, Internal: t.Internal}
	parts := make([]*engine.Partition, len(t.Partitions))
	h.parts.Store(&parts)
	h.cfg.Store(r.node.Layers().Topic(config.Set(t.Configs)))
	s := &topicState{topic: h, pending: 1}
	r.mu.Lock()
	r.states[t.ID] = s
	r.mu.Unlock()
	r.node.topics.put(h)
	for i := range t.Partitions {
		r.bringUp(s, t, int32(i))
	}
	s.settled(nil)
	return s
}

func (r *reconciler) addPartitions(t *controller.Topic, from int32) {
	s := r.state(t.ID)
	if s == nil {
		return
	}
	s.topic.grow(len(t.Partitions))
	s.begin()
	for i := int(from); i < len(t.Partitions); i++ {
		r.bringUp(s, t, int32(i))
	}
	s.settled(nil)
}

// bringUp makes the partition if it is not there, opens it under its leader epoch and publishes it.
func (r *reconciler) bringUp(s *topicState, t *controller.Topic, index int32) {
	p := t.Partitions[index]
	if !holds(p.Replicas, r.node.ID()) {
		return
	}
	s.begin()
	made := s.topic.Config()
	finish := func(part *engine.Partition, err error) {
		if err == nil && p.Leader == r.node.ID() {
			part.SetLeader(p.LeaderEpoch, func(err error) {
				if err == nil {
					s.topic.publish(index, part)
					r.catchUp(part, t.ID, index, p.LeaderEpoch)
					if now := s.topic.Config(); now != made { // it changed before the partition could be told
						part.SetConfig(partitionConfig(now, t.Internal))
					}
					r.node.groups.led(part, len(t.Partitions))
				}
				s.settled(wrap(t.Name, index, err))
			})
			return
		}
		s.settled(wrap(t.Name, index, err))
	}
	if r.node.Lost(t.ID, index) {
		finish(nil, errLost)
		return
	}
	cfg := partitionConfig(made, t.Internal)
	if part := r.node.engine.Lookup(t.Name, index); part != nil && part.TopicID() == t.ID {
		part.SetConfig(cfg)
		finish(part, nil)
		return
	}
	r.whenGone(t.Name, func() { r.create(t, index, cfg, finish) })
}

// catchUp gives a partition that was just published the epoch of the newest image: a change that came while it was on its way
// found no partition to tell (changePartition).
func (r *reconciler) catchUp(part *engine.Partition, id [16]byte, index, epoch int32) {
	t := r.node.Image().TopicByID(id)
	if t == nil || int(index) >= len(t.Partitions) {
		return
	}
	if now := t.Partitions[index]; now.Leader == r.node.ID() && now.LeaderEpoch > epoch {
		part.SetLeader(now.LeaderEpoch, nil)
	}
}

func (r *reconciler) create(t *controller.Topic, index int32, cfg *engine.PartitionConfig, finish func(*engine.Partition, error)) {
	r.slots <- struct{}{}
	r.node.engine.Create(engine.PartitionSpec{Topic: t.Name, TopicID: t.ID, Index: index, Config: cfg}, func(part *engine.Partition, err error) {
		<-r.slots
		if part != nil && errors.Is(err, engine.ErrExists) {
			err = nil
		}
		finish(part, err)
	})
}

func wrap(topic string, index int32, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s-%d: %w", topic, index, err)
}

func holds(replicas []int32, id int32) bool {
	for _, r := range replicas {
		if r == id {
			return true
		}
	}
	return false
}

func (r *reconciler) removeTopic(t *controller.Topic) {
	s := r.state(t.ID)
	if s == nil {
		return
	}
	r.mu.Lock()
	delete(r.states, t.ID)
	r.mu.Unlock()
	r.node.topics.remove(t.ID)
	r.node.groups.deleted(t.Name)
	r.leave(t.Name, 1)
	s.whenReady(func(error) {
		for i := range t.Partitions {
			part := r.node.engine.Lookup(t.Name, int32(i))
			if part == nil || part.TopicID() != t.ID {
				continue
			}
			r.leave(t.Name, 1)
			r.node.engine.Delete(part, func(err error) {
				if err != nil && !errors.Is(err, engine.ErrDeleted) {
					r.log.Error("deleting a partition failed; its directory is left", "partition", part.String(), "error", err)
				}
				r.leave(t.Name, -1)
			})
		}
		r.leave(t.Name, -1)
	})
}

// leave counts the partitions under a name that are on their way out; the last one lets creations of the name go on.
func (r *reconciler) leave(name string, n int) {
	r.mu.Lock()
	l := r.leaving[name]
	if l == nil {
		l = &leaving{}
		r.leaving[name] = l
	}
	l.partitions += n
	var waiting []func()
	if l.partitions == 0 {
		waiting = l.waiting
		delete(r.leaving, name)
	}
	r.mu.Unlock()
	if len(waiting) > 0 {
		// Not on the caller's goroutine, which may be a loop: creations block for a slot.
		go func() {
			for _, w := range waiting {
				w()
			}
		}()
	}
}

// whenGone calls fn when no partition under the name is on its way out.
func (r *reconciler) whenGone(name string, fn func()) {
	r.mu.Lock()
	if l := r.leaving[name]; l != nil {
		l.waiting = append(l.waiting, fn)
		r.mu.Unlock()
		return
	}
	r.mu.Unlock()
	fn()
}

func (r *reconciler) changePartition(t *controller.Topic, index int32) {
	s := r.state(t.ID)
	p := t.Partitions[index]
	if s == nil || p.Leader != r.node.ID() {
		return
	}
	if part := s.topic.Partition(index); part != nil {
		part.SetLeader(p.LeaderEpoch, nil)
	}
}

func (r *reconciler) changeConfig(image *controller.Image, c *controller.Change) {
	switch c.Resource.Type {
	case controller.ResourceTopic:
		if s := r.state(c.Topic.ID); s != nil {
			r.setTopicConfig(s, c.Topic)
		}
	case controller.ResourceBroker:
		r.node.applyBrokerConfigs(image)
		for t := range image.Topics() {
			if s := r.state(t.ID); s != nil {
				r.setTopicConfig(s, t)
			}
		}
	}
}

func (r *reconciler) setTopicConfig(s *topicState, t *controller.Topic) {
	cfg := r.node.Layers().Topic(config.Set(t.Configs))
	s.topic.cfg.Store(cfg)
	for _, part := range s.topic.Partitions() {
		if part != nil {
			part.SetConfig(partitionConfig(cfg, t.Internal))
		}
	}
}

// begin notes one more partition under way.
func (s *topicState) begin() {
	s.mu.Lock()
	s.pending++
	s.mu.Unlock()
}

// settled notes the end of one; the last tells those who wait.
func (s *topicState) settled(err error) {
	s.mu.Lock()
	s.err = errors.Join(s.err, err)
	s.pending--
	var waiting []func(error)
	result := s.err
	if s.pending == 0 {
		waiting, s.waiting = s.waiting, nil
	}
	s.mu.Unlock()
	for _, w := range waiting {
		w(result)
	}
}

// whenReady calls done when no partition of the topic is under way.
func (s *topicState) whenReady(done func(error)) {
	s.mu.Lock()
	if s.pending > 0 {
		s.waiting = append(s.waiting, done)
		s.mu.Unlock()
		return
	}
	err := s.err
	s.mu.Unlock()
	done(err)
}

// partitionConfig is the part of a topic's configuration that storage acts on.
func partitionConfig(c *config.TopicConfig, internal bool) *engine.PartitionConfig {
	return &engine.PartitionConfig{
		SegmentBytes: int64(c.SegmentBytes), SegmentMs: c.SegmentMs, SegmentJitterMs: c.SegmentJitterMs,
		SegmentIndexBytes: int64(c.SegmentIndexBytes), IndexIntervalBytes: int64(c.IndexIntervalBytes),
		RetentionMs: c.RetentionMs, RetentionBytes: c.RetentionBytes, FileDeleteDelayMs: c.FileDeleteDelayMs,
		FlushMessages: c.FlushMessages, FlushMs: c.FlushMs, Preallocate: c.Preallocate,
		Delete: c.Delete, Compact: c.Compact, DeleteRetentionMs: c.DeleteRetentionMs, MinCleanableRatio: c.MinCleanableDirtyRatio,
		MinCompactionLagMs: c.MinCompactionLagMs, MaxCompactionLagMs: c.MaxCompactionLagMs, WriteCaching: c.WriteCaching, Internal: internal,
	}
}
