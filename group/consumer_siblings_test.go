package group

import "testing"

// TestFailedUpgradeAnswersWhoWaits: a member whose bytes cannot be read keeps the new protocol out, but whoever waits in a
// join or sync has been told to come again by then, as in Kafka.
func TestFailedUpgradeAnswersWhoWaits(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	a, b := w.classic("g", []byte("junk")), w.classic("g", subscriptionOf("topic"))
	a.enter()
	if reply := b.join(); reply == nil || reply.Code != MemberIDRequired {
		t.Fatalf("%+v", reply)
	}
	if reply := b.join(); reply != nil {
		t.Fatalf("the second member does not wait: %+v", reply)
	}
	w.wants("modern member", w.line(w.player("g", "m", "topic").join()), "error 69")
	if reply, _ := w.replies[b.handle].(*JoinReply); reply == nil || reply.Code != RebalanceInProgress || reply.MemberID != b.id {
		t.Fatalf("the waiting join: %+v", reply)
	}
	if code := b.beat(); code != IllegalGeneration {
		t.Fatalf("it is no longer a member: %d", code)
	}
	w.wants("listed", w.listed("g"), "classic consumer PreparingRebalance")
	w.replayed()
}

// TestClassicOffersInAConsumerGroup: what a classic member offered before counts when it joins again, and who it is is
// looked at before its bytes.
func TestClassicOffersInAConsumerGroup(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 2)
	w.player("g", "m", "topic").join()
	good := subscriptionOf("topic")
	c := w.classic("g", good)
	c.enter()
	for _, tt := range []struct {
		what  string
		offer []Protocol
		want  Code
	}{
		{"another alone", []Protocol{{"sticky", good}}, InconsistentProtocol},
		{"one more", []Protocol{{"sticky", good}, {"range", good}}, None},
		{"one fewer", []Protocol{{"sticky", good}}, None},
		{"the first one again", []Protocol{{"range", good}}, InconsistentProtocol},
	} {
		c.protocols = tt.offer
		if reply := c.join(); reply.Code != tt.want {
			t.Errorf("%s: %d, want %d", tt.what, reply.Code, tt.want)
		}
	}
	s := w.classic("g", good)
	s.instance, s.protocols = optional("i"), []Protocol{{"sticky", good}}
	s.enter()
	for instance, want := range map[string]Code{"": InconsistentProtocol, "i": FencedInstanceID, "other": UnknownMemberID} {
		stranger := w.classic("g", nil)
		stranger.id, stranger.instance, stranger.protocols = "made-up", optional(instance), []Protocol{{"sticky", []byte{}}}
		if reply := stranger.join(); reply.Code != want {
			t.Errorf("unreadable bytes of a stranger, instance %q: %d, want %d", instance, reply.Code, want)
		}
	}
	w.replayed()
}

// TestClassicMembersWaitForTheNewAssignment: that somebody left raises the epoch, but classic members are called back only when
// a member's heartbeat has computed what is to change.
func TestClassicMembersWaitForTheNewAssignment(t *testing.T) {
	w := newWorld(t)
	w.topic("topic", 4)
	m, n := w.player("g", "m", "topic"), w.player("g", "n", "topic")
	m.join()
	n.join()
	c := w.classic("g", subscriptionOf("topic"))
	c.enter()
	c.sync()
	m.owns()
	before := w.c.groups["g"].protocol.(*consumerGroup).epoch
	if code := w.leaves("g", n.id, nil); code != None {
		t.Fatal(code)
	}
	if got := w.c.groups["g"].protocol.(*consumerGroup).epoch; got != before+1 {
		t.Fatalf("the epoch is %d, was %d", got, before)
	}
	if code := c.beat(); code != None {
		t.Fatalf("a heartbeat before the new assignment: %d", code)
	}
	if reply := c.sync(); reply.Code != None {
		t.Fatalf("a sync before the new assignment: %d", reply.Code)
	}
	w.pass(1000) // consumer.assignment.interval.ms
	m.owns()
	if code := c.beat(); code != RebalanceInProgress {
		t.Fatalf("a heartbeat after it: %d", code)
	}
	w.replayed()
}

// TestClassicMembersAloneInAConsumerGroup: where the policy keeps the group what it is when its last member of the new protocol
// leaves, the classic ones are called back, or nobody would be given what that member had.
func TestClassicMembersAloneInAConsumerGroup(t *testing.T) {
	w := newWorld(t)
	w.cfg.MigrateDown = false
	w.config.AssignmentIntervalMs = 1000
	w.topic("topic", 4)
	m := w.player("g", "m", "topic")
	m.join()
	c := w.classic("g", subscriptionOf("topic"))
	c.enter()
	c.sync()
	m.owns()
	w.pass(1000)
	if code := w.leaves("g", m.id, nil); code != None {
		t.Fatal(code)
	}
	w.pass(1000)
	if code := c.beat(); code != RebalanceInProgress {
		t.Fatalf("a heartbeat when all others are gone: %d", code)
	}
	c.enter()
	c.sync()
	if code := c.beat(); code != None {
		t.Fatalf("a heartbeat with all partitions: %d", code)
	}
	if got := len(w.c.groups["g"].protocol.(*consumerGroup).members[c.id].assigned); got != 4 {
		t.Fatalf("it has %d partitions of 4", got)
	}
	w.replayed()
}
