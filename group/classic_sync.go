package group

import "slices"

// sync implements protocol: followers wait for the leader, whose assignment is stored before anybody hears of it.
func (k *classicGroup) sync(r *SyncRequest) {
	if code := k.checkSync(r); code != None {
		k.c.refuse(r, code)
		return
	}
	m := k.members[r.MemberID]
	k.synced(m)
	if k.phase == stable {
		k.c.reply(r.Handle, k.assigned(m))
		return
	}
	k.answerSync(m, &SyncReply{Code: RebalanceInProgress})
	m.syncing = r.Handle
	if k.leader == m.id {
		k.assign(r.Assignments)
	}
}

func (k *classicGroup) checkSync(r *SyncRequest) Code {
	if code := k.check(r.MemberID, r.InstanceID); code != None {
		return code
	}
	switch {
	case r.Generation != k.generation:
		return IllegalGeneration
	case r.Version >= 5 && (r.ProtocolType == nil || *r.ProtocolType != k.typ || r.Protocol == nil || *r.Protocol != k.protocol):
		return InconsistentProtocol
	case k.phase == preparing:
		return RebalanceInProgress
	case k.phase == empty:
		return UnknownMemberID
	}
	return None
}

// synced notes that the member asked for its assignment.
func (k *classicGroup) synced(m *member) {
	delete(k.unsynced, m.id)
	if len(k.unsynced) == 0 {
		k.c.stop(&k.syncEnd)
	}
}

func (k *classicGroup) assigned(m *member) *SyncReply {
	return &SyncReply{ProtocolType: optional(k.typ), Protocol: optional(k.protocol), Assignment: m.assignment}
}

// assign stores what the leader assigned; whom it left out gets nothing.
func (k *classicGroup) assign(list []Assignment) {
	assignments := make(map[string][]byte, len(k.members))
	for id := range k.members {
		assignments[id] = []byte{}
	}
	for i := range list {
		if _, ok := assignments[list[i].MemberID]; ok {
			assignments[list[i].MemberID] = list[i].Bytes
		}
	}
	rec := k.record(k.sortedMembers(), assignments)
	k.c.write(k.g, oneRecord(rec), func(code Code) {
		if code != None {
			k.resetAssignments(code)
			k.phase = stable // nothing is left to reset
			k.prepare()
			return
		}
		for _, m := range k.sortedMembers() {
			if m.syncing != nil {
				k.answerSync(m, k.assigned(m))
				k.beatAgain(m)
			}
		}
	})
}

// resetAssignments answers those who wait for their assignment with an error.
func (k *classicGroup) resetAssignments(code Code) {
	for _, m := range k.sortedMembers() {
		m.assignment = []byte{}
		if m.syncing != nil {
			k.answerSync(m, &SyncReply{Code: code})
			k.beatAgain(m)
		}
	}
}

// syncTimeout takes the members out that joined and then did not ask for their assignment.
func (k *classicGroup) syncTimeout() {
	if k.phase != completing && k.phase != stable || len(k.unsynced) == 0 {
		return
	}
	for _, id := range k.ids() {
		if k.unsynced[id] {
			k.remove(k.members[id])
		}
	}
	k.prepare()
}

// heartbeat implements protocol.
func (k *classicGroup) heartbeat(r *HeartbeatRequest) {
	code := k.check(r.MemberID, r.InstanceID)
	switch {
	case code != None:
	case r.Generation != k.generation:
		code = IllegalGeneration
	case k.phase == empty:
		code = UnknownMemberID
	default:
		k.beatAgain(k.members[r.MemberID])
		if k.phase == preparing {
			code = RebalanceInProgress
		}
	}
	k.c.reply(r.Handle, &CodeReply{Code: code})
}

// leave implements protocol.
func (k *classicGroup) leave(r *LeaveRequest) {
	changed := false
	for i := range r.Members {
		l := &r.Members[i]
		m, promised := k.leaver(l)
		switch {
		case promised:
			k.unpromise(l.MemberID)
			changed = true
		case m != nil:
			k.remove(m)
			changed = true
		}
	}
	if changed {
		k.afterRemoval()
	}
	k.c.replyAfter(k.g, r.Handle, &LeaveReply{Members: r.Members})
}

// leaver finds whom an entry of LeaveGroup means and sets its code. A static member may be named by its instance id alone.
func (k *classicGroup) leaver(l *LeaveMember) (m *member, promised bool) {
	switch {
	case l.MemberID == "" && l.InstanceID != nil:
		m = k.statics[*l.InstanceID]
		if m == nil {
			l.Code = UnknownMemberID
		}
		return m, false
	case k.promised[l.MemberID] != nil:
		return nil, true
	}
	if l.Code = k.check(l.MemberID, l.InstanceID); l.Code != None {
		return nil, false
	}
	return k.members[l.MemberID], false
}

// abandon implements protocol.
func (k *classicGroup) abandon(code Code) {
	for _, m := range k.sortedMembers() {
		k.answerJoin(m, &JoinReply{Code: code, Generation: -1, MemberID: m.id})
		k.answerSync(m, &SyncReply{Code: code})
	}
}

// stop implements protocol.
func (k *classicGroup) stop() {
	k.c.stop(&k.joinEnd)
	k.c.stop(&k.syncEnd)
	for _, m := range k.members {
		k.c.stop(&m.beat)
	}
	for _, p := range k.promised {
		k.c.stop(&p.timer)
	}
}

// loaded implements protocol: the members are given a session to show that they live.
func (k *classicGroup) loaded() {
	for _, m := range k.sortedMembers() {
		k.beatAgain(m)
	}
	if k.phase == stable && len(k.members) > int(k.c.cfg.MaxSize) {
		k.prepare()
	}
}

func (k *classicGroup) topicsChanged() {}

// topicsOf reads the topics out of the metadata of the consumer protocol: a version, then names.
func topicsOf(b []byte) ([]string, bool) {
	r := consumerReader{b}
	if _, ok := r.int16(); !ok {
		return nil, false
	}
	n, ok := r.int32()
	if !ok || n < 0 || int(n) > len(r.b)/2 {
		return nil, false
	}
	names := make([]string, 0, n)
	for ; n > 0; n-- {
		name, ok := r.string()
		if !ok {
			return nil, false
		}
		names = append(names, name)
	}
	// Without the data behind the names it is none that Kafka could read.
	if n, ok := r.int32(); !ok || int(n) > len(r.b) {
		return nil, false
	}
	return slices.Clip(names), true
}
