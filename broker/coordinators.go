package broker

import (
	"sync"
	"sync/atomic"

	"millrace/controller"
	"millrace/engine"
	"millrace/group"
)

// OffsetsTopic holds committed offsets and groups.
const OffsetsTopic = "__consumer_offsets"

// coordinators are the group coordinators of this node, one for each partition of __consumer_offsets that it leads. Any
// goroutine.
type coordinators struct {
	node   *Node
	cfg    atomic.Pointer[group.Config]
	topics atomic.Pointer[imageTopics]

	mu      sync.Mutex
	byIndex atomic.Pointer[[]*coordinator] // replaced as a whole, mu held
	making  bool                           // a creation of the topic is under way
	waiting []func()                       // for the end of it
	stopped atomic.Bool
}

func newCoordinators(n *Node) *coordinators {
	cs := &coordinators{node: n}
	cs.byIndex.Store(&[]*coordinator{})
	return cs
}

// start follows the configuration. The image must be there.
func (cs *coordinators) start(image *controller.Image) {
	cs.topics.Store(&imageTopics{image})
	cs.configure()
	cs.register(cs.node.Metrics())
}

// GroupPartition is the partition of __consumer_offsets that a group belongs to, of count: Java's hash of its id, made
// not negative as Kafka does.
func GroupPartition(id string, count int32) int32 {
	h := group.JavaHash(id)
	if h == -1<<31 {
		h = 0
	}
	return max(h, -h) % count
}

// EnsureOffsetsTopic calls done, on any goroutine, when __consumer_offsets can be used, or with why it cannot.
func (n *Node) EnsureOffsetsTopic(done func(group.Code)) { n.groups.ensure(done) }

func (cs *coordinators) ensure(done func(group.Code)) {
	if cs.ready() {
		done(group.None)
		return
	}
	cs.mu.Lock()
	cs.waiting = append(cs.waiting, func() {
		if !cs.ready() {
			done(group.CoordinatorNotAvailable)
			return
		}
		done(group.None)
	})
	if cs.making {
		cs.mu.Unlock()
		return
	}
	cs.making = true
	cs.mu.Unlock()
	cs.node.Propose(cs.creation(), func(r controller.Result) {
		if r.Code == controller.CodeNone && len(r.Topics) == 1 && r.Topics[0].Code != controller.CodeNone && r.Topics[0].Code != controller.CodeTopicExists {
			cs.node.log.Error("creating "+OffsetsTopic+" failed: consumer groups cannot work", "error", r.Topics[0].Text)
		}
		cs.mu.Lock()
		waiting := cs.waiting
		cs.waiting, cs.making = nil, false
		cs.mu.Unlock()
		for _, w := range waiting {
			w()
		}
	})
}

// creation is the command that makes the topic.
func (cs *coordinators) creation() controller.Body {
	c := &cs.node.static.Groups
	factor := min(int(c.OffsetsReplicationFactor), max(len(cs.node.Image().Brokers()), 1))
	return controller.NewCreateTopics([]controller.NewTopic{{
		Name: OffsetsTopic, Partitions: c.OffsetsPartitions, ReplicationFactor: int16(factor),
		Configs: map[string]string{"cleanup.policy": "compact", "compression.type": "producer", "segment.bytes": itoa(c.OffsetsSegmentBytes)},
	}}, controller.Defaults{}, NewUUID, nil)
}

// ready tells whether all partitions of the topic that this node leads have a coordinator.
func (cs *coordinators) ready() bool {
	list := *cs.byIndex.Load()
	for _, c := range list {
		if c == nil {
			return false
		}
	}
	return len(list) > 0
}

// led takes up a partition of the topic that this node leads from now on.
func (cs *coordinators) led(p *engine.Partition, count int) {
	if p.Topic() != OffsetsTopic || cs.stopped.Load() {
		return
	}
	c := newCoordinator(cs, p)
	cs.mu.Lock()
	list := make([]*coordinator, max(count, len(*cs.byIndex.Load())))
	copy(list, *cs.byIndex.Load())
	old := list[p.Index()]
	list[p.Index()] = c
	cs.byIndex.Store(&list)
	cs.mu.Unlock()
	if old != nil {
		old.post(func() { old.end(group.NotCoordinator) })
	}
	c.load()
}

// deleted hears of a topic that is gone.
func (cs *coordinators) deleted(name string) {
	list := *cs.byIndex.Load()
	if name == OffsetsTopic {
		cs.mu.Lock()
		cs.byIndex.Store(&[]*coordinator{})
		cs.mu.Unlock()
		for _, c := range list {
			if c != nil {
				c.post(func() { c.end(group.NotCoordinator) })
			}
		}
		return
	}
	for _, c := range list {
		if c != nil {
			c.post(func() { c.topicDeleted(name) })
		}
	}
}

// changed hears of a new image whose topics differ.
func (cs *coordinators) changed(image *controller.Image) {
	cs.topics.Store(&imageTopics{image})
	for _, c := range *cs.byIndex.Load() {
		if c != nil && c.topicsDue.CompareAndSwap(false, true) {
			c.post(c.topicsChanged)
		}
	}
}

// of finds the coordinator of a group; nil if it is not here.
func (cs *coordinators) of(id string) *coordinator {
	list := *cs.byIndex.Load()
	if len(list) == 0 {
		return nil
	}
	return list[GroupPartition(id, int32(len(list)))]
}

// Group hands a request to its group's coordinator. done gets the reply (a type of package group) on any goroutine, and must
// not block.
func (n *Node) Group(r group.Request, done func(any)) {
	c := n.groups.of(r.Head().Group)
	if c == nil {
		n.groups.lookAgain(r, done)
		return
	}
	c.step(r, done)
}

// lookAgain is for a request that found no coordinator: perhaps the topic is about to be there. A client that asks for the
// coordinator first, as all do, has seen to that; others find out that there is none.
func (cs *coordinators) lookAgain(r group.Request, done func(any)) {
	if cs.stopped.Load() {
		done(group.Refusal(r, group.NotCoordinator))
		return
	}
	cs.ensure(func(code group.Code) {
		if c := cs.of(r.Head().Group); code == group.None && c != nil {
			c.step(r, done)
			return
		}
		done(group.Refusal(r, group.NotCoordinator))
	})
}

// ListGroups lists the groups of all coordinators here. done gets CoordinatorLoad if one of them is not ready.
func (n *Node) ListGroups(states, kinds []string, done func([]group.Listed, group.Code)) {
	list := *n.groups.byIndex.Load()
	results := make([][]group.Listed, len(list))
	var loading atomic.Bool
	left := newCountdown(len(list)+1, func() {
		if loading.Load() {
			done(nil, group.CoordinatorLoad)
			return
		}
		var all []group.Listed
		for _, r := range results {
			all = append(all, r...)
		}
		done(all, group.None)
	})
	for i, c := range list {
		if c == nil {
			left.one()
			continue
		}
		c.post(func() {
			if c.machine == nil {
				loading.Store(c.code == group.CoordinatorLoad)
			} else {
				results[i] = c.machine.List(states, kinds)
			}
			left.one()
		})
	}
	left.one()
}

// StopGroups answers every request that waits in a group, so that a stopping node owes nobody anything.
func (n *Node) StopGroups() {
	n.groups.stopped.Store(true)
	for _, c := range *n.groups.byIndex.Load() {
		if c != nil {
			c.post(func() { c.end(group.NotCoordinator) })
		}
	}
}
