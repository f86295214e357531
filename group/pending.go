package group

import "millrace/group/record"

// pending are the offsets that open transactions have committed, by producer id, in the order of the log. They count once
// the transaction's marker commits it.
type pending map[int64][]record.Record

// offsetPlace names one partition of a group's offsets.
type offsetPlace struct {
	topic     string
	partition int32
}

// ReplayTransactional applies a record of the log that a transaction wrote.
func (c *Coordinator) ReplayTransactional(producer int64, r record.Record) {
	v, ok := r.Value.(*record.Offset)
	if !ok || r.Key.Type != record.TypeOffset {
		return // transactions write offsets only
	}
	g := c.group(r.Key.Group)
	if g.protocol == nil {
		g.protocol = newClassicGroup(g)
	}
	if c.pending == nil {
		c.pending = pending{}
	}
	c.pending[producer] = append(c.pending[producer], record.Record{Key: r.Key, Value: v})
	if g.unstable == nil {
		g.unstable = map[offsetPlace]map[int64]bool{}
	}
	at := offsetPlace{r.Key.Topic, r.Key.Partition}
	if g.unstable[at] == nil {
		g.unstable[at] = map[int64]bool{}
	}
	g.unstable[at][producer] = true
}

// ReplayMarker ends the producer's transaction. A plain commit of the same partition that came in between wins.
func (c *Coordinator) ReplayMarker(producer int64, commit bool) {
	records := c.pending[producer]
	delete(c.pending, producer)
	for i := range records {
		r := &records[i]
		g, at := c.group(r.Key.Group), offsetPlace{r.Key.Topic, r.Key.Partition}
		if g.unstable[at][producer] && commit {
			g.offsets.put(at.topic, at.partition, r.Value.(*record.Offset))
		}
	}
	for i := range records {
		r := &records[i]
		g := c.group(r.Key.Group)
		g.settlePending(offsetPlace{r.Key.Topic, r.Key.Partition}, producer)
		c.settle(g)
	}
}

// overtake notes a plain commit: it wins over the transactions under way.
func (g *Group) overtake(at offsetPlace) {
	for producer := range g.unstable[at] {
		g.unstable[at][producer] = false
	}
}

// settlePending forgets that the producer's transaction may still change the offset.
func (g *Group) settlePending(at offsetPlace, producer int64) {
	delete(g.unstable[at], producer)
	if len(g.unstable[at]) == 0 {
		delete(g.unstable, at)
	}
}

// isUnstable tells whether an open transaction may still change the offset.
func (g *Group) isUnstable(topic string, partition int32) bool {
	return len(g.unstable[offsetPlace{topic, partition}]) > 0
}
