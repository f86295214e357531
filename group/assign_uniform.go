package group

import (
	"cmp"
	"slices"
)

// uniform gives all members as many partitions as the subscriptions allow, and leaves each as much of what it had as that
// allows.
func uniform(a *assigning) map[string][]entry {
	for i := range a.members {
		if !slices.Equal(a.members[i].topics, a.members[0].topics) {
			return a.uniformMixed()
		}
	}
	return a.uniformAlike()
}

// uniformAlike is uniform for members that all subscribe the same topics: each gets total/n partitions or one more.
func (a *assigning) uniformAlike() map[string][]entry {
	lists := make([][]entry, len(a.members))
	if len(a.members) == 0 {
		return a.named(lists)
	}
	var all []entry
	for _, id := range a.members[0].topics {
		for p := int32(0); p < a.partitions[id]; p++ {
			all = append(all, entry{place: place{id, p}})
		}
	}
	share, extra := len(all)/len(a.members), len(all)%len(a.members)
	taken := make(map[place]bool, len(all))
	for i := range a.members {
		quota := share
		keep := slices.DeleteFunc(a.keeps(&a.members[i]), func(e entry) bool { return taken[e.place] })
		if extra > 0 && len(keep) > share {
			quota++
			extra--
		}
		lists[i] = keep[:min(len(keep), quota)]
		for _, e := range lists[i] {
			taken[e.place] = true
		}
	}
	free := slices.DeleteFunc(all, func(e entry) bool { return taken[e.place] })
	for i := range lists {
		quota := share
		if extra > 0 && len(lists[i]) <= share {
			quota++
			extra--
		}
		n := max(min(quota-len(lists[i]), len(free)), 0)
		lists[i] = append(lists[i], free[:n]...)
		free = free[n:]
	}
	return a.named(lists)
}

// uniformMixed is uniform for members with different subscriptions: topics with fewest subscribers are given first, each
// partition to who has least; then partitions move from who has most to who has least while that evens out.
func (a *assigning) uniformMixed() map[string][]entry {
	lists := make([][]entry, len(a.members))
	taken := map[place]bool{}
	for i := range a.members {
		for _, e := range a.keeps(&a.members[i]) {
			if !taken[e.place] {
				taken[e.place] = true
				lists[i] = append(lists[i], e)
			}
		}
	}
	ids, subscribers := a.topics()
	slices.SortStableFunc(ids, func(x, y [16]byte) int { return cmp.Compare(len(subscribers[x]), len(subscribers[y])) })
	for _, id := range ids {
		for p := int32(0); p < a.partitions[id]; p++ {
			if at := (place{id, p}); !taken[at] {
				least, _ := extremes(lists, subscribers[id], id)
				lists[least] = append(lists[least], entry{place: at})
			}
		}
	}
	for moved := true; moved; {
		moved = false
		for _, id := range ids {
			for {
				least, most := extremes(lists, subscribers[id], id)
				if most < 0 || len(lists[most])-len(lists[least]) < 2 {
					break
				}
				i := lastOf(lists[most], id)
				lists[least] = append(lists[least], lists[most][i])
				lists[most] = slices.Delete(lists[most], i, i+1)
				moved = true
			}
		}
	}
	return a.named(lists)
}

// extremes are the subscriber that has least, and of those that have some of the topic the one that has most, -1 if none.
func extremes(lists [][]entry, subscribers []int, topic [16]byte) (least, most int) {
	least, most = subscribers[0], -1
	for _, i := range subscribers {
		if len(lists[i]) < len(lists[least]) {
			least = i
		}
		if (most < 0 || len(lists[i]) > len(lists[most])) && lastOf(lists[i], topic) >= 0 {
			most = i
		}
	}
	return least, most
}

func lastOf(list []entry, topic [16]byte) int {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].topic == topic {
			return i
		}
	}
	return -1
}
