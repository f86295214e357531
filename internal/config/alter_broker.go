package config

import (
	"maps"
	"slices"
)

// AlterBroker applies the operations of IncrementalAlterConfigs to the values
// of this broker and returns the new layer.
func (l *Layers) AlterBroker(ops []Op) (Set, *AlterError) { return l.alterBroker(l.Broker, ops, true) }

// AlterAllBrokers does the same with the values for all brokers.
func (l *Layers) AlterAllBrokers(ops []Op) (Set, *AlterError) {
	return l.alterBroker(l.AllBrokers, ops, false)
}

// ReplaceBroker is AlterConfigs for this broker: the pairs are all dynamic
// values that remain.
func (l *Layers) ReplaceBroker(pairs []Pair) (Set, *AlterError) {
	return l.alterBroker(nil, pairOps(pairs), true)
}

// ReplaceAllBrokers is AlterConfigs for all brokers.
func (l *Layers) ReplaceAllBrokers(pairs []Pair) (Set, *AlterError) {
	next, err := l.alterBroker(nil, pairOps(pairs), false)
	if err != nil {
		return nil, err
	}
	_, was := l.AllBrokers[minInsync]
	if _, is := next[minInsync]; was && !is {
		return nil, errMinInsyncKept
	}
	return next, nil
}

var (
	errMinInsyncKept = alterErrorf(codeInvalidConfig, "%s of all brokers can be set to another value, but not be removed", minInsync)
	errMinInsyncOne  = alterErrorf(codeInvalidConfig, "%s is the same for all brokers: change it for the broker resource with the empty name", minInsync)
)

func (l *Layers) alterBroker(current Set, ops []Op, perBroker bool) (Set, *AlterError) {
	if err := CheckShape(ops); err != nil {
		return nil, err
	}
	for _, op := range ops {
		if op.Kind < OpSet || op.Kind > OpSubtract {
			return nil, alterErrorf(codeInvalidRequest, "%s: operation %d is not known", op.Name, op.Kind)
		}
	}
	next, err := change(current, ops, listBase(Broker))
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(next)) {
		if err := checkBrokerValue(name, next[name], perBroker); err != nil {
			return nil, err
		}
	}
	candidate := &Layers{Static: l.Static, AllBrokers: next, Broker: l.Broker}
	if perBroker {
		candidate = &Layers{Static: l.Static, AllBrokers: l.AllBrokers, Broker: next}
	}
	if err := checkDynamic(l, candidate, next); err != nil {
		return nil, alterErrorf(codeInvalidRequest, "%s", err)
	}
	return next, checkMinInsync(ops, perBroker)
}

// checkMinInsync guards the value that all brokers must agree on.
func checkMinInsync(ops []Op, perBroker bool) *AlterError {
	for _, op := range ops {
		switch {
		case op.Name != minInsync:
		case perBroker:
			return errMinInsyncOne
		case op.Kind == OpDelete:
			return errMinInsyncKept
		}
	}
	return nil
}

// perListener are keys that change at run time only under the name of a
// listener.
var perListener = []string{
	"ssl.engine.factory.class", "ssl.key.password", "ssl.keystore.certificate.chain", "ssl.keystore.key", "ssl.keystore.location",
	"ssl.keystore.password", "ssl.keystore.type", "ssl.truststore.certificates", "ssl.truststore.location", "ssl.truststore.password", "ssl.truststore.type",
}

// forEachListener are keys that may be set for a listener on all brokers.
var forEachListener = []string{"max.connections", "max.connection.creation.rate", "num.network.threads"}

// checkBrokerValue checks one value that is to be set while the broker runs.
// Keys that nobody knows pass: they may be meant for a plugin.
func checkBrokerValue(name, value string, perBroker bool) *AlterError {
	base, prefixed := ListenerBase(name)
	k, known := Lookup(Broker, base)
	switch {
	case prefixed && !perBroker && !slices.Contains(forEachListener, base):
		return alterErrorf(codeInvalidRequest, "%s can only be set for one broker: name the broker", name)
	case !known:
		return nil
	case !prefixed && k.Mode == ReadOnly:
		return alterErrorf(codeInvalidRequest, "%s cannot change while the broker runs: set it in the property file", name)
	case !prefixed && !perBroker && k.Mode == PerBroker:
		return alterErrorf(codeInvalidRequest, "%s can only be set for one broker: name the broker", name)
	case !prefixed && slices.Contains(perListener, name):
		return alterErrorf(codeInvalidRequest, "%s can only change for a listener: put %sNAME. in front of it", name, listenerPrefix)
	}
	if _, err := k.Parse(value); err != nil {
		return alterErrorf(codeInvalidRequest, "%s", err)
	}
	return nil
}
