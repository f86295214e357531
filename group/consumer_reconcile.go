package group

// reconciling takes one member a step towards the target assignment. It is a function of what stands in it.
type reconciling struct {
	member *consumerMember
	target []entry // the member's part of the target assignment
	epoch  int32   // the target assignment's
	// owned is what the member says it owns; nothing is said without says.
	owned []entry
	says  bool
	// changed tells that the subscription has just changed, subscribed which topics it has now.
	changed    bool
	subscribed func(topic [16]byte) bool
	// owner is who has the partition, "" if nobody.
	owner func(place) string
}

// next is where the member stands after the step: itself if nothing changes.
func (r *reconciling) next() *consumerMember {
	m := r.member
	switch m.state {
	case memberUnrevoked:
		// It gives partitions up by no longer naming them. Until then it goes on with what it keeps.
		if r.holds(m.pending) {
			if r.changed {
				return r.restrict()
			}
			return m
		}
		return r.step(m.epoch)
	case memberUnreleased:
		return r.step(m.epoch)
	case memberStable:
		if m.epoch != r.epoch {
			return r.step(m.epoch)
		}
		if r.changed {
			return r.restrict()
		}
		return m
	}
	return r.step(m.epoch)
}

// holds tells whether the member still owns some of the partitions, as far as it is known.
func (r *reconciling) holds(list []entry) bool {
	return len(list) > 0 && (!r.says || overlap(r.owned, list))
}

// step compares what the member has with the target. What it has to give up comes first: it stays in epoch, without those
// partitions, until it confirms. Else it enters the target's epoch with all partitions that are free; for the others it
// waits.
func (r *reconciling) step(epoch int32) *consumerMember {
	target := r.target
	if len(target) > 0 {
		target = make([]entry, 0, len(r.target))
		for _, e := range r.target {
			if r.subscribed(e.topic) {
				target = append(target, e)
			}
		}
	}
	keep, lose, gain := divide(r.member.assigned, target)
	if r.holds(lose) {
		return r.moved(epoch, memberUnrevoked, keep, lose)
	}
	free := gain[:0:0]
	for _, e := range gain {
		if who := r.owner(e.place); who == "" || who == r.member.id {
			free = append(free, entry{e.place, r.epoch})
		}
	}
	state := memberStable
	if len(free) < len(gain) {
		state = memberUnreleased
	}
	return r.moved(r.epoch, state, join(keep, free), nil)
}

// restrict takes topics away that the member no longer subscribes, ahead of the next target assignment.
func (r *reconciling) restrict() *consumerMember {
	var keep, lose []entry
	for _, e := range r.member.assigned {
		if r.subscribed(e.topic) {
			keep = append(keep, e)
		} else {
			lose = append(lose, e)
		}
	}
	if len(lose) == 0 {
		return r.member
	}
	lose = join(r.member.pending, lose)
	if r.holds(lose) {
		return r.moved(r.member.epoch, memberUnrevoked, keep, lose)
	}
	return r.moved(r.member.epoch, r.member.state, keep, nil)
}

func (r *reconciling) moved(epoch int32, state int8, assigned, pending []entry) *consumerMember {
	m := *r.member
	m.previous, m.epoch, m.state, m.assigned, m.pending = m.epoch, epoch, state, assigned, pending
	return &m
}
