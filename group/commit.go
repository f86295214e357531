package group

import (
	"unicode/utf8"

	"millrace/group/record"
)

// commit stores offsets. It runs as an event, but does not hold the group: what it depends on is membership.
func (c *Coordinator) commit(g *Group, r *CommitRequest) {
	code, each := c.mayCommit(g, r)
	if code != None {
		c.refuse(r, code)
		return
	}
	records := make([]record.Record, 0, len(r.Offsets))
	for i := range r.Offsets {
		o := &r.Offsets[i]
		if utf16Len(o.Metadata) > int(c.cfg.OffsetMetadataMax) {
			o.Code = OffsetMetadataTooLarge
			continue
		}
		if each != nil {
			if code := each(o); code != None { // one that it may not commit refuses all, as in Kafka
				c.refuse(r, code)
				return
			}
		}
		v := &record.Offset{Offset: o.Offset, LeaderEpoch: o.LeaderEpoch, Metadata: o.Metadata, CommitMs: c.now.Wall,
			ExpireMs: -1, TopicID: o.TopicID}
		if r.RetentionMs != -1 {
			v.ExpireMs = c.now.Wall + r.RetentionMs
			v.LeaderEpoch, v.TopicID = -1, [16]byte{} // the record of such an offset has neither
		}
		records = append(records, record.Record{Key: offsetKey(g.id, o.Topic, o.Partition), Value: v})
	}
	if len(records) == 0 {
		c.reply(r.Handle, &CommitReply{Offsets: r.Offsets})
		return
	}
	c.writeOffsets(g, records, func(code Code) {
		for i := range r.Offsets {
			if r.Offsets[i].Code == None {
				r.Offsets[i].Code = code
			}
		}
		c.reply(r.Handle, &CommitReply{Offsets: r.Offsets})
	})
}

// mayCommit checks the sender. A group that does not exist takes plain commits, which make it.
func (c *Coordinator) mayCommit(g *Group, r *CommitRequest) (Code, func(*CommitOffset) Code) {
	if g.protocol != nil {
		return g.protocol.checkCommit(r)
	}
	switch {
	case r.Generation < 0:
		return None, nil
	case r.Version >= 9:
		return GroupIDNotFound, nil
	}
	return IllegalGeneration, nil
}

// fetch answers OffsetFetch from what is committed; it waits for nothing.
func (c *Coordinator) fetch(r *FetchRequest) {
	g := c.existing(r.Group)
	reply := &FetchReply{}
	if g != nil {
		if code := g.protocol.checkFetch(r); code != None {
			c.refuse(r, code)
			return
		}
	}
	if r.All {
		if g != nil {
			g.offsets.each(func(topic string, partition int32, v *record.Offset) {
				o := FetchOffset{Topic: topic, Partition: partition}
				g.answer(&o, v, r.Stable)
				reply.Offsets = append(reply.Offsets, o)
			})
		}
		c.reply(r.Handle, reply)
		return
	}
	reply.Offsets = r.Offsets
	for i := range reply.Offsets {
		o := &reply.Offsets[i]
		if g == nil {
			o.fill(nil)
			continue
		}
		g.answer(o, g.offsets.get(o.Topic, o.Partition), r.Stable)
	}
	c.reply(r.Handle, reply)
}

// answer takes over a committed offset, unless it must be stable and is not.
func (g *Group) answer(o *FetchOffset, v *record.Offset, stable bool) {
	if stable && g.isUnstable(o.Topic, o.Partition) {
		o.fill(nil)
		o.Code = UnstableOffsetCommit
		return
	}
	o.fill(v)
}

// fill takes over a committed offset; nil: there is none.
func (o *FetchOffset) fill(v *record.Offset) {
	if v == nil {
		o.Offset, o.LeaderEpoch, o.Metadata = -1, -1, ""
		return
	}
	o.Offset, o.LeaderEpoch, o.Metadata = v.Offset, v.LeaderEpoch, v.Metadata
	if v.TopicID != [16]byte{} {
		o.TopicID = v.TopicID
	}
}

// utf16Len is the length of s in Java's characters.
func utf16Len(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r >= 0x10000 {
			n++
		}
	}
	return n
}
