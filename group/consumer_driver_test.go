package group

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"millrace/group/record"
)

// world is a coordinator with a log and clocks, for tests of the consumer protocol. Writes are committed at once, unless
// lost is set: then they fail with it.
type world struct {
	t       testing.TB
	c       *Coordinator
	cfg     *Config
	topics  *worldTopics
	now     Time
	log     []record.Record
	lost    Code
	replies map[any]any
	handles int
	config  ConsumerConfig
}

// worldTopics is a set of topics.
type worldTopics struct {
	list    map[string]Topic
	version int64
}

func (w *worldTopics) Topic(name string) (Topic, bool) { t, ok := w.list[name]; return t, ok }
func (w *worldTopics) TopicByID(id [16]byte) (Topic, bool) {
	for _, t := range w.list {
		if t.ID == id {
			return t, true
		}
	}
	return Topic{}, false
}
func (w *worldTopics) Each(fn func(Topic) bool) {
	for _, name := range slices.Sorted(maps.Keys(w.list)) {
		if !fn(w.list[name]) {
			return
		}
	}
}
func (w *worldTopics) Version() int64 { return w.version }

func newWorld(t testing.TB) *world {
	w := &world{t: t, topics: &worldTopics{list: map[string]Topic{}}, now: Time{Mono: 1_000_000, Wall: 1_700_000_000_000},
		replies: map[any]any{}, config: ConsumerConfig{SessionTimeoutMs: 45000, HeartbeatIntervalMs: 5000}}
	w.cfg = &Config{MinSessionTimeoutMs: 1, MaxSessionTimeoutMs: 1 << 30, MaxSize: 1 << 30, OffsetMetadataMax: 4096,
		OffsetsRetentionMs: 1 << 40, OffsetsRetentionCheckMs: 1 << 40, ConsumerMaxSize: 1 << 30,
		ConsumerAssignors: []string{"uniform", "range"}, MigrateUp: true, MigrateDown: true,
		Consumer: func(string) ConsumerConfig { return w.config }}
	w.c = New(w.cfg)
	w.c.Loaded(w.topics, w.now)
	w.pump()
	return w
}

// topic makes or resizes a topic; 0 partitions delete it.
func (w *world) topic(name string, partitions int32) {
	next := &worldTopics{list: maps.Clone(w.topics.list), version: w.topics.version + 1}
	t, ok := next.list[name]
	if !ok {
		t = Topic{ID: [16]byte{byte(next.version >> 8), byte(next.version), name[len(name)-1]}, Name: name}
	}
	t.Partitions = partitions
	next.list[name] = t
	if partitions == 0 {
		delete(next.list, name)
	}
	w.topics = next
	w.c.SetTopics(next, w.now)
	w.pump()
}

// pump commits what is written and keeps the replies until nothing is left to do.
func (w *world) pump() {
	for {
		rd := w.c.Ready()
		for _, r := range rd.Replies {
			if _, twice := w.replies[r.Handle]; twice {
				w.t.Fatalf("request %v is answered twice", r.Handle)
			}
			w.replies[r.Handle] = r.Body
		}
		if len(rd.Writes) == 0 {
			return
		}
		for _, write := range rd.Writes {
			if w.lost == None {
				for _, r := range write.Records {
					w.log = append(w.log, reread(w.t, r))
				}
			}
			w.c.Written(write, w.lost, w.now)
		}
	}
}

// reread sends a record through its bytes.
func reread(t testing.TB, r record.Record) record.Record {
	t.Helper()
	var value []byte
	if r.Value != nil {
		value = r.Value.AppendTo([]byte{})
	}
	got, err := record.Decode(r.Key.AppendTo(nil), value)
	if err != nil {
		t.Fatalf("a record does not read back: %v: %+v", err, r)
	}
	return got
}

// pass lets time go by, timers included.
func (w *world) pass(ms int64) {
	end := w.now.Mono + ms
	for {
		next := min(max(w.c.Deadline(), w.now.Mono), end)
		w.now.Wall += next - w.now.Mono
		w.now.Mono = next
		w.c.Tick(w.now)
		w.pump()
		if next == end {
			return
		}
	}
}

// ask sends a request and returns its reply, nil if it waits.
func (w *world) ask(r Request) any {
	w.handles++
	h := r.Head()
	h.Handle = w.handles
	if h.NewID == "" {
		h.NewID = fmt.Sprintf("00000000-0000-4000-8000-%012x", w.handles)
	}
	if h.ClientID == "" {
		h.ClientID, h.ClientHost = "client", "/127.0.0.1"
	}
	handle := h.Handle
	w.c.Step(r, w.now)
	w.pump()
	return w.replies[handle]
}

// replayed checks that a coordinator that reads the log knows what this one knows.
func (w *world) replayed() {
	w.t.Helper()
	other := New(w.cfg)
	for _, r := range w.log {
		other.Replay(r)
	}
	if live, again := shown(w.c), shown(other); live != again {
		w.t.Fatalf("live state\n%s\nreplayed state\n%s", live, again)
	}
}

// pointers are what a print shows of optional fields.
var pointers = regexp.MustCompile(`0x[0-9a-f]+`)

// shown is all that records hold of the consumer groups.
func shown(c *Coordinator) string {
	var b strings.Builder
	for _, id := range c.sorted() {
		k, ok := c.groups[id].protocol.(*consumerGroup)
		if !ok {
			continue
		}
		fmt.Fprintf(&b, "%s epoch %d hash %d assigned %d at %d statics %v regexes %d\n", id, k.epoch, k.hash, k.assigned, k.assignedMs,
			k.statics, len(k.regexes))
		for _, m := range k.ids() {
			v := k.members[m]
			fmt.Fprintf(&b, "  %s %+v epoch %d %d state %d has %v pending %v target %v\n", m, *v.sub, v.epoch, v.previous, v.state,
				v.assigned, v.pending, k.target[m])
		}
		fmt.Fprintf(&b, "  owners %v\n", k.owners)
	}
	return pointers.ReplaceAllString(b.String(), "at")
}

// player is one member as a client plays it.
type player struct {
	w         *world
	group     string
	id        string
	epoch     int32
	instance  *string
	topics    []string
	regex     *string
	assignor  *string
	rebalance int32
	owned     []record.TopicPartitions
}

func (w *world) player(group, id string, topics ...string) *player {
	return &player{w: w, group: group, id: id, topics: topics, rebalance: 30000}
}

func (p *player) request() *ConsumerHeartbeatRequest {
	return &ConsumerHeartbeatRequest{Header: Header{Group: p.group, Version: 1}, MemberID: p.id, MemberEpoch: p.epoch,
		InstanceID: p.instance, RebalanceTimeoutMs: -1}
}

func (p *player) joinRequest() *ConsumerHeartbeatRequest {
	r := p.request()
	r.MemberEpoch, r.RebalanceTimeoutMs, r.HasOwned = 0, p.rebalance, true
	r.SubscribedTopics, r.HasTopics, r.SubscribedRegex, r.ServerAssignor = p.topics, true, p.regex, p.assignor
	return r
}

func (p *player) ownRequest() *ConsumerHeartbeatRequest {
	r := p.request()
	r.Owned, r.HasOwned = p.owned, true
	return r
}

// tell sends a heartbeat and takes over what it answers.
func (p *player) tell(r *ConsumerHeartbeatRequest) *ConsumerHeartbeatReply {
	p.w.t.Helper()
	reply, ok := p.w.ask(r).(*ConsumerHeartbeatReply)
	if !ok {
		p.w.t.Fatalf("member %s: a heartbeat is not answered", p.id)
	}
	if reply.Code == None {
		p.id, p.epoch = reply.MemberID, reply.MemberEpoch
		if reply.HasAssignment {
			p.owned = reply.Assignment
		}
	}
	return reply
}

func (p *player) join() *ConsumerHeartbeatReply  { return p.tell(p.joinRequest()) }
func (p *player) beat() *ConsumerHeartbeatReply  { return p.tell(p.request()) }
func (p *player) owns() *ConsumerHeartbeatReply  { return p.tell(p.ownRequest()) }
func (p *player) leave() *ConsumerHeartbeatReply { return p.end(-1) }
func (p *player) end(epoch int32) *ConsumerHeartbeatReply {
	r := p.request()
	r.MemberEpoch = epoch
	return p.tell(r)
}

func (p *player) count() int { return len(entries(p.owned)) }

// holds renders partitions with topic names.
func (w *world) holds(list []record.TopicPartitions) string {
	var out []string
	for _, tp := range list {
		name := "gone"
		if t, ok := w.topics.TopicByID(tp.TopicID); ok {
			name = t.Name
		}
		out = append(out, fmt.Sprintf("%s%v", name, tp.Partitions))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// line renders a reply.
func (w *world) line(r *ConsumerHeartbeatReply) string {
	if r.Code != None {
		return fmt.Sprintf("error %d", r.Code)
	}
	s := fmt.Sprintf("epoch %d", r.MemberEpoch)
	if r.HasAssignment {
		s += " given " + w.holds(r.Assignment)
	}
	return strings.TrimSpace(s)
}

func (w *world) wants(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Fatalf("%s: got %q, want %q", what, got, want)
	}
}

func (w *world) described(group string) *ConsumerDescribeReply {
	return w.ask(&ConsumerDescribeRequest{Header{Group: group}}).(*ConsumerDescribeReply)
}

func (w *world) state(group string) string {
	d := w.described(group)
	if d.Code != None {
		return fmt.Sprintf("error %d", d.Code)
	}
	s := fmt.Sprintf("%s %d/%d %s", d.State, d.Epoch, d.AssignmentEpoch, d.Assignor)
	for _, m := range d.Members {
		s += fmt.Sprintf("; %s %d has %s wants %s", m.MemberID, m.MemberEpoch, w.holds(m.Assignment), w.holds(m.Target))
	}
	return s
}

// alone is the state check that no partition has two live owners, and none an owner that is no member.
func (w *world) alone() {
	w.t.Helper()
	for id, g := range w.c.groups {
		k, ok := g.protocol.(*consumerGroup)
		if !ok {
			continue
		}
		held := map[place]string{}
		for _, m := range k.members {
			for _, list := range [][]entry{m.assigned, m.pending} {
				for _, e := range list {
					if other := held[e.place]; other != "" {
						w.t.Fatalf("group %s: %v belongs to %s and %s", id, e.place, other, m.id)
					}
					held[e.place] = m.id
				}
			}
		}
		if !maps.Equal(held, k.owners) {
			w.t.Fatalf("group %s: owners %v, members have %v", id, k.owners, held)
		}
	}
}
