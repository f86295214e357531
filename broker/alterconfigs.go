package broker

import (
	"millrace/controller"
	"millrace/internal/config"
	"millrace/internal/loglevel"
)

// ConfigChange is one resource of IncrementalAlterConfigs, or of AlterConfigs if Replace is set: then Ops are SETs, and
// what they do not name is removed.
type ConfigChange struct {
	Resource ConfigResource
	Ops      []config.Op
	Replace  bool
}

// alterRetries bounds how often a change is computed anew because the resource changed at the same time.
const alterRetries = 100

// alteration is an AlterConfigs under way. Owned by whoever runs it; the steps follow one another.
type alteration struct {
	node    *Node
	changes []ConfigChange
	out     []*config.AlterError
	open    []int // changes that have no outcome yet
	done    func([]*config.AlterError)
	left    int // tries
}

// AlterConfigs changes the configurations of resources, each as a whole or not at all, and calls done with one outcome per
// change, nil being good, when the changes have effect here. Of resources that are named twice none is changed. done is
// called on any goroutine and must not block. With validateOnly nothing is changed.
func (n *Node) AlterConfigs(changes []ConfigChange, validateOnly bool, done func([]*config.AlterError)) {
	a := &alteration{node: n, changes: changes, out: make([]*config.AlterError, len(changes)), done: done, left: alterRetries}
	named := make(map[ConfigResource]int, len(changes))
	for i := range changes {
		named[changes[i].Resource]++
	}
	for i := range changes {
		switch c := &changes[i]; {
		case named[c.Resource] > 1:
			a.out[i] = refused(codeInvalidRequest, "each resource may be named once")
		case c.Resource.Type == config.BrokerLogger:
			a.out[i] = n.alterLoggers(c, validateOnly)
		default:
			a.open = append(a.open, i)
		}
	}
	a.propose(validateOnly)
}

// propose computes the open changes on the newest image and submits those that are good.
func (a *alteration) propose(validateOnly bool) {
	image := a.node.Image()
	layers := a.node.layersOf(image)
	body := &controller.AlterConfigs{}
	good := make([]int, 0, len(a.open))
	broken := false
	for _, i := range a.open {
		c := &a.changes[i]
		next, err := a.node.altered(image, layers, c)
		if a.out[i] = err; err != nil {
			broken = broken || err.Code == codeUnknown
			continue
		}
		good = append(good, i)
		r := stored(c.Resource)
		if c.Resource.Type == config.Broker && r.Name != "" {
			r.Name = a.node.idText()
		}
		body.Sets = append(body.Sets, controller.ConfigSet{Resource: r, Version: image.ConfigVersion(r), Configs: next})
	}
	if broken {
		a.failRest()
		return
	}
	a.open = good
	if len(good) == 0 || validateOnly {
		a.done(a.out)
		return
	}
	a.node.Propose(body, a.applied)
}

// failRest gives the error of an operation that does not exist to all resources but those that a broker of Kafka refuses
// before the controller sees them: there it fails the whole request.
func (a *alteration) failRest() {
	for _, i := range a.open {
		if a.out[i] == nil || a.out[i].Code != codeInvalidRequest {
			a.out[i] = refused(codeUnknown, "an operation of the request does not exist")
		}
	}
	a.done(a.out)
}

// applied takes the controller's verdict and tries again what was overtaken by another change.
func (a *alteration) applied(res controller.Result) {
	open := a.open[:0]
	for k, i := range a.open {
		code, text := res.Code, res.Text
		if code == controller.CodeNone {
			r := &res.Configs[k]
			if r.Conflict && a.left > 0 {
				open = append(open, i)
				continue
			}
			code, text = r.Code, r.Text
		}
		if code != controller.CodeNone {
			a.out[i] = refused(int16(code), "%s", text)
		}
	}
	a.open = open
	if len(open) == 0 {
		a.done(a.out)
		return
	}
	a.left--
	a.propose(false)
}

// altered is the new set of values of a resource. What is wrong is found in Kafka's order: the request, its operations,
// the name, the values, whether there is such a resource.
func (n *Node) altered(image *controller.Image, layers *config.Layers, c *ConfigChange) (config.Set, *config.AlterError) {
	if err := config.CheckShape(c.Ops); err != nil {
		return nil, err
	}
	name := c.Resource.Name
	switch c.Resource.Type {
	case config.Topic, config.Group, config.ClientMetrics:
		if err := config.CheckOps(c.Resource.Type, c.Ops); err != nil {
			return nil, err
		}
	}
	switch c.Resource.Type {
	case config.Topic:
		if name == "" {
			return nil, refused(codeInvalidRequest, "a topic has a name")
		}
		if why := controller.CheckTopicName(name); why != "" {
			return nil, refused(codeInvalidTopic, "%s", why)
		}
		t := image.Topic(name)
		var now config.Set
		if t != nil && !c.Replace {
			now = config.Set(t.Configs)
		}
		next, err := layers.AlterTopic(now, c.Ops)
		if err == nil && t == nil {
			err = refused(codeUnknownTopic, "there is no topic %q", name)
		}
		return next, err
	case config.Broker:
		return n.alteredBroker(layers, c)
	case config.ClientMetrics:
		if name == "" {
			return nil, refused(codeInvalidRequest, "a client metrics subscription has a name")
		}
		return config.AlterClientMetrics(n.base(image, c), c.Ops)
	case config.Group:
		if name == "" {
			return nil, refused(codeInvalidRequest, "a group has a name")
		}
		return layers.AlterGroup(n.base(image, c), c.Ops)
	}
	return nil, refused(codeInvalidRequest, "resources of type %d have no configuration", c.Resource.Type)
}

// base is what a change starts from.
func (n *Node) base(image *controller.Image, c *ConfigChange) config.Set {
	if c.Replace {
		return nil
	}
	return n.stored(image, c.Resource)
}

func (n *Node) alteredBroker(layers *config.Layers, c *ConfigChange) (config.Set, *config.AlterError) {
	if c.Resource.Name != "" && !n.isThisNode(c.Resource.Name) {
		return nil, refused(codeInvalidRequest, "this is broker %d: it changes itself and all brokers (the empty name), not %q", n.ID(), c.Resource.Name)
	}
	switch {
	case c.Replace && c.Resource.Name == "":
		return layers.ReplaceAllBrokers(pairs(c.Ops))
	case c.Replace:
		return layers.ReplaceBroker(pairs(c.Ops))
	case c.Resource.Name == "":
		return layers.AlterAllBrokers(c.Ops)
	}
	return layers.AlterBroker(c.Ops)
}

func pairs(ops []config.Op) []config.Pair {
	out := make([]config.Pair, len(ops))
	for i, op := range ops {
		out[i] = config.Pair{Name: op.Name, Value: op.Value}
	}
	return out
}

// alterLoggers changes the levels of this broker's loggers, all or none. They are not stored: a restart forgets them.
func (n *Node) alterLoggers(c *ConfigChange, validateOnly bool) *config.AlterError {
	if err := config.CheckShape(c.Ops); err != nil {
		return err
	}
	if c.Replace {
		return refused(codeInvalidRequest, "loggers are changed by IncrementalAlterConfigs only")
	}
	if !n.isThisNode(c.Resource.Name) {
		return refused(codeInvalidRequest, "this is broker %d: it has no loggers of %q", n.ID(), c.Resource.Name)
	}
	if err := config.CheckLoggers(c.Ops, n.levels.Known); err != nil || validateOnly {
		return err
	}
	for _, op := range c.Ops {
		if op.Kind == config.OpDelete {
			n.levels.Unset(op.Name)
		} else if level, ok := loglevel.Parse(*op.Value); ok {
			n.levels.Set(op.Name, level)
		}
	}
	return nil
}
