package group

import "slices"

// defaultAssignor assigns where no member asks for another one and the settings name none.
const defaultAssignor = "uniform"

// assignors compute target assignments, by the names that members and settings know.
var assignors = map[string]func(*assigning) map[string][]entry{
	"uniform": uniform,
	"range":   byRange,
}

// assigning is what a target assignment is computed from.
type assigning struct {
	members    []assignee         // in order of ids
	partitions map[[16]byte]int32 // how many each subscribed topic has
}

// assignee is one member.
type assignee struct {
	id       string
	instance *string
	topics   [][16]byte // in order, existing ones only
	had      []entry    // in the target assignment before
}

// topics are all topics with the members that subscribe them (their places in members), in order of topic ids.
func (a *assigning) topics() ([][16]byte, map[[16]byte][]int) {
	subscribers := map[[16]byte][]int{}
	for i := range a.members {
		for _, id := range a.members[i].topics {
			subscribers[id] = append(subscribers[id], i)
		}
	}
	ids := make([][16]byte, 0, len(subscribers))
	for id := range subscribers {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b [16]byte) int { return slices.Compare(a[:], b[:]) })
	return ids, subscribers
}

// keeps are the partitions that the member had and may still have.
func (a *assigning) keeps(m *assignee) []entry {
	out := make([]entry, 0, len(m.had))
	for _, e := range m.had {
		_, ok := slices.BinarySearchFunc(m.topics, e.topic, func(a, b [16]byte) int { return slices.Compare(a[:], b[:]) })
		if ok && e.partition < a.partitions[e.topic] {
			out = append(out, entry{place: e.place})
		}
	}
	return out
}

// named makes an assignment by member ids of lists in the order of members.
func (a *assigning) named(lists [][]entry) map[string][]entry {
	out := make(map[string][]entry, len(lists))
	for i, list := range lists {
		slices.SortFunc(list, entry.compare)
		out[a.members[i].id] = list
	}
	return out
}
