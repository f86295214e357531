package sink

import (
	"encoding/binary"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"millrace/bench/wire"
)

// answerPart is one partition's share of a Fetch answer.
type answerPart struct {
	index int32
	code  int16
	end   int64
	data  []piece
	n     int
}

// fetch answers a Fetch with one topic, from the files or from the one remembered batch; if there is nothing it parks until
// the time the request allows (a zero time means: as the request says). False ends the connection.
func (c *conn) fetch(frame []byte, until, at time.Time) bool {
	head, _ := wire.ParseHead(frame)
	req := kmsg.NewPtrFetchRequest()
	req.Version = head.Version
	if head.Version < 4 || head.Version > 12 {
		return false
	}
	cur := wire.Cursor{B: frame, Off: 8}
	cur.String(false)
	cur.Tags(req.IsFlexible())
	if cur.Bad || req.ReadFrom(frame[cur.Off:]) != nil || len(req.Topics) != 1 {
		return false
	}
	t, _ := c.l.srv.topic([]byte(req.Topics[0].Topic), 0)
	left, total, errors := int(req.MaxBytes), 0, false
	var parts []answerPart
	for _, p := range req.Topics[0].Partitions {
		a := answerPart{index: p.Partition, code: 3}
		if t != nil && p.Partition >= 0 && int(p.Partition) < len(t.parts) {
			c.l.srv.plan(t, t.parts[p.Partition], p.FetchOffset, min(int(p.PartitionMaxBytes), left), &a)
		}
		errors = errors || a.code != 0
		left -= a.n
		total += a.n
		parts = append(parts, a)
	}
	if until.IsZero() {
		until = at.Add(time.Duration(req.MaxWaitMillis) * time.Millisecond)
	}
	if total == 0 && !errors && at.Before(until) {
		c.park = &parkedFetch{frame: frame, until: until}
		c.l.parked = append(c.l.parked, c)
		return true
	}
	c.fetchAnswer(head, req.Topics[0].Topic, parts, total)
	return true
}

// plan finds whole batches from an offset on, at least one, at most limit bytes if there are more.
func (s *Server) plan(t *topic, p *part, offset int64, limit int, a *answerPart) {
	a.code, a.end = 0, p.next.Load()
	if offset < 0 || offset > a.end {
		a.code = 1
		return
	}
	if p.file != nil {
		size, records := p.batchLen.Load(), p.records.Load()
		if records == 0 {
			return
		}
		pos := offset / records * size
		// Whole batches, at least one: so a file is read in the same ranges over and over.
		n := min(p.readable.Load()-pos, max(int64(limit)/size, 1)*size)
		if n > 0 {
			a.data = append(a.data, piece{file: p.file, pos: pos, n: int(n)})
			a.n = int(n)
		}
		return
	}
	first := t.first.Load()
	if first == nil {
		return
	}
	batch := *first
	records := int64(wire.RecordCount(batch))
	for base := offset / records * records; base+records <= a.end && (a.n == 0 || a.n+len(batch) <= limit); base += records {
		h := append([]byte(nil), batch[:wire.BatchHeaderLen]...)
		wire.SetBaseOffset(h, base)
		a.data = append(a.data, piece{b: h}, piece{b: batch[wire.BatchHeaderLen:]})
		a.n += len(batch)
	}
}

func (c *conn) fetchAnswer(head wire.RequestHead, topic string, parts []answerPart, total int) {
	v, flex := head.Version, head.Version >= 12
	b := binary.BigEndian.AppendUint32(make([]byte, 4, 128+64*len(parts)), uint32(head.Correlation))
	b = wire.AppendTags(b, flex)
	b = append(b, 0, 0, 0, 0) // throttle time
	if v >= 7 {
		b = append(b, 0, 0, 0, 0, 0, 0) // no error, no session
	}
	b = wire.AppendArrayLen(b, 1, flex)
	b = wire.AppendString(b, topic, flex)
	b = wire.AppendArrayLen(b, len(parts), flex)
	first := b
	size := 0 // bytes of all pieces but the records
	for _, p := range parts {
		b = binary.BigEndian.AppendUint32(b, uint32(p.index))
		b = binary.BigEndian.AppendUint16(b, uint16(p.code))
		b = binary.BigEndian.AppendUint64(b, uint64(p.end))
		b = binary.BigEndian.AppendUint64(b, uint64(p.end))
		if v >= 5 {
			b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
		}
		b = wire.AppendArrayLen(b, -1, flex) // no aborted transactions
		if v >= 11 {
			b = append(b, 0xff, 0xff, 0xff, 0xff)
		}
		b = wire.AppendArrayLen(b, p.n, flex)
		if size == 0 {
			first = b
		}
		size += len(b)
		c.reply(b)
		c.out = append(c.out, p.data...)
		b = wire.AppendTags(nil, flex)
	}
	b = wire.AppendTags(wire.AppendTags(b, flex), flex)
	if len(b) > 0 {
		c.reply(b)
		size += len(b)
	}
	binary.BigEndian.PutUint32(first, uint32(size+total-4))
}
