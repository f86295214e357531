package group

import (
	"slices"

	"millrace/group/record"
)

// offsets are the committed offsets of one group, by topic and partition. Values are immutable.
type offsets struct {
	topics map[string]map[int32]*record.Offset
	n      int
}

func (o *offsets) len() int { return o.n }

func (o *offsets) get(topic string, partition int32) *record.Offset {
	return o.topics[topic][partition]
}

func (o *offsets) put(topic string, partition int32, v *record.Offset) {
	if o.topics == nil {
		o.topics = map[string]map[int32]*record.Offset{}
	}
	t := o.topics[topic]
	if t == nil {
		t = map[int32]*record.Offset{}
		o.topics[topic] = t
	}
	if t[partition] == nil {
		o.n++
	}
	t[partition] = v
}

func (o *offsets) remove(topic string, partition int32) {
	t := o.topics[topic]
	if t[partition] == nil {
		return
	}
	o.n--
	delete(t, partition)
	if len(t) == 0 {
		delete(o.topics, topic)
	}
}

// each calls fn for all offsets, in order of topic and partition.
func (o *offsets) each(fn func(topic string, partition int32, v *record.Offset)) {
	names := make([]string, 0, len(o.topics))
	for name := range o.topics {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		o.eachOf(name, func(partition int32, v *record.Offset) { fn(name, partition, v) })
	}
}

// eachOf is each for one topic.
func (o *offsets) eachOf(topic string, fn func(partition int32, v *record.Offset)) {
	t := o.topics[topic]
	parts := make([]int32, 0, len(t))
	for p := range t {
		parts = append(parts, p)
	}
	slices.Sort(parts)
	for _, p := range parts {
		fn(p, t[p])
	}
}

// applyOffset takes a commit or its tombstone into the state. A group that has only offsets is a classic one.
func (c *Coordinator) applyOffset(r record.Record) {
	if r.Value == nil {
		if g := c.groups[r.Key.Group]; g != nil {
			g.offsets.remove(r.Key.Topic, r.Key.Partition)
		}
		return
	}
	g := c.group(r.Key.Group)
	if g.protocol == nil {
		g.protocol = newClassicGroup(g)
	}
	g.overtake(offsetPlace{r.Key.Topic, r.Key.Partition})
	g.offsets.put(r.Key.Topic, r.Key.Partition, r.Value.(*record.Offset))
}

func offsetKey(group, topic string, partition int32) record.Key {
	return record.Key{Type: record.TypeOffset, Group: group, Topic: topic, Partition: partition}
}
