package group

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"millrace/group/record"
)

// rig drives a coordinator as a broker would, over a log in memory and a clock that stands until it is moved. What is
// written goes through its bytes, so that what is replayed is what Kafka would read.
type rig struct {
	t      testing.TB
	cfg    *Config
	topics fakeTopics
	c      *Coordinator
	now    Time
	log    []encoded
	held   []*Write
	hold   bool // writes wait for release
	fail   Code // writes end with it
	next   int  // number of fresh ids
	out    []Reply
	open   map[any]bool // requests without reply
}

type encoded struct{ key, value []byte }

// fakeTopics maps names to partition counts; ids follow from the names.
type fakeTopics struct {
	parts   map[string]int32
	version int64
}

func topicID(name string) (id [16]byte) {
	copy(id[:], name)
	id[15] = 1
	return id
}

func (f *fakeTopics) Topic(name string) (Topic, bool) {
	n, ok := f.parts[name]
	return Topic{ID: topicID(name), Name: name, Partitions: n}, ok
}

func (f *fakeTopics) TopicByID(id [16]byte) (Topic, bool) {
	for name := range f.parts {
		if topicID(name) == id {
			return f.Topic(name)
		}
	}
	return Topic{}, false
}

func (f *fakeTopics) Each(fn func(Topic) bool) {
	for name := range f.parts {
		if t, _ := f.Topic(name); !fn(t) {
			return
		}
	}
}

func (f *fakeTopics) Version() int64 { return f.version }

func testConfig() *Config {
	return &Config{
		MinSessionTimeoutMs: 6000, MaxSessionTimeoutMs: 1800000, MaxSize: 1000, OffsetMetadataMax: 4096,
		OffsetsRetentionMs: 7 * 24 * 3600 * 1000, OffsetsRetentionCheckMs: 600_000, ConsumerMaxSize: 1000,
		ConsumerAssignors: []string{"uniform", "range"}, MigrateUp: true, MigrateDown: true,
		Consumer: func(string) ConsumerConfig {
			return ConsumerConfig{SessionTimeoutMs: 45000, HeartbeatIntervalMs: 5000, AssignmentIntervalMs: 1000}
		},
	}
}

func newRig(t testing.TB) *rig {
	r := &rig{t: t, cfg: testConfig(), now: Time{Mono: 1_000_000, Wall: 1_700_000_000_000}, open: map[any]bool{},
		topics: fakeTopics{parts: map[string]int32{"a": 4, "b": 2, "c": 1}}}
	r.c = New(r.cfg)
	r.c.Loaded(&r.topics, r.now)
	r.carry()
	return r
}

// step sends a request; its replies are collected in out.
func (r *rig) step(handle any, req Request) {
	h := req.Head()
	h.Handle = handle
	_, joins := req.(*JoinRequest)
	_, beats := req.(*ConsumerHeartbeatRequest)
	if h.NewID == "" && (joins || beats) {
		r.next++
		h.NewID = fmt.Sprintf("id%d", r.next)
	}
	r.open[handle] = true
	r.c.Step(req, r.now)
	r.carry()
}

// carry does what the machine asks for.
func (r *rig) carry() {
	for {
		rd := r.c.Ready()
		if len(rd.Writes) == 0 && len(rd.Replies) == 0 {
			if r.c.Deadline() > r.now.Mono {
				return
			}
			r.c.Tick(r.now)
			continue
		}
		for _, reply := range rd.Replies {
			if !r.open[reply.Handle] {
				r.t.Errorf("request %v was answered twice or never sent", reply.Handle)
			}
			delete(r.open, reply.Handle)
			r.out = append(r.out, reply)
		}
		r.held = append(r.held, rd.Writes...)
		if !r.hold {
			r.release()
		}
	}
}

// release ends the writes under way, as fail says.
func (r *rig) release() {
	held := r.held
	r.held = nil
	for _, w := range held {
		if r.fail == None {
			for i := range w.Records {
				r.append(&w.Records[i])
			}
		}
		r.c.Written(w, r.fail, r.now)
		if r.fail == None && len(r.held) == 0 {
			r.same()
		}
	}
}

func (r *rig) append(rec *record.Record) {
	e := encoded{key: rec.Key.AppendTo(nil)}
	if rec.Value != nil {
		e.value = rec.Value.AppendTo(nil)
	}
	r.log = append(r.log, e)
}

// replayed is a coordinator that has read the log.
func (r *rig) replayed() *Coordinator {
	c := New(r.cfg)
	for _, e := range r.log {
		rec, err := record.Decode(e.key, e.value)
		if err != nil {
			r.t.Fatalf("a record of ours cannot be read: %v", err)
		}
		c.Replay(rec)
	}
	return c
}

// same checks that the state that records hold is that of a replay.
func (r *rig) same() {
	if live, replayed := durable(r.c), durable(r.replayed()); live != replayed {
		r.t.Fatalf("live and replayed state differ\nlive:\n%s\nreplayed:\n%s", live, replayed)
	}
}

// restart loses the machine and reads the log; who waits for an answer gets none.
func (r *rig) restart() {
	r.held, r.open = nil, map[any]bool{}
	r.c = r.replayed()
	r.c.Loaded(&r.topics, r.now)
	r.carry()
}

// wait moves the clock and lets timers fire at their time.
func (r *rig) wait(ms int64) {
	end := r.now.Mono + ms
	for {
		at := min(max(r.c.Deadline(), r.now.Mono), end)
		r.now.Wall += at - r.now.Mono
		r.now.Mono = at
		r.c.Tick(r.now)
		r.carry()
		if at == end && r.c.Deadline() > end {
			return
		}
	}
}

// durable is what records hold, as text in a fixed order.
func durable(c *Coordinator) string {
	var b strings.Builder
	for _, id := range c.sorted() {
		g := c.groups[id]
		if g.protocol == nil && g.offsets.len() == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s", id)
		if k, ok := g.protocol.(*classicGroup); ok {
			fmt.Fprint(&b, " classic\n")
			if v := k.stored; v != nil {
				fmt.Fprintf(&b, "  type %q generation %d protocol %s leader %s since %d\n", v.ProtocolType, v.Generation, quoted(v.Protocol), quoted(v.Leader), v.StateMs)
				for i := range v.Members {
					m := &v.Members[i]
					fmt.Fprintf(&b, "  %s instance %s client %s%s session %d rebalance %d subscription %q assignment %q\n", m.MemberID, quoted(m.InstanceID),
						m.ClientID, m.ClientHost, m.SessionTimeoutMs, m.RebalanceTimeoutMs, m.Subscription, m.Assignment)
				}
			}
		} else if g.protocol != nil {
			fmt.Fprintf(&b, " %s\n%s", g.protocol.kind(), durableConsumer(g))
		}
		g.offsets.each(func(topic string, p int32, o *record.Offset) {
			fmt.Fprintf(&b, "  %s/%d %d epoch %d metadata %q at %d expires %d id %x\n", topic, p, o.Offset, o.LeaderEpoch, o.Metadata, o.CommitMs, o.ExpireMs, o.TopicID)
		})
	}
	return b.String()
}

// durableConsumer is the part of a consumer group that records hold: its own tombstones name every record, and each is
// looked up in what a log of the group would say.
func durableConsumer(g *Group) string {
	var lines []string
	for _, r := range g.protocol.tombstones(nil) {
		lines = append(lines, fmt.Sprintf("  %+v\n", r.Key))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func quoted(s *string) string {
	if s == nil {
		return "null"
	}
	return fmt.Sprintf("%q", *s)
}

// logKeys are the keys of the log from a place on, for tests that look at what was written.
func (r *rig) logKeys(from int) []record.Key {
	var keys []record.Key
	for _, e := range r.log[from:] {
		k, err := record.DecodeKey(e.key)
		if err != nil {
			r.t.Fatal(err)
		}
		keys = append(keys, k)
	}
	return keys
}

// metadataOf is the metadata of a consumer of topics.
func metadataOf(topics ...string) []byte {
	var b bytes.Buffer
	b.Write([]byte{0, 1, 0, 0, 0, byte(len(topics))})
	for _, t := range topics {
		b.Write([]byte{0, byte(len(t))})
		b.WriteString(t)
	}
	b.Write([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	return b.Bytes()
}
