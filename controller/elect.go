package controller

import "slices"

// Live tells whether a broker is registered and not fenced.
func (im *Image) Live(id int32) bool {
	b := im.Broker(id)
	return b != nil && !b.Fenced
}

// Elect chooses a leader cleanly: the first live replica, in order of preference, that is in the ISR, else the
// first that is in the ELR, else NoLeader.
func Elect(p *Partition, live func(id int32) bool) int32 {
	for _, set := range [2][]int32{p.ISR, p.ELR} {
		for _, id := range p.Replicas {
			if slices.Contains(set, id) && live(id) {
				return id
			}
		}
	}
	return NoLeader
}
