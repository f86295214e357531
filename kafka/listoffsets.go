package kafka

import (
	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/engine"
	"millrace/kafka/wire"
)

// Special timestamps of ListOffsets and the first version that knows each (KIP-79, KIP-734, KIP-405, KIP-1005, KIP-1023).
const (
	timeLatest          = -1
	timeEarliest        = -2
	timeMax             = -3
	timeEarliestLocal   = -4
	timeLatestTiered    = -5
	timeEarliestPending = -6
)

// timeVersions is the first version of ListOffsets that knows the special timestamp -i.
var timeVersions = [...]int16{0, 1, 1, 7, 8, 9, 11}

// timeLookup is one partition whose answer needs a search through the log.
type timeLookup struct {
	part      *engine.Partition
	time      int64
	isolation engine.Isolation
	answer    *kmsg.ListOffsetsResponseTopicPartition
}

// listOffsets answers ListOffsets, versions 1 to 11. Searches by time run on a worker.
func (f *Frontend) listOffsets(r *request, in kmsg.Request) kmsg.Response {
	req := in.(*kmsg.ListOffsetsRequest)
	v := r.hdr.Version
	isolation := engine.ReadUncommitted
	if v >= 2 && req.IsolationLevel == 1 {
		isolation = engine.ReadCommitted
	}
	resp := kmsg.NewPtrListOffsetsResponse()
	twice := partitionsNamedTwice(req)
	var searches []timeLookup
	resp.Topics = make([]kmsg.ListOffsetsResponseTopic, len(req.Topics))
	for i := range req.Topics {
		q, t := &req.Topics[i], &resp.Topics[i]
		*t = kmsg.NewListOffsetsResponseTopic()
		t.Topic = q.Topic
		t.Partitions = make([]kmsg.ListOffsetsResponseTopicPartition, len(q.Partitions))
		for j := range q.Partitions {
			p, a := &q.Partitions[j], &t.Partitions[j]
			*a = kmsg.NewListOffsetsResponseTopicPartition()
			a.Partition = p.Partition
			if v >= 2 && req.IsolationLevel != 0 && req.IsolationLevel != 1 {
				a.ErrorCode = int16(wire.UnknownServerError) // Kafka fails on it
				continue
			}
			if twice[topicPartition{q.Topic, p.Partition}] {
				a.ErrorCode = int16(wire.InvalidRequest)
				continue
			}
			if s := f.listOffset(q.Topic, p, a, isolation, v); s != nil {
				searches = append(searches, *s)
			}
		}
	}
	onePerPartition(resp)
	if len(searches) == 0 {
		return resp
	}
	r.conn.ls.loop.Offload(func() {
		for i := range searches {
			searches[i].run()
		}
	}, func() { r.respond(resp) })
	return nil
}

type topicPartition struct {
	topic string
	index int32
}

func partitionsNamedTwice(req *kmsg.ListOffsetsRequest) map[topicPartition]bool {
	seen, twice := map[topicPartition]bool{}, map[topicPartition]bool{}
	for i := range req.Topics {
		for j := range req.Topics[i].Partitions {
			tp := topicPartition{req.Topics[i].Topic, req.Topics[i].Partitions[j].Partition}
			if seen[tp] {
				twice[tp] = true
			}
			seen[tp] = true
		}
	}
	return twice
}

// onePerPartition keeps the first of the entries of a partition that was named twice, joins topics named twice and drops
// those without partitions, as Kafka's answer has them.
func onePerPartition(resp *kmsg.ListOffsetsResponse) {
	places := map[string]int{}
	out := resp.Topics[:0]
	for _, t := range resp.Topics {
		if len(t.Partitions) == 0 {
			continue
		}
		at, ok := places[t.Topic]
		if !ok {
			places[t.Topic] = len(out)
			out = append(out, t)
			continue
		}
		out[at].Partitions = append(out[at].Partitions, t.Partitions...)
	}
	resp.Topics = out
	for i := range resp.Topics {
		seen := map[int32]bool{}
		parts := resp.Topics[i].Partitions
		kept := parts[:0]
		for _, p := range parts {
			if !seen[p.Partition] {
				seen[p.Partition] = true
				kept = append(kept, p)
			}
		}
		resp.Topics[i].Partitions = kept
	}
}

// listOffset answers one partition, or returns the search that will.
func (f *Frontend) listOffset(topic string, p *kmsg.ListOffsetsRequestTopicPartition, a *kmsg.ListOffsetsResponseTopicPartition,
	isolation engine.Isolation, version int16) *timeLookup {
	if p.Timestamp < 0 && (p.Timestamp < timeEarliestPending || version < timeVersions[-p.Timestamp]) {
		a.ErrorCode = int16(wire.UnsupportedVersion)
		return nil
	}
	t := f.node.FindTopic(topic)
	if t == nil {
		a.ErrorCode = int16(wire.UnknownTopicOrPartition)
		return nil
	}
	part := t.Partition(p.Partition)
	if part == nil {
		a.ErrorCode = int16(f.absent(t, p.Partition))
		return nil
	}
	b := part.Bounds()
	if version >= 4 {
		if code := checkEpoch(p.CurrentLeaderEpoch, b.LeaderEpoch); code != wire.NoError {
			a.ErrorCode = int16(code)
			return nil
		}
	}
	if err := part.Err(); err != nil {
		a.ErrorCode = int16(codeOf(err))
		return nil
	}
	switch p.Timestamp {
	case timeLatest:
		a.Offset, a.LeaderEpoch = b.End(isolation), part.EpochOf(b.Written)
	case timeEarliest, timeEarliestLocal:
		a.Offset, a.LeaderEpoch = b.LogStart, part.EpochOf(b.LogStart)
	case timeLatestTiered, timeEarliestPending:
		// Nothing is tiered: there is no such offset.
	default:
		return &timeLookup{part: part, time: p.Timestamp, isolation: isolation, answer: a}
	}
	return nil
}

// run searches the log; it blocks.
func (s *timeLookup) run() {
	var rec engine.RecordPos
	var ok bool
	var err error
	if s.time == timeMax {
		// The newest record counts even if it is not stable yet; then there is no answer (KIP-734).
		if rec, ok, err = s.part.MaxTimestamp(engine.ReadUncommitted); ok && rec.Offset >= s.part.Bounds().End(s.isolation) {
			ok = false
		}
	} else {
		rec, ok, err = s.part.OffsetForTime(s.time, s.isolation)
	}
	if err != nil {
		s.answer.ErrorCode = int16(codeOf(err))
		return
	}
	if ok {
		s.answer.Offset, s.answer.Timestamp, s.answer.LeaderEpoch = rec.Offset, rec.TimestampMs, rec.LeaderEpoch
	}
}
