package group

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// TestReplayEqualsLive lets random clients loose on a coordinator whose log is slow, fails and is lost with the machine. After
// every record the state that records hold must be that of a replay (rig.same), every request must be answered exactly
// once, and in the end nothing may be left: silent members go, empty groups and their offsets expire.
func TestReplayEqualsLive(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := &crowd{rig: newRig(t), rnd: rand.New(rand.NewPCG(seed, 7))}
			w.rig.cfg.MaxSize = 4
			w.rig.cfg.InitialRebalanceDelayMs = int32(seed % 3 * 500)
			for range 400 {
				w.step()
			}
			w.end()
		})
	}
}

// crowd is a number of clients that remember what they were told, or not.
type crowd struct {
	rig     *rig
	rnd     *rand.Rand
	n       int
	members []known
	waiting map[any]known
}

// known is what a client knows of its membership.
type known struct {
	group, id string
	instance  *string
	gen       int32
	leads     bool
	others    []string
}

func (w *crowd) group() string { return string(rune('g' + w.rnd.IntN(3))) }

func (w *crowd) send(k known, r Request) {
	w.n++
	if w.waiting == nil {
		w.waiting = map[any]known{}
	}
	w.waiting[w.n] = k
	w.rig.step(w.n, r)
	w.learn()
}

// learn takes over what the answers say.
func (w *crowd) learn() {
	for _, reply := range w.rig.out {
		k := w.waiting[reply.Handle]
		delete(w.waiting, reply.Handle)
		j, ok := reply.Body.(*JoinReply)
		if !ok || j.MemberID == "" {
			continue
		}
		k.id, k.gen, k.leads, k.others = j.MemberID, j.Generation, j.Leader == j.MemberID, nil
		for _, m := range j.Members {
			k.others = append(k.others, m.MemberID)
		}
		w.members = append(w.members, k)
	}
	w.rig.out = nil
	if len(w.members) > 40 {
		w.members = w.members[20:]
	}
}

func (w *crowd) member() known {
	if len(w.members) == 0 || w.rnd.IntN(20) == 0 {
		return known{group: w.group(), id: "stranger", gen: 1}
	}
	return w.members[w.rnd.IntN(len(w.members))]
}

func (w *crowd) join(k known) {
	j := &JoinRequest{Header: Header{Group: k.group, Version: int16(w.rnd.IntN(10)), ClientID: "c", ClientHost: "/h"}, MemberID: k.id, InstanceID: k.instance,
		SessionTimeoutMs: 6000 + int32(w.rnd.IntN(10000)), RebalanceTimeoutMs: int32(w.rnd.IntN(20000)), ProtocolType: "consumer",
		Protocols: []Protocol{{"range", metadataOf("a")}, {"rr", metadataOf("a", "b")}}}
	switch w.rnd.IntN(8) {
	case 0:
		j.Protocols = j.Protocols[:1]
	case 1:
		j.Protocols[0], j.Protocols[1] = j.Protocols[1], j.Protocols[0]
	case 2:
		j.Protocols[0].Metadata = []byte{9}
	}
	w.send(k, j)
}

func (w *crowd) commit(k known) {
	c := &CommitRequest{Header: Header{Group: k.group, Version: 8}, MemberID: k.id, InstanceID: k.instance, Generation: k.gen, RetentionMs: -1}
	if w.rnd.IntN(4) == 0 {
		c.MemberID, c.InstanceID, c.Generation = "", nil, -1
	}
	for range 1 + w.rnd.IntN(3) {
		c.Offsets = append(c.Offsets, CommitOffset{Topic: string(rune('a' + w.rnd.IntN(3))), Partition: int32(w.rnd.IntN(2)), Offset: w.rnd.Int64N(100)})
	}
	w.send(k, c)
}

// counted checks what classic groups count beside their members.
func (w *crowd) counted() {
	for id, g := range w.rig.c.groups {
		k, ok := g.protocol.(*classicGroup)
		if !ok {
			continue
		}
		waiting, offered := 0, map[string]int{}
		for _, m := range k.members {
			if m.joining != nil {
				waiting++
			}
			for _, p := range m.protocols {
				offered[p.Name]++
			}
		}
		if waiting != k.waiting || !maps.Equal(offered, k.offered) {
			w.rig.t.Fatalf("%s: %d wait, counted %d; offered %v, counted %v", id, waiting, k.waiting, offered, k.offered)
		}
	}
}

func (w *crowd) step() {
	defer w.counted()
	switch w.rnd.IntN(16) {
	case 0, 1:
		w.join(known{group: w.group()})
	case 2:
		instance := string(rune('i' + w.rnd.IntN(2)))
		w.join(known{group: w.group(), instance: &instance})
	case 3, 4:
		w.join(w.member())
	case 5, 6:
		k := w.member()
		s := &SyncRequest{Header: Header{Group: k.group, Version: 3}, MemberID: k.id, InstanceID: k.instance, Generation: k.gen}
		for _, id := range k.others {
			s.Assignments = append(s.Assignments, Assignment{id, []byte(id)})
		}
		w.send(k, s)
	case 7:
		k := w.member()
		w.send(k, &HeartbeatRequest{Header: Header{Group: k.group}, MemberID: k.id, InstanceID: k.instance, Generation: k.gen})
	case 8:
		k := w.member()
		w.send(k, &LeaveRequest{Header: Header{Group: k.group, Version: 4}, Members: []LeaveMember{{MemberID: k.id, InstanceID: k.instance}}})
	case 9, 10:
		w.commit(w.member())
	case 11:
		w.rig.wait(int64(w.rnd.IntN(6000)))
	case 12:
		w.rig.hold = true
	case 13:
		w.release()
	case 14:
		w.rare()
	case 15:
		w.send(known{}, &DescribeRequest{Header: Header{Group: w.group()}})
	}
	w.learn()
}

func (w *crowd) release() {
	w.rig.hold = false
	if w.rnd.IntN(4) == 0 {
		w.rig.fail = CoordinatorNotAvailable
	}
	w.rig.release()
	w.rig.carry()
	w.rig.fail = None
}

func (w *crowd) rare() {
	g := w.group()
	switch w.rnd.IntN(6) {
	case 0:
		w.rig.restart()
		w.waiting = nil
	case 1:
		w.rig.c.TopicsDeleted([]string{"c"}, w.rig.now)
		w.rig.carry()
	case 2, 3:
		w.send(known{}, &DeleteRequest{Header: Header{Group: g}})
	case 4:
		w.send(known{}, &DeleteOffsetsRequest{Header: Header{Group: g}, Partitions: []DeleteOffset{{Topic: "b"}, {Topic: "a", Partition: 1}}})
	case 5:
		w.rig.wait(700_000)
	}
}

// end lets everybody fall silent.
func (w *crowd) end() {
	w.release()
	w.rig.wait(3_600_000)
	if len(w.rig.open) != 0 {
		w.rig.t.Errorf("%d requests were never answered", len(w.rig.open))
	}
	w.rig.wait(w.rig.cfg.OffsetsRetentionMs + 2*w.rig.cfg.OffsetsRetentionCheckMs)
	if left := durable(w.rig.c); left != "" || len(w.rig.c.groups) != 0 {
		w.rig.t.Errorf("left in the end (%d groups):\n%s", len(w.rig.c.groups), left)
	}
	if len(w.rig.c.timers) != 1 {
		w.rig.t.Errorf("%d timers are left, want the one of expiry alone", len(w.rig.c.timers))
	}
}
