package controller

import (
	"iter"
	"slices"
	"sort"
)

// Image is the cluster's metadata at one index of the log. It is immutable once published: any goroutine may
// read it, and nothing reached from it may be written.
type Image struct {
	clusterID      string
	index          uint64
	topics         pmap[string, *Topic]
	byID           pmap[UUID, *Topic]
	sorted         plist
	collisions     pmap[string, []string] // name with '.' as '_' -> topics of such a name, for names with either
	partitions     int
	configs        pmap[Resource, *config] // all but topics, which hold their own
	brokers        []*Broker               // sorted by id
	features       map[string]int16
	nextProducerID int64
	sessions       []*session // sorted by node
}

// config is the stored configuration of one resource that is not a topic.
type config struct {
	values  map[string]string
	version int64
}

// session is what makes the commands of one incarnation apply once.
type session struct {
	node        int32
	incarnation UUID
	counter     uint64 // of the last applied command
	last        Result // its result
}

// Founding is what a new cluster starts from.
type Founding struct {
	// ClusterID is Kafka's cluster id: 22 characters of base64url.
	ClusterID string
	// Configs are stored for the resource of all brokers, as formatting does in Kafka.
	Configs map[string]string
	// Features are the finalized levels.
	Features map[string]int16
}

// NewImage is the image of a new cluster.
func NewImage(f Founding) *Image {
	b := newBuilder(&Image{clusterID: f.ClusterID})
	b.im.features = cloneMap(f.Features)
	if len(f.Configs) > 0 {
		b.im.configs.set(b.edit, Resource{Type: ResourceBroker}, &config{values: cloneMap(f.Configs)})
	}
	im, _ := b.Done()
	return im
}

// ClusterID is Kafka's cluster id.
func (im *Image) ClusterID() string { return im.clusterID }

// Index is the log index up to which commands are applied.
func (im *Image) Index() uint64 { return im.index }

// Topic returns the topic of that name, or nil.
func (im *Image) Topic(name string) *Topic {
	t, _ := im.topics.get(name)
	return t
}

// TopicByID returns the topic with that id, or nil.
func (im *Image) TopicByID(id UUID) *Topic {
	t, _ := im.byID.get(id)
	return t
}

// TopicCount is the number of topics.
func (im *Image) TopicCount() int { return im.topics.len() }

// PartitionCount is the number of partitions of all topics.
func (im *Image) PartitionCount() int { return im.partitions }

// Topics walks all topics, sorted by name (bytewise).
func (im *Image) Topics() iter.Seq[*Topic] { return im.TopicsFrom("") }

// TopicsFrom walks the topics with names >= name, sorted by name.
func (im *Image) TopicsFrom(name string) iter.Seq[*Topic] {
	return func(yield func(*Topic) bool) { im.sorted.from(name, yield) }
}

// Broker returns the registered broker with that id, or nil.
func (im *Image) Broker(id int32) *Broker {
	i, ok := slices.BinarySearchFunc(im.brokers, id, func(b *Broker, id int32) int { return int(b.ID) - int(id) })
	if !ok {
		return nil
	}
	return im.brokers[i]
}

// Brokers are the registered brokers, sorted by id. Read only.
func (im *Image) Brokers() []*Broker { return im.brokers }

// Config returns the values set for a resource, never defaults; nil if there are none. Read only.
func (im *Image) Config(r Resource) map[string]string {
	if r.Type == ResourceTopic {
		if t := im.Topic(r.Name); t != nil {
			return t.Configs
		}
		return nil
	}
	if c, ok := im.configs.get(r); ok {
		return c.values
	}
	return nil
}

// ConfigVersion is the guard of AlterConfigs: it changes whenever the values of the resource do. A resource that
// never had values has 0; a topic's starts anew with the topic, so a command for an earlier topic of the name is
// refused.
func (im *Image) ConfigVersion(r Resource) int64 {
	if r.Type == ResourceTopic {
		if t := im.Topic(r.Name); t != nil {
			return t.ConfigVersion
		}
		return 0
	}
	if c, ok := im.configs.get(r); ok {
		return c.version
	}
	return 0
}

// ConfigResources are the resources other than topics that have values set, sorted by type and name.
func (im *Image) ConfigResources() []Resource {
	var out []Resource
	im.configs.all(func(r Resource, c *config) bool {
		if len(c.values) > 0 {
			out = append(out, r)
		}
		return true
	})
	sort.Slice(out, func(i, j int) bool { return out[i].less(out[j]) })
	return out
}

// Features are the finalized feature levels. Read only.
func (im *Image) Features() map[string]int16 { return im.features }

// NextProducerID is the first producer id that no block has taken yet.
func (im *Image) NextProducerID() int64 { return im.nextProducerID }

func cloneMap[V any](m map[string]V) map[string]V {
	if len(m) == 0 {
		return nil
	}
	c := make(map[string]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
