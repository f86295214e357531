package group

import (
	"cmp"
	"slices"
)

// byRange deals each topic in contiguous pieces to the members that subscribe it: static members first, by instance id,
// then the others by member id. Topics with the same subscribers and as many partitions are dealt alike, so that joins of
// them meet in one member.
func byRange(a *assigning) map[string][]entry {
	lists := make([][]entry, len(a.members))
	ids, subscribers := a.topics()
	for _, id := range ids {
		order := slices.Clone(subscribers[id])
		slices.SortFunc(order, func(i, j int) int { return rangeOrder(&a.members[i], &a.members[j]) })
		total, n := int(a.partitions[id]), len(order)
		next := 0
		for i, who := range order {
			share := total / n
			if i < total%n {
				share++
			}
			for ; share > 0; share-- {
				lists[who] = append(lists[who], entry{place: place{id, int32(next)}})
				next++
			}
		}
	}
	return a.named(lists)
}

func rangeOrder(a, b *assignee) int {
	switch {
	case a.instance != nil && b.instance != nil:
		return cmp.Compare(*a.instance, *b.instance)
	case a.instance != nil:
		return -1
	case b.instance != nil:
		return 1
	}
	return cmp.Compare(a.id, b.id)
}
