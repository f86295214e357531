package group

import "millrace/group/record"

// expire gives up offsets whose time is over, and groups that have nothing left.
func (c *Coordinator) expire() {
	for _, id := range c.sorted() {
		g := c.groups[id]
		if g.protocol != nil && g.writes == 0 {
			c.event(g, func() {
				if g.protocol != nil && g.writes == 0 {
					c.expireGroup(g)
				}
			})
		}
	}
	c.after(&c.expiry, max(c.cfg.OffsetsRetentionCheckMs, 1))
}

func (c *Coordinator) expireGroup(g *Group) {
	var records []record.Record
	all := true
	g.offsets.each(func(topic string, partition int32, o *record.Offset) {
		if !g.isUnstable(topic, partition) && c.expired(g, topic, o) {
			records = append(records, record.Record{Key: offsetKey(g.id, topic, partition)})
		} else {
			all = false
		}
	})
	if all && g.protocol.empty() && len(g.unstable) == 0 {
		records = g.protocol.tombstones(records)
	}
	if len(records) > 0 {
		c.write(g, records, func(Code) {}) // what failed is tried at the next look
	}
}

func (c *Coordinator) expired(g *Group, topic string, o *record.Offset) bool {
	from, ok := g.protocol.expires(o)
	if !ok || g.protocol.subscribed(topic) {
		return false
	}
	if o.ExpireMs != -1 {
		return c.now.Wall >= o.ExpireMs
	}
	return c.now.Wall-from >= c.cfg.OffsetsRetentionMs
}
