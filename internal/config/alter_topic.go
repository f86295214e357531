package config

import (
	"maps"
	"slices"
)

// AlterTopic applies the operations of IncrementalAlterConfigs to the
// overrides of a topic and returns the new overrides.
func (l *Layers) AlterTopic(current Set, ops []Op) (Set, *AlterError) {
	if err := CheckShape(ops); err != nil {
		return nil, err
	}
	next, err := change(current, ops, listBase(Topic))
	if err != nil {
		return nil, err
	}
	return next, l.checkTopic(next)
}

// ReplaceTopic is AlterConfigs: the pairs are all overrides that remain.
func (l *Layers) ReplaceTopic(pairs []Pair) (Set, *AlterError) {
	return l.AlterTopic(nil, pairOps(pairs))
}

// CreateTopic checks the configs of a CreateTopics request. Of a key that is
// named twice the last value counts.
func (l *Layers) CreateTopic(pairs []Pair) (Set, *AlterError) {
	set := Set{}
	for _, p := range pairs {
		if p.Value == nil {
			return nil, alterErrorf(codeInvalidConfig, "%s: null is not a value", p.Name)
		}
		set[p.Name] = *p.Value
	}
	return set, l.checkTopic(set)
}

// checkTopic checks the overrides of a topic, each by itself and together.
func (l *Layers) checkTopic(set Set) *AlterError {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		k, ok := Lookup(Topic, name)
		if !ok {
			return alterErrorf(codeInvalidConfig, "%q is not a topic config", name)
		}
		if _, err := k.Parse(set[name]); err != nil {
			return alterErrorf(codeInvalidConfig, "%s", err)
		}
	}
	low, high := l.topicValue(set, "min.compaction.lag.ms").Int, l.topicValue(set, "max.compaction.lag.ms").Int
	if low > high {
		return alterErrorf(codeInvalidConfig, "min.compaction.lag.ms (%d) is above max.compaction.lag.ms (%d)", low, high)
	}
	return nil
}
