package broker

import (
	"slices"

	"millrace/controller"
	"millrace/group"
	"millrace/internal/config"
)

// configure hands the settings in force to the coordinators, now and whenever they change.
func (cs *coordinators) configure() {
	cs.node.OnConfig(func(c *config.BrokerConfig) {
		cs.cfg.Store(cs.config(c))
		for _, co := range *cs.byIndex.Load() {
			if co != nil {
				co.post(func() {
					if co.machine != nil {
						co.machine.SetConfig(cs.cfg.Load())
					}
				})
			}
		}
	})
}

func (cs *coordinators) config(c *config.BrokerConfig) *group.Config {
	g := &c.Groups
	defaults := consumerConfig(cs.node.Layers().Group(nil))
	return &group.Config{
		InitialRebalanceDelayMs: g.InitialRebalanceDelayMs, MinSessionTimeoutMs: g.MinSessionTimeoutMs,
		MaxSessionTimeoutMs: g.MaxSessionTimeoutMs, MaxSize: g.MaxSize, OffsetMetadataMax: g.OffsetMetadataMaxBytes,
		OffsetsRetentionMs: int64(g.OffsetsRetentionMinutes) * 60_000, OffsetsRetentionCheckMs: g.OffsetsRetentionCheckMs,
		ConsumerOff:     !slices.Contains(g.RebalanceProtocols, "consumer"),
		ConsumerMaxSize: g.ConsumerMaxSize, ConsumerAssignors: g.ConsumerAssignors,
		MigrateUp:   g.ConsumerMigrationPolicy == "bidirectional" || g.ConsumerMigrationPolicy == "upgrade",
		MigrateDown: g.ConsumerMigrationPolicy == "bidirectional" || g.ConsumerMigrationPolicy == "downgrade",
		Consumer: func(id string) group.ConsumerConfig {
			set := cs.node.Image().Config(controller.Resource{Type: controller.ResourceType(config.Group), Name: id})
			if len(set) == 0 {
				return defaults
			}
			return consumerConfig(cs.node.Layers().Group(config.Set(set)))
		},
	}
}

func consumerConfig(c *config.GroupConfig) group.ConsumerConfig {
	return group.ConsumerConfig{SessionTimeoutMs: c.ConsumerSessionTimeoutMs, HeartbeatIntervalMs: c.ConsumerHeartbeatIntervalMs,
		AssignmentIntervalMs: c.ConsumerAssignmentIntervalMs}
}

// imageTopics shows an image's topics to the groups. Immutable.
type imageTopics struct{ image *controller.Image }

// Topic implements group.Topics.
func (t *imageTopics) Topic(name string) (group.Topic, bool) { return groupTopic(t.image.Topic(name)) }

// TopicByID implements group.Topics.
func (t *imageTopics) TopicByID(id [16]byte) (group.Topic, bool) {
	return groupTopic(t.image.TopicByID(id))
}

// Each implements group.Topics.
func (t *imageTopics) Each(fn func(group.Topic) bool) {
	for topic := range t.image.Topics() {
		if g, _ := groupTopic(topic); !fn(g) {
			return
		}
	}
}

// Version implements group.Topics.
func (t *imageTopics) Version() int64 { return int64(t.image.Index()) }

func groupTopic(t *controller.Topic) (group.Topic, bool) {
	if t == nil {
		return group.Topic{}, false
	}
	return group.Topic{ID: t.ID, Name: t.Name, Partitions: int32(len(t.Partitions))}, true
}
