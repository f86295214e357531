package group

import (
	"strings"
	"testing"

	"millrace/group/record"
)

func ptr[T any](v T) *T { return &v }

func TestConsumerJoinAndBeat(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 3)
	m := w.player("g", "m", "topic")
	w.wants("join", w.line(m.join()), "epoch 2 given topic[0 1 2]")
	w.wants("nothing new", w.line(m.beat()), "epoch 2")
	w.wants("owning", w.line(m.owns()), "epoch 2")
	w.wants("state", w.state("g"), "Stable 2/2 uniform; m 2 has topic[0 1 2] wants topic[0 1 2]")
	n := len(w.log)
	m.beat()
	if len(w.log) != n {
		t.Fatal("a heartbeat with nothing new writes records")
	}
	w.replayed()
}

func TestConsumerSecondMemberStepByStep(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 4)
	a, b := w.player("g", "a", "topic"), w.player("g", "b", "topic")
	a.assignor, b.assignor = ptr("range"), ptr("range")
	w.wants("a joins", w.line(a.join()), "epoch 2 given topic[0 1 2 3]")
	w.wants("a owns", w.line(a.owns()), "epoch 2")
	all := a.owned
	w.wants("b joins", w.line(b.join()), "epoch 3 given")
	w.wants("b again", w.line(b.beat()), "epoch 3")
	w.wants("a is told to give up", w.line(a.beat()), "epoch 2 given topic[0 1]")
	still := a.ownRequest()
	still.Owned = all
	w.wants("a still owns all", w.line(a.tell(still)), "epoch 2")
	w.wants("b gets nothing yet", w.line(b.owns()), "epoch 3")
	w.wants("described", w.state("g"), "Reconciling 3/3 range; a 2 has topic[0 1 2 3] wants topic[0 1]; b 3 has  wants topic[2 3]")
	w.alone()
	w.wants("a gave up", w.line(a.owns()), "epoch 3")
	w.wants("b", w.line(b.owns()), "epoch 3 given topic[2 3]")
	w.wants("b owns", w.line(b.owns()), "epoch 3")
	w.wants("described", w.state("g"), "Stable 3/3 range; a 3 has topic[0 1] wants topic[0 1]; b 3 has topic[2 3] wants topic[2 3]")
	w.replayed()
}

func TestConsumerGivenBackBeforeTheRevocationIsConfirmed(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	a, b := w.player("g", "a", "topic"), w.player("g", "b", "topic")
	a.join()
	a.owns()
	full := a.ownRequest()
	b.join()
	a.beat()
	if a.count() != 1 {
		t.Fatalf("a keeps %d", a.count())
	}
	w.wants("b leaves", w.line(b.leave()), "epoch -1")
	full.MemberEpoch = a.epoch
	a.tell(full)
	if a.count() != 1 {
		t.Fatalf("a holds %d while it still has to confirm", a.count())
	}
	a.owns()
	if a.count() != 2 {
		t.Fatalf("in the end a holds %d", a.count())
	}
	w.wants("state", w.state("g"), "Stable 4/4 uniform; a 4 has topic[0 1] wants topic[0 1]")
	w.alone()
	w.replayed()
}

func TestConsumerSubscriptionChanges(t *testing.T) {
	w := newWorld(t)
	w.topic("a", 2)
	w.topic("b", 1)
	m := w.player("g", "m", "a")
	w.wants("join", w.line(m.join()), "epoch 2 given a[0 1]")
	for _, step := range []struct {
		topics     []string
		then, next string
	}{
		{[]string{"a", "b"}, "epoch 3 given a[0 1] b[0]", "epoch 3"},
		{[]string{"b"}, "epoch 3 given b[0]", "epoch 4"},
		{[]string{}, "epoch 4 given", "epoch 5"},
		{[]string{"a"}, "epoch 6 given a[0 1]", "epoch 6"},
	} {
		r := m.ownRequest()
		r.SubscribedTopics, r.HasTopics = step.topics, true
		w.wants("change", w.line(m.tell(r)), step.then)
		for range 3 {
			w.wants("next", w.line(m.owns()), step.next)
		}
		w.replayed()
	}
}

func TestConsumerMalformed(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 1)
	try := func(what string, want string, change func(r *ConsumerHeartbeatRequest)) {
		t.Helper()
		for v := int16(0); v <= 1; v++ {
			p := w.player(what+string(rune('0'+v)), "m", "topic")
			r := p.joinRequest()
			r.Version = v
			change(r)
			got := w.line(p.tell(r))
			if got != want {
				t.Errorf("v%d %s: got %q, want %q", v, what, got, want)
			}
		}
	}
	type r = *ConsumerHeartbeatRequest
	try("good", "epoch 2 given topic[0]", func(r r) {})
	try("empty group", "error 42", func(r r) { r.Group = "" })
	try("blank group", "error 42", func(r r) { r.Group = "  " })
	try("no rebalance timeout", "error 42", func(r r) { r.RebalanceTimeoutMs = -1 })
	try("rebalance timeout 0", "epoch 2 given topic[0]", func(r r) { r.RebalanceTimeoutMs = 0 })
	try("rebalance timeout -2", "epoch 2 given topic[0]", func(r r) { r.RebalanceTimeoutMs = -2 })
	try("owned null", "error 42", func(r r) { r.HasOwned = false })
	try("owned something", "error 42", func(r r) { r.Owned = []record.TopicPartitions{{Partitions: []int32{0}}} })
	try("subscription null", "error 42", func(r r) { r.HasTopics = false })
	try("subscription empty", "epoch 1 given", func(r r) { r.SubscribedTopics = nil })
	try("empty instance", "error 42", func(r r) { r.InstanceID = ptr("") })
	try("empty rack", "error 42", func(r r) { r.RackID = ptr("") })
	try("empty assignor", "error 112", func(r r) { r.ServerAssignor = ptr("") })
	try("unknown assignor", "error 112", func(r r) { r.ServerAssignor = ptr("sticky") })
	try("epoch -3", "error 42", func(r r) { r.MemberEpoch = -3 })
	try("epoch -1", "error 69", func(r r) { r.MemberEpoch = -1 })
	try("epoch -2", "error 42", func(r r) { r.MemberEpoch = -2 })
	try("epoch -2 with instance", "error 69", func(r r) { r.MemberEpoch, r.InstanceID = -2, ptr("i") })
	try("epoch 1", "error 69", func(r r) { r.MemberEpoch = 1 })
	try("a topic twice", "epoch 2 given topic[0]", func(r r) { r.SubscribedTopics = []string{"topic", "topic"} })
	try("bad topic name", "epoch 2 given", func(r r) { r.SubscribedTopics = []string{"no/such", ""} })
	w.replayed()

	m := w.player("beats", "m", "topic")
	m.join()
	for what, c := range map[string]struct {
		want   string
		change func(r r)
	}{
		"empty member":     {"error 42", func(r r) { r.MemberID = "" }},
		"unknown member":   {"error 25", func(r r) { r.MemberID = "made-up" }},
		"unknown group":    {"error 69", func(r r) { r.Group = "unknown" }},
		"epoch too large":  {"error 110", func(r r) { r.MemberEpoch += 7 }},
		"epoch -5":         {"error 42", func(r r) { r.MemberEpoch = -5 }},
		"unknown assignor": {"error 112", func(r r) { r.ServerAssignor = ptr("nope") }},
		"bad regex":        {"error 128", func(r r) { r.SubscribedRegex = ptr("a(") }},
		"foreign topic": {"epoch 2", func(r r) {
			r.Owned, r.HasOwned = []record.TopicPartitions{{TopicID: [16]byte{7}, Partitions: []int32{0}}}, true
		}},
	} {
		req := m.request()
		c.change(req)
		w.wants(what, w.line(w.ask(req).(*ConsumerHeartbeatReply)), c.want)
	}
	w.wants("still fine", w.line(m.beat()), "epoch 2")
}

func TestConsumerMemberIDs(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 1)
	m := w.player("g", "", "topic")
	r := m.joinRequest()
	r.Version = 0
	m.tell(r)
	if len(m.id) != 22 || strings.ContainsAny(m.id, "-=") && len(m.id) != 22 {
		t.Fatalf("the made id %q is not Kafka's form of a UUID", m.id)
	}
	w.wants("beats with it", w.line(m.beat()), "epoch 2")
	n := w.player("h", "", "topic")
	w.wants("version 1 without id", w.line(n.join()), "error 42")
}

func TestConsumerLeaveFenceAndRejoin(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	m := w.player("g", "m", "topic")
	m.join()
	r := m.request()
	r.MemberEpoch++
	w.wants("epoch ahead", w.line(m.tell(r)), "error 110")
	w.wants("right epoch", w.line(m.beat()), "epoch 2")
	w.wants("joins anew while known", w.line(m.join()), "epoch 2 given topic[0 1]")
	w.wants("leave", w.line(m.leave()), "epoch -1")
	w.wants("again", w.line(m.leave()), "error 25")
	m.epoch = 2
	w.wants("beat", w.line(m.beat()), "error 25")
	w.wants("empty", w.state("g"), "Empty 3/3 uniform")
	w.wants("rejoin", w.line(m.join()), "epoch 4 given topic[0 1]")
	w.replayed()
	full := m.ownRequest()
	full.SubscribedTopics, full.HasTopics, full.RebalanceTimeoutMs = m.topics, true, m.rebalance
	w.wants("a full request gets all", w.line(m.tell(full)), "epoch 4 given topic[0 1]")
	full.Owned = nil
	w.wants("also if it owns nothing", w.line(m.tell(full)), "epoch 4 given topic[0 1]")
	part := m.request()
	part.SubscribedTopics, part.HasTopics = m.topics, true
	w.wants("the subscription alone does not", w.line(m.tell(part)), "epoch 4")
}

func TestConsumerLostAnswer(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	a, b := w.player("g", "a", "topic"), w.player("g", "b", "topic")
	a.join()
	a.owns()
	old, held := a.epoch, a.owned
	b.join()
	a.owns()
	gaveUp := a.ownRequest()
	a.tell(gaveUp)
	if a.epoch <= old {
		t.Fatal("the epoch does not grow")
	}
	r := a.request()
	r.MemberEpoch = old
	w.wants("nothing owned named", w.line(w.ask(r).(*ConsumerHeartbeatReply)), "error 110")
	r = a.request()
	r.MemberEpoch, r.Owned, r.HasOwned = old, held, true
	w.wants("owning too much", w.line(w.ask(r).(*ConsumerHeartbeatReply)), "error 110")
	r = a.request()
	r.MemberEpoch, r.Owned, r.HasOwned = old, gaveUp.Owned, true
	w.wants("owning what is left", w.line(w.ask(r).(*ConsumerHeartbeatReply)), "epoch 3")
	r = a.request()
	r.MemberEpoch, r.Owned, r.HasOwned = old-1, gaveUp.Owned, true
	w.wants("one further back", w.line(w.ask(r).(*ConsumerHeartbeatReply)), "error 110")
}

func TestConsumerTimeouts(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	a, b := w.player("g", "a", "topic"), w.player("g", "b", "topic")
	a.rebalance = 1000
	a.join()
	a.owns()
	full := a.ownRequest()
	b.join()
	full.MemberEpoch = a.epoch
	a.tell(full)
	w.pass(900)
	w.wants("a keeps all for now", w.line(a.tell(full)), "epoch 2")
	b.owns()
	if b.count() != 0 {
		t.Fatal("b has what a has not given up")
	}
	w.pass(200)
	b.owns()
	if b.count() != 2 {
		t.Fatalf("b has %d after a's rebalance timeout", b.count())
	}
	w.wants("a", w.line(a.beat()), "error 25")
	a.epoch = 0
	w.wants("a joins anew", w.line(a.join()), "epoch 5 given")
	w.pass(44_000)
	b.owns()
	w.pass(2000)
	w.wants("a's session is over", w.line(a.beat()), "error 25")
	w.wants("b", w.line(b.owns()), "epoch 6 given topic[0 1]")
	w.replayed()
}

func TestConsumerStaticMembers(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 4)
	a, b := w.player("g", "a", "topic"), w.player("g", "b", "topic")
	a.instance, b.instance = ptr("ia"), ptr("ib")
	a.assignor, b.assignor = ptr("range"), ptr("range")
	a.join()
	b.join()
	for range 3 {
		a.owns()
		b.owns()
	}
	w.wants("a goes", w.line(a.end(-2)), "epoch -2")
	a.epoch = 3
	w.wants("beat while away", w.line(a.beat()), "error 110")
	w.wants("b is not touched", w.line(b.owns()), "epoch 3")
	w.wants("described", w.state("g"), "Reconciling 3/3 range; a -2 has topic[0 1] wants topic[0 1]; b 3 has topic[2 3] wants topic[2 3]")
	w.replayed()
	back := w.player("g", "a2", "topic")
	back.instance, back.assignor = ptr("ia"), ptr("range")
	w.wants("returns", w.line(back.join()), "epoch 3 given topic[0 1]")
	w.wants("b is not touched", w.line(b.owns()), "epoch 3")
	w.wants("the old id", w.line(a.beat()), "error 82")
	w.wants("described", w.state("g"), "Stable 3/3 range; a2 3 has topic[0 1] wants topic[0 1]; b 3 has topic[2 3] wants topic[2 3]")
	w.replayed()
	c := w.player("g", "c", "topic")
	c.instance = ptr("ib")
	w.wants("in use", w.line(c.join()), "error 111")
	for _, epoch := range []int32{-1, -2} {
		r := b.request()
		r.MemberID, r.MemberEpoch = "made-up", epoch
		w.wants("leave with another id", w.line(w.ask(r).(*ConsumerHeartbeatReply)), "error 82")
		r = b.request()
		r.InstanceID, r.MemberEpoch = ptr("other"), epoch
		w.wants("leave with another instance", w.line(w.ask(r).(*ConsumerHeartbeatReply)), "error 25")
	}
	w.wants("first leaves for good", w.line(b.leave()), "epoch -1")
	w.wants("second joins", w.line(c.join()), "epoch 5 given topic[2 3]")
}

func TestConsumerTopicsComeGrowAndGo(t *testing.T) {
	w := newWorld(t)
	m := w.player("g", "m", "a", "b")
	w.wants("unknown topics are no error", w.line(m.join()), "epoch 2 given")
	w.topic("a", 1)
	w.wants("created", w.line(m.owns()), "epoch 3 given a[0]")
	w.topic("other", 5)
	w.wants("a topic that nobody reads", w.line(m.owns()), "epoch 3")
	w.topic("b", 2)
	m.owns()
	w.topic("a", 4)
	w.wants("grown", w.line(m.owns()), "epoch 5 given a[0 1 2 3] b[0 1]")
	w.topic("b", 0)
	w.wants("deleted", w.line(m.owns()), "epoch 5 given a[0 1 2 3]")
	w.wants("confirmed", w.line(m.owns()), "epoch 6")
	w.replayed()
}

func TestConsumerRegex(t *testing.T) {
	w := newWorld(t)
	w.topic("re-0", 2)
	w.topic("re-1", 1)
	w.topic("xre-2", 1)
	w.topic("other", 3)
	m := w.player("g", "m")
	m.regex = ptr("re-.*")
	if r := m.join(); r.Code != None {
		t.Fatal(r.Code)
	}
	w.wants("matching", w.line(m.owns()), "epoch 2 given re-0[0 1] re-1[0]")
	r := m.ownRequest()
	r.SubscribedTopics, r.HasTopics = []string{"other"}, true
	w.wants("and a name", w.line(m.tell(r)), "epoch 3 given other[0 1 2] re-0[0 1] re-1[0]")
	w.topic("re-3", 1)
	m.owns()
	if m.count() != 6 {
		t.Fatal("topics are matched again at once")
	}
	w.pass(10_001)
	m.owns()
	w.wants("a new topic matches", w.line(m.owns()), "epoch 4 given other[0 1 2] re-0[0 1] re-1[0] re-3[0]")
	w.replayed()
	r = m.ownRequest()
	r.SubscribedRegex = ptr("")
	w.wants("taken back", w.line(m.tell(r)), "epoch 4 given other[0 1 2]")
	w.wants("confirmed", w.line(m.owns()), "epoch 5")
	w.replayed()
	for pattern, code := range map[string]Code{"(": 128, "a{2": 0, "[z-a]": 128, "(?=x)": 128, "*": 128, `\1(a)`: 128, "a++": 128} {
		p := w.player("r"+pattern, "m")
		p.regex = &pattern
		if got := p.join().Code; got != code {
			t.Errorf("%q: %d, want %d", pattern, got, code)
		}
	}
}

func TestConsumerAssignmentInterval(t *testing.T) {
	w := newWorld(t)
	w.config.AssignmentIntervalMs = 2500
	w.topic("topic", 2)
	a, b := w.player("g", "a", "topic"), w.player("g", "b", "topic")
	a.join()
	a.owns()
	w.wants("b joins", w.line(b.join()), "epoch 2 given")
	w.wants("described", w.state("g"), "Assigning 3/2 uniform; a 2 has topic[0 1] wants topic[0 1]; b 2 has  wants ")
	w.pass(2400)
	w.wants("a", w.line(a.owns()), "epoch 2")
	w.pass(200)
	w.wants("a", w.line(a.owns()), "epoch 2 given topic[0]")
	a.owns()
	w.wants("b", w.line(b.owns()), "epoch 3 given topic[1]")
	w.replayed()
}

func TestConsumerGroupIsFull(t *testing.T) {
	w := newWorld(t)
	w.cfg.ConsumerMaxSize = 1
	w.topic("topic", 2)
	a, b := w.player("g", "a", "topic"), w.player("g", "b", "topic")
	a.join()
	w.wants("the second", w.line(b.join()), "error 81")
	w.wants("the first again", w.line(a.join()), "epoch 2 given topic[0 1]")
}

func TestConsumerAssignorOfTheMost(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 4)
	a, b, c := w.player("g", "a", "topic"), w.player("g", "b", "topic"), w.player("g", "c", "topic")
	b.assignor, c.assignor = ptr("range"), ptr("range")
	a.join()
	b.join()
	c.join()
	for range 3 {
		a.owns()
		b.owns()
		c.owns()
	}
	w.wants("described", w.state("g"), "Stable 4/4 range; a 4 has topic[0 1] wants topic[0 1]; b 4 has topic[2] wants topic[2]; c 4 has topic[3] wants topic[3]")
}

func TestConsumerFailedWrite(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	m := w.player("g", "m", "topic")
	w.lost = NotCoordinator
	w.wants("join", w.line(m.join()), "error 16")
	if w.c.existing("g") != nil || len(w.c.groups) != 0 {
		t.Fatal("a failed write leaves a group behind")
	}
	w.lost = None
	w.wants("join", w.line(m.join()), "epoch 2 given topic[0 1]")
	w.lost = NotCoordinator
	w.wants("leave", w.line(m.leave()), "error 16")
	w.pass(46_000)
	w.lost = None
	w.wants("still there", w.line(m.beat()), "epoch 2")
	w.lost = NotCoordinator
	w.pass(46_000)
	w.lost = None
	w.pass(1100)
	w.wants("fenced at last", w.line(m.beat()), "error 25")
	w.replayed()
}
