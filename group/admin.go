package group

import "millrace/group/record"

// describe answers DescribeGroups at once. A group of another kind is none of its.
func (c *Coordinator) describe(r *DescribeRequest) {
	g := c.existing(r.Group)
	if g == nil {
		c.reply(r.Handle, &DescribeReply{Code: GroupIDNotFound})
		return
	}
	c.reply(r.Handle, g.protocol.describe())
}

// deleteGroup runs DeleteGroups of one group.
func (c *Coordinator) deleteGroup(g *Group, r *DeleteRequest) {
	if g.protocol == nil && g.writes == 0 {
		c.refuse(r, GroupIDNotFound)
		return
	}
	c.whenQuiet(g, func() {
		if g.protocol == nil {
			c.refuse(r, GroupIDNotFound)
			return
		}
		if code := g.protocol.checkDelete(); code != None {
			c.refuse(r, code)
			return
		}
		var records []record.Record
		g.offsets.each(func(topic string, partition int32, _ *record.Offset) {
			records = append(records, record.Record{Key: offsetKey(g.id, topic, partition)})
		})
		c.write(g, g.protocol.tombstones(records), func(code Code) { c.refuse(r, code) })
	})
}

// deleteOffsets runs OffsetDelete.
func (c *Coordinator) deleteOffsets(g *Group, r *DeleteOffsetsRequest) {
	if g.protocol == nil && g.writes == 0 {
		c.refuse(r, GroupIDNotFound)
		return
	}
	c.whenQuiet(g, func() {
		if g.protocol == nil {
			c.refuse(r, GroupIDNotFound)
			return
		}
		if code := g.protocol.checkOffsetDelete(); code != None {
			c.refuse(r, code)
			return
		}
		c.deleteQuiet(g, r)
	})
}

func (c *Coordinator) deleteQuiet(g *Group, r *DeleteOffsetsRequest) {
	var records []record.Record
	for i := range r.Partitions {
		p := &r.Partitions[i]
		if g.protocol.subscribed(p.Topic) {
			p.Code = GroupSubscribedToTopic
		} else if g.offsets.get(p.Topic, p.Partition) != nil {
			records = append(records, record.Record{Key: offsetKey(g.id, p.Topic, p.Partition)})
		}
	}
	reply := &DeleteOffsetsReply{Partitions: r.Partitions}
	if len(records) == 0 {
		c.reply(r.Handle, reply)
		return
	}
	c.write(g, records, func(code Code) {
		if code != None {
			c.refuse(r, code)
			return
		}
		c.reply(r.Handle, reply)
	})
}

// TopicsDeleted gives up the offsets of topics that were deleted.
func (c *Coordinator) TopicsDeleted(names []string, now Time) {
	c.now = now
	for _, id := range c.sorted() {
		g := c.groups[id]
		c.event(g, func() {
			c.whenQuiet(g, func() {
				var records []record.Record
				for _, name := range names {
					g.offsets.eachOf(name, func(partition int32, _ *record.Offset) {
						records = append(records, record.Record{Key: offsetKey(g.id, name, partition)})
					})
				}
				if len(records) > 0 {
					c.write(g, records, func(Code) {})
				}
			})
		})
	}
}

// forgetStale gives up, after a replay, offsets of topics that went while nobody ran the group.
func (c *Coordinator) forgetStale(g *Group) {
	var records []record.Record
	g.offsets.each(func(topic string, partition int32, o *record.Offset) {
		t, ok := c.topics.Topic(topic)
		if !ok || o.TopicID != [16]byte{} && o.TopicID != t.ID {
			records = append(records, record.Record{Key: offsetKey(g.id, topic, partition)})
		}
	})
	if len(records) > 0 {
		c.write(g, records, func(Code) {})
	}
}
