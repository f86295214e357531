package controller

import "fmt"

// DecodeCommand reads what Encode wrote, all of b. It copies, so b may be reused.
//
// Errors: ErrMalformed, or one that names a version or kind that this program does not know.
func DecodeCommand(b []byte) (Command, error) {
	r := &reader{b: b}
	if v := r.byte(); !r.bad && v != commandVersion {
		return Command{}, fmt.Errorf("controller: command version %d is not known to this program (it knows %d): a newer one wrote it", v, commandVersion)
	}
	kind := Kind(r.byte())
	c := Command{Node: r.int32(), Incarnation: r.uuid(), Counter: r.uint()}
	if r.bad {
		return Command{}, ErrMalformed
	}
	switch kind {
	case KindRegisterBroker:
		c.Body = &RegisterBroker{Rack: r.string(), Endpoints: r.endpoints()}
	case KindTakeLeadership:
		c.Body = &TakeLeadership{}
	case KindCreateTopics:
		c.Body = r.createTopics()
	case KindDeleteTopics:
		c.Body = r.deleteTopics()
	case KindCreatePartitions:
		c.Body = r.createPartitions()
	case KindAlterConfigs:
		c.Body = r.alterConfigs()
	case KindAllocateProducerIDs:
		c.Body = &AllocateProducerIDs{Count: r.int32()}
	default:
		return Command{}, fmt.Errorf("controller: command kind %d is not known to this program", kind)
	}
	if err := r.end(); err != nil {
		return Command{}, err
	}
	return c, nil
}

func (r *reader) endpoints() []Endpoint {
	n := r.count(4)
	if n == 0 {
		return nil
	}
	out := make([]Endpoint, n)
	for i := range out {
		out[i] = Endpoint{Listener: r.string(), Host: r.string(), Port: r.int32(), Protocol: r.int16()}
	}
	return out
}

func (r *reader) createTopics() *CreateTopics {
	c := &CreateTopics{Topics: make([]NewTopic, r.count(23))}
	for i := range c.Topics {
		t := &c.Topics[i]
		*t = NewTopic{Name: r.string(), ID: r.uuid(), Partitions: r.int32(), ReplicationFactor: r.int16(), Manual: r.bool()}
		if n := r.count(2); n > 0 {
			t.Assignment = make([]Assignment, n)
			for j := range t.Assignment {
				t.Assignment[j] = Assignment{Partition: r.int32(), Replicas: r.ids()}
			}
		}
		t.Configs = readMap(r, 1, r.string)
		t.ConfigError = r.string()
		if r.bad {
			break
		}
	}
	return c
}

func (r *reader) deleteTopics() *DeleteTopics {
	c := &DeleteTopics{Topics: make([]TopicRef, r.count(17))}
	for i := range c.Topics {
		if r.bool() {
			name := r.string()
			c.Topics[i].Name = &name
		}
		c.Topics[i].ID = r.uuid()
	}
	return c
}

func (r *reader) createPartitions() *CreatePartitions {
	c := &CreatePartitions{Topics: make([]MorePartitions, r.count(4))}
	for i := range c.Topics {
		t := &c.Topics[i]
		*t = MorePartitions{Name: r.string(), Count: r.int32(), Manual: r.bool()}
		if n := r.count(1); n > 0 {
			t.Assignment = make([][]int32, n)
			for j := range t.Assignment {
				t.Assignment[j] = r.ids()
			}
		}
	}
	return c
}

func (r *reader) alterConfigs() *AlterConfigs {
	c := &AlterConfigs{Sets: make([]ConfigSet, r.count(4))}
	for i := range c.Sets {
		c.Sets[i] = ConfigSet{Resource: r.resource(), Version: r.int(), Configs: readMap(r, 1, r.string)}
		if r.bad {
			break
		}
	}
	return c
}

func (r *reader) resource() Resource { return Resource{Type: ResourceType(r.byte()), Name: r.string()} }
