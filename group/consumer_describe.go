package group

// describe implements protocol: to DescribeGroups a group of another kind does not exist.
func (k *consumerGroup) describe() *DescribeReply { return &DescribeReply{Code: GroupIDNotFound} }

// consumerDescribe answers ConsumerGroupDescribe at once.
func (c *Coordinator) consumerDescribe(r *ConsumerDescribeRequest) {
	g := c.existing(r.Group)
	if g == nil {
		c.refuse(r, GroupIDNotFound)
		return
	}
	k, ok := g.protocol.(*consumerGroup)
	if !ok {
		c.refuse(r, GroupIDNotFound)
		return
	}
	reply := &ConsumerDescribeReply{State: k.state(), Epoch: k.epoch, AssignmentEpoch: k.assigned, Assignor: k.assignor(k.members)}
	for _, id := range k.ids() {
		m := k.members[id]
		d := ConsumerMember{MemberID: id, InstanceID: m.sub.InstanceID, RackID: m.sub.RackID, MemberEpoch: m.epoch,
			ClientID: m.sub.ClientID, ClientHost: m.sub.ClientHost, SubscribedTopics: m.sub.SubscribedTopics,
			SubscribedRegex: m.sub.SubscribedRegex, Assignment: gather(join(m.assigned, m.pending), false),
			Target: gather(k.target[id], false), Type: 1}
		if m.classic() {
			d.Type = 0
		}
		reply.Members = append(reply.Members, d)
	}
	c.reply(r.Handle, reply)
}
