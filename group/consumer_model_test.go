package group

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestConsumerModel lets members of both protocols come, go, fall silent, lose answers and change what they read, in any
// order, while topics change. After each step no partition has two owners, clients included; the log replays to the live
// state; and once everybody has settled every partition that somebody reads has an owner.
func TestConsumerModel(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { runModel(t, rand.New(rand.NewPCG(seed, 848))) })
	}
}

type model struct {
	*world
	rng     *rand.Rand
	players []*player
	lostOf  map[*player]bool // whose last answer was lost
	made    int
}

func runModel(t *testing.T, rng *rand.Rand) {
	m := &model{world: newWorld(t), rng: rng, lostOf: map[*player]bool{}}
	m.config.SessionTimeoutMs = 3_600_000
	if rng.IntN(2) == 0 {
		m.config.AssignmentIntervalMs = 500
	}
	for i := range 3 {
		m.topic(fmt.Sprintf("t%d", i), int32(1+rng.IntN(6)))
	}
	for range 150 {
		m.step()
		m.alone()
		m.clients()
	}
	m.replayed()
	m.settleAll()
	m.replayed()
}

func (m *model) step() {
	switch n := m.rng.IntN(20); {
	case n < 3 && len(m.players) < 8:
		m.enter()
	case len(m.players) == 0:
	case n == 3:
		i := m.rng.IntN(len(m.players))
		m.players[i].leave()
		m.players = append(m.players[:i], m.players[i+1:]...)
	case n == 4:
		m.topic(fmt.Sprintf("t%d", m.rng.IntN(4)), int32(1+m.rng.IntN(8)))
	case n == 5:
		m.pass(int64(m.rng.IntN(1000)))
	case n == 6: // somebody's answer is lost
		p := m.players[m.rng.IntN(len(m.players))]
		m.ask(p.ownRequest())
		m.lostOf[p] = true
	case n == 7: // a write fails
		m.lost = NotCoordinator
		m.beatOf(m.players[m.rng.IntN(len(m.players))])
		m.lost = None
	case n == 8:
		p := m.players[m.rng.IntN(len(m.players))]
		p.topics = m.subscription()
		r := p.ownRequest()
		r.SubscribedTopics, r.HasTopics = p.topics, true
		m.heard(p, p.tell(r))
	case n == 9: // falls silent until it is fenced for it, then comes back
		p := m.players[m.rng.IntN(len(m.players))]
		m.c.groups["g"].protocol.(*consumerGroup).fence(p.id)
		m.pump()
		m.beatOf(p)
	default:
		m.beatOf(m.players[m.rng.IntN(len(m.players))])
	}
}

func (m *model) subscription() []string {
	var out []string
	for i := range 4 {
		if m.rng.IntN(2) == 0 {
			out = append(out, fmt.Sprintf("t%d", i))
		}
	}
	return out
}

func (m *model) enter() {
	m.made++
	p := m.player("g", fmt.Sprintf("m%d", m.made), m.subscription()...)
	if m.rng.IntN(3) == 0 {
		p.regex = ptr("t[0-2]")
	}
	if m.rng.IntN(3) == 0 {
		p.assignor = ptr("range")
	}
	if p.join().Code == None {
		m.players = append(m.players, p)
	}
}

// beatOf is a heartbeat as clients send it: with what they own, with all they have to say after a lost answer or an error,
// and a new join after they were fenced.
func (m *model) beatOf(p *player) {
	r := p.ownRequest()
	if m.lostOf[p] {
		r.RebalanceTimeoutMs, r.SubscribedTopics, r.HasTopics = p.rebalance, p.topics, true
	}
	m.heard(p, p.tell(r))
}

func (m *model) heard(p *player, r *ConsumerHeartbeatReply) {
	m.lostOf[p] = r.Code != None
	switch r.Code {
	case None, NotCoordinator:
	case FencedMemberEpoch, UnknownMemberID:
		p.owned, m.lostOf[p] = nil, false
		if code := p.join().Code; code != None && code != NotCoordinator {
			m.t.Fatalf("%s cannot join again: %d", p.id, code)
		}
	default:
		m.t.Fatalf("%s: %d", p.id, r.Code)
	}
}

// clients checks that no two clients believe that they own one partition. One that was fenced does not know it yet.
func (m *model) clients() {
	m.t.Helper()
	k, ok := m.c.groups["g"].protocolOf().(*consumerGroup)
	if !ok {
		return
	}
	held := map[place]string{}
	for _, p := range m.players {
		if k.members[p.id] == nil || k.members[p.id].epoch < p.epoch {
			continue
		}
		for _, e := range entries(p.owned) {
			if other := held[e.place]; other != "" {
				m.t.Fatalf("%v is owned by %s and %s", e.place, other, p.id)
			}
			held[e.place] = p.id
		}
	}
}

// protocolOf is the group's protocol, nil if there is no group.
func (g *Group) protocolOf() protocol {
	if g == nil {
		return nil
	}
	return g.protocol
}

func (m *model) settleAll() {
	for range 40 {
		m.pass(600)
		for _, p := range m.players {
			m.beatOf(p)
		}
		m.alone()
		m.clients()
	}
	m.pass(11_000)
	for range 10 {
		m.pass(600)
		for _, p := range m.players {
			m.beatOf(p)
		}
	}
	if len(m.players) == 0 {
		return
	}
	k := m.c.groups["g"].protocol.(*consumerGroup)
	if k.state() != "Stable" {
		m.t.Fatalf("the group does not settle: %s", m.state("g"))
	}
	most, least := 0, 1<<30
	same := true
	for _, v := range k.members {
		most, least = max(most, len(v.assigned)), min(least, len(v.assigned))
		same = same && fmt.Sprint(k.topicsOf(v.sub)) == fmt.Sprint(k.topicsOf(k.members[m.players[0].id].sub))
	}
	if same && k.assignor(k.members) == "uniform" && most-least > 1 {
		m.t.Fatalf("uneven: %s", m.state("g"))
	}
	read := map[string]bool{}
	for _, p := range m.players {
		for name := range k.topicsOf(k.members[p.id].sub) {
			read[name] = true
		}
	}
	owned := map[place]string{}
	for _, p := range m.players {
		for _, e := range entries(p.owned) {
			owned[e.place] = p.id
		}
	}
	for name := range read {
		topic, ok := m.topics.Topic(name)
		for i := int32(0); ok && i < topic.Partitions; i++ {
			if owned[place{topic.ID, i}] == "" {
				m.t.Fatalf("nobody has %s/%d: %s", name, i, m.state("g"))
			}
		}
	}
}
