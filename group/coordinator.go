package group

import (
	"math"
	"slices"
	"strings"

	"millrace/group/record"
)

// Time is one reading of the clocks.
type Time struct {
	Mono int64 // ms on a monotonic clock: all timers
	Wall int64 // ms since 1970: what records say
}

// Write is what one event appends: all of its records in one batch, or none.
type Write struct {
	Records []record.Record

	group *Group
	holds bool // the group's events wait for it
	done  func(Code)
}

// Ready is what the driver has to carry out. The slices are the driver's.
type Ready struct {
	// Writes are to be appended in this order, each told to Written in the same order.
	Writes []*Write
	// Replies are to be sent; they wait for nothing.
	Replies []Reply
}

// Coordinator runs the groups of one partition of __consumer_offsets. Owned by the loop that owns the partition.
type Coordinator struct {
	cfg    *Config
	topics Topics
	now    Time
	groups map[string]*Group
	timers timers
	ready  Ready

	pending pending // of open transactions

	expiry timer // looks for offsets to expire
}

// New makes a coordinator without groups. Replay its log, then call Loaded, then Step.
func New(cfg *Config) *Coordinator {
	c := &Coordinator{cfg: cfg, groups: map[string]*Group{}}
	c.expiry.fire = c.expire
	return c
}

// Replay applies one record of the log. It is the function that committed records of live groups go through too.
func (c *Coordinator) Replay(r record.Record) { c.apply(r) }

// Loaded ends the replay: sessions begin. topics are those of now.
func (c *Coordinator) Loaded(topics Topics, now Time) {
	c.now, c.topics = now, topics
	for _, id := range c.sorted() {
		g := c.groups[id]
		if g.protocol != nil {
			g.protocol.loaded()
			c.forgetStale(g)
		}
		c.settle(g)
	}
	c.after(&c.expiry, c.cfg.OffsetsRetentionCheckMs)
}

// SetConfig changes the settings.
func (c *Coordinator) SetConfig(cfg *Config) { c.cfg = cfg }

// SetTopics tells of a change of the cluster's topics.
func (c *Coordinator) SetTopics(topics Topics, now Time) {
	c.now, c.topics = now, topics
	for _, id := range c.sorted() {
		g := c.groups[id]
		if _, classic := g.protocol.(*classicGroup); classic || g.protocol == nil {
			continue
		}
		c.event(g, func() {
			if g.protocol != nil {
				g.protocol.topicsChanged()
			}
		})
	}
}

// Step takes one request. Its reply comes in a Ready, at once or later.
func (c *Coordinator) Step(r Request, now Time) {
	c.now = now
	switch r := r.(type) {
	case *FetchRequest:
		c.fetch(r)
		return
	case *DescribeRequest:
		c.describe(r)
		return
	case *ConsumerDescribeRequest:
		c.consumerDescribe(r)
		return
	case *ConsumerHeartbeatRequest:
		if c.cfg.ConsumerOff {
			c.refuse(r, UnsupportedVersion)
			return
		}
	}
	g := c.group(r.Head().Group)
	c.enqueue(g, event{run: func() { c.handle(g, r) }, request: r})
}

// Tick runs the timers that are due.
func (c *Coordinator) Tick(now Time) {
	c.now = now
	c.runTimers()
}

// Deadline is when Tick is due, ms on the monotonic clock.
func (c *Coordinator) Deadline() int64 {
	if len(c.timers) == 0 {
		return math.MaxInt64
	}
	return c.timers[0].when
}

// Ready hands over what is to be done. Call it after every Step, Tick, Written, SetTopics and TopicsDeleted, or after
// several of them.
func (c *Coordinator) Ready() Ready {
	r := c.ready
	c.ready = Ready{}
	return r
}

// Written tells how a write ended: None once it is committed, else nothing of it is in the log or ever will be.
func (c *Coordinator) Written(w *Write, code Code, now Time) {
	c.now = now
	if code == None {
		for i := range w.Records {
			c.apply(w.Records[i])
		}
	}
	g := w.group
	g.writes--
	if w.holds {
		g.held = false
	}
	w.done(code)
	if g.writes == 0 && g.quiet != nil {
		fn := g.quiet
		g.held, g.quiet = false, nil
		fn()
	}
	c.drain(g)
}

// Stop ends the coordinator: every request that waits is answered with code. Writes under way are still to be told to
// Written, which answers theirs; Tick and Step are not to be called any more.
func (c *Coordinator) Stop(code Code) {
	for _, id := range c.sorted() {
		g := c.groups[id]
		if g.protocol != nil {
			g.protocol.abandon(code)
		}
		for _, e := range g.queue {
			if e.request != nil {
				c.refuse(e.request, code)
			}
		}
		g.queue = nil
	}
	for _, t := range c.timers {
		t.index, t.armed = 0, false
	}
	c.timers = nil
}

// write hands records of g to the log. The group takes no other event until they are committed and applied; then, or
// when they failed, done is told.
func (c *Coordinator) write(g *Group, records []record.Record, done func(Code)) {
	g.held = true
	c.append(g, records, true, done)
}

// writeOffsets hands offsets to the log. Other events of the group go on meanwhile; they see the offsets once those are
// committed.
func (c *Coordinator) writeOffsets(g *Group, records []record.Record, done func(Code)) {
	c.append(g, records, false, done)
}

func (c *Coordinator) append(g *Group, records []record.Record, holds bool, done func(Code)) {
	g.writes++
	c.ready.Writes = append(c.ready.Writes, &Write{Records: records, group: g, holds: holds, done: done})
}

// reply answers the request with that handle.
func (c *Coordinator) reply(handle, body any) {
	c.ready.Replies = append(c.ready.Replies, Reply{handle, body})
}

// replyAfter is reply, after the records that this event of g has written, if it has.
func (c *Coordinator) replyAfter(g *Group, handle, body any) {
	if !g.held {
		c.reply(handle, body)
		return
	}
	w := c.ready.Writes[len(c.ready.Writes)-1]
	done := w.done
	w.done = func(code Code) {
		done(code)
		c.reply(handle, body)
	}
}

func oneRecord(r record.Record) []record.Record { return []record.Record{r} }

// apply takes a committed record into the state, live and in replay.
func (c *Coordinator) apply(r record.Record) {
	switch r.Key.Type {
	case record.TypeOffset:
		c.applyOffset(r)
	case record.TypeClassicGroup:
		c.applyClassic(r)
	default:
		c.applyConsumer(r)
	}
}

// group finds or makes the group; one without protocol does not exist for clients and goes with settle.
func (c *Coordinator) group(id string) *Group {
	g := c.groups[id]
	if g == nil {
		g = &Group{c: c, id: id}
		c.groups[id] = g
	}
	return g
}

// existing finds a group that exists for clients, nil if there is none.
func (c *Coordinator) existing(id string) *Group {
	if g := c.groups[id]; g != nil && g.protocol != nil {
		return g
	}
	return nil
}

// sorted are the ids of all groups in order: what happens to many at once happens in the same order everywhere.
func (c *Coordinator) sorted() []string {
	ids := make([]string, 0, len(c.groups))
	for id := range c.groups {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// Offsets calls fn with every committed offset.
func (c *Coordinator) Offsets(fn func(group, topic string, partition int32, offset int64)) {
	for _, id := range c.sorted() {
		c.groups[id].offsets.each(func(topic string, partition int32, v *record.Offset) { fn(id, topic, partition, v.Offset) })
	}
}

// List are the groups in one of the states and of one of the kinds; no states or no kinds: all. Words compare without case,
// states also without the space around them.
func (c *Coordinator) List(states, kinds []string) []Listed {
	var out []Listed
	trimmed := make([]string, len(states))
	for i := range states {
		trimmed[i] = strings.TrimSpace(states[i])
	}
	for _, id := range c.sorted() {
		g := c.groups[id]
		if g.protocol == nil {
			continue
		}
		l := Listed{Group: id, ProtocolType: g.protocol.protocolType(), State: g.protocol.state(), Kind: g.protocol.kind()}
		if listed(trimmed, l.State) && listed(kinds, l.Kind) {
			out = append(out, l)
		}
	}
	return out
}

func listed(words []string, word string) bool {
	return len(words) == 0 || slices.ContainsFunc(words, func(w string) bool { return strings.EqualFold(w, word) })
}
