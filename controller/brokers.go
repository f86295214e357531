package controller

import "slices"

// Kind implements Body.
func (c *RegisterBroker) Kind() Kind { return KindRegisterBroker }

// apply is never called: registration needs the command's session, see Builder.Apply.
func (c *RegisterBroker) apply(*Builder, uint64) Result {
	panic("controller: RegisterBroker without session")
}

func (b *Builder) register(index uint64, cmd *Command, c *RegisterBroker) Result {
	nb := &Broker{ID: cmd.Node, Incarnation: cmd.Incarnation, Epoch: int64(index), Rack: c.Rack, Endpoints: slices.Clone(c.Endpoints)}
	i, found := slices.BinarySearchFunc(b.im.brokers, nb.ID, func(o *Broker, id int32) int { return int(o.ID) - int(id) })
	if found {
		b.im.brokers[i] = nb
	} else {
		b.im.brokers = slices.Insert(b.im.brokers, i, nb)
	}
	b.change(Change{Kind: BrokerChanged, Broker: nb.ID})
	return Result{BrokerEpoch: nb.Epoch}
}

// Kind implements Body.
func (c *TakeLeadership) Kind() Kind { return KindTakeLeadership }

// apply is never called: the sender's node is in the command, see Builder.Apply.
func (c *TakeLeadership) apply(*Builder, uint64) Result {
	panic("controller: TakeLeadership without session")
}

// takeLeadership raises the epoch of what node leads and gives it what has no leader but could have it.
func (b *Builder) takeLeadership(node int32) {
	var todo []*Topic
	for t := range b.im.Topics() {
		for i := range t.Partitions {
			if b.takes(&t.Partitions[i], node) {
				todo = append(todo, t)
				break
			}
		}
	}
	for _, old := range todo {
		t := *old
		t.Partitions = slices.Clone(old.Partitions)
		for i := range t.Partitions {
			if p := &t.Partitions[i]; b.takes(p, node) {
				p.Leader = node
				p.LeaderEpoch++
				p.PartitionEpoch++
				b.change(Change{Kind: PartitionChanged, Topic: &t, Partition: int32(i)})
			}
		}
		b.putTopic(&t)
	}
}

func (b *Builder) takes(p *Partition, node int32) bool {
	return p.Leader == node || p.Leader == NoLeader && Elect(p, b.im.Live) == node
}
