package controller

import (
	"fmt"
	"maps"
)

// Kind implements Body.
func (c *AlterConfigs) Kind() Kind { return KindAlterConfigs }

func (c *AlterConfigs) apply(b *Builder, index uint64) Result {
	out := make([]ConfigResult, len(c.Sets))
	for i := range c.Sets {
		out[i] = b.setConfig(index, &c.Sets[i])
	}
	return Result{Configs: out}
}

func (b *Builder) setConfig(index uint64, set *ConfigSet) ConfigResult {
	r := ConfigResult{Resource: set.Resource}
	topic := (*Topic)(nil)
	if set.Resource.Type == ResourceTopic {
		if topic = b.im.Topic(set.Resource.Name); topic == nil {
			r.Code, r.Text = CodeUnknownTopicOrPartition, fmt.Sprintf("The topic '%s' does not exist.", set.Resource.Name)
			return r
		}
	}
	if b.im.ConfigVersion(set.Resource) != set.Version {
		r.Code, r.Text, r.Conflict = CodeUnknownServerError, "The configuration was changed at the same time.", true
		return r
	}
	if maps.Equal(b.im.Config(set.Resource), set.Configs) {
		return r
	}
	if topic == nil {
		if len(set.Configs) == 0 {
			b.im.configs.del(b.edit, set.Resource)
		} else {
			b.im.configs.set(b.edit, set.Resource, &config{values: cloneMap(set.Configs), version: int64(index)})
		}
		b.change(Change{Kind: ConfigChanged, Resource: set.Resource})
		return r
	}
	t := *topic
	t.Configs, t.ConfigVersion = cloneMap(set.Configs), int64(index)
	b.putTopic(&t)
	b.change(Change{Kind: ConfigChanged, Resource: set.Resource, Topic: &t})
	return r
}
