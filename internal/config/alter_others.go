package config

import (
	"fmt"
	"maps"
	"slices"
)

// AlterGroup applies the operations of IncrementalAlterConfigs to the
// overrides of a group. Groups have no keys that can be appended to.
func (l *Layers) AlterGroup(current Set, ops []Op) (Set, *AlterError) {
	if err := CheckShape(ops); err != nil {
		return nil, err
	}
	next, err := change(current, ops, noLists)
	if err != nil {
		return nil, err
	}
	return next, l.checkGroup(next)
}

// ReplaceGroup is AlterConfigs for a group.
func (l *Layers) ReplaceGroup(pairs []Pair) (Set, *AlterError) {
	return l.AlterGroup(nil, pairOps(pairs))
}

// groupLimits are the broker keys between which a group key must lie; an
// empty name is no limit.
var groupLimits = []struct{ name, low, high string }{
	{"consumer.assignment.interval.ms", "group.consumer.min.assignment.interval.ms", "group.consumer.max.assignment.interval.ms"},
	{"consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms", "group.consumer.max.heartbeat.interval.ms"},
	{"consumer.session.timeout.ms", "group.consumer.min.session.timeout.ms", "group.consumer.max.session.timeout.ms"},
	{"share.assignment.interval.ms", "group.share.min.assignment.interval.ms", "group.share.max.assignment.interval.ms"},
	{"share.delivery.count.limit", "group.share.min.delivery.count.limit", "group.share.max.delivery.count.limit"},
	{"share.heartbeat.interval.ms", "group.share.min.heartbeat.interval.ms", "group.share.max.heartbeat.interval.ms"},
	{"share.partition.max.record.locks", "group.share.min.partition.max.record.locks", "group.share.max.partition.max.record.locks"},
	{"share.record.lock.duration.ms", "group.share.min.record.lock.duration.ms", "group.share.max.record.lock.duration.ms"},
	{"share.session.timeout.ms", "group.share.min.session.timeout.ms", "group.share.max.session.timeout.ms"},
	{"streams.assignment.interval.ms", "group.streams.min.assignment.interval.ms", "group.streams.max.assignment.interval.ms"},
	{"streams.heartbeat.interval.ms", "group.streams.min.heartbeat.interval.ms", "group.streams.max.heartbeat.interval.ms"},
	{"streams.num.standby.replicas", "", "group.streams.max.standby.replicas"},
	{"streams.session.timeout.ms", "group.streams.min.session.timeout.ms", "group.streams.max.session.timeout.ms"},
}

func (l *Layers) checkGroup(set Set) *AlterError {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		k, ok := Lookup(Group, name)
		if !ok {
			return alterErrorf(codeInvalidConfig, "%q is not a group config", name)
		}
		if _, err := k.Parse(set[name]); err != nil {
			return alterErrorf(codeInvalidConfig, "%s", err)
		}
	}
	if err := l.checkGroupLimits(set); err != nil {
		return alterErrorf(codeInvalidConfig, "%s", err)
	}
	return nil
}

func (l *Layers) checkGroupLimits(set Set) error {
	for _, limit := range groupLimits {
		if _, ok := set[limit.name]; !ok {
			continue
		}
		v := l.groupValue(set, limit.name).Int
		if limit.low != "" && v < l.whole(limit.low) {
			return fmt.Errorf("%s is %d, below %s (%d)", limit.name, v, limit.low, l.whole(limit.low))
		}
		if v > l.whole(limit.high) {
			return fmt.Errorf("%s is %d, above %s (%d)", limit.name, v, limit.high, l.whole(limit.high))
		}
	}
	for _, kind := range []string{"consumer", "share", "streams"} {
		beat, session := kind+".heartbeat.interval.ms", kind+".session.timeout.ms"
		_, beatSet := set[beat]
		_, sessionSet := set[session]
		if (beatSet || sessionSet) && l.groupValue(set, beat).Int >= l.groupValue(set, session).Int {
			return fmt.Errorf("%s must be below %s", beat, session)
		}
	}
	if name, ok := set["streams.assignor.name"]; ok && !slices.Contains(l.list("group.streams.assignors"), trim(name)) {
		return fmt.Errorf("streams.assignor.name: %q is not in group.streams.assignors", name)
	}
	return nil
}

// AlterClientMetrics applies the operations of IncrementalAlterConfigs to a
// client metrics subscription.
func AlterClientMetrics(current Set, ops []Op) (Set, *AlterError) {
	if err := CheckShape(ops); err != nil {
		return nil, err
	}
	next, err := change(current, ops, noLists)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if _, ok := Lookup(ClientMetrics, name); !ok {
			return nil, alterErrorf(codeInvalidRequest, "%q is not a client metrics config", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		k := mustLookup(ClientMetrics, name)
		v, err := k.Parse(next[name])
		if err != nil {
			return nil, alterErrorf(codeInvalidConfig, "%s", err)
		}
		if name == "interval.ms" && (v.Int < 100 || v.Int > 3600000) {
			return nil, alterErrorf(codeInvalidRequest, "interval.ms is %d; allowed: a whole number from 100 to 3600000", v.Int)
		}
	}
	return next, nil
}

// ReplaceClientMetrics is AlterConfigs for a client metrics subscription.
func ReplaceClientMetrics(pairs []Pair) (Set, *AlterError) {
	return AlterClientMetrics(nil, pairOps(pairs))
}

// LogLevels are the levels a logger may be set to.
var LogLevels = []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"}

// RootLogger is the logger that always is there.
const RootLogger = "root"

// CheckLoggers checks the operations of IncrementalAlterConfigs on the loggers
// of a broker; known tells which loggers there are.
func CheckLoggers(ops []Op, known func(string) bool) *AlterError {
	if err := CheckShape(ops); err != nil {
		return err
	}
	for _, op := range ops {
		switch {
		case op.Kind != OpSet && op.Kind != OpDelete:
			return alterErrorf(codeInvalidRequest, "%s: loggers can be set and deleted", op.Name)
		case op.Kind == OpDelete && op.Name == RootLogger:
			return alterErrorf(codeInvalidRequest, "the root logger cannot go: set it to another level")
		case op.Name != RootLogger && !known(op.Name):
			return alterErrorf(codeInvalidConfig, "there is no logger %q", op.Name)
		case op.Kind == OpSet && !slices.Contains(LogLevels, *op.Value):
			return alterErrorf(codeInvalidConfig, "%s: %q is not a level; allowed: %v", op.Name, *op.Value, LogLevels)
		}
	}
	return nil
}
