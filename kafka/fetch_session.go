package kafka

import (
	"math/rand/v2"
	"sync"

	"millrace/kafka/wire"
)

// Epochs of a fetch session (KIP-227).
const (
	sessionEpochNone  = -1 // close the session, or none at all
	sessionEpochFirst = 0  // full fetch, ask for a session
)

// nextSessionEpoch is the epoch that the next incremental fetch must name.
func nextSessionEpoch(e int32) int32 {
	if e == 1<<31-1 {
		return 1
	}
	return e + 1
}

// session is one fetch session (KIP-227): the partitions that a client keeps asking for. It is used by one
// connection at a time in practice, but ids are guessable, so that mu guards all of it.
type session struct {
	id    int32
	byID  bool // its requests name topics by id (v13+)
	mu    sync.Mutex
	epoch int32 // the epoch that the next request must name

	parts map[sessionKey]*sessionPart
	// head..tail is the order in which partitions are filled: those that returned records go to the back.
	head, tail *sessionPart

	// Guarded by the cache; size is the number of partitions as the cache knows it.
	createdMs, usedMs int64
	size              int
}

// sessionPart is one partition of a session: what the client asks of it and what it was told last.
type sessionPart struct {
	fetchAsk
	toldHighWatermark int64 // -1 forgets, so that the next state is told
	toldLogStart      int64
	prev, next        *sessionPart
}

// sessionKey names a partition inside a session: by topic id where there is one, else by name.
type sessionKey struct {
	id    wire.UUID
	name  string
	index int32
}

func (a *fetchAsk) key() sessionKey {
	k := sessionKey{id: a.id, index: a.index}
	if a.id == (wire.UUID{}) {
		k.name = string(a.name)
	}
	return k
}

func (s *session) append(p *sessionPart) {
	p.prev, p.next = s.tail, nil
	if s.tail != nil {
		s.tail.next = p
	} else {
		s.head = p
	}
	s.tail = p
}

// add takes an entry in; its name must be its own copy.
func (s *session) add(p *sessionPart) {
	s.parts[p.key()] = p
	s.append(p)
}

func (s *session) unlink(p *sessionPart) {
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		s.head = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	} else {
		s.tail = p.prev
	}
	p.prev, p.next = nil, nil
}

func (s *session) moveToBack(p *sessionPart) {
	if s.tail != p {
		s.unlink(p)
		s.append(p)
	}
}

// sessionCache holds the sessions of all connections. Any goroutine; mu guards everything but the insides of a
// session, which it does not look at: their owner may be changing them.
type sessionCache struct {
	mu      sync.Mutex
	slots   int
	evictMs int64
	byID    map[int32]*session
	evicted int64
	parts   int64
}

// sessionEvictionMs is how long a session may be idle before another may take its place when the cache is full.
const sessionEvictionMs = 120_000

func newSessionCache(slots int) *sessionCache {
	return &sessionCache{slots: slots, evictMs: sessionEvictionMs, byID: map[int32]*session{}}
}

// create makes room for a session and adds it; nil when the cache is full of live ones, which is legal: the client
// then goes on without (KIP-227). A session without partitions is made too, as in Kafka.
func (c *sessionCache) create(parts []sessionPart, byID bool, nowMs int64) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.byID) >= c.slots && !c.evict(len(parts), nowMs) {
		return nil
	}
	s := &session{byID: byID, epoch: 1, createdMs: nowMs, usedMs: nowMs, parts: make(map[sessionKey]*sessionPart, len(parts))}
	for {
		s.id = rand.Int32N(1<<31-1) + 1
		if c.byID[s.id] == nil {
			break
		}
	}
	for i := range parts {
		s.add(&parts[i])
	}
	c.byID[s.id] = s
	s.size = len(s.parts)
	c.parts += int64(s.size)
	return s
}

// evict drops one session that is idle for long, or that is older than the limit and smaller than the newcomer.
func (c *sessionCache) evict(size int, nowMs int64) bool {
	var victim *session
	for _, s := range c.byID {
		idle := nowMs-s.usedMs > c.evictMs
		outgrown := nowMs-s.createdMs > c.evictMs && s.size < size
		if (idle || outgrown) && (victim == nil || s.usedMs < victim.usedMs) {
			victim = s
		}
	}
	if victim == nil {
		return false
	}
	delete(c.byID, victim.id)
	c.parts -= int64(victim.size)
	c.evicted++
	return true
}

// resized notes how many partitions a session has now. The caller holds the session's mu, which comes before the cache's.
func (c *sessionCache) resized(s *session, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[s.id] == s {
		c.parts += int64(size - s.size)
		s.size = size
	}
}

func (c *sessionCache) get(id int32, nowMs int64) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.byID[id]
	if s != nil {
		s.usedMs = nowMs
	}
	return s
}

func (c *sessionCache) remove(id int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.byID[id]; s != nil {
		delete(c.byID, id)
		c.parts -= int64(s.size)
	}
}

// counts are for the metrics.
func (c *sessionCache) counts() (sessions, partitions, evictions int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.byID)), c.parts, c.evicted
}
