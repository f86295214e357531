package controller

// commandVersion is the version of a command's bytes and of what Apply makes of them: a change of either, the
// placement rule included, needs a new one, because all nodes must apply alike.
const commandVersion = 1

// Encode appends the command's bytes: version, kind, node, incarnation, counter, body.
func (c *Command) Encode(dst []byte) []byte {
	dst = append(dst, commandVersion, byte(c.Body.Kind()))
	dst = putInt(dst, int64(c.Node))
	dst = putUUID(dst, c.Incarnation)
	dst = putUint(dst, c.Counter)
	return c.Body.appendTo(dst)
}

func (c *RegisterBroker) appendTo(dst []byte) []byte {
	return putEndpoints(putString(dst, c.Rack), c.Endpoints)
}

func putEndpoints(dst []byte, endpoints []Endpoint) []byte {
	dst = putUint(dst, uint64(len(endpoints)))
	for i := range endpoints {
		e := &endpoints[i]
		dst = putString(putString(dst, e.Listener), e.Host)
		dst = putInt(putInt(dst, int64(e.Port)), int64(e.Protocol))
	}
	return dst
}

func (c *TakeLeadership) appendTo(dst []byte) []byte { return dst }

func (c *CreateTopics) appendTo(dst []byte) []byte {
	dst = putUint(dst, uint64(len(c.Topics)))
	for i := range c.Topics {
		t := &c.Topics[i]
		dst = putUUID(putString(dst, t.Name), t.ID)
		dst = putInt(putInt(dst, int64(t.Partitions)), int64(t.ReplicationFactor))
		dst = putBool(dst, t.Manual)
		dst = putUint(dst, uint64(len(t.Assignment)))
		for _, a := range t.Assignment {
			dst = putIDs(putInt(dst, int64(a.Partition)), a.Replicas)
		}
		dst = putMap(dst, t.Configs, putString)
		dst = putString(dst, t.ConfigError)
	}
	return dst
}

func (c *DeleteTopics) appendTo(dst []byte) []byte {
	dst = putUint(dst, uint64(len(c.Topics)))
	for _, ref := range c.Topics {
		dst = putBool(dst, ref.Name != nil)
		if ref.Name != nil {
			dst = putString(dst, *ref.Name)
		}
		dst = putUUID(dst, ref.ID)
	}
	return dst
}

func (c *CreatePartitions) appendTo(dst []byte) []byte {
	dst = putUint(dst, uint64(len(c.Topics)))
	for i := range c.Topics {
		t := &c.Topics[i]
		dst = putBool(putInt(putString(dst, t.Name), int64(t.Count)), t.Manual)
		dst = putUint(dst, uint64(len(t.Assignment)))
		for _, replicas := range t.Assignment {
			dst = putIDs(dst, replicas)
		}
	}
	return dst
}

func (c *AlterConfigs) appendTo(dst []byte) []byte {
	dst = putUint(dst, uint64(len(c.Sets)))
	for i := range c.Sets {
		s := &c.Sets[i]
		dst = putInt(putResource(dst, s.Resource), s.Version)
		dst = putMap(dst, s.Configs, putString)
	}
	return dst
}

func putResource(dst []byte, r Resource) []byte {
	return putString(append(dst, byte(r.Type)), r.Name)
}

func (c *AllocateProducerIDs) appendTo(dst []byte) []byte { return putInt(dst, int64(c.Count)) }
