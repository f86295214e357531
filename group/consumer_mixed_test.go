package group

import (
	"fmt"
	"testing"
)

// classicPlayer is a member of the classic protocol.
type classicPlayer struct {
	w          *world
	group      string
	id         string
	instance   *string
	generation int32
	typ        string
	protocols  []Protocol
	handle     any
}

func (w *world) classic(group string, metadata []byte) *classicPlayer {
	return &classicPlayer{w: w, group: group, typ: "consumer", protocols: []Protocol{{"range", metadata}}}
}

// subscriptionOf is a subscription of version 1 that owns nothing.
func subscriptionOf(topics ...string) []byte {
	b := []byte{0, 1, 0, 0, 0, byte(len(topics))}
	for _, t := range topics {
		b = append(append(b, 0, byte(len(t))), t...)
	}
	return append(b, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
}

// join sends JoinGroup; nil: it waits.
func (p *classicPlayer) join() *JoinReply {
	r := &JoinRequest{Header: Header{Group: p.group, Version: 9}, MemberID: p.id, InstanceID: p.instance, SessionTimeoutMs: 30000,
		RebalanceTimeoutMs: 30000, ProtocolType: p.typ, Protocols: p.protocols}
	reply, _ := p.w.ask(r).(*JoinReply)
	p.handle = r.Handle
	p.took(reply)
	return reply
}

func (p *classicPlayer) took(reply *JoinReply) {
	if reply == nil {
		return
	}
	if reply.MemberID != "" {
		p.id = reply.MemberID
	}
	if reply.Code == None {
		p.generation = reply.Generation
	}
}

// enter joins, with a second join where the first gave a member id only.
func (p *classicPlayer) enter() *JoinReply {
	reply := p.join()
	if reply != nil && reply.Code == MemberIDRequired {
		reply = p.join()
	}
	if reply == nil {
		p.w.pass(0) // the initial delay is 0
		reply, _ = p.w.replies[p.handle].(*JoinReply)
		p.took(reply)
	}
	if reply == nil || reply.Code != None {
		p.w.t.Helper()
		p.w.t.Fatalf("a classic member cannot join: %+v", reply)
	}
	return reply
}

func (p *classicPlayer) sync(assign ...Assignment) *SyncReply {
	p.w.t.Helper()
	reply, ok := p.w.ask(&SyncRequest{Header: Header{Group: p.group, Version: 5}, Generation: p.generation, MemberID: p.id,
		InstanceID: p.instance, ProtocolType: &p.typ, Protocol: &p.protocols[0].Name, Assignments: assign}).(*SyncReply)
	if !ok {
		p.w.t.Fatal("a sync is not answered")
	}
	return reply
}

// synced renders what a sync gives.
func (p *classicPlayer) synced() string {
	p.w.t.Helper()
	reply := p.sync()
	if reply.Code != None {
		return fmt.Sprintf("error %d", reply.Code)
	}
	list, _, ok := readAssignment(reply.Assignment)
	if !ok {
		p.w.t.Fatalf("assignment %x does not read", reply.Assignment)
	}
	return p.w.holds(p.w.c.placed(list))
}

func (p *classicPlayer) beat() Code {
	return p.w.ask(&HeartbeatRequest{Header: Header{Group: p.group, Version: 4}, Generation: p.generation, MemberID: p.id,
		InstanceID: p.instance}).(*CodeReply).Code
}

func (w *world) leaves(group, id string, instance *string) Code {
	reply := w.ask(&LeaveRequest{Header: Header{Group: group, Version: 5}, Members: []LeaveMember{{MemberID: id, InstanceID: instance}}}).(*LeaveReply)
	if reply.Code != None {
		return reply.Code
	}
	return reply.Members[0].Code
}

// listed renders the group as ListGroups shows it.
func (w *world) listed(group string) string {
	for _, l := range w.c.List(nil, nil) {
		if l.Group == group {
			return l.Kind + " " + l.ProtocolType + " " + l.State
		}
	}
	return "none"
}

func (w *world) commits(group, topic string, version int16, member string, epoch int32, partition int32) Code {
	reply := w.ask(&CommitRequest{Header: Header{Group: group, Version: version}, Generation: epoch, MemberID: member, RetentionMs: -1,
		Offsets: []CommitOffset{{Topic: topic, Partition: partition, Offset: 5}}}).(*CommitReply)
	return reply.Offsets[0].Code
}

func TestClassicMemberInAConsumerGroup(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	m := w.player("g", "m", "topic")
	m.join()
	m.owns()
	c := w.classic("g", subscriptionOf("topic"))
	reply := c.enter()
	if reply.Leader != "" || *reply.Protocol != "range" || len(reply.Members) != 0 || reply.Generation != 3 {
		t.Fatalf("join: %+v", reply)
	}
	w.wants("sync", c.synced(), "")
	if code := c.beat(); code != None {
		t.Fatalf("it has nothing to join for yet: %d", code)
	}
	m.beat()
	m.owns()
	if code := c.beat(); code != RebalanceInProgress {
		t.Fatalf("its partition is free now: %d", code)
	}
	c.enter()
	w.wants("sync", c.synced(), "topic[1]")
	w.wants("listed", w.listed("g"), "consumer consumer Stable")
	for _, v := range []int16{7, 9} {
		for d, want := range map[int32]Code{0: None, 1: IllegalGeneration} {
			if got := w.commits("g", "topic", v, c.id, c.generation+d, 1); got != want {
				t.Errorf("v%d, generation %+d: %d, want %d", v, d, got, want)
			}
		}
	}
	w.replayed()
	if code := w.leaves("g", c.id, nil); code != None {
		t.Fatal(code)
	}
	w.wants("the modern member", w.line(m.owns()), "epoch 4 given topic[0 1]")
	w.alone()
	w.replayed()
}

func TestModernMemberJoinsAClassicGroup(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	c := w.classic("g", subscriptionOf("topic"))
	c.enter()
	c.sync(Assignment{c.id, appendAssignment(nil, 1, []topicParts{{"topic", []int32{0, 1}}})})
	w.commits("g", "topic", 7, c.id, c.generation, 1)
	m := w.player("g", "m", "topic")
	w.wants("join", w.line(m.join()), "epoch 2 given")
	w.wants("listed", w.listed("g"), "consumer consumer Reconciling")
	w.replayed()
	if code := c.beat(); code != RebalanceInProgress {
		t.Fatal(code)
	}
	if v := w.c.groups["g"].offsets.get("topic", 1); v == nil || v.Offset != 5 {
		t.Fatal("the offsets are lost")
	}
	c.enter()
	w.wants("sync", c.synced(), "topic[0]")
	w.wants("modern", w.line(m.owns()), "epoch 2 given topic[1]")
	w.alone()
	w.replayed()
	m.leave()
	w.wants("listed", w.listed("g"), "classic consumer PreparingRebalance")
	if code := c.beat(); code != RebalanceInProgress {
		t.Fatal(code)
	}
	if reply := c.enter(); reply.Leader != c.id || len(reply.Members) != 1 {
		t.Fatalf("%+v", reply)
	}
	w.wants("listed", w.listed("g"), "classic consumer CompletingRebalance")
}

func TestModernMembersAreRefusedByOtherKinds(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	c := w.classic("connect", []byte("x"))
	c.typ = "connect"
	c.enter()
	c.sync()
	w.wants("another type", w.line(w.player("connect", "m", "topic").join()), "error 69")
	d := w.classic("bytes", subscriptionOf("topic"))
	d.enter()
	d.sync(Assignment{d.id, []byte("all")})
	w.wants("unreadable assignment", w.line(w.player("bytes", "m", "topic").join()), "error 69")
	if d.beat() != None {
		t.Fatal("a refusal harms the group")
	}
	w.cfg.MigrateUp = false
	e := w.classic("policy", subscriptionOf("topic"))
	e.enter()
	e.sync()
	w.wants("forbidden by the policy", w.line(w.player("policy", "m", "topic").join()), "error 69")
	w.leaves("policy", e.id, nil)
	w.pass(10)
	w.wants("an empty one may change", w.line(w.player("policy", "m", "topic").join()), "epoch 2 given topic[0 1]")
}

func TestEmptyGroupsChangeTheirKind(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 1)
	if code := w.commits("g", "topic", 8, "", -1, 0); code != None {
		t.Fatal(code)
	}
	w.wants("listed", w.listed("g"), "classic  Empty")
	m := w.player("g", "m", "topic")
	m.join()
	w.wants("listed", w.listed("g"), "consumer consumer Stable")
	m.leave()
	w.wants("listed", w.listed("g"), "consumer consumer Empty")
	w.replayed()
	c := w.classic("g", subscriptionOf("topic"))
	c.enter()
	c.sync()
	w.wants("listed", w.listed("g"), "classic consumer Stable")
	m.epoch = 2
	w.wants("the modern member's epoch", w.line(m.beat()), "error 69")
	if w.c.groups["g"].offsets.len() != 1 {
		t.Fatal("the offsets are lost")
	}
	w.replayed()
}

func TestStaticMembersChangeTheirProtocol(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	c := w.classic("g", subscriptionOf("topic"))
	c.instance = ptr("i")
	c.enter()
	c.sync(Assignment{c.id, appendAssignment(nil, 1, []topicParts{{"topic", []int32{0, 1}}})})
	m := w.player("g", "m", "topic")
	m.instance = ptr("i")
	w.wants("the new way", w.line(m.join()), "epoch 1 given topic[0 1]")
	if code := c.beat(); code != FencedInstanceID {
		t.Fatal(code)
	}
	w.wants("state", w.state("g"), "Stable 1/1 uniform; m 1 has topic[0 1] wants topic[0 1]")
	w.replayed()
	back := w.classic("g", subscriptionOf("topic"))
	back.instance = ptr("i")
	back.enter()
	w.wants("and back", w.listed("g"), "classic consumer Stable")
	w.wants("sync", back.synced(), "topic[0 1]")
	w.wants("the modern one", w.line(m.beat()), "error 69")
	w.replayed()
}

func TestClassicMembersHaveToKeepUp(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	m := w.player("g", "m", "topic")
	m.join()
	m.owns()
	c := w.classic("g", subscriptionOf("topic"))
	c.enter()
	w.pass(29_000)
	c.beat()
	m.owns()
	w.pass(1500)
	if code := c.beat(); code != UnknownMemberID {
		t.Fatalf("it never asked for its assignment: %d", code)
	}
	d := w.classic("g", subscriptionOf("topic"))
	d.enter()
	d.sync()
	m.beat()
	m.owns()
	d.beat() // told to join
	w.pass(20_000)
	d.beat()
	m.owns()
	w.pass(10_500)
	if code := d.beat(); code != UnknownMemberID {
		t.Fatalf("it did not join again: %d", code)
	}
	w.replayed()
}

func TestCommitsWithMemberEpochs(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	a, b := w.player("g", "a", "topic"), w.player("g", "b", "topic")
	a.join()
	a.owns()
	old := a.epoch
	try := func(what string, member string, epoch, partition int32, want Code) {
		t.Helper()
		if got := w.commits("g", "topic", 9, member, epoch, partition); got != want {
			t.Errorf("%s: %d, want %d", what, got, want)
		}
	}
	try("own", "a", old, 0, None)
	try("ahead", "a", old+1, 0, StaleMemberEpoch)
	try("behind", "a", old-1, 0, StaleMemberEpoch)
	try("none", "a", -1, 0, StaleMemberEpoch)
	try("unknown", "x", old, 0, UnknownMemberID)
	try("nobody", "", -1, 0, UnknownMemberID)
	if got := w.commits("g", "topic", 8, "a", old, 0); got != UnsupportedVersion {
		t.Errorf("version 8: %d", got)
	}
	b.join()
	try("before it heard of it", "a", old, 1, None)
	a.beat()
	try("while it gives up", "a", a.epoch, 1, None)
	a.owns()
	b.owns()
	try("old epoch, kept", "a", old, 0, None)
	try("old epoch, given up", "a", old, 1, StaleMemberEpoch)
	try("new epoch", "a", a.epoch, 0, None)
	fetch := func(r *FetchRequest) Code {
		r.Group, r.All = "g", true
		return w.ask(r).(*FetchReply).Code
	}
	for i, c := range []struct {
		r    FetchRequest
		want Code
	}{
		{FetchRequest{MemberID: "a", HasMember: true, Epoch: a.epoch}, None},
		{FetchRequest{MemberID: "a", HasMember: true, Epoch: old}, StaleMemberEpoch},
		{FetchRequest{MemberID: "a", HasMember: true, Epoch: -1}, StaleMemberEpoch},
		{FetchRequest{MemberID: "x", HasMember: true, Epoch: 1}, UnknownMemberID},
		{FetchRequest{HasMember: true, Epoch: -1}, UnknownMemberID},
		{FetchRequest{Epoch: -1}, None},
	} {
		if got := fetch(&c.r); got != c.want {
			t.Errorf("fetch %d: %d, want %d", i, got, c.want)
		}
	}
	a.leave()
	b.leave()
	try("empty group: nobody", "", -1, 0, None)
}
