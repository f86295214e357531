package broker

import (
	"fmt"
	"strconv"

	"millrace/controller"
	"millrace/engine"
	"millrace/internal/config"
	"millrace/internal/loglevel"
)

// Kafka's codes of what a request for a configuration can be refused with.
const (
	codeUnknown        = int16(controller.CodeUnknownServerError)
	codeUnknownTopic   = int16(controller.CodeUnknownTopicOrPartition)
	codeInvalidTopic   = int16(controller.CodeInvalidTopic)
	codeInvalidRequest = int16(controller.CodeInvalidRequest)
)

// ConfigResource is a resource with a configuration, as requests name it. A broker's name is its id in decimal, "" stands
// for all brokers.
type ConfigResource struct {
	Type config.Scope
	Name string
}

func refused(code int16, format string, args ...any) *config.AlterError {
	return &config.AlterError{Code: code, Message: fmt.Sprintf(format, args...)}
}

// layersOf are the layers of the broker configuration in an image: Layers may lag behind it.
func (n *Node) layersOf(image *controller.Image) *config.Layers {
	return n.opts.Layers.With(n.BrokerLayers(image))
}

// isThisNode tells whether a resource name is this node's id, read as Java reads a number.
func (n *Node) isThisNode(name string) bool {
	id, err := strconv.ParseInt(name, 10, 32)
	return err == nil && int32(id) == n.ID()
}

// DescribeConfigs describes one resource: the keys that are named, or all if none are. It may take some ms: not for
// loops.
func (n *Node) DescribeConfigs(r ConfigResource, names []string) ([]config.Entry, *config.AlterError) {
	image := n.Image()
	layers := n.layersOf(image)
	switch r.Type {
	case config.Topic:
		if why := controller.CheckTopicName(r.Name); why != "" {
			return nil, refused(codeInvalidTopic, "%s", why)
		}
		t := image.Topic(r.Name)
		if t == nil {
			return nil, refused(codeUnknownTopic, "")
		}
		return layers.DescribeTopic(config.Set(t.Configs), names), nil
	case config.Broker:
		if r.Name == "" {
			return layers.DescribeAllBrokers(names), nil
		}
		if !n.isThisNode(r.Name) {
			return nil, refused(codeInvalidRequest, "this is broker %d: it describes itself and all brokers (the empty name), not %q", n.ID(), r.Name)
		}
		return layers.DescribeBroker(names), nil
	case config.BrokerLogger:
		if !n.isThisNode(r.Name) {
			return nil, refused(codeInvalidRequest, "this is broker %d: it has no loggers of %q", n.ID(), r.Name)
		}
		return n.describeLoggers(names), nil
	case config.ClientMetrics:
		if r.Name == "" {
			return nil, refused(codeInvalidRequest, "a client metrics subscription has a name")
		}
		return config.DescribeClientMetrics(n.stored(image, r), names), nil
	case config.Group:
		if r.Name == "" {
			return nil, refused(codeInvalidRequest, "a group has a name")
		}
		return layers.DescribeGroup(n.stored(image, r), names), nil
	}
	return nil, refused(codeInvalidRequest, "resources of type %d have no configuration", r.Type)
}

// stored are the values set for a resource that is no topic.
func (n *Node) stored(image *controller.Image, r ConfigResource) config.Set {
	return config.Set(image.Config(stored(r)))
}

// stored is the name under which the controller keeps a resource.
func stored(r ConfigResource) controller.Resource {
	return controller.Resource{Type: controller.ResourceType(r.Type), Name: r.Name}
}

func (n *Node) describeLoggers(names []string) []config.Entry {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[name] = true
	}
	var out []config.Entry
	for _, name := range n.levels.Names() {
		if len(names) > 0 && !wanted[name] {
			continue
		}
		if level, ok := n.levels.Level(name); ok {
			out = append(out, config.LoggerEntry(name, loglevel.Name(level)))
		}
	}
	return out
}

// ConfigResourceTypes are the kinds of resources that ConfigResources knows.
var ConfigResourceTypes = []config.Scope{config.Topic, config.Broker, config.BrokerLogger, config.ClientMetrics, config.Group}

// ConfigResources lists the resources of a kind that can be described: all topics and brokers, and the groups and
// subscriptions that have values set. ok is false for a kind that does not exist.
func (n *Node) ConfigResources(kind config.Scope) (names []string, ok bool) {
	image := n.Image()
	switch kind {
	case config.Topic:
		for t := range image.Topics() {
			names = append(names, t.Name)
		}
	case config.Broker, config.BrokerLogger:
		for _, b := range image.Brokers() {
			names = append(names, strconv.Itoa(int(b.ID)))
		}
	case config.ClientMetrics, config.Group:
		for _, r := range image.ConfigResources() {
			if r.Type == controller.ResourceType(kind) {
				names = append(names, r.Name)
			}
		}
	default:
		return nil, false
	}
	return names, true
}

// OnConfig registers fn to be called with the broker configuration in force: now, and on the reconciler's goroutine
// whenever it has changed. fn must not block.
func (n *Node) OnConfig(fn func(*config.BrokerConfig)) {
	n.configMu.Lock()
	defer n.configMu.Unlock()
	n.onConfig = append(n.onConfig, fn)
	fn(n.Config())
}

// applyBrokerConfigs takes up the dynamic layers of the broker's own configuration.
func (n *Node) applyBrokerConfigs(image *controller.Image) {
	layers := n.layersOf(image)
	c, err := layers.BrokerConfig()
	if err != nil {
		n.log.Error("a dynamic broker configuration does not fit; the old one stays", "error", err)
		return
	}
	n.configMu.Lock()
	defer n.configMu.Unlock()
	n.layers.Store(layers)
	n.live.Store(c)
	n.engine.SetProducerExpiry(c.Dynamic.ProducerIDExpirationMs)
	n.engine.SetCleaner(cleanerOptions(&c.Dynamic))
	for _, fn := range n.onConfig {
		fn(c)
	}
}

// cleanerOptions are the settings of compaction.
func cleanerOptions(c *config.DynamicBrokerConfig) engine.CleanerOptions {
	return engine.CleanerOptions{
		Disabled: !c.LogCleanerEnable || c.LogCleanerThreads == 0, Threads: int(c.LogCleanerThreads),
		DedupeBytes: c.LogCleanerDedupeBytes, LoadFactor: c.LogCleanerLoadFactor, BufferBytes: c.LogCleanerBufferBytes,
		BytesPerSecond: c.LogCleanerMaxBytesPerSec, BackoffMs: max(c.LogCleanerBackoffMs, 1),
	}
}

// BrokerLayers are the dynamic layers in an image: for all brokers and for this one.
func (n *Node) BrokerLayers(image *controller.Image) (all, own config.Set) {
	all = n.stored(image, ConfigResource{Type: config.Broker})
	own = n.stored(image, ConfigResource{Type: config.Broker, Name: n.idText()})
	if all == nil {
		all = config.Set{}
	}
	if own == nil {
		own = config.Set{}
	}
	return all, own
}
