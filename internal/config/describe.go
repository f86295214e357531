package config

import (
	"maps"
	"slices"
)

// Entry is one config as DescribeConfigs shows it.
type Entry struct {
	Name string
	// Value is nil where it is null or must not be shown.
	Value     *string
	Type      Type
	Source    Source
	IsDefault bool
	ReadOnly  bool
	Sensitive bool
	// Synonyms lists where the value could come from, the one that counts
	// first. The frontend leaves it out unless it is asked for.
	Synonyms []Synonym
	Doc      string
}

// Synonym is one place where a value could come from.
type Synonym struct {
	Name   string
	Value  *string
	Source Source
}

// wanted decides which keys an answer holds: all listed ones and all that are
// set if nothing is named, else those that are named and known or set. Kafka
// takes the empty list for "nothing named", too.
func wanted(scope Scope, names []string, sets ...Set) []string {
	listed := func(k *Key) bool { return !k.Own && !k.Hidden && k.Mode != Unlisted }
	isSet := func(name string) bool {
		return slices.ContainsFunc(sets, func(s Set) bool { _, ok := s[name]; return ok })
	}
	var out []string
	if len(names) == 0 {
		for _, k := range Keys(scope) {
			if listed(k) || isSet(k.Name) {
				out = append(out, k.Name)
			}
		}
		if scope == Broker {
			for _, s := range sets {
				for name := range s {
					if _, known := Lookup(scope, name); !known {
						out = append(out, name)
					}
				}
			}
		}
	}
	for _, name := range names {
		k, known := Lookup(scope, name)
		if known && (k.Own || listed(k)) || isSet(name) && (known || scope == Broker) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// DescribeBroker describes this broker. No names mean all keys; names that
// are neither known nor set are left out.
func (l *Layers) DescribeBroker(names []string) []Entry {
	var out []Entry
	for _, name := range wanted(Broker, names, l.Broker, l.AllBrokers, l.Static) {
		out = append(out, l.describeBrokerKey(name))
	}
	return out
}

func (l *Layers) describeBrokerKey(name string) Entry {
	e := brokerEntry(name)
	e.Synonyms = l.synonyms(name, e.Sensitive)
	e.Source = first(e.Synonyms)
	e.IsDefault = e.Source == FromDefault
	if k, ok := Lookup(Broker, name); ok {
		if v, _ := l.effective(k); !v.Null && !e.Sensitive {
			text := v.String()
			e.Value = &text
		}
	} else if !e.Sensitive && len(e.Synonyms) > 0 {
		e.Value = e.Synonyms[0].Value
	}
	return e
}

// DescribeAllBrokers describes the broker resource "": the dynamic values that
// hold for all brokers, as they were written.
func (l *Layers) DescribeAllBrokers(names []string) []Entry {
	var out []Entry
	for _, name := range slices.Sorted(maps.Keys(l.AllBrokers)) {
		if len(names) > 0 && !slices.Contains(names, name) {
			continue
		}
		e := brokerEntry(name)
		e.Value = visible(l.AllBrokers[name], e.Sensitive)
		e.Source = FromAllBrokers
		e.Synonyms = []Synonym{{name, e.Value, FromAllBrokers}}
		out = append(out, e)
	}
	return out
}

// brokerEntry fills in what does not depend on the value. Keys that nobody
// knows are taken for secrets.
func brokerEntry(name string) Entry {
	e := Entry{Name: name, ReadOnly: true, Sensitive: true}
	k, ok := Lookup(Broker, name)
	if !ok {
		base, prefixed := ListenerBase(name)
		if k, ok = Lookup(Broker, base); !prefixed || !ok {
			return e
		}
	} else {
		e.ReadOnly = k.Mode == ReadOnly
	}
	e.Type, e.Sensitive, e.Doc = k.Type, k.Sensitive(), k.Doc
	return e
}

// DescribeTopic describes a topic with the given overrides.
func (l *Layers) DescribeTopic(overrides Set, names []string) []Entry {
	var out []Entry
	for _, name := range wanted(Topic, names, overrides) {
		k := mustLookup(Topic, name)
		out = append(out, l.describeFollower(k, overrides, FromTopic, l.topicValue(overrides, name)))
	}
	return out
}

// DescribeGroup describes a group with the given overrides.
func (l *Layers) DescribeGroup(overrides Set, names []string) []Entry {
	var out []Entry
	for _, name := range wanted(Group, names, overrides) {
		k := mustLookup(Group, name)
		e := l.describeFollower(k, overrides, FromGroup, l.groupValue(overrides, name))
		if k.Follows == "" {
			// Kafka shows the default of such a key as a synonym of its own.
			text := k.DefaultValue().String()
			e.Synonyms = append(e.Synonyms, Synonym{name, &text, FromDefault})
		}
		out = append(out, e)
	}
	return out
}

// describeFollower describes a key of a topic or group, whose default may come
// from a broker key.
func (l *Layers) describeFollower(k *Key, overrides Set, own Source, value Value) Entry {
	text := value.String()
	e := Entry{Name: k.Name, Type: k.Type, Value: &text, Doc: k.Doc, Sensitive: k.Sensitive()}
	if _, ok := overrides[k.Name]; ok {
		e.Synonyms = append(e.Synonyms, Synonym{k.Name, &text, own})
	}
	if k.Follows != "" {
		e.Synonyms = append(e.Synonyms, l.synonyms(k.Follows, e.Sensitive)...)
	}
	e.Source = first(e.Synonyms)
	e.IsDefault = e.Source == FromDefault
	return e
}

// DescribeClientMetrics describes a client metrics subscription, which need
// not exist.
func DescribeClientMetrics(values Set, names []string) []Entry {
	var out []Entry
	for _, name := range wanted(ClientMetrics, names, values) {
		k := mustLookup(ClientMetrics, name)
		v := k.DefaultValue()
		e := Entry{Name: name, Type: k.Type, Source: FromDefault, IsDefault: true, Doc: k.Doc}
		if raw, ok := values[name]; ok {
			if parsed, err := k.Parse(raw); err == nil {
				v, e.Source, e.IsDefault = parsed, FromClientMetrics, false
			}
		}
		text := v.String()
		e.Value = &text
		if !e.IsDefault {
			e.Synonyms = []Synonym{{name, &text, FromClientMetrics}}
		}
		out = append(out, e)
	}
	return out
}

// DescribeCreated is what CreateTopics answers about the configs of the new
// topic: values as they were written, from the topic, this node (which decides as
// controller), all brokers, the file or the default.
func (l *Layers) DescribeCreated(overrides Set) []Entry {
	var out []Entry
	for _, name := range wanted(Topic, nil, overrides) {
		k := mustLookup(Topic, name)
		e := Entry{Name: name, Type: k.Type, Source: FromDefault, Doc: k.Doc}
		text, ok := overrides[name]
		if ok {
			e.Source = FromTopic
		} else {
			text, e.Source = l.inheritedRaw(k)
		}
		e.Value, e.IsDefault = &text, e.Source == FromDefault
		out = append(out, e)
	}
	return out
}

// inheritedRaw is inherited with the text as it was written and its source.
func (l *Layers) inheritedRaw(k *Key) (string, Source) {
	value := l.inherited(k).String()
	if k.Follows == "" {
		return value, FromDefault
	}
	names := synonymNames(k.Follows)
	for _, ly := range l.order() {
		for _, n := range names {
			if text, ok := ly.set[n]; ok {
				if n != k.Follows {
					text = value // converted from hours or minutes
				}
				return text, ly.source
			}
		}
	}
	return value, FromDefault
}

// LoggerEntry describes one logger of the broker.
func LoggerEntry(name, level string) Entry {
	return Entry{Name: name, Value: &level, Source: FromBrokerLogger}
}

func first(synonyms []Synonym) Source {
	if len(synonyms) == 0 {
		return FromDefault
	}
	return synonyms[0].Source
}
