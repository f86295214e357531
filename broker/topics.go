package broker

import (
	"sync"
	"sync/atomic"

	"millrace/engine"
	"millrace/internal/config"
)

// Topic is a handle on a topic that this node serves: what a request needs, found with one look-up. Identity is
// immutable; configuration and partitions are replaced as a whole. Any goroutine.
type Topic struct {
	Name string
	ID   [16]byte
	// Internal tells Kafka's own topics, which clients must not write.
	Internal bool

	// Stats count what clients moved.
	Stats TopicStats

	cfg   atomic.Pointer[config.TopicConfig]
	mu    sync.Mutex // held while parts is replaced
	parts atomic.Pointer[[]*engine.Partition]
}

// TopicStats are Kafka's BrokerTopicMetrics. Any goroutine.
type TopicStats struct {
	MessagesIn, BytesIn, BytesOut                              atomic.Int64
	ProduceRequests, FetchRequests, FailedProduce, FailedFetch atomic.Int64
}

// publish makes partition index ready.
func (t *Topic) publish(index int32, p *engine.Partition) {
	t.mu.Lock()
	parts := append([]*engine.Partition(nil), *t.parts.Load()...)
	parts[index] = p
	t.parts.Store(&parts)
	t.mu.Unlock()
}

// grow makes room for n partitions.
func (t *Topic) grow(n int) {
	t.mu.Lock()
	if old := *t.parts.Load(); len(old) < n {
		parts := make([]*engine.Partition, n)
		copy(parts, old)
		t.parts.Store(&parts)
	}
	t.mu.Unlock()
}

// Config is the topic's effective configuration.
func (t *Topic) Config() *config.TopicConfig { return t.cfg.Load() }

// Partition is the partition with that index, or nil if the topic has none or it is not ready: not created here yet, or
// without a published leader epoch.
func (t *Topic) Partition(index int32) *engine.Partition {
	parts := *t.parts.Load()
	if index < 0 || int(index) >= len(parts) {
		return nil
	}
	return parts[index]
}

// Partitions are all partitions; entries that are not ready are nil. Read only.
func (t *Topic) Partitions() []*engine.Partition { return *t.parts.Load() }

// topics finds handles by name and by id. Any goroutine.
type topics struct {
	mu     sync.RWMutex
	byName map[string]*Topic
	byID   map[[16]byte]*Topic
	gone   TopicStats // of topics that were deleted, so that sums do not fall
}

func newTopics() *topics {
	return &topics{byName: map[string]*Topic{}, byID: map[[16]byte]*Topic{}}
}

// byNameBytes looks a name up without making a string of it.
func (ts *topics) byNameBytes(name []byte) *Topic {
	ts.mu.RLock()
	t := ts.byName[string(name)]
	ts.mu.RUnlock()
	return t
}

func (ts *topics) find(name string) *Topic {
	ts.mu.RLock()
	t := ts.byName[name]
	ts.mu.RUnlock()
	return t
}

func (ts *topics) findID(id [16]byte) *Topic {
	ts.mu.RLock()
	t := ts.byID[id]
	ts.mu.RUnlock()
	return t
}

// put publishes a handle, in place of an older one of the same name.
func (ts *topics) put(t *Topic) {
	ts.mu.Lock()
	if old := ts.byName[t.Name]; old != nil && old.ID != t.ID {
		delete(ts.byID, old.ID)
		ts.gone.add(&old.Stats)
	}
	ts.byName[t.Name] = t
	ts.byID[t.ID] = t
	ts.mu.Unlock()
}

// remove takes the handle with that id away.
func (ts *topics) remove(id [16]byte) {
	ts.mu.Lock()
	if t := ts.byID[id]; t != nil {
		delete(ts.byID, id)
		if ts.byName[t.Name] == t {
			delete(ts.byName, t.Name)
			ts.gone.add(&t.Stats)
		}
	}
	ts.mu.Unlock()
}

// counted copies the handles, in no order, and sums up their counters and those of topics that are gone.
func (ts *topics) counted() (list []*Topic, sum *TopicStats) {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	list, sum = make([]*Topic, 0, len(ts.byName)), new(TopicStats)
	sum.add(&ts.gone)
	for _, t := range ts.byName {
		list = append(list, t)
		sum.add(&t.Stats)
	}
	return list, sum
}

// all copies the handles, in no order.
func (ts *topics) all() []*Topic {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	list := make([]*Topic, 0, len(ts.byName))
	for _, t := range ts.byName {
		list = append(list, t)
	}
	return list
}
