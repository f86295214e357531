package sink

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/bench/wire"
)

// versions is what a floor speaks. Produce and Fetch stop before topic ids.
var versions = []struct{ key, min, max int16 }{
	{0, 3, 12}, {1, 4, 12}, {2, 1, 6}, {3, 0, 12}, {18, 0, 3}, {19, 2, 7}, {20, 1, 5}, {22, 0, 4},
}

const corruptMessage = 2

// handle answers one frame; false ends the connection.
func (c *conn) handle(frame []byte) bool {
	head, ok := wire.ParseHead(frame)
	if !ok {
		return false
	}
	switch head.Key {
	case wire.KeyProduce:
		return c.produce(frame)
	case wire.KeyFetch:
		return c.fetch(append([]byte(nil), frame...), time.Time{}, time.Now())
	}
	b := c.l.srv.admin(frame, head)
	if b == nil {
		return false
	}
	c.reply(b)
	return true
}

func (c *conn) produce(frame []byte) bool {
	v := &c.view
	if !v.Parse(frame) {
		return false
	}
	s := c.l.srv
	t, err := s.topic(v.Topic, s.opts.Partitions)
	if err != nil {
		return false
	}
	c.base = c.base[:0]
	for i := range v.Parts {
		p := &v.Parts[i]
		if s.opts.Check && !wire.ValidCRC(p.Records) {
			p.Code = corruptMessage
			c.base = append(c.base, -1)
			continue
		}
		if int(p.Partition) >= len(t.parts) || p.Partition < 0 {
			return false
		}
		part := t.parts[p.Partition]
		if s.opts.Mode == "null" && t.first.Load() == nil {
			first := append([]byte(nil), p.Records...)
			t.first.Store(&first)
		}
		base, err := c.l.append(part, p.Records)
		if err != nil {
			return false
		}
		if s.opts.Sync == SyncEach && part.file != nil {
			c.l.touched(part.file)
		}
		c.base = append(c.base, base)
	}
	if v.Acks != 0 {
		at := len(c.spare)
		c.spare = v.AppendResponse(c.spare, c.base)
		// Growing spare leaves earlier pieces on the old array: both stay valid.
		c.reply(c.spare[at:len(c.spare):len(c.spare)])
	}
	return true
}

// admin answers what is not hot; nil means that it cannot.
func (s *Server) admin(frame []byte, head wire.RequestHead) []byte {
	req := kmsg.RequestForKey(head.Key)
	if req == nil {
		return nil
	}
	supported := false
	for _, v := range versions {
		supported = supported || v.key == head.Key && head.Version >= v.min && head.Version <= v.max
	}
	if !supported && head.Key != 18 {
		return nil
	}
	req.SetVersion(head.Version)
	if !supported {
		req.SetVersion(0)
	}
	resp := req.ResponseKind()
	if supported {
		cur := wire.Cursor{B: frame, Off: 8}
		cur.String(false)
		cur.Tags(req.IsFlexible())
		if cur.Bad || req.ReadFrom(frame[cur.Off:]) != nil {
			return nil
		}
	}
	if !s.fill(req, resp, supported) {
		return nil
	}
	out := []byte{0, 0, 0, 0, byte(head.Correlation >> 24), byte(head.Correlation >> 16), byte(head.Correlation >> 8), byte(head.Correlation)}
	out = wire.AppendTags(out, resp.IsFlexible() && head.Key != 18)
	out = resp.AppendTo(out)
	n := len(out) - 4
	out[0], out[1], out[2], out[3] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return out
}

func (s *Server) fill(req kmsg.Request, resp kmsg.Response, supported bool) bool {
	switch q := req.(type) {
	case *kmsg.ApiVersionsRequest:
		r := resp.(*kmsg.ApiVersionsResponse)
		if !supported {
			r.ErrorCode = 35
		}
		for _, v := range versions {
			k := kmsg.NewApiVersionsResponseApiKey()
			k.ApiKey, k.MinVersion, k.MaxVersion = v.key, v.min, v.max
			r.ApiKeys = append(r.ApiKeys, k)
		}
	case *kmsg.MetadataRequest:
		return s.metadata(q, resp.(*kmsg.MetadataResponse))
	case *kmsg.CreateTopicsRequest:
		r := resp.(*kmsg.CreateTopicsResponse)
		for _, t := range q.Topics {
			a := kmsg.NewCreateTopicsResponseTopic()
			a.Topic, a.NumPartitions, a.ReplicationFactor = t.Topic, t.NumPartitions, 1
			if t.NumPartitions < 1 || t.NumPartitions > 100000 {
				a.ErrorCode = 37
			} else if made, err := s.topic([]byte(t.Topic), int(t.NumPartitions)); err != nil {
				a.ErrorCode = -1
			} else {
				a.TopicID = made.id
			}
			r.Topics = append(r.Topics, a)
		}
	case *kmsg.DeleteTopicsRequest:
		r := resp.(*kmsg.DeleteTopicsResponse)
		for _, name := range q.TopicNames {
			a := kmsg.NewDeleteTopicsResponseTopic()
			a.Topic = kmsg.StringPtr(name)
			if !s.drop(name) {
				a.ErrorCode = 3
			}
			r.Topics = append(r.Topics, a)
		}
	case *kmsg.ListOffsetsRequest:
		s.offsets(q, resp.(*kmsg.ListOffsetsResponse))
	case *kmsg.InitProducerIDRequest:
		r := resp.(*kmsg.InitProducerIDResponse)
		s.mu.Lock()
		s.ids++
		r.ProducerID = s.ids
		s.mu.Unlock()
	default:
		return false
	}
	return true
}

func (s *Server) metadata(q *kmsg.MetadataRequest, r *kmsg.MetadataResponse) bool {
	host, port := s.hostPort()
	b := kmsg.NewMetadataResponseBroker()
	b.NodeID, b.Host, b.Port = 1, host, port
	r.Brokers = append(r.Brokers, b)
	r.ControllerID = 1
	r.ClusterID = kmsg.StringPtr("sink")
	var names []string
	if q.Topics == nil {
		s.mu.RLock()
		for name := range s.topics {
			names = append(names, name)
		}
		s.mu.RUnlock()
	}
	for _, t := range q.Topics {
		if t.Topic == nil {
			return false
		}
		names = append(names, *t.Topic)
	}
	for _, name := range names {
		t, err := s.topic([]byte(name), s.opts.Partitions)
		if err != nil {
			return false
		}
		a := kmsg.NewMetadataResponseTopic()
		a.Topic, a.TopicID = kmsg.StringPtr(name), t.id
		for i := range t.parts {
			p := kmsg.NewMetadataResponseTopicPartition()
			p.Partition, p.Leader, p.LeaderEpoch = int32(i), 1, 0
			p.Replicas, p.ISR = []int32{1}, []int32{1}
			a.Partitions = append(a.Partitions, p)
		}
		r.Topics = append(r.Topics, a)
	}
	return true
}

func (s *Server) offsets(q *kmsg.ListOffsetsRequest, r *kmsg.ListOffsetsResponse) {
	for _, t := range q.Topics {
		a := kmsg.NewListOffsetsResponseTopic()
		a.Topic = t.Topic
		known, _ := s.topic([]byte(t.Topic), 0)
		for _, p := range t.Partitions {
			ap := kmsg.NewListOffsetsResponseTopicPartition()
			ap.Partition, ap.LeaderEpoch = p.Partition, -1
			switch {
			case known == nil || p.Partition < 0 || int(p.Partition) >= len(known.parts):
				ap.ErrorCode = 3
			case p.Timestamp == -2:
				ap.Offset = 0
			default:
				ap.Offset = known.parts[p.Partition].next.Load()
			}
			a.Partitions = append(a.Partitions, ap)
		}
		r.Topics = append(r.Topics, a)
	}
}
