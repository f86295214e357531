package controller

import "encoding/binary"

// placeBroker is a broker that may get replicas.
type placeBroker struct {
	id   int32
	rack string
}

// usableBrokers are those that may get replicas, sorted by id.
func (im *Image) usableBrokers() []placeBroker {
	out := make([]placeBroker, 0, len(im.brokers))
	for _, b := range im.brokers {
		if !b.Fenced {
			out = append(out, placeBroker{b.ID, b.Rack})
		}
	}
	return out
}

// startOf spreads topics: the place in the list of brokers at which a topic's placement starts. It depends on
// the id alone, because every node must come to the same placement.
func startOf(id UUID) int { return int(binary.BigEndian.Uint32(id[12:]) >> 1) }

// Place deals replicas of partitions over the unfenced brokers of im, round robin from start, so that leaders
// and followers are spread evenly: partition p's preferred leader is broker (start+p) mod n, its followers come
// after a shift that grows with every round. It returns nil if there are fewer brokers than factor.
func Place(im *Image, partitions, factor, start int) [][]int32 {
	usable := im.usableBrokers()
	if factor > len(usable) || factor <= 0 {
		return nil
	}
	return place(usable, partitions, factor, start)
}

func place(brokers []placeBroker, partitions, factor, start int) [][]int32 {
	n := len(brokers)
	out := make([][]int32, partitions)
	ids := make([]int32, 0, partitions*factor)
	for p := range out {
		first := (start + p) % n
		from := len(ids)
		ids = append(ids, brokers[first].id)
		if factor > 1 {
			shift := (start/n + p/n) % (n - 1)
			for r := range factor - 1 {
				ids = append(ids, brokers[(first+1+(shift+r)%(n-1))%n].id)
			}
		}
		out[p] = ids[from:len(ids):len(ids)]
	}
	return out
}
