package kafka

import (
	"bytes"

	"millrace/kafka/wire"
	"millrace/netpoll"
)

// answerFetch sends what the last plan found: header bytes and file ranges by turns.
func (f *Frontend) answerFetch(s *fetchState) {
	r := s.req
	s.stopTimer()
	r.cancel = nil
	sessionID, code := f.closeRound(s)
	if code != wire.NoError {
		s.fail(code)
		return
	}
	bb := replyPool.Get()
	s.reply.Begin(bb.B[:0], r.hdr.Version, r.hdr.CorrelationID, 0, wire.NoError, sessionID, s.countTopics())
	s.writeParts()
	b, gaps := s.reply.End(s.endpoints(f))
	bb.B = b
	out := r.conn.nc.Loop().NewOut()
	from, at := 0, 0
	for _, gap := range gaps {
		for s.parts[at].reply.RecordBytes <= 0 || !s.parts[at].listed {
			at++
		}
		p := &s.parts[at]
		at++
		out.Segs = append(out.Segs, netpoll.Seg{Mem: b[from:gap.Position]},
			netpoll.Seg{File: p.plan.Range.File, Off: p.plan.Range.Off, Len: p.plan.Range.Len, Ref: p.plan.Ref})
		p.topic.Stats.BytesOut.Add(p.plan.Range.Len)
		p.plan.Ref = nil
		from = gap.Position
	}
	s.count()
	// The memory goes back when the last segment has been sent; there may be nothing behind the last records.
	out.Segs = append(out.Segs, netpoll.Seg{Mem: b[from:], Ref: (*pooled)(bb)})
	s.clear()
	r.finish(out)
}

// count notes the answered partitions in their topics' counters, neighbours of one topic together.
func (s *fetchState) count() {
	for i := 0; i < len(s.parts); {
		t, asked, failed := s.parts[i].topic, int64(0), int64(0)
		for ; i < len(s.parts) && s.parts[i].topic == t; i++ {
			asked++
			if s.parts[i].reply.Error != wire.NoError {
				failed++
			}
		}
		if t == nil {
			continue
		}
		t.Stats.FetchRequests.Add(asked)
		if failed > 0 {
			t.Stats.FailedFetch.Add(failed)
		}
	}
}

// sameTopic says whether two entries may share a topic of the answer.
func sameTopic(a, b *fetchPart) bool { return a.id == b.id && bytes.Equal(a.name, b.name) }

func (s *fetchState) countTopics() int {
	n := 0
	var last *fetchPart
	for i := range s.parts {
		if p := &s.parts[i]; p.listed {
			if last == nil || !sameTopic(last, p) {
				n++
			}
			last = p
		}
	}
	return n
}

// writeParts writes the listed partitions, neighbours of one topic together.
func (s *fetchState) writeParts() {
	for i := 0; i < len(s.parts); {
		first := &s.parts[i]
		if !first.listed {
			i++
			continue
		}
		n, end := 0, i
		for ; end < len(s.parts) && (!s.parts[end].listed || sameTopic(first, &s.parts[end])); end++ {
			if s.parts[end].listed {
				n++
			}
		}
		s.reply.Topic(first.name, first.id, n)
		for ; i < end; i++ {
			if s.parts[i].listed {
				s.reply.Partition(&s.parts[i].reply)
			}
		}
		s.reply.EndTopic()
	}
}

// endpoints name this node when a hint in the answer does.
func (s *fetchState) endpoints(f *Frontend) []wire.NodeEndpoint {
	for i := range s.parts {
		if p := &s.parts[i]; p.listed && p.reply.Leader != wire.NoLeaderHint {
			host, port := f.node.Advertised(s.req.conn.nc.Info().Listener)
			return []wire.NodeEndpoint{{NodeID: f.node.ID(), Host: host, Port: port, Rack: f.node.Rack()}}
		}
	}
	return nil
}

// clear gives up everything that the request held.
func (s *fetchState) clear() {
	for i := range s.parts {
		s.parts[i].planned = false
		s.unplan(&s.parts[i])
	}
	clear(s.parts)
	s.parts = s.parts[:0]
	clear(s.seen)
	s.session = nil
	s.orphaned = false
	s.kind = fetchSessionless
}
