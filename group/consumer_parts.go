package group

import (
	"bytes"
	"cmp"
	"slices"

	"millrace/group/record"
)

// parts is a set of partitions, in order of topic ids and partitions. Immutable. Epochs of a topic are nil or as many as
// its partitions.
type parts = []record.TopicPartitions

// place is one partition.
type place struct {
	topic     [16]byte
	partition int32
}

// entry is one partition of a set, with the member epoch at which it was given.
type entry struct {
	place
	epoch int32
}

func (a entry) compare(b entry) int {
	if d := bytes.Compare(a.topic[:], b.topic[:]); d != 0 {
		return d
	}
	return cmp.Compare(a.partition, b.partition)
}

// entries takes a list apart. It need not be in order; what stands twice counts once.
func entries(list []record.TopicPartitions) []entry {
	n, ordered := 0, true
	for i := range list {
		n += len(list[i].Partitions)
	}
	out := make([]entry, 0, n)
	for i := range list {
		t := &list[i]
		for j, p := range t.Partitions {
			e := entry{place: place{t.TopicID, p}}
			if j < len(t.Epochs) {
				e.epoch = t.Epochs[j]
			}
			ordered = ordered && (len(out) == 0 || out[len(out)-1].compare(e) < 0)
			out = append(out, e)
		}
	}
	if !ordered {
		slices.SortStableFunc(out, entry.compare)
		out = slices.CompactFunc(out, func(a, b entry) bool { return a.place == b.place })
	}
	return out
}

// gather makes a set of entries that are in order.
func gather(list []entry, epochs bool) parts {
	var out parts
	for i := 0; i < len(list); {
		j := i
		for j < len(list) && list[j].topic == list[i].topic {
			j++
		}
		t := record.TopicPartitions{TopicID: list[i].topic, Partitions: make([]int32, j-i)}
		if epochs {
			t.Epochs = make([]int32, j-i)
		}
		for k := i; k < j; k++ {
			t.Partitions[k-i] = list[k].partition
			if epochs {
				t.Epochs[k-i] = list[k].epoch
			}
		}
		out = append(out, t)
		i = j
	}
	return out
}

// divide says what both sets have (as have has it), what only have has, and what only want has.
func divide(have, want []entry) (both, gone, missing []entry) {
	i, j := 0, 0
	for i < len(have) || j < len(want) {
		d := 0
		switch {
		case i == len(have):
			d = 1
		case j == len(want):
			d = -1
		default:
			d = have[i].compare(want[j])
		}
		switch {
		case d < 0:
			gone = append(gone, have[i])
			i++
		case d > 0:
			missing = append(missing, want[j])
			j++
		default:
			both = append(both, have[i])
			i++
			j++
		}
	}
	return both, gone, missing
}

// join puts two sets that have nothing in common together.
func join(a, b []entry) []entry {
	out := append(slices.Clip(a), b...)
	slices.SortFunc(out, entry.compare)
	return out
}

// overlap tells whether the sets have a partition in common.
func overlap(a, b []entry) bool {
	both, _, _ := divide(a, b)
	return len(both) > 0
}

// within tells whether all of a is in b.
func within(a, b []entry) bool {
	_, gone, _ := divide(a, b)
	return len(gone) == 0
}

// find is the entry of a partition.
func find(list []entry, at place) (entry, bool) {
	i, ok := slices.BinarySearchFunc(list, entry{place: at}, entry.compare)
	if !ok {
		return entry{}, false
	}
	return list[i], true
}

// equalPlaces tells whether two sets have the same partitions.
func equalPlaces(a, b []entry) bool {
	return slices.EqualFunc(a, b, func(a, b entry) bool { return a.place == b.place })
}
