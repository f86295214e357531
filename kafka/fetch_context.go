package kafka

import (
	"bytes"
	"slices"

	"millrace/kafka/wire"
)

// openSession finds out what the request means for sessions and lists its partitions. The code is the answer to the
// whole request.
func (f *Frontend) openSession(s *fetchState) wire.ErrorCode {
	v := &s.view
	s.kind = fetchSessionless
	if v.SessionEpoch == sessionEpochNone || v.SessionEpoch == sessionEpochFirst {
		if v.SessionID != 0 {
			f.sessions.remove(v.SessionID)
		}
		if v.SessionEpoch == sessionEpochFirst && v.Version >= 7 {
			s.kind = fetchFull
		}
		s.listRequest()
		return wire.NoError
	}
	ses := f.sessions.get(v.SessionID, s.req.conn.ls.loop.WallMs())
	if ses == nil {
		return wire.FetchSessionIdNotFound
	}
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.epoch != v.SessionEpoch {
		return wire.InvalidFetchSessionEpoch
	}
	if ses.byID != (v.Version >= 13) {
		return wire.FetchSessionTopicIdError
	}
	before := len(ses.parts)
	ses.update(v)
	if n := len(ses.parts); n != before {
		f.sessions.resized(ses, n)
	}
	if len(ses.parts) == 0 {
		f.sessions.remove(ses.id)
		s.listRequest() // answered as one without session
		return wire.NoError
	}
	ses.epoch = nextSessionEpoch(ses.epoch)
	s.kind, s.session = fetchIncremental, ses
	for p := ses.head; p != nil; p = p.next {
		s.parts = append(s.parts, fetchPart{fetchAsk: p.fetchAsk, kept: p})
	}
	return wire.NoError
}

// ask restates a partition entry of the request. name aliases the frame.
func (a *fetchAsk) ask(p *wire.FetchPartition) {
	a.index, a.offset, a.maxBytes = p.Index, p.FetchOffset, p.MaxBytes
	a.leaderEpoch, a.lastFetchedEpoch, a.logStart = p.CurrentLeaderEpoch, p.LastFetchedEpoch, p.LogStartOffset
}

// listRequest lists the partitions of the request itself. A partition named twice keeps its first place and takes what
// its last entry asks, as in Kafka.
func (s *fetchState) listRequest() {
	byMap := s.view.PartitionCount > 48
	if byMap && s.seen == nil {
		s.seen = make(map[sessionKey]int32, s.view.PartitionCount)
	}
	topics := s.view.Topics()
	var t wire.FetchTopic
	for topics.Next(&t) {
		parts := t.Partitions()
		var p wire.FetchPartition
		for parts.Next(&p) {
			a := fetchAsk{name: t.Name, id: t.ID}
			a.ask(&p)
			if at := s.find(&a, byMap); at >= 0 {
				s.parts[at].fetchAsk = a
				continue
			}
			if byMap {
				s.seen[a.key()] = int32(len(s.parts))
			}
			s.parts = append(s.parts, fetchPart{fetchAsk: a})
		}
	}
}

func (s *fetchState) find(a *fetchAsk, byMap bool) int {
	if byMap {
		if at, ok := s.seen[a.key()]; ok {
			return int(at)
		}
		return -1
	}
	for i := range s.parts {
		p := &s.parts[i]
		if p.index == a.index && p.id == a.id && bytes.Equal(p.name, a.name) {
			return i
		}
	}
	return -1
}

// update takes the changes of an incremental request into the session. The caller holds mu.
func (ses *session) update(v *wire.FetchView) {
	topics := v.Topics()
	var t wire.FetchTopic
	for topics.Next(&t) {
		parts := t.Partitions()
		var p wire.FetchPartition
		for parts.Next(&p) {
			a := fetchAsk{name: t.Name, id: t.ID, index: p.Index}
			have := ses.parts[a.key()]
			if have == nil {
				have = &sessionPart{fetchAsk: a, toldHighWatermark: -1, toldLogStart: -1}
				have.name = slices.Clone(t.Name)
				ses.add(have)
			}
			have.ask(&p)
		}
	}
	forgotten := v.Forgotten()
	var g wire.ForgottenTopic
	for forgotten.Next(&g) {
		for i := 0; i < g.PartitionCount; i++ {
			a := fetchAsk{name: g.Name, id: g.ID, index: g.Partition(i)}
			if p := ses.parts[a.key()]; p != nil {
				delete(ses.parts, a.key())
				ses.unlink(p)
			}
		}
	}
}

// closeRound decides which partitions the answer lists, notes in the session what the client is told, and names the
// session of the answer. It is called once, right before the answer is written.
func (f *Frontend) closeRound(s *fetchState) (sessionID int32, code wire.ErrorCode) {
	if s.kind != fetchIncremental {
		for i := range s.parts {
			s.parts[i].listed = true
		}
		if s.kind == fetchFull {
			sessionID = f.newSession(s)
		}
		return sessionID, wire.NoError
	}
	ses := s.session
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.epoch != nextSessionEpoch(s.view.SessionEpoch) {
		return 0, wire.InvalidFetchSessionEpoch
	}
	for i := range s.parts {
		p := &s.parts[i]
		p.listed = p.kept.tell(p)
		if p.listed && p.reply.RecordBytes > 0 && ses.parts[p.kept.key()] == p.kept {
			ses.moveToBack(p.kept)
		}
	}
	return ses.id, wire.NoError
}

// tell compares what was found with what the client knows, and notes what it is told. It reports whether the
// partition stands in the answer (KIP-227).
func (k *sessionPart) tell(p *fetchPart) bool {
	k.topic = p.topic
	r := &p.reply
	list := r.RecordBytes > 0 || r.HighWatermark != k.toldHighWatermark || r.LogStartOffset != k.toldLogStart ||
		r.PreferredReadReplica >= 0 || r.Diverging != wire.NoEpochEnd || r.Error != wire.NoError
	k.toldHighWatermark, k.toldLogStart = r.HighWatermark, r.LogStartOffset
	if r.Error != wire.NoError {
		k.toldHighWatermark = -1
	}
	return list
}

// newSession makes a session of a full fetch, 0 if there is no room.
func (f *Frontend) newSession(s *fetchState) int32 {
	kept := make([]sessionPart, len(s.parts))
	for i := range s.parts {
		p, k := &s.parts[i], &kept[i]
		k.fetchAsk = p.fetchAsk
		k.name = slices.Clone(p.name)
		k.tell(p)
	}
	ses := f.sessions.create(kept, s.view.Version >= 13, s.req.conn.ls.loop.WallMs())
	if ses == nil {
		return 0
	}
	return ses.id
}
