package config

import (
	"regexp"
	"strings"
)

// Set is one layer of values, as they were written. Nobody changes a Set that
// was handed to a Layers or to a reader.
type Set map[string]string

// Layers are the places where the value of a broker key may come from, in the
// order Broker, AllBrokers, Static, default. Immutable once published.
type Layers struct {
	// Static holds the property file, the overrides and what Load fills in.
	Static Set
	// AllBrokers holds what AlterConfigs set for the broker resource "".
	AllBrokers Set
	// Broker holds what AlterConfigs set for this broker.
	Broker Set
}

// With returns layers with other dynamic parts; nil keeps a part.
func (l *Layers) With(allBrokers, broker Set) *Layers {
	n := *l
	if allBrokers != nil {
		n.AllBrokers = allBrokers
	}
	if broker != nil {
		n.Broker = broker
	}
	return &n
}

// FormatDefaults are the values for all brokers that a new cluster starts
// with. Kafka stores min.insync.replicas this way when it formats, so that all
// brokers agree on it; from then on it changes for all of them or not at all.
func FormatDefaults(static Set) Set {
	value := "1"
	if v, err := mustLookup(Broker, minInsync).Parse(static[minInsync]); err == nil {
		value = v.String()
	}
	return Set{minInsync: value}
}

const minInsync = "min.insync.replicas"

// mustLookup finds a key that is named in this package.
func mustLookup(scope Scope, name string) *Key {
	k, ok := Lookup(scope, name)
	if !ok {
		panic("config: no key " + name)
	}
	return k
}

// layer is one of the layers with the source it stands for.
type layer struct {
	set    Set
	source Source
}

func (l *Layers) order() [3]layer {
	return [3]layer{{l.Broker, FromBroker}, {l.AllBrokers, FromAllBrokers}, {l.Static, FromStatic}}
}

// effective is the value that counts. Values that do not parse count as not
// set.
func (l *Layers) effective(k *Key) (Value, Source) {
	for _, ly := range l.order() {
		if text, ok := ly.set[k.Name]; ok {
			if v, err := k.Parse(text); err == nil {
				return v, ly.source
			}
		}
	}
	return k.DefaultValue(), FromDefault
}

// get is effective for a key named in this package.
func (l *Layers) get(name string) Value {
	v, _ := l.effective(mustLookup(Broker, name))
	return v
}

func (l *Layers) whole(name string) int64    { return l.get(name).Int }
func (l *Layers) flag(name string) bool      { return l.get(name).Bool }
func (l *Layers) text(name string) string    { return l.get(name).Text }
func (l *Layers) list(name string) []string  { return l.get(name).List }
func (l *Layers) number(name string) float64 { return l.get(name).Double }

// families are keys that stand in for one another, the first that is set
// counts. Kafka shows them as synonyms of each other.
var families = [][]string{
	{"log.roll.ms", "log.roll.hours"},
	{"log.roll.jitter.ms", "log.roll.jitter.hours"},
	{"log.retention.ms", "log.retention.minutes", "log.retention.hours"},
}

const listenerPrefix = "listener.name."

var mechanismKeys = regexp.MustCompile(`\.(sasl\.jaas\.config|sasl\.login\.callback\.handler\.class|sasl\.login\.class|sasl\.server\.callback\.handler\.class|connections\.max\.reauth\.ms|sasl\.server\.max\.receive\.size)$`)

// ListenerBase cuts "listener.name.NAME." from a key that is meant for one
// listener, and a SASL mechanism behind it.
func ListenerBase(name string) (base string, ok bool) {
	rest, ok := strings.CutPrefix(name, listenerPrefix)
	if !ok {
		return name, false
	}
	_, base, ok = strings.Cut(rest, ".")
	if !ok {
		return name, false
	}
	if m := mechanismKeys.FindStringSubmatch(base); m != nil {
		base = m[1]
	}
	return base, true
}

// synonymNames are the keys that Kafka asks for the value of name, the
// strongest first.
func synonymNames(name string) []string {
	switch name {
	case "log.flush.interval.ms":
		return []string{name, "log.flush.scheduler.interval.ms"}
	}
	for _, family := range families {
		for _, member := range family {
			if member == name {
				return family
			}
		}
	}
	if base, ok := ListenerBase(name); ok {
		return []string{name, base}
	}
	return []string{name}
}

// synonyms lists every value that name could get from the layers, the one that
// counts first, as they were written. What stands ahead of name itself is left
// out, as in Kafka: so a retention that comes from log.retention.hours has no
// synonyms at all.
func (l *Layers) synonyms(name string, sensitive bool) []Synonym {
	names := synonymNames(name)
	var all []Synonym
	for _, ly := range l.order() {
		for _, n := range names {
			if text, ok := ly.set[n]; ok {
				all = append(all, Synonym{n, visible(text, sensitive), ly.source})
			}
		}
	}
	for _, n := range names {
		if k, ok := Lookup(Broker, n); ok && !k.NoDefault {
			all = append(all, Synonym{n, visible(k.DefaultValue().String(), sensitive), FromDefault})
		}
	}
	for i := range all {
		if all[i].Name == name {
			return all[i:]
		}
	}
	return nil
}

func visible(text string, sensitive bool) *string {
	if sensitive {
		return nil
	}
	return &text
}
