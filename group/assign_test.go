package group

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// assignmentOf makes an input of members with topics by number, each with as many partitions as sizes says.
func assignmentOf(sizes []int32, members map[string][]int, had map[string][]entry) *assigning {
	a := &assigning{partitions: map[[16]byte]int32{}}
	for i, n := range sizes {
		a.partitions[[16]byte{byte(i)}] = n
	}
	for _, id := range sortedKeys(members) {
		m := assignee{id: id, had: had[id]}
		for _, t := range members[id] {
			m.topics = append(m.topics, [16]byte{byte(t)})
		}
		a.members = append(a.members, m)
	}
	return a
}

func TestRangeDealsEachTopicInPieces(t *testing.T) {
	a := assignmentOf([]int32{5, 2}, map[string][]int{"m1": {0, 1}, "m2": {0, 1}, "m3": {0, 1}}, nil)
	got := byRange(a)
	for id, want := range map[string]string{
		"m1": "[[0 0] [0 1] [1 0]]", "m2": "[[0 2] [0 3] [1 1]]", "m3": "[[0 4]]",
	} {
		if s := pairs(got[id]); s != want {
			t.Errorf("%s has %s, want %s", id, s, want)
		}
	}
	a.members[2].instance = ptr("static")
	if s := pairs(byRange(a)["m3"]); s != "[[0 0] [0 1] [1 0]]" {
		t.Errorf("static members come first: %s", s)
	}
}

func pairs(list []entry) string {
	var out [][2]int32
	for _, e := range list {
		out = append(out, [2]int32{int32(e.topic[0]), e.partition})
	}
	return fmt.Sprint(out)
}

// TestAssignorsAssignAll checks with random groups that each partition that somebody reads is given once, to somebody who
// reads it, and that uniform is even where it can be, keeps what it can and is settled once it has been computed.
func TestAssignorsAssignAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 48))
	for round := range 400 {
		sizes := make([]int32, 1+rng.IntN(4))
		for i := range sizes {
			sizes[i] = int32(1 + rng.IntN(9))
		}
		members := map[string][]int{}
		alike := rng.IntN(2) == 0
		for i := range 1 + rng.IntN(7) {
			var topics []int
			for j := range sizes {
				if alike || rng.IntN(2) == 0 {
					topics = append(topics, j)
				}
			}
			members[fmt.Sprintf("m%d", i)] = topics
		}
		for name, assign := range assignors {
			a := assignmentOf(sizes, members, nil)
			first := assign(a)
			checkAll(t, name, a, first)
			for i := range a.members {
				a.members[i].had = first[a.members[i].id]
			}
			again := assign(a)
			checkAll(t, name, a, again)
			for id := range first {
				if !equalPlaces(first[id], again[id]) {
					t.Fatalf("round %d, %s: computed again %s has %s, not %s", round, name, id, pairs(again[id]), pairs(first[id]))
				}
			}
			if name == "uniform" {
				checkEven(t, a, first, alike)
				checkSticks(t, a, first, alike)
			}
		}
	}
}

func checkAll(t *testing.T, name string, a *assigning, got map[string][]entry) {
	t.Helper()
	given := map[place]string{}
	read := map[[16]byte]bool{}
	for i := range a.members {
		m := &a.members[i]
		mine := map[[16]byte]bool{}
		for _, topic := range m.topics {
			mine[topic], read[topic] = true, true
		}
		for _, e := range got[m.id] {
			if given[e.place] != "" || !mine[e.topic] || e.partition >= a.partitions[e.topic] {
				t.Fatalf("%s: %s must not have %v", name, m.id, e.place)
			}
			given[e.place] = m.id
		}
	}
	for topic := range read {
		for p := int32(0); p < a.partitions[topic]; p++ {
			if given[place{topic, p}] == "" {
				t.Fatalf("%s: nobody has %d of %v", name, p, topic[0])
			}
		}
	}
}

// checkEven looks for a partition that could go from one member to another that has at least two less.
func checkEven(t *testing.T, a *assigning, got map[string][]entry, alike bool) {
	t.Helper()
	for i := range a.members {
		for _, e := range got[a.members[i].id] {
			for j := range a.members {
				reads := false
				for _, topic := range a.members[j].topics {
					reads = reads || topic == e.topic
				}
				if d := len(got[a.members[i].id]) - len(got[a.members[j].id]); reads && d > 1 {
					t.Fatalf("%s has %d more than %s (alike %t)", a.members[i].id, d, a.members[j].id, alike)
				}
			}
		}
	}
}

// checkSticks takes the last member away: the others keep all that they had.
func checkSticks(t *testing.T, a *assigning, had map[string][]entry, alike bool) {
	t.Helper()
	if !alike || len(a.members) < 2 {
		return
	}
	fewer := &assigning{members: a.members[:len(a.members)-1], partitions: a.partitions}
	got := uniform(fewer)
	for i := range fewer.members {
		id := fewer.members[i].id
		if !within(had[id], got[id]) {
			t.Fatalf("%s had %s and has %s", id, pairs(had[id]), pairs(got[id]))
		}
	}
}
